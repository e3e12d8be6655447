//! Drives the payments' worker that ships: makes the calls that its machine names, on the engine and the bank of this
//! world, with answers that come late or not at all and commands that arrive twice. A crash takes all that the worker
//! knows; the bank knows on.

mod close;

use onsale_domain::by::Actor;
use onsale_domain::desk::{DeskCommand, PaymentStanding, desk_of};
use onsale_domain::{By, Command, Found, ListingId, Outcome, Query, Tenant};
use onsale_engine::embedded::shard_of;
use onsale_engine::embedded::work::Work;
use onsale_engine::{MovedListings, Request};
use onsale_payments::machine::{
    Call as PaymentCall, CallId, KINDS, Machine, Patience, Reply as PaymentReply,
};
use tokio::sync::oneshot;

use super::World;
use crate::auditor::ClientAnswer;
use crate::client::{Call, Reply};

/// The worker of the process that runs now, and what it has asked the bank.
#[derive(Debug)]
pub(super) struct Worker {
    machine: Machine,
    moved: MovedListings,
    /// Answers of the bank on their way, by the step in which they arrive.
    answers: Vec<(u64, CallId, PaymentReply)>,
}

impl Worker {
    pub(super) fn start(moved: MovedListings) -> Worker {
        Worker { machine: Machine::new(Patience::default()), moved, answers: Vec::new() }
    }

    pub(super) fn kinds() -> &'static [onsale_domain::ListingKind] {
        &KINDS
    }
}

/// What is done with an answer, once there is one.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    /// It is the worker's.
    Worker(CallId),
    /// The same, of a listing that is told what came of its payment.
    Tell(CallId),
    /// An event was sent, and is answered or not.
    Sent(String),
}

pub(super) fn desk() -> ListingId {
    desk_of(Tenant::DEFAULT)
}

/// Who makes the steps of the worker.
fn provider() -> Option<By> {
    Actor::parse("simulated").map(By::Provider)
}

fn desk_request(command: DeskCommand) -> Request {
    Request { listing: desk(), command: Command::Desk(command), key: None, by: provider() }
}

impl World {
    /// One thing that may happen at the desk next: an event comes, the bank answers, the worker looks around.
    pub(super) fn work_at_the_desk(&mut self) {
        self.bank.pass(self.clock);
        match self.rng.below(4) {
            0 => self.deliver_webhook(),
            1 if self.rng.chance(10) => self.change_worker(),
            _ => self.look_around(),
        }
    }

    /// Another server takes the lease: what this one has begun it hears nothing of any more, though it may be done.
    fn change_worker(&mut self) {
        let Some(worker) = &mut self.worker else { return };
        worker.machine.lose_lease();
        worker.answers.clear();
        self.errands.retain(|_, errand| matches!(errand, Errand::Sent(_)));
    }

    fn look_around(&mut self) {
        let (step, clock) = (self.step, self.clock);
        let Some(worker) = &mut self.worker else { return };
        while let Some(place) = worker.answers.iter().position(|(at, ..)| *at <= step) {
            let (_, call, said) = worker.answers.swap_remove(place);
            worker.machine.take_reply(call, said, clock);
        }
        for (listing, _) in worker.moved.take(usize::MAX) {
            worker.machine.listing_moved(listing);
        }
        worker.machine.tick(clock);
        worker.machine.begin_round(clock);
        self.make_calls();
    }

    fn make_calls(&mut self) {
        while let Some(worker) = &mut self.worker {
            let calls = worker.machine.take_calls();
            if calls.is_empty() {
                return;
            }
            calls.into_iter().for_each(|(id, call)| self.make(id, call));
        }
    }

    fn make(&mut self, id: CallId, call: PaymentCall) {
        let now = self.clock;
        let said = match call {
            PaymentCall::Listings { kind, after, limit } => {
                let views = self
                    .core
                    .as_ref()
                    .map(|core| core.shared.directory.list(Tenant::DEFAULT, kind, after, limit));
                let listings = views.unwrap_or_default().iter().map(|view| view.listing).collect();
                return self.reply(id, PaymentReply::Listings(listings));
            }
            PaymentCall::AskDesk(query) => {
                let slot = self.core.as_ref().and_then(|core| core.shared.directory.get(&desk()));
                return match slot.and_then(|slot| slot.view()) {
                    Some(_) => self.inquire(desk(), Query::Desk(query), Errand::Worker(id)),
                    None => self.reply(id, PaymentReply::Found(Ok(Found::Nothing))),
                };
            }
            PaymentCall::AskListing(listing, query) => {
                return self.inquire(listing, Query::Orders(query), Errand::Worker(id));
            }
            PaymentCall::Desk(command) => return self.command_the_desk(id, command),
            PaymentCall::Tell(listing, command) => {
                let request =
                    Request { listing, command: Command::Order(command), key: None, by: provider() };
                return self.tell(request, Errand::Tell(id));
            }
            PaymentCall::Charge(ask) => self.bank.charge(&mut self.rng, &ask).map(Some),
            PaymentCall::Refund(ask) => self.bank.refund(&mut self.rng, &ask).map(Some),
            PaymentCall::LookUp(ask) => Ok(self.bank.look_up(&ask.key, now)),
            PaymentCall::CallOff(ask) => Ok(self.bank.call_off(&ask.key, now)),
        };
        let at = self.step + if self.rng.chance(700) { 0 } else { self.rng.below(60) };
        if let Some(worker) = &mut self.worker {
            worker.answers.push((at, id, PaymentReply::Said(said.map_err(|error| error.to_string()))));
        }
    }

    fn reply(&mut self, id: CallId, reply: PaymentReply) {
        let clock = self.clock;
        self.worker.iter_mut().for_each(|worker| worker.machine.take_reply(id, reply.clone(), clock));
    }

    /// What the worker tells the desk may arrive once more, much later; a refund's failure always does.
    fn command_the_desk(&mut self, id: CallId, command: DeskCommand) {
        let is_failed_refund = matches!(&command, DeskCommand::NoteAnswer(note)
            if note.refund > 0 && matches!(note.standing, PaymentStanding::Failed { .. }));
        let request = desk_request(command);
        if is_failed_refund || self.rng.chance(200) {
            self.network.send(&mut self.rng, self.step, vec![request.clone()]);
        }
        self.tell(request, Errand::Worker(id));
    }

    /// Events come in any order, and some are sent again.
    fn deliver_webhook(&mut self) {
        if self.bank.pushed.is_empty() {
            return;
        }
        let place = self.rng.below(self.bank.pushed.len() as u64) as usize;
        let webhook = self.bank.pushed[place].clone();
        let (errand, request) = (
            Errand::Sent(webhook.event.clone()),
            desk_request(DeskCommand::ReceiveWebhook(Box::new(webhook))),
        );
        // One may come a second time, much later, on another way.
        if self.rng.chance(150) {
            self.network.send(&mut self.rng, self.step, vec![request.clone()]);
        }
        // What nobody answered is sent until somebody does.
        self.tell(request, errand);
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

    /// Submits something and goes on when it is answered.
    fn tell(&mut self, request: Request, errand: Errand) {
        let shard = shard_of(&request.listing, self.shards);
        let (call, work) = Call::submit(vec![request], self.step);
        self.post(shard, work, call);
        self.errands.insert(self.next_call, errand);
    }

    /// Goes on with what was heard.
    pub(super) fn carry_on(&mut self, errand: Errand, told: &ClientAnswer) {
        let reply = match told {
            ClientAnswer::Found(found) => PaymentReply::Found(found.clone()),
            ClientAnswer::Answer(answer) => PaymentReply::Decided(
                answer.as_ref().map(|answer| answer.outcome.clone()).map_err(Clone::clone),
            ),
            ClientAnswer::Holds(_) => return,
        };
        let id = match (errand, &reply) {
            (Errand::Sent(event), PaymentReply::Decided(Ok(_))) => {
                return self.bank.is_heard(&mut self.rng, &event);
            }
            (Errand::Sent(_), _) => return,
            (Errand::Tell(_), PaymentReply::Decided(Ok(Outcome::Refused(refusal)))) => {
                panic!("a listing does not know what it asked for: {refusal:?}")
            }
            (Errand::Worker(id) | Errand::Tell(id), _) => id,
        };
        self.reply(id, reply);
        self.make_calls();
    }
}
