//! What an order may know and do of a place that is kept for its buyer; see [`crate::order`].

use super::Run;
use super::command::RegistrationCommand;
use super::confirm_entry::own_entry;
use super::details::RegistrationStatus;
use super::fact::RegistrationFact;
use super::state::{EntryStep, Registration};
use crate::id::{EntryId, OrderId};
use crate::order::command::EntryKey;
use crate::order::fact::Goods;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

impl Registration {
    /// The place that is kept for this buyer until he pays it.
    pub(crate) fn goods_of(&self, key: &EntryKey, now: Millis) -> Result<Goods, Refusal> {
        self.not_cancelled()?;
        let index = own_entry(self, key.entry, Some(&key.buyer), now)?;
        match self.entries[index].step {
            EntryStep::Offered { until, price_minor } => {
                Ok(Goods::Entry { entry: key.entry, price_minor, until })
            }
            EntryStep::Waiting => Err(Refusal::of(Code::NotOffered)),
            EntryStep::Confirmed { paid: None } => Err(Refusal::of(Code::EntryConfirmed)),
            EntryStep::Confirmed { paid: Some((order, _)) } => {
                Err(Refusal { detail: Detail::Order(order), ..Refusal::of(Code::EntryConfirmed) })
            }
        }
    }

    pub(crate) fn not_cancelled(&self) -> Result<(), Refusal> {
        match self.status {
            RegistrationStatus::Cancelled => Err(Refusal::of(Code::RegistrationCancelled)),
            RegistrationStatus::Scheduled
            | RegistrationStatus::Open
            | RegistrationStatus::Closed
            | RegistrationStatus::Started => Ok(()),
        }
    }

    pub(crate) fn kept_until(&self, entry: EntryId) -> Option<Millis> {
        match self.entries[self.entry_index(entry)?].step {
            EntryStep::Offered { until, .. } => Some(until),
            EntryStep::Waiting | EntryStep::Confirmed { .. } => None,
        }
    }

    pub(crate) fn knows_order(&self, order: OrderId) -> bool {
        self.entry_by_order.contains_key(&order)
    }

    pub(crate) fn has_entry(&self, entry: EntryId) -> bool {
        self.entry_index(entry).is_some()
    }

    /// Whoever pays is waited for; a place is never kept shorter for it.
    pub(crate) fn pin(&mut self, entry: EntryId, pinned: Millis) {
        let index = self.entry_index(entry).expect("an order's place is kept");
        if let EntryStep::Offered { until, price_minor } = self.entries[index].step {
            self.step(entry, EntryStep::Offered { until: until.max(pinned), price_minor });
        }
    }

    /// Late money: the buyer has no other entry, there is room, and nobody waits for it.
    pub(crate) fn has_room_for(&self, key: &EntryKey) -> bool {
        let runs = matches!(self.status, RegistrationStatus::Open | RegistrationStatus::Closed);
        let is_new = self.entry_of(&key.buyer).is_none() && self.entry_index(key.entry).is_none();
        runs && is_new && self.free() > 0 && self.waiting.is_empty()
    }

    /// Lapses what a command would touch, and follows the calendar.
    pub(crate) fn expire_as_for<F: From<RegistrationFact>>(
        &mut self,
        command: &RegistrationCommand,
        now: Millis,
        fence: u64,
        facts: &mut Vec<F>,
    ) {
        let mut run = Run { registration: self, now, fence, facts, promoted: 0 };
        run.follow_schedule();
        run.expire_touched(command);
    }
}
