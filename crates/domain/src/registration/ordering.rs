//! What an order may know and do of a place that is kept for its buyer; see [`crate::order`].

use super::Run;
use super::command::{ConfirmEntry, RegistrationCommand};
use super::confirm_entry::own_entry;
use super::details::RegistrationStatus;
use super::fact::RegistrationFact;
use super::promote::{ExpiryScope, Need};
use super::state::{EntryStep, Registration};
use crate::command::Command;
use crate::fact::Fact;
use crate::id::{BuyerId, EntryId, OrderId};
use crate::kind::Kind;
use crate::money::Currency;
use crate::order::command::{EntryKey, GoodsKey};
use crate::order::fact::OrderedGoods;
use crate::order::guard::{is_not_paying, new_id, taken};
use crate::order::{
    BookedOrder, Goods, GoodsChange, Order, OrderStatus, OrderSummary, Orders, TakeBackOutcome,
};
use crate::refusal::{Code, Detail, Refusal};
use crate::step_writer::StepWriter;
use crate::time::{Millis, is_over};

impl Goods for Registration {
    /// The place that is kept for this buyer until it is paid.
    fn quote(&self, key: &GoodsKey, now: Millis) -> Result<(OrderedGoods, Currency), Refusal> {
        let GoodsKey::Entry(EntryKey { entry, buyer }) = key else {
            return Err(Refusal::of(Code::WrongKind));
        };
        self.not_cancelled()?;
        let index = own_entry(self, *entry, Some(buyer), now)?;
        match self.entries[index].step {
            EntryStep::Offered { until, price_minor } => {
                let goods = OrderedGoods::Entry { entry: *entry, price_minor, until };
                Ok((goods, self.details().currency))
            }
            EntryStep::Waiting => Err(Refusal::of(Code::NotOffered)),
            EntryStep::Confirmed { paid: None } => Err(Refusal::of(Code::EntryConfirmed)),
            EntryStep::Confirmed { paid: Some(paid) } => {
                Err(Refusal { detail: Detail::Order(paid.order), ..Refusal::of(Code::EntryConfirmed) })
            }
        }
    }

    fn until(&self, goods: &OrderedGoods) -> Option<Millis> {
        let OrderedGoods::Entry { entry, .. } = goods else { return None };
        match self.entries[self.entry_index(*entry)?].step {
            EntryStep::Offered { until, .. } => Some(until),
            EntryStep::Waiting | EntryStep::Confirmed { .. } => None,
        }
    }

    /// A place is kept for days; a payment that leads to nothing shall not block the next one for so long.
    fn pinned_until(&self, _goods: &OrderedGoods, pinned: Millis) -> Millis {
        pinned
    }

    fn not_cancelled(&self) -> Result<(), Refusal> {
        match self.status == RegistrationStatus::Cancelled {
            true => Err(Refusal::of(Code::RegistrationCancelled)),
            false => Ok(()),
        }
    }

    fn knows_order(&self, order: OrderId) -> bool {
        self.knows(order)
    }

    fn direct(&self, order: OrderId) -> Option<BookedOrder> {
        let (entry, buyer, paid, returned_minor) = match self.entry_by_order.get(&order) {
            Some(index) => {
                let entry = &self.entries[*index];
                let EntryStep::Confirmed { paid: Some(paid) } = entry.step else { return None };
                (entry.id, entry.buyer(), paid, 0)
            }
            None => {
                let given = self.given_up.get(&order)?;
                (given.entry, BuyerId::known(&given.buyer), given.paid, given.returned_minor)
            }
        };
        // Nobody has to pay for it any more: its end is the start of the thing itself.
        let price_minor = paid.price_minor;
        let goods = OrderedGoods::Entry { entry, price_minor, until: self.details().starts_at };
        // After the cut-off a place stays paid.
        let status = if returned_minor > 0 { OrderStatus::Refunded } else { OrderStatus::Confirmed };
        let currency = self.details().currency;
        Some(BookedOrder::direct((order, buyer), paid.at, goods, currency, (status, returned_minor)))
    }

    fn buying(&self, after: u64) -> Vec<(u64, OrderId)> {
        let paid = self.entry_by_order.iter().map(|(order, index)| (self.entries[*index].fence, *order));
        let given_up = self.given_up.iter().map(|(order, given)| (given.fence, *order));
        paid.chain(given_up).filter(|(fence, _)| *fence > after).collect()
    }

    fn bought_by(&self, number: u64) -> Option<OrderId> {
        let entry = EntryId(number);
        let Some(index) = self.entry_index(entry) else {
            // A direct order has the number of its goods.
            let given_up = self.given_up.get(&OrderId(number));
            return given_up.filter(|given| given.entry == entry).map(|given| given.paid.order);
        };
        let EntryStep::Confirmed { paid } = self.entries[index].step else { return None };
        paid.map(|paid| paid.order)
    }

    fn expire(&mut self, key: &GoodsKey, writer: &mut StepWriter<'_>) {
        let GoodsKey::Entry(EntryKey { entry, buyer }) = key else { return };
        let mut run = Run::new(self, writer);
        run.follow_schedule();
        run.expire_touched(&ExpiryScope { buyer: Some(buyer), entry: Some(*entry), wanted: Need::Nothing });
    }

    /// Whoever pays is waited for; a place is never kept shorter for it.
    fn pin(&mut self, goods: &OrderedGoods, pinned: Millis) {
        let OrderedGoods::Entry { entry, .. } = goods else {
            panic!("the goods of an order are its listing's")
        };
        let index = self.entry_index(*entry).expect("an order's place is kept");
        if let EntryStep::Offered { until, price_minor } = self.entries[index].step {
            self.step(*entry, EntryStep::Offered { until: until.max(pinned), price_minor });
        }
    }

    fn confirm(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal> {
        let OrderedGoods::Entry { entry, .. } = ordered.goods else {
            return Err(Refusal::of(Code::WrongKind));
        };
        let (entry, buyer, order) = (*entry, ordered.buyer.clone(), ordered.order);
        let paid = ConfirmEntry { entry, buyer, order, settled: true };
        self.execute(&RegistrationCommand::Confirm(paid), writer).map(drop)
    }

    /// The buyer has no other entry, there is room, and nobody waits for it.
    fn take_back(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> TakeBackOutcome {
        let OrderedGoods::Entry { entry, price_minor, .. } = ordered.goods else {
            return TakeBackOutcome::Gone;
        };
        let (buyer, entry, price_minor) = (ordered.buyer, *entry, *price_minor);
        // Whatever is over shall not be in the way.
        let mut run = Run::new(self, writer);
        run.follow_schedule();
        run.expire_touched(&ExpiryScope { buyer: Some(buyer), entry: None, wanted: Need::Place });
        let kept = run.registration;
        let runs = matches!(kept.status, RegistrationStatus::Open | RegistrationStatus::Closed);
        let is_new = kept.entry_of(buyer).is_none() && kept.entry_index(entry).is_none();
        if !(runs && is_new && kept.free() > 0 && kept.waiting.is_empty()) {
            return TakeBackOutcome::Gone;
        }
        let until = writer.now;
        for fact in [
            RegistrationFact::Reserved { entry, buyer: buyer.clone(), price_minor, until },
            RegistrationFact::Confirmed { entry, order: ordered.order },
        ] {
            self.apply(&fact, writer.next_fence(), writer.now);
            writer.push(fact);
        }
        TakeBackOutcome::Sold
    }

    /// What an order has taken is confirmed by the order alone. Staff may take it away while it is paid: the money then
    /// goes back.
    fn guard(&self, orders: &Orders, command: &Command, now: Millis) -> Result<Option<Fact>, Refusal> {
        let Command::Registration(command) = command else { return Ok(None) };
        if let RegistrationCommand::Register(command) = command {
            // What an order has bought under this id would be taken for the new entry.
            if orders.of_entry(command.entry).is_some() && self.entry_index(command.entry).is_none() {
                return Err(Refusal::of(Code::IdTaken));
            }
        } else if let RegistrationCommand::Confirm(command) = command {
            match self.kept_order(orders, command.entry, now).filter(|order| order.buyer == command.buyer) {
                Some(order) => return Err(taken(order.id)),
                // Told again, a confirmation that an order brought about is the same answer.
                None if orders.of_entry(command.entry).is_some() => {}
                None => new_id(orders, command.order)?,
            }
        } else if let RegistrationCommand::CancelEntry(command) = command
            && let Some(buyer) = &command.buyer
        {
            let order = self.kept_order(orders, command.entry, now).filter(|order| order.buyer == *buyer);
            is_not_paying(order, Code::OrderPaying)?;
        }
        Ok(None)
    }
}

impl Registration {
    /// Whether an order of this id has paid a place, though it was given up.
    pub(super) fn knows(&self, order: OrderId) -> bool {
        self.entry_by_order.contains_key(&order) || self.given_up.contains_key(&order)
    }

    /// The order that has taken this place, while the place is kept.
    fn kept_order<'a>(&self, orders: &'a Orders, entry: EntryId, now: Millis) -> Option<&'a Order> {
        let order = orders.of_goods(entry.0)?;
        self.until(&order.goods).is_some_and(|until| !is_over(until, now)).then_some(order)
    }
}

/// What a fact of a registration means for the order that has taken the place.
pub(super) fn goods_change(fact: &RegistrationFact) -> Option<GoodsChange> {
    if let RegistrationFact::OfferLapsed { entry, .. } = fact {
        Some(GoodsChange::Gone { goods: entry.0, status: OrderStatus::Expired })
    } else if let RegistrationFact::Confirmed { order, .. } = fact {
        Some(GoodsChange::Sold { order: *order })
    } else if let RegistrationFact::EntryCancelled { entry, amount_minor, .. } = fact {
        Some(GoodsChange::EntryGivenUp { entry: *entry, amount_minor: *amount_minor })
    } else {
        None
    }
}
