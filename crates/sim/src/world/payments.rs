//! The payments' worker, in simulation: it reads what listings ask for, has the desk take it, asks the bank, and tells
//! listings what came of it. A crash takes all that it knows; the bank knows on.

use onsale_domain::desk::command::{NoteAnswer, TakeWork};
use onsale_domain::desk::{DeskCommand, DeskFound, DeskQuery, Slip, Standing, Task, desk_of};
use onsale_domain::order::command::{NotePayment, NoteRefund, PaymentResult};
use onsale_domain::order::{OrderCommand, OrdersFound, OrdersQuery, Work as Owed};
use onsale_domain::{Command, ListingId, ListingKind, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::Request;
use onsale_engine::embedded::shard_of;
use onsale_engine::embedded::work::Work;
use tokio::sync::oneshot;

use super::World;
use super::bank::Said;
use crate::auditor::Told;
use crate::client::{Call, Reply};
use crate::model::other::is_paid_event;

/// Rounds after which everything that will come must have come.
const ROUNDS_MAX: usize = 400;

/// What the worker does with an answer, once it has one.
#[derive(Clone, Debug)]
pub enum Errand {
    Cursor(ListingId),
    Slips(ListingId),
    Tasks,
    Delivered(Box<Task>),
    /// An event was sent, and is answered or not.
    Sent(String),
    /// Nothing more is to be done, but it is waited for.
    Noted,
}

fn desk() -> ListingId {
    desk_of(Tenant::DEFAULT)
}

fn desk_request(command: DeskCommand) -> Request {
    Request { listing: desk(), command: Command::Desk(command), key: None, by: None }
}

impl World {
    /// One thing that a worker may do next.
    pub(super) fn work_at_the_desk(&mut self) {
        self.bank.pass(self.clock);
        if !self.auditor.listings.contains_key(&desk()) {
            return self.network.send(&mut self.rng, self.step, vec![desk_request(DeskCommand::Open)]);
        }
        let turn = self.rng.below(4);
        // One worker, and it waits for what it has begun: two would ask for the same refund under two keys.
        if turn > 0 && !self.errands.is_empty() {
            return;
        }
        match turn {
            0 => self.deliver_webhook(),
            1 | 2 => self.look_for_slips(),
            _ => {
                let query = Query::Desk(DeskQuery::Open { after: None, limit: 64 });
                self.inquire(desk(), query, Errand::Tasks);
            }
        }
    }

    /// Events come in any order, and some are sent again.
    fn deliver_webhook(&mut self) {
        if self.bank.pushed.is_empty() {
            return;
        }
        let place = self.rng.below(self.bank.pushed.len() as u64) as usize;
        if self.workload.is_keeping() {
            // Days may pass here: what nobody answered is sent until somebody does.
            let webhook = self.bank.pushed[place].clone();
            let errand = Errand::Sent(webhook.event.clone());
            return self.tell(desk_request(DeskCommand::ReceiveWebhook(Box::new(webhook))), errand);
        }
        let webhook = match self.rng.chance(850) {
            true => self.bank.pushed.swap_remove(place),
            false => self.bank.pushed[place].clone(),
        };
        let request = desk_request(DeskCommand::ReceiveWebhook(Box::new(webhook)));
        self.network.send(&mut self.rng, self.step, vec![request]);
    }

    fn look_for_slips(&mut self) {
        let mut paid: Vec<ListingId> = self.auditor.listings.keys().copied().collect();
        let keeping = self.workload.is_keeping();
        let (listings, clock) = (&self.auditor.listings, self.clock);
        let has_work = |id: &ListingId| {
            let query = Query::Orders(OrdersQuery::WorkAfter { fence: 0, limit: 1 });
            let found = listings.get(id).map(|listing| listing.ask(&query, clock));
            matches!(found, Some(Found::Orders(OrdersFound::Work(work))) if !work.is_empty())
        };
        paid.retain(|id| {
            // Of what is kept for days there is much, and most has nothing to be paid.
            let has_orders = is_paid_event(*id) || id.kind == ListingKind::Sale || (keeping && has_work(id));
            id.tenant == Tenant::DEFAULT && has_orders
        });
        if let Some(listing) = self.rng.pick(&paid).copied() {
            self.inquire(desk(), Query::Desk(DeskQuery::Cursor(listing)), Errand::Cursor(listing));
        }
    }

    fn inquire(&mut self, listing: ListingId, query: Query, errand: Errand) {
        let (reply, answer) = oneshot::channel();
        let call = Call {
            requests: Vec::new(),
            reply: Reply::Found(answer),
            expected: Vec::new(),
            listens_from: self.step,
        };
        self.post(shard_of(&listing, self.shards), Work::Ask(listing, query, reply), call);
        self.errands.insert(self.next_call, errand);
    }

    /// Goes on with what was heard; trouble ends an errand, and another one finds the same work.
    pub(super) fn carry_on(&mut self, errand: Errand, told: &Told) {
        match (errand, told) {
            (Errand::Cursor(listing), Told::Found(Ok(Found::Desk(DeskFound::Cursor(fence))))) => {
                let query = Query::Orders(OrdersQuery::WorkAfter { fence: *fence, limit: 64 });
                self.inquire(listing, query, Errand::Slips(listing));
            }
            (Errand::Slips(listing), Told::Found(Ok(Found::Orders(OrdersFound::Work(work))))) => {
                if let Some(last) = work.last() {
                    let (through, slips) = (last.fence, work.iter().map(slip).collect());
                    let take = TakeWork { listing, through, slips };
                    let request = desk_request(DeskCommand::TakeWork(take));
                    self.network.send(&mut self.rng, self.step, vec![request]);
                }
            }
            (Errand::Tasks, Told::Found(Ok(Found::Desk(DeskFound::Open(tasks))))) => {
                for task in tasks {
                    self.see_to(task);
                }
            }
            (Errand::Delivered(task), Told::Answer(Ok(answer))) => {
                let refused = matches!(answer.outcome, Outcome::Refused(_));
                assert!(!refused, "a listing does not know what it asked for: {task:?}");
                let (payment, refund, rank) = (task.slip.payment, task.slip.refund, task.standing.rank());
                let request = desk_request(DeskCommand::NoteDelivered { payment, refund, rank });
                self.network.send(&mut self.rng, self.step, vec![request]);
            }
            (Errand::Sent(event), Told::Answer(Ok(_))) => self.bank.is_heard(&mut self.rng, &event),
            _trouble => {}
        }
    }

    fn see_to(&mut self, task: &Task) {
        if task.to_deliver {
            return self.deliver(task);
        }
        let (slip, now) = (&task.slip, self.clock);
        let key = (slip.payment, slip.refund, task.failures);
        let late = slip.until.is_some_and(|until| until <= now);
        let said = match (&task.standing, late) {
            (Standing::Asked, false) => Some(self.bank.ask(&mut self.rng, key, slip, now)),
            // The goods are let go: nothing is asked for any more, but it may have been.
            (Standing::Asked, true) => Some(
                self.bank
                    .look_up(key, now)
                    .unwrap_or(Said::Something(None, Standing::Failed { reason: "not paid in time".into() })),
            ),
            (_, true) if self.workload.is_keeping() => self.bank.call_off(key, now),
            _waiting => self.bank.look_up(key, now),
        };
        let Some(Said::Something(reference, standing)) = said else { return };
        let (payment, refund) = (slip.payment, slip.refund);
        // A refund's failure is told twice: it is one failure all the same.
        let twice = refund > 0 && matches!(standing, Standing::Failed { .. });
        let note = NoteAnswer { payment, refund, failures: task.failures, reference, standing };
        for _ in 0..=u8::from(twice) {
            self.tell(desk_request(DeskCommand::NoteAnswer(note.clone())), Errand::Noted);
        }
    }

    /// Submits something and goes on when it is answered.
    fn tell(&mut self, request: Request, errand: Errand) {
        let shard = shard_of(&request.listing, self.shards);
        let (call, work) = Call::submit(vec![request], self.step);
        self.post(shard, work, call);
        self.errands.insert(self.next_call, errand);
    }

    fn deliver(&mut self, task: &Task) {
        let (order, payment, refund) = (task.slip.order, task.slip.payment, task.slip.refund);
        let command = match &task.standing {
            Standing::Done { .. } if refund > 0 => {
                OrderCommand::NoteRefund(NoteRefund { order, payment, refund })
            }
            Standing::Done { amount_minor } => {
                let reference = task.reference.clone().unwrap_or_default();
                let result = PaymentResult::Captured { amount_minor: *amount_minor, reference };
                OrderCommand::NotePayment(NotePayment { order, payment, result })
            }
            Standing::Failed { reason } => {
                let result = PaymentResult::Declined { reason: reason.clone() };
                OrderCommand::NotePayment(NotePayment { order, payment, result })
            }
            Standing::Asked | Standing::Waiting | Standing::NeedsAction { .. } => return,
        };
        let request =
            Request { listing: task.listing, command: Command::Order(command), key: None, by: None };
        self.tell(request, Errand::Delivered(Box::new(task.clone())));
    }

    /// At the end of a run: everything that is under way comes, and then the bank and our books say the same.
    pub(super) fn close_the_desk(&mut self) -> Result<(), String> {
        for round in 0..ROUNDS_MAX {
            // The slowest money comes, and everybody's days are over; some of it may be the last chance of the next.
            if self.workload.is_keeping() && round % 40 == 0 && self.bank.is_patient(self.clock) {
                self.clock += 25 * 3_600_000;
            }
            self.step += 100;
            self.clock += 5_000;
            for _ in 0..8 {
                self.work_at_the_desk();
            }
            for requests in self.network.arrived(self.step) {
                self.arrive(requests);
            }
            (0..self.shards).try_for_each(|shard| self.decide(shard, usize::MAX))?;
            while !self.pending.is_empty() {
                self.commit()?;
            }
            self.hear(true)?;
        }
        let (taken, given_back) = self.bank.moved();
        let mut books = crate::model::Moved::default();
        for other in self.auditor.listings.values().filter_map(|one| one.other()) {
            let moved = other.moved();
            books.captured += moved.captured;
            books.owed += moved.owed;
            books.paid_back += moved.paid_back;
            books.worth += moved.worth;
        }
        if (taken, given_back, books.owed) != (books.captured, books.paid_back, books.paid_back) {
            return Err(format!("the bank took {taken} and gave {given_back} back, our books say {books:?}"));
        }
        if taken - given_back != books.worth {
            return Err(format!(
                "{} is kept, confirmed orders are worth {}",
                taken - given_back,
                books.worth
            ));
        }
        let overdue =
            |one: &&crate::model::Listing| one.other().is_some_and(|other| other.is_overdue(self.clock));
        match self.auditor.listings.values().find(overdue) {
            Some(late) if self.workload.is_keeping() => {
                Err(format!("{} keeps something for somebody whose time is over", late.id))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn slip(work: &Owed) -> Slip {
    Slip {
        order: work.order,
        payment: work.payment,
        refund: work.refund,
        amount_minor: work.amount_minor,
        currency: work.currency,
        until: work.until,
        of_reference: work.reference.clone(),
        method: work.method.clone(),
    }
}
