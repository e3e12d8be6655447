//! What a fact does to the model's state; used for decisions and for rebuilding after a crash.

use onsale_domain::about::About;
use onsale_domain::ended::End;
use onsale_domain::event::{EventDetails, EventStatus};
use onsale_domain::layout::Layout;
use onsale_domain::listing::ListingFact;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::SeatLine;
use onsale_domain::venue::VenueFact;
use onsale_domain::{Command, Fact, HoldId, ListingId, Millis, Outcome};

use super::other::Other;
use super::{
    Area, Body, Chart, Event, Hold, Order, QueuePlace, Seat, State, add_places, fence_at, price, take_latest,
};

impl State {
    /// Decides a command of one of the other kinds; `None` if the listing is of a kind with a model of its own.
    pub fn execute_other(
        &mut self,
        id: ListingId,
        command: &Command,
        now: Millis,
    ) -> Option<(Vec<Fact>, Outcome)> {
        let mut other = match std::mem::take(&mut self.body) {
            Body::Nothing => match Other::begin(id) {
                Some(other) => Box::new(other),
                None => return None,
            },
            Body::Other(other) => other,
            own @ (Body::Venue { .. } | Body::Event(_)) => {
                self.body = own;
                return None;
            }
        };
        let answer = other.execute(command, now);
        if other.listing.exists() {
            (self.offset, self.last_at) = (other.listing.offset, other.listing.last_at);
            self.body = Body::Other(other);
        }
        Some(answer)
    }

    pub fn apply(&mut self, id: ListingId, fact: &Fact, at: Millis) {
        self.offset += 1;
        self.last_at = at;
        if matches!(self.body, Body::Nothing)
            && let Some(other) = Other::begin(id)
        {
            self.body = Body::Other(Box::new(other));
        }
        if let Body::Nothing | Body::Venue { .. } | Body::Event(_) = &self.body
            && let Fact::Listing(fact) = fact
        {
            match fact {
                ListingFact::Described(about) => self.about = (**about).clone(),
                ListingFact::Deleted => (self.body, self.about) = (Body::Nothing, About::default()),
            }
            return;
        }
        let fence = fence_at(self.offset);
        match (&mut self.body, fact) {
            (Body::Nothing, Fact::Venue(VenueFact::VenueCreated(_))) => {
                self.body = Body::Venue { version: 0 }
            }
            (Body::Nothing, Fact::Event(EventFact::EventCreated(details))) => {
                self.body = Body::Event(Box::new(Event::new((**details).clone())));
            }
            (Body::Venue { version }, Fact::Venue(VenueFact::LayoutPublished(published))) => {
                *version = published.version
            }
            (Body::Event(event), Fact::Event(fact)) => event.apply(fact, fence, at),
            (Body::Other(other), _) => other.apply(fact, at),
            (Body::Nothing | Body::Venue { .. } | Body::Event(_), _) => {
                panic!("{} does not fit the listing", fact.kind())
            }
        }
    }
}

impl Event {
    fn new(details: EventDetails) -> Event {
        Event {
            details,
            status: EventStatus::Draft,
            chart: Chart::default(),
            blocked: Default::default(),
            blocked_places: Default::default(),
            holds: Default::default(),
            orders: Default::default(),
            places: Vec::new(),
            ended: Default::default(),
        }
    }

    fn apply(&mut self, fact: &EventFact, fence: u64, at: Millis) {
        match fact {
            EventFact::EventChanged(details) => self.details = (**details).clone(),
            EventFact::ChartAdopted(adopted) => self.chart.adopt(&adopted.layout),
            EventFact::StatusChanged { status, .. } => {
                self.status = *status;
                let lives = [EventStatus::Draft, EventStatus::Scheduled, EventStatus::OnSale];
                if !lives.contains(status) {
                    self.dissolve(|_| true, at);
                }
            }
            EventFact::HoldPlaced { hold, buyer, seats, areas, until, .. } => {
                let new = Hold {
                    id: *hold,
                    buyer: buyer.clone(),
                    fence,
                    placed_at: at,
                    until: *until,
                    length: until - at,
                    extensions: 0,
                    offered: false,
                    seats: seats.clone(),
                    areas: areas.clone(),
                };
                self.holds.insert(*hold, new);
            }
            EventFact::HoldExtended { hold, until, .. } => {
                let hold = self.hold(*hold);
                hold.until = *until;
                hold.extensions += 1;
            }
            EventFact::HoldGrown { hold, seats, areas, .. } => {
                let hold = self.hold(*hold);
                hold.fence = fence;
                hold.seats.extend(seats);
                add_places(&mut hold.areas, areas);
            }
            EventFact::SeatsDropped { hold, seats, areas, .. } => {
                let hold = self.hold(*hold);
                hold.seats.retain(|line| !seats.contains(&line.seat));
                for away in areas {
                    take_latest(&mut hold.areas, away.area, away.count).expect("what goes was there");
                }
            }
            EventFact::HoldReleased { hold, .. } => self.end(*hold, End::Released, at),
            EventFact::HoldExpired { hold, .. } => self.end(*hold, End::Expired, at),
            EventFact::HoldConfirmed { hold, order } => {
                let sold = self.holds.remove(hold).expect("a confirmed hold lived");
                self.ended.insert(*hold, (End::Confirmed, at));
                self.dissolve(|place| sold.seats.iter().any(|line| line.seat == place.seat), at);
                let (buyer, seats, areas) = (sold.buyer, sold.seats, sold.areas);
                let total_minor = price(&seats, &areas);
                let hold = *hold;
                self.orders.insert(*order, Order { buyer, fence, hold, at, total_minor, seats, areas });
            }
            EventFact::HoldOverridden { hold, to: None, .. } => self.end(*hold, End::Overridden, at),
            EventFact::HoldOverridden { hold, to: Some(to), .. } => {
                let hold = self.hold(*hold);
                (hold.buyer, hold.fence, hold.placed_at, hold.until) =
                    (to.buyer.clone(), fence, at, to.until);
                (hold.length, hold.extensions, hold.offered) = (to.until - at, 0, false);
                // Nobody waits for what they hold.
                let seats: Vec<u32> = hold.seats.iter().map(|line| line.seat).collect();
                self.dissolve(|place| place.buyer == to.buyer && seats.contains(&place.seat), at);
            }
            EventFact::OrderRefunded { order, seats, areas, .. } => {
                let order = self.orders.get_mut(order).expect("a refunded order exists");
                order.seats.retain(|line| !seats.contains(&line.seat));
                for away in areas {
                    take_latest(&mut order.areas, away.area, away.count).expect("what goes was there");
                }
            }
            EventFact::SeatsBlocked { seats, areas, .. } => {
                self.blocked.extend(seats);
                self.dissolve(|place| seats.contains(&place.seat), at);
                areas
                    .iter()
                    .for_each(|line| *self.blocked_places.entry(line.area).or_default() += line.count);
            }
            EventFact::SeatsUnblocked { seats, areas } => {
                self.blocked.retain(|seat| !seats.contains(seat));
                areas
                    .iter()
                    .for_each(|line| *self.blocked_places.entry(line.area).or_default() -= line.count);
            }
            EventFact::QueueJoined { place, seat, buyer, until, .. } => {
                let (id, seat, buyer, until) = (*place, *seat, buyer.clone(), *until);
                self.places.push(QueuePlace { id, seat, buyer, fence, until });
            }
            EventFact::PlaceRenewed { place, until, .. } => {
                self.places.iter_mut().filter(|one| one.id == *place).for_each(|one| one.until = *until);
            }
            EventFact::QueueLeft { place, .. } => self.leave(*place, End::Released, at),
            EventFact::PlaceExpired { place, .. } => self.leave(*place, End::Expired, at),
            EventFact::PlaceLost { place, .. } => self.leave(*place, End::OverLimit, at),
            EventFact::SeatOffered { place, price_minor, until, .. } => {
                let index = self.places.iter().position(|one| one.id == *place).expect("an offered place");
                let place = self.places.remove(index);
                let new = Hold {
                    id: place.id,
                    buyer: place.buyer,
                    fence,
                    placed_at: at,
                    until: *until,
                    length: 60_000,
                    extensions: 0,
                    offered: true,
                    seats: vec![SeatLine { seat: place.seat, price_minor: *price_minor }],
                    areas: Vec::new(),
                };
                self.holds.insert(new.id, new);
            }
            EventFact::EventCreated(_) => panic!("an event is created twice"),
        }
    }

    fn hold(&mut self, id: HoldId) -> &mut Hold {
        self.holds.get_mut(&id).expect("a fact names a hold that lives")
    }

    fn end(&mut self, id: HoldId, end: End, at: Millis) {
        self.holds.remove(&id).expect("a hold that ends lived");
        self.ended.insert(id, (end, at));
    }

    fn leave(&mut self, id: HoldId, end: End, at: Millis) {
        let before = self.places.len();
        self.places.retain(|place| place.id != id);
        assert_eq!(self.places.len() + 1, before, "a place that ends lived");
        self.ended.insert(id, (end, at));
    }

    fn dissolve(&mut self, which: impl Fn(&QueuePlace) -> bool, at: Millis) {
        for place in &self.places {
            if which(place) {
                self.ended.insert(place.id, (End::Dissolved, at));
            }
        }
        self.places.retain(|place| !which(place));
    }
}

impl Chart {
    fn adopt(&mut self, layout: &Layout) {
        self.seats.clear();
        self.sections.clear();
        self.rows.clear();
        self.tiers = 0;
        for section in &layout.sections {
            let number = self.section(&section.name);
            for row in &section.rows {
                let mut members = Vec::new();
                for seat in &row.seats {
                    let index = self.index_of(&seat.id);
                    let special = seat.accessible || seat.companion;
                    self.seats.insert(index, Seat { section: number, tier: seat.tier, special });
                    self.tiers = self.tiers.max(usize::from(seat.tier) + 1);
                    members.push(index);
                }
                self.rows.push((number, members));
            }
        }
        self.areas.iter_mut().for_each(|area| (area.capacity, area.retired) = (0, true));
        for area in &layout.areas {
            self.section(&area.section);
            self.tiers = self.tiers.max(usize::from(area.tier) + 1);
            let new = Area { id: area.id.clone(), tier: area.tier, capacity: area.capacity, retired: false };
            match self.areas.iter_mut().find(|known| known.id == area.id) {
                Some(known) => *known = new,
                None => self.areas.push(new),
            }
        }
    }

    fn section(&mut self, name: &str) -> u16 {
        let known = self.sections.iter().position(|section| section == name);
        known.unwrap_or_else(|| {
            self.sections.push(name.to_owned());
            self.sections.len() - 1
        }) as u16
    }

    fn index_of(&mut self, id: &str) -> u32 {
        let known = self.ids.iter().position(|known| known == id);
        known.unwrap_or_else(|| {
            self.ids.push(id.to_owned());
            self.ids.len() - 1
        }) as u32
    }
}
