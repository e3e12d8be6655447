//! What this server knows of one listing: its picture, fed by facts in their order, and those who wait for more.
//! It answers reads and prepares commands; it never decides.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use onsale_domain::{ListingId, Millis, Step};
use onsale_engine::{Position, View};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::bulletin::Bulletin;
use crate::picture::Picture;

/// Steps kept for those who follow closely; who falls further behind reads the stream.
const RECENT_STEPS_MAX: usize = 1_024;
/// Steps that came before the ones in front of them; more of them are read from the stream again.
const EARLY_STEPS_MAX: usize = 4_096;
/// No deadline at all.
const NEVER: Millis = Millis::MAX;

#[derive(Debug)]
pub(super) struct Replica {
    pub id: ListingId,
    state: Mutex<State>,
    moved: watch::Sender<Position>,
    /// One reader of the stream at a time: the others find what it brought.
    pub reading: tokio::sync::Mutex<()>,
    /// The furthest position that anybody told of.
    wanted: Mutex<Position>,
    fetching: AtomicBool,
    followers: AtomicUsize,
    /// The next deadline, for the sweeper.
    due: AtomicI64,
    /// The deadline that stands in the index over listings.
    pub indexed: AtomicI64,
    pub sweeping: AtomicBool,
    /// When it last changed, in milliseconds since the engine was opened.
    pub touched: AtomicI64,
    /// Since when its node does not know it, on the same clock.
    missing: AtomicI64,
    bulletin: Arc<Bulletin>,
}

#[derive(Debug)]
struct State {
    picture: Picture,
    view: Option<Arc<View>>,
    recent: VecDeque<Arc<Step>>,
    early: BTreeMap<u64, Arc<Step>>,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepTaking {
    Applied,
    Known,
    /// Those before it are missing.
    Gap,
    /// It is of another history: the whole state must be read again.
    Reload,
}

impl Replica {
    pub(super) fn new(picture: Picture, bulletin: Arc<Bulletin>) -> Replica {
        let id = picture.listing.id;
        let (at, due) = (position(&picture), next_due(&picture));
        let state = State { picture, view: None, recent: VecDeque::new(), early: BTreeMap::new() };
        Replica {
            id,
            state: Mutex::new(state),
            moved: watch::Sender::new(at),
            reading: tokio::sync::Mutex::new(()),
            wanted: Mutex::new(at),
            fetching: AtomicBool::new(false),
            followers: AtomicUsize::new(0),
            due: AtomicI64::new(due),
            indexed: AtomicI64::new(NEVER),
            sweeping: AtomicBool::new(false),
            touched: AtomicI64::new(0),
            missing: AtomicI64::new(NEVER),
            bulletin,
        }
    }

    pub(super) fn position(&self) -> Position {
        *self.moved.borrow()
    }

    /// Not before there is something to sweep.
    pub(super) fn due(&self) -> Option<Millis> {
        Some(self.due.load(Ordering::Relaxed)).filter(|due| *due != NEVER)
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&Picture) -> T) -> T {
        look(&self.state.lock().picture)
    }

    /// Whether its last fact says so.
    pub(super) fn is_deleted(&self) -> bool {
        self.state.lock().picture.listing.is_deleted()
    }

    /// Made when somebody looks: between two looks a listing may change many times.
    pub(super) fn view(&self) -> Option<Arc<View>> {
        let mut state = self.state.lock();
        if state.view.is_none() {
            state.view = View::of(&state.picture.listing).map(Arc::new);
        }
        state.view.clone()
    }

    pub(super) fn take(&self, step: &Arc<Step>) -> StepTaking {
        let mut state = self.state.lock();
        let listing = &state.picture.listing;
        if !listing.exists() || step.epoch > listing.epoch {
            return StepTaking::Reload;
        }
        if step.epoch < listing.epoch || step.first <= listing.offset {
            return StepTaking::Known;
        }
        if step.first > listing.offset + 1 {
            if state.early.len() < EARLY_STEPS_MAX {
                state.early.insert(step.first, step.clone());
            }
            return StepTaking::Gap;
        }
        state.view = None;
        self.apply(&mut state, step);
        self.take_early(&mut state);
        self.publish(&state);
        StepTaking::Applied
    }

    fn apply(&self, state: &mut State, step: &Arc<Step>) {
        state.picture.apply(step);
        if self.followers.load(Ordering::Acquire) > 0 {
            if state.recent.len() == RECENT_STEPS_MAX {
                state.recent.pop_front();
            }
            state.recent.push_back(step.clone());
        }
    }

    fn take_early(&self, state: &mut State) {
        while let Some(entry) = state.early.first_entry() {
            let listing = &state.picture.listing;
            if *entry.key() > listing.offset + 1 {
                return;
            }
            let fits = *entry.key() == listing.offset + 1 && entry.get().epoch == listing.epoch;
            let step = entry.remove();
            if fits {
                self.apply(state, &step);
            }
        }
    }

    /// Its node does not know it; says for how long, none if this is the first time.
    pub(super) fn missing_for(&self, now: i64) -> Option<i64> {
        match self.missing.compare_exchange(NEVER, now, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => None,
            Err(since) => Some((now - since).max(1)),
        }
    }

    pub(super) fn found(&self) {
        self.missing.store(NEVER, Ordering::Release);
    }

    fn publish(&self, state: &State) {
        self.show(state);
        self.bulletin.gone_on.publish(self.id, self.position());
    }

    fn show(&self, state: &State) {
        self.found();
        self.due.store(next_due(&state.picture), Ordering::Relaxed);
        let at = position(&state.picture);
        self.moved.send_replace(at);
        self.bulletin.due(self.id, self.due());
        self.bulletin.movements.publish(self.id, self.position());
    }

    /// Tells the engine's tasks where it is and when it falls due, because it is new here.
    pub(super) fn announce(&self) {
        self.bulletin.due(self.id, self.due());
        self.bulletin.movements.publish(self.id, self.position());
        self.bulletin.gone_on.publish(self.id, self.position());
    }

    /// After a sweep: its next deadline stands where the sweeper looks.
    pub(super) fn announce_due(&self) {
        self.bulletin.due(self.id, self.due());
    }

    /// Goes on from a state that was read whole, unless the facts have brought us further already.
    pub(super) fn replace(&self, picture: Picture) {
        let mut state = self.state.lock();
        if position(&picture) < position(&state.picture) {
            return;
        }
        if picture.listing.epoch != state.picture.listing.epoch {
            state.early.clear();
        }
        let before = state.picture.listing.offset;
        state.picture = picture;
        state.recent.clear();
        self.take_early(&mut state);
        state.view = None;
        match state.picture.listing.offset == before {
            true => self.show(&state),
            false => self.publish(&state),
        }
    }

    /// The kept steps after an offset; `None` if the one right after it is not kept.
    pub(super) fn recent_after(&self, offset: u64, limit: usize) -> Option<Vec<Arc<Step>>> {
        let state = self.state.lock();
        let start = state.recent.partition_point(|step| step.first <= offset);
        let mut next = offset + 1;
        let unbroken = state.recent.range(start..).take_while(|step| {
            let fits = step.first == next;
            next = step.last() + 1;
            fits
        });
        let steps: Vec<_> = unbroken.take(limit).cloned().collect();
        (!steps.is_empty()).then_some(steps)
    }

    /// True once the replica is there; false if it is not in time.
    pub(super) async fn reaches(&self, target: Position, within: Duration) -> bool {
        let mut moved = self.moved.subscribe();
        tokio::time::timeout(within, moved.wait_for(|at| *at >= target)).await.is_ok_and(|seen| seen.is_ok())
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Position> {
        self.moved.subscribe()
    }

    /// Somebody told of a position. True: the caller shall fetch until `fetched` says that it is enough.
    pub(super) fn want(&self, target: Position) -> bool {
        let mut wanted = self.wanted.lock();
        *wanted = (*wanted).max(target);
        *wanted > self.position() && !self.fetching.swap(true, Ordering::AcqRel)
    }

    pub(super) fn wanted(&self) -> Position {
        *self.wanted.lock()
    }

    /// True: nobody has told of more meanwhile, and the fetching is over.
    pub(super) fn fetched(&self, target: Position) -> bool {
        let wanted = self.wanted.lock();
        let enough = *wanted <= target;
        if enough {
            self.fetching.store(false, Ordering::Release);
        }
        enough
    }

    /// Fetching failed; whoever tells of something next tries again.
    pub(super) fn give_up(&self) {
        self.fetching.store(false, Ordering::Release);
    }

    pub(super) fn follow(self: &Arc<Self>) -> Following {
        self.followers.fetch_add(1, Ordering::AcqRel);
        self.bulletin.is_followed(self.id, true);
        Following { replica: self.clone() }
    }
}

/// A follower's claim on a replica; the kept steps go when the last one does.
#[derive(Debug)]
pub(super) struct Following {
    pub replica: Arc<Replica>,
}

impl Drop for Following {
    fn drop(&mut self) {
        if self.replica.followers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.replica.bulletin.is_followed(self.replica.id, false);
            self.replica.state.lock().recent.clear();
        }
    }
}

fn position(picture: &Picture) -> Position {
    Position { epoch: picture.listing.epoch, offset: picture.listing.offset }
}

fn next_due(picture: &Picture) -> Millis {
    picture.listing.next_due().unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
    use onsale_domain::layout::{Layout, Row, Seat, Section};
    use onsale_domain::money::Currency;
    use onsale_domain::seats::EventFact;
    use onsale_domain::seats::Seats;
    use onsale_domain::seats::Status;
    use onsale_domain::seats::command::{AdoptChart, CreateEvent};
    use onsale_domain::seats::fact::SeatLine;
    use onsale_domain::{BuyerId, Fact, HoldId, ListingKind, Tenant};
    use onsale_engine::engine::BodyView;

    use super::*;

    const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 1 };
    /// What making the event took.
    const MADE: u64 = 3;

    fn made() -> Picture {
        let seat = |n: u32| Seat { id: format!("S{n}"), ..Seat::default() };
        let row = Row { label: "r".into(), seats: (0..9).map(seat).collect() };
        let layout =
            Layout { sections: vec![Section { name: "s".into(), rows: vec![row] }], areas: Vec::new() };
        let details = EventDetails {
            name: "small".into(),
            description: String::new(),
            venue: None,
            starts_at: 1_000_000,
            ends_at: 2_000_000,
            sale_opens_at: None,
            sale_closes_at: None,
            time_zone: "UTC".into(),
            currency: Currency::parse("EUR").expect("three letters"),
            tiers: vec![Tier { name: "t".into(), price_minor: 700 }],
            rules: SaleRules::default(),
        };
        let chart = AdoptChart { venue: None, version: 1, layout: layout.into() };
        let create = CreateEvent { details, status: EventStatus::OnSale, chart };
        let facts = Seats::create(&create).expect("an event");
        assert_eq!(facts.len() as u64, MADE);
        let mut picture = Picture::nothing(EVENT);
        assert!(picture.apply(&Step {
            listing: EVENT,
            epoch: 1,
            first: 1,
            at: 0,
            key: None,
            facts: facts.into_iter().map(Fact::Event).collect(),
            by: None
        }));
        picture
    }

    /// The hold of the seat with the step's number.
    fn held(epoch: u64, number: u64) -> Arc<Step> {
        let fact = Fact::Event(EventFact::HoldPlaced {
            hold: HoldId(number),
            buyer: BuyerId::parse("ann").expect("a buyer"),
            seats: vec![SeatLine { seat: number as u32, price_minor: 700 }],
            areas: Vec::new(),
            until: 60_000,
            pieces: 0,
        });
        Arc::new(Step {
            listing: EVENT,
            epoch,
            first: MADE + number,
            at: 0,
            key: None,
            facts: vec![fact],
            by: None,
        })
    }

    fn shown(replica: &Replica) -> (u64, usize) {
        let view = replica.view().expect("an event");
        let BodyView::Event(seats) = &view.body else { panic!("{view:?}") };
        (view.position.offset - MADE, (0..9).filter(|seat| seats.seat_status(*seat) == Status::Held).count())
    }

    #[test]
    fn steps_that_overtake_each_other_are_all_taken() {
        let replica = Replica::new(made(), Arc::default());
        assert_eq!(replica.take(&held(1, 3)), StepTaking::Gap);
        assert_eq!(replica.take(&held(1, 2)), StepTaking::Gap);
        assert_eq!(shown(&replica), (0, 0));
        assert_eq!(replica.take(&held(1, 1)), StepTaking::Applied);
        assert_eq!(shown(&replica), (3, 3));
        assert_eq!(replica.position().offset, MADE + 3);
    }

    #[test]
    fn a_step_is_told_once_however_often_it_comes() {
        let replica = Arc::new(Replica::new(made(), Arc::default()));
        let _following = replica.follow();
        for number in [1, 1, 2, 1, 2] {
            replica.take(&held(1, number));
        }
        assert_eq!(replica.take(&held(1, 2)), StepTaking::Known);
        let recent = replica.recent_after(MADE, 10).expect("kept");
        assert_eq!(recent.iter().map(|step| step.first - MADE).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(replica.recent_after(MADE + 2, 10), None);
    }

    #[test]
    fn a_view_shows_the_last_step() {
        let replica = Replica::new(made(), Arc::default());
        for number in 1..4 {
            assert_eq!(shown(&replica).0, number - 1);
            assert_eq!(replica.take(&held(1, number)), StepTaking::Applied);
        }
        assert_eq!(shown(&replica), (3, 3));
    }

    #[test]
    fn another_epoch_is_read_whole_and_an_older_one_is_passed_over() {
        let replica = Replica::new(made(), Arc::default());
        replica.take(&held(1, 1));
        assert_eq!(replica.take(&held(2, 2)), StepTaking::Reload);
        let mut recovered = made();
        recovered.listing.epoch = 2;
        replica.replace(recovered.clone());
        assert_eq!(shown(&replica), (0, 0), "the new epoch does not know of the hold");
        assert_eq!(replica.take(&held(1, 1)), StepTaking::Known, "what was lost stays lost");
        assert_eq!(replica.take(&held(2, 1)), StepTaking::Applied);
        // A state that was read before the last step came.
        replica.replace(recovered);
        assert_eq!(shown(&replica), (1, 1));
        // And one of before the recovery.
        let mut old = made();
        old.apply(&held(1, 1));
        old.apply(&held(1, 2));
        replica.replace(old);
        assert_eq!(replica.position(), Position { epoch: 2, offset: MADE + 1 });
    }
}
