//! Who comes next, and what is over: promotion in the same step as the place came free, lapses, the calendar.

use super::Run;
use super::cancel_entry::paid_minor;
use super::command::RegistrationCommand;
use super::details::RegistrationStatus;
use super::fact::{EntryCancelCause, RegistrationFact};
use super::state::{EntryStep, Registration};
use crate::id::{BuyerId, EntryId};
use crate::limits::{EXPIRE_DUE_MAX, PLACE_OFFER_MS};
use crate::time::{Millis, is_over};

impl Registration {
    /// The next change that the calendar brings, and when.
    fn next_on_schedule(&self) -> Option<(Millis, RegistrationStatus)> {
        match self.status {
            RegistrationStatus::Scheduled => Some((self.details.opens_at, RegistrationStatus::Open)),
            RegistrationStatus::Open => Some((self.details.closes_at(), RegistrationStatus::Closed)),
            RegistrationStatus::Closed => Some((self.details.starts_at, RegistrationStatus::Started)),
            RegistrationStatus::Started | RegistrationStatus::Cancelled => None,
        }
    }

    fn has_cancelled_work(&self) -> bool {
        self.status == RegistrationStatus::Cancelled && !self.by_fence.is_empty()
    }

    /// There is room and somebody waits: only after a raise of the capacity by more than one step serves.
    pub(super) fn can_promote(&self) -> bool {
        self.status == RegistrationStatus::Open && self.free() > 0 && !self.waiting.is_empty()
    }

    /// When something falls due that no command has touched.
    pub fn next_due(&self) -> Option<Millis> {
        if self.has_cancelled_work() || self.can_promote() {
            return Some(Millis::MIN);
        }
        let first = self.due.first().map(|(until, _)| until);
        first.into_iter().chain(self.next_on_schedule().map(|(at, _)| at)).min()
    }

    fn first_due(&self, now: Millis) -> Option<RegistrationFact> {
        let (until, index) = self.due.first()?;
        is_over(until, now).then(|| self.offer_lapsed(index))
    }

    fn offer_lapsed(&self, index: u32) -> RegistrationFact {
        let entry = &self.entries[index];
        RegistrationFact::OfferLapsed { entry: entry.id, buyer: entry.buyer() }
    }

    /// The promotion of the first in line, if there is room for it.
    fn next_promotion(&self, now: Millis) -> Option<RegistrationFact> {
        let (_, first) = *self.waiting.front().filter(|_| self.can_promote())?;
        let (entry, buyer) = (self.entries[first].id, self.entries[first].buyer());
        let price_minor = self.details.price_minor;
        if price_minor == 0 {
            return Some(RegistrationFact::Promoted { entry, buyer });
        }
        let until = (now + PLACE_OFFER_MS).min(self.details.starts_at);
        Some(RegistrationFact::Offered { entry, buyer, price_minor, until })
    }

    fn next_cancelled(&self) -> Option<RegistrationFact> {
        let (_, index) = self.by_fence.first_key_value()?;
        let (entry, buyer) = (self.entries[*index].id, self.entries[*index].buyer());
        let (why, amount_minor) = (EntryCancelCause::RegistrationCancelled, paid_minor(self, *index));
        Some(RegistrationFact::EntryCancelled { entry, buyer, why, amount_minor })
    }

    /// Whether there are too few free places for what is wanted.
    fn is_short(&self, wanted: Need) -> bool {
        match wanted {
            Need::Nothing => false,
            Need::Place => self.free() == 0,
            Need::Capacity(capacity) => self.taken() > capacity,
        }
    }

    fn is_due(&self, index: u32, now: Millis) -> bool {
        match self.entries[index].step {
            EntryStep::Offered { until, .. } => is_over(until, now),
            EntryStep::Waiting | EntryStep::Confirmed { .. } => false,
        }
    }
}

impl Run<'_, '_> {
    /// Opens, closes or starts the registration when its hour has come. From the cut-off on nobody is promoted,
    /// whenever the place came free.
    pub(super) fn follow_schedule(&mut self) {
        while let Some((at, status)) = self.registration.next_on_schedule()
            && is_over(at, self.now)
        {
            self.take(RegistrationFact::StatusChanged { status, by_schedule: true });
        }
    }

    /// Lapses what is touched: the buyer's own offer, the one that is named, and, while there are too few free places
    /// for what is wanted, the oldest.
    pub(super) fn expire_touched(&mut self, touched: &ExpiryScope<'_>) {
        if self.registration.first_due(self.now).is_none() {
            return;
        }
        let own = touched.buyer.and_then(|buyer| self.registration.entry_of(buyer));
        let named = touched.entry.and_then(|entry| self.registration.entry_index(entry));
        let due = |index: &u32| self.registration.is_due(*index, self.now);
        let mut lapsing: Vec<u32> = own.into_iter().chain(named).filter(due).collect();
        lapsing.dedup();
        let lapsing: Vec<RegistrationFact> =
            lapsing.into_iter().map(|index| self.registration.offer_lapsed(index)).collect();
        lapsing.into_iter().for_each(|fact| self.take(fact));
        for _ in 0..EXPIRE_DUE_MAX {
            if !self.registration.is_short(touched.wanted) {
                break;
            }
            let Some(fact) = self.registration.first_due(self.now) else { break };
            self.take(fact);
        }
    }

    /// Promotes as many as there is room for, a bounded number in one step; sweeps go on at once.
    pub(super) fn promote(&mut self) {
        while self.promoted < EXPIRE_DUE_MAX
            && let Some(fact) = self.registration.next_promotion(self.now)
        {
            self.promoted += 1;
            self.take_plain(fact);
        }
    }

    /// The sweep: whatever is due, in (until, fence) order, a bounded number at a time.
    pub(super) fn expire_due(&mut self, limit: u32) {
        self.promote();
        for _ in 0..limit.min(EXPIRE_DUE_MAX) {
            let next = match self.registration.has_cancelled_work() {
                true => self.registration.next_cancelled(),
                false => self.registration.first_due(self.now),
            };
            let Some(fact) = next else { break };
            self.take(fact);
        }
    }
}

/// What shall not be in the way, or not be told as living, if it is over.
#[derive(Debug)]
pub(super) struct ExpiryScope<'a> {
    pub buyer: Option<&'a BuyerId>,
    pub entry: Option<EntryId>,
    pub wanted: Need,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    Nothing,
    /// A free place.
    Place,
    /// No more places than these.
    Capacity(u32),
}

/// What a command touches.
pub(super) fn touched(command: &RegistrationCommand) -> ExpiryScope<'_> {
    let (buyer, entry, wanted) = match command {
        RegistrationCommand::Register(command) => (Some(&command.buyer), None, Need::Place),
        RegistrationCommand::Confirm(command) => (Some(&command.buyer), Some(command.entry), Need::Nothing),
        RegistrationCommand::CancelEntry(command) => {
            (command.buyer.as_ref(), Some(command.entry), Need::Nothing)
        }
        RegistrationCommand::ChangeCapacity { capacity } => (None, None, Need::Capacity(*capacity)),
        RegistrationCommand::Create(_)
        | RegistrationCommand::Change(_)
        | RegistrationCommand::Close
        | RegistrationCommand::Cancel => (None, None, Need::Nothing),
    };
    ExpiryScope { buyer, entry, wanted }
}
