//! The desk's open tasks, page by page: what came of a payment is told to its listing, and the desk that it was told;
//! for the rest a conversation with the provider is begun.

use std::collections::VecDeque;

use onsale_domain::desk::{DeskCommand, DeskFound, DeskQuery, PaymentStanding, Task};
use onsale_domain::order::OrderCommand;
use onsale_domain::order::command::{NotePayment, NoteRefund, PaymentResult};
use onsale_domain::{Found, Millis, Outcome, PaymentName};
use onsale_engine::EngineError;

use super::talk::name;
use super::{AT_ONCE, Call, Job, Machine, PAGE};

#[derive(Debug, Default)]
pub(super) struct Tasks {
    page: Page,
    after: Option<(u64, PaymentName, u16)>,
    to_tell: VecDeque<Task>,
    to_ask: VecDeque<Task>,
    /// Listings that are being told.
    telling: usize,
}

#[derive(Debug, Default)]
enum Page {
    #[default]
    Wanted,
    Asked,
    Read {
        is_last: bool,
    },
}

impl Tasks {
    pub(super) fn is_at_rest(&self) -> bool {
        self.telling == 0 && !matches!(self.page, Page::Asked)
    }
}

impl Machine {
    /// Goes on with the tasks; true when each was told or asked for.
    pub(super) fn are_tasks_seen_to(&mut self, now: Millis) -> bool {
        let Some(round) = &mut self.round else { return true };
        match round.tasks.page {
            Page::Asked => return false,
            Page::Wanted => self.read_tasks(),
            Page::Read { is_last } => {
                self.tell_listings();
                self.begin_talks(now);
                let Some(round) = &mut self.round else { return true };
                let tasks = &round.tasks;
                if tasks.telling > 0 || !tasks.to_tell.is_empty() || !tasks.to_ask.is_empty() {
                    return false;
                }
                if is_last {
                    return true;
                }
                self.read_tasks();
            }
        }
        false
    }

    fn read_tasks(&mut self) {
        let Some(round) = &mut self.round else { return };
        round.tasks.page = Page::Asked;
        let after = round.tasks.after;
        // Of what ended before, this page knows.
        self.talks.forget_ended();
        self.call(Call::AskDesk(DeskQuery::Open { after, limit: PAGE }), Job::ReadTasks);
    }

    pub(super) fn tasks_read(&mut self, found: Result<Found, EngineError>) {
        let Some(round) = &mut self.round else { return };
        let tasks = match found {
            Ok(Found::Desk(DeskFound::Open(tasks))) => tasks,
            Ok(_) => Vec::new(),
            Err(error) => {
                (round.tasks.page, round.stops) = (Page::Wanted, true);
                return self.note_trouble(error);
            }
        };
        round.tasks.page = Page::Read { is_last: tasks.len() < PAGE };
        round.tasks.after = tasks.last().map(|task| (task.place, task.payment(), task.slip.refund));
        let (to_tell, to_ask): (Vec<Task>, Vec<Task>) = tasks.into_iter().partition(|task| task.to_deliver);
        round.tasks.to_tell.extend(to_tell);
        round.tasks.to_ask.extend(to_ask);
    }

    fn begin_talks(&mut self, now: Millis) {
        while let Some(round) = &mut self.round
            && let Some(task) = round.tasks.to_ask.pop_front()
        {
            if self.talks.may_begin(&task, now) {
                if self.talks.is_full() {
                    match self.talks.is_crowded() {
                        true => round.tasks.to_ask.clear(),
                        false => round.tasks.to_ask.push_front(task),
                    }
                    return;
                }
                self.begin_talk(task, now);
            }
        }
    }

    fn tell_listings(&mut self) {
        while let Some(round) = &mut self.round
            && round.tasks.telling < AT_ONCE
            && let Some(task) = round.tasks.to_tell.pop_front()
        {
            if let Some(command) = what_came_of(&task) {
                round.tasks.telling += 1;
                self.call(Call::Tell(task.listing, command), Job::TellListing(Box::new(task)));
            }
        }
    }

    pub(super) fn listing_told(&mut self, task: Box<Task>, told: Result<Outcome, EngineError>) {
        let outcome = match told {
            Ok(outcome) => outcome,
            Err(error) => return self.stop_telling(Some(error)),
        };
        let payment = task.payment().text();
        if let Some(refusal) = outcome.refused() {
            // Its listing asked for it, so this cannot be; should it be, somebody must look at it.
            let (listing, code) = (task.listing, refusal.code.as_str());
            tracing::error!(payment, %listing, code, "{listing} does not know payment {payment}: {code}");
            return self.stop_telling(None);
        }
        let (payment, refund, rank) = (task.payment(), task.slip.refund, task.standing.rank());
        self.desk(DeskCommand::NoteDelivered { payment, refund, rank }, Job::NoteDelivered(task));
    }

    pub(super) fn delivered(&mut self, task: &Task, noted: Result<Outcome, EngineError>) {
        let trouble = noted.err();
        if trouble.is_none() {
            self.talks.forget(&name(task));
            // The listing may owe something now.
            self.wants_round = true;
        }
        self.stop_telling(trouble);
    }

    fn stop_telling(&mut self, trouble: Option<EngineError>) {
        if let Some(round) = &mut self.round {
            round.tasks.telling -= 1;
        }
        trouble.into_iter().for_each(|error| self.note_trouble(error));
    }
}

fn what_came_of(task: &Task) -> Option<OrderCommand> {
    let (order, payment, refund) = (task.slip.order, task.slip.payment, task.slip.refund);
    let result = match &task.standing {
        PaymentStanding::Asked | PaymentStanding::Waiting | PaymentStanding::NeedsAction { .. } => {
            return None;
        }
        PaymentStanding::Done { .. } if refund > 0 => {
            return Some(OrderCommand::NoteRefund(NoteRefund { order, payment, refund }));
        }
        PaymentStanding::Done { amount_minor } => PaymentResult::Captured {
            amount_minor: *amount_minor,
            reference: task.reference.clone().unwrap_or_default(),
        },
        PaymentStanding::Failed { reason } => PaymentResult::Declined { reason: reason.clone() },
    };
    Some(OrderCommand::NotePayment(NotePayment { order, payment, result }))
}
