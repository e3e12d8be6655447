//! Conversations with the provider: asking under a key, looking up what became of it, calling it off, and noting what
//! was said. They go on beside the rounds: one that is never answered holds up nobody.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::desk::command::NoteAnswer;
use onsale_domain::desk::{DeskCommand, PaymentStanding, Task};
use onsale_domain::id::write_inside;
use onsale_domain::order::{OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::time::is_over;
use onsale_domain::{Found, Millis, Outcome, PaymentName};
use onsale_engine::EngineError;

use super::{Call, Job, Machine, Reply};
use crate::ask_key;
use crate::provider::{Charge, GiveBack, LookUp, ProviderAnswer};

/// Conversations at the same time. Stripe takes about a hundred requests a second and each lasts some tenths of one; more
/// would be turned away there, and each that is never answered keeps a place and its connection for a while.
pub const TALKS_MAX: usize = 64;
/// Doublings of the pause between two tries; far more than it takes to reach the longest one.
const DOUBLINGS_MAX: u32 = 20;

/// A payment or one of its refunds: there is one conversation about it at a time, so no try is asked for twice at once.
type Name = (PaymentName, u16);

pub(super) fn name(task: &Task) -> Name {
    (task.payment(), task.slip.refund)
}

#[derive(Debug, Default)]
pub(super) struct Talks {
    under_way: BTreeSet<Name>,
    /// Those that ended after the present page of tasks was asked for: it may not know what was said in them.
    ended: BTreeSet<Name>,
    /// No place came free in time; nothing is begun until the next round.
    is_crowded: bool,
    tries: BTreeMap<Name, Tries>,
    /// Those whose provider does not answer, which has been logged: a wait is told of once, not with every try.
    unanswered: BTreeSet<Name>,
    trouble: Option<EngineError>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    count: u32,
    next_at: Millis,
}

#[derive(Debug)]
pub(super) struct Talk {
    task: Task,
    began_at: Millis,
}

/// What the conversation waits for.
#[derive(Debug)]
pub(super) enum TalkStep {
    /// Whether the order still waits for its payment.
    Order,
    Asked,
    CalledOff,
    Noted {
        standing: PaymentStanding,
    },
}

impl Talks {
    pub(super) fn begin_round(&mut self) {
        self.is_crowded = false;
        self.trouble = None;
    }

    /// A round waits for a place no longer, because listings must be told of money that moved.
    pub(super) fn give_up_waiting(&mut self) {
        self.is_crowded = self.is_full();
    }

    pub(super) fn is_full(&self) -> bool {
        self.under_way.len() >= TALKS_MAX
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    pub(super) fn forget_ended(&mut self) {
        self.ended.clear();
    }

    /// Whether there is no conversation about it, and it is time to ask again.
    pub(super) fn may_begin(&self, task: &Task, now: Millis) -> bool {
        let name = name(task);
        let rests = self.tries.get(&name).is_some_and(|tries| now < tries.next_at);
        !rests && !self.under_way.contains(&name) && !self.ended.contains(&name)
    }

    /// Its listing has heard what came of it.
    pub(super) fn forget(&mut self, name: &Name) {
        self.tries.remove(name);
        self.unanswered.remove(name);
    }

    pub(super) fn take_trouble(&mut self) -> Option<EngineError> {
        self.trouble.take()
    }

    pub(super) fn let_go(&mut self) {
        self.under_way.clear();
        self.ended.clear();
    }

    fn end(&mut self, name: Name) {
        self.under_way.remove(&name);
        self.ended.insert(name);
    }
}

impl Machine {
    pub(super) fn begin_talk(&mut self, task: Task, now: Millis) {
        let slip = &task.slip;
        let is_late = slip.until.is_some_and(|until| is_over(until, now));
        let is_payment = slip.refund == 0;
        let (call, step) = match &task.standing {
            PaymentStanding::Failed { .. } | PaymentStanding::Done { .. } => return,
            // The goods are let go: no money is asked for any more. But it may have been, and then it must be known.
            PaymentStanding::Asked if is_late => {
                (Call::CallOff(self.what_of(&task, now)), TalkStep::CalledOff)
            }
            PaymentStanding::Asked => (self.ask(&task, now), TalkStep::Asked),
            PaymentStanding::Waiting | PaymentStanding::NeedsAction { .. } if is_payment && is_late => {
                (Call::CallOff(self.what_of(&task, now)), TalkStep::CalledOff)
            }
            PaymentStanding::Waiting | PaymentStanding::NeedsAction { .. } if is_payment => {
                (Call::AskListing(task.listing, OrdersQuery::Order(slip.order)), TalkStep::Order)
            }
            PaymentStanding::Waiting | PaymentStanding::NeedsAction { .. } => {
                (Call::LookUp(self.what_of(&task, now)), TalkStep::Asked)
            }
        };
        self.talks.under_way.insert(name(&task));
        self.call(call, Job::Talk(Box::new(Talk { task, began_at: now }), step));
    }

    /// Asked before and not answered, it is the same ask: it has the same key.
    fn ask(&self, task: &Task, now: Millis) -> Call {
        let slip = &task.slip;
        let key = ask_key(task.payment(), slip.refund, task.failures);
        let (amount_minor, currency) = (slip.amount_minor, slip.currency);
        match slip.refund {
            0 => Call::Charge(Charge {
                key,
                amount_minor,
                currency,
                method: slip.method.clone(),
                order: write_inside("ord", &task.listing, slip.order.0),
                now,
            }),
            _ => Call::Refund(GiveBack {
                key,
                payment_key: ask_key(task.payment(), 0, 0),
                reference: slip.of_reference.clone(),
                amount_minor,
                currency,
                failures: task.failures,
                asked_at: task.taken_at,
                now,
            }),
        }
    }

    fn what_of(&self, task: &Task, now: Millis) -> LookUp {
        let slip = &task.slip;
        LookUp {
            key: ask_key(task.payment(), slip.refund, task.failures),
            reference: task.reference.clone(),
            is_refund: slip.refund > 0,
            asked_at: task.taken_at,
            now,
        }
    }

    pub(super) fn go_on_talking(&mut self, talk: Box<Talk>, step: TalkStep, reply: Reply, now: Millis) {
        match step {
            TalkStep::Order => {
                // Staff took the goods, or the event was cancelled: it is called off instead.
                let is_let_go = match reply.found() {
                    Ok(Found::Orders(OrdersFound::Order(order))) => order.status != OrderStatus::Paying,
                    Ok(_) | Err(_) => false,
                };
                let what = self.what_of(&talk.task, now);
                match is_let_go {
                    true => self.call(Call::CallOff(what), Job::Talk(talk, TalkStep::CalledOff)),
                    // Webhooks may be lost.
                    false => self.call(Call::LookUp(what), Job::Talk(talk, TalkStep::Asked)),
                }
            }
            TalkStep::Asked => match self.heard(&talk.task, reply.said()) {
                Some(Some(said)) => self.note(talk, said),
                Some(None) | None => self.try_later(&talk),
            },
            TalkStep::CalledOff => match self.heard(&talk.task, reply.said()) {
                Some(said) => {
                    let reason = "not paid in time".to_owned();
                    let never =
                        ProviderAnswer { reference: None, standing: PaymentStanding::Failed { reason } };
                    self.note(talk, said.unwrap_or(never));
                }
                None => self.try_later(&talk),
            },
            TalkStep::Noted { standing } => self.noted(&talk, &standing, reply.decided()),
        }
    }

    /// What was answered, if anything. That a payment waits is logged once, until its provider answers again.
    fn heard(
        &mut self,
        task: &Task,
        answer: Result<Option<ProviderAnswer>, String>,
    ) -> Option<Option<ProviderAnswer>> {
        let why = match answer {
            Ok(said) => {
                self.talks.unanswered.remove(&name(task));
                return Some(said);
            }
            Err(why) => why,
        };
        let payment = task.payment().text();
        match self.talks.unanswered.insert(name(task)) {
            true => tracing::warn!(
                payment,
                why,
                "{payment} waits and is asked for again until it is answered: {why}"
            ),
            false => tracing::debug!(payment, why, "{payment} still waits: {why}"),
        }
        None
    }

    fn note(&mut self, talk: Box<Talk>, said: ProviderAnswer) {
        let standing = said.standing.clone();
        let note = NoteAnswer {
            payment: talk.task.payment(),
            refund: talk.task.slip.refund,
            failures: talk.task.failures,
            reference: said.reference,
            standing: said.standing,
        };
        self.desk(DeskCommand::NoteAnswer(note), Job::Talk(talk, TalkStep::Noted { standing }));
    }

    /// Trouble in one conversation is none of the others': it is begun again.
    fn noted(&mut self, talk: &Talk, standing: &PaymentStanding, noted: Result<Outcome, EngineError>) {
        let outcome = match noted {
            Ok(outcome) => outcome,
            Err(error) => {
                tracing::warn!(%error, "an answer of the payment provider waits: {error}");
                self.talks.trouble.get_or_insert(error);
                return self.talks.end(name(&talk.task));
            }
        };
        // A refund that failed is asked for again, but not at once.
        let is_failed_refund =
            talk.task.slip.refund > 0 && matches!(standing, PaymentStanding::Failed { .. });
        if outcome == Outcome::Done && !is_failed_refund {
            self.talks.tries.remove(&name(&talk.task));
            self.talks.end(name(&talk.task));
            self.wants_round = true;
        } else {
            self.try_later(talk);
        }
    }

    fn try_later(&mut self, talk: &Talk) {
        let name = name(&talk.task);
        let tries = self.talks.tries.entry(name).or_default();
        let wait = self.patience.again_ms << tries.count.min(DOUBLINGS_MAX);
        let next_at = talk.began_at + wait.min(self.patience.again_ms_max);
        *tries = Tries { count: tries.count + 1, next_at };
        self.talks.end(name);
    }
}
