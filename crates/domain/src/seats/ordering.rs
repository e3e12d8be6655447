//! What an order needs of an event's seats: the hold it takes, more time for it, its sale, and seats taken back.

use super::Run;
use super::command::{About, EventCommand, HoldKey};
use super::expire::ExpiryScope;
use super::fact::{AreaLine, EventFact, SeatLine, total_minor};
use super::release_hold::{not_cancelled, own_hold};
use super::state::{Grip, Order, Seats, Status};
use crate::command::Command;
use crate::fact::Fact;
use crate::id::OrderId;
use crate::money::Currency;
use crate::order::command::GoodsKey;
use crate::order::fact::OrderedGoods;
use crate::order::guard::{is_not_paying, new_id, taken};
use crate::order::{BookedOrder, Goods, GoodsChange, OrderStatus, OrderSummary, Orders, TakeBackOutcome};
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::{Millis, is_over};

impl Goods for Seats {
    fn quote(&self, key: &GoodsKey, now: Millis) -> Result<(OrderedGoods, Currency), Refusal> {
        let GoodsKey::Hold(key) = key else { return Err(Refusal::of(Code::WrongKind)) };
        not_cancelled(self)?;
        let hold = &self.holds[own_hold(self, key, now)?];
        let goods = OrderedGoods::Hold {
            hold: hold.id,
            seats: hold.seats().to_vec(),
            areas: hold.area_lines().to_vec(),
            placed_at: hold.placed_at(),
        };
        Ok((goods, self.details().currency))
    }

    fn until(&self, goods: &OrderedGoods) -> Option<Millis> {
        let OrderedGoods::Hold { hold, .. } = goods else { return None };
        self.hold_index(*hold).map(|index| self.holds[index].until)
    }

    fn not_cancelled(&self) -> Result<(), Refusal> {
        not_cancelled(self)
    }

    fn knows_order(&self, order: OrderId) -> bool {
        self.order_by_id.contains_key(&order)
    }

    fn direct(&self, order: OrderId) -> Option<BookedOrder> {
        let order = &self.orders[*self.order_by_id.get(&order)?];
        let is_gone = order.seats.is_empty() && order.areas.is_empty();
        let status = if is_gone { OrderStatus::Refunded } else { OrderStatus::Confirmed };
        let returned_minor = order.total_minor - total_minor(&order.seats, &order.areas);
        let (seats, areas) = (order.seats.clone(), order.areas.clone());
        let goods = OrderedGoods::Hold { hold: order.hold, seats, areas, placed_at: order.at };
        let (who, currency) = ((order.id, self.buyers[order.buyer].id()), self.details().currency);
        let direct = BookedOrder::direct(who, order.at, goods, currency, (status, returned_minor));
        // Of the goods it shows what is left, of the price all of it.
        Some(BookedOrder { goods_minor: order.total_minor, ..direct })
    }

    fn buying(&self, after: u64) -> Vec<(u64, OrderId)> {
        let later = self.orders.values().filter(|order| order.fence > after);
        later.map(|order| (order.fence, order.id)).collect()
    }

    /// Who confirms a hold directly gives the order the number of the hold.
    fn bought_by(&self, number: u64) -> Option<OrderId> {
        let order = &self.orders[*self.order_by_id.get(&OrderId(number))?];
        (order.hold.0 == number).then_some(order.id)
    }

    fn expire(&mut self, key: &GoodsKey, writer: &mut StepWriter<'_>) {
        let GoodsKey::Hold(key) = key else { return };
        let mut run = Run { seats: self, now: writer.now, writer };
        run.follow_schedule();
        run.expire_touched(&ExpiryScope::hold(run.seats, key.hold, Some(&key.buyer)));
    }

    fn pin(&mut self, goods: &OrderedGoods, until: Millis) {
        let OrderedGoods::Hold { hold, .. } = goods else {
            panic!("the goods of an order are its listing's")
        };
        let index = self.hold_index(*hold).expect("an order's hold lives");
        self.reschedule(index, until);
    }

    fn confirm(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal> {
        let OrderedGoods::Hold { hold, .. } = ordered.goods else {
            return Err(Refusal::of(Code::WrongKind));
        };
        let sold = EventFact::HoldConfirmed { hold: *hold, order: ordered.order };
        Run { seats: self, now: writer.now, writer }.take(sold);
        Ok(())
    }

    fn take_back(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> TakeBackOutcome {
        let OrderedGoods::Hold { seats, areas, .. } = ordered.goods else { return TakeBackOutcome::Gone };
        // Whatever is over on these seats shall not be in the way.
        let touched = ExpiryScope {
            buyer: Some(ordered.buyer),
            seats: seats.iter().map(|line| line.seat).collect(),
            hold: None,
            wanted: areas.iter().map(|line| (line.area, line.count)).collect(),
        };
        let mut run = Run { seats: self, now: writer.now, writer };
        run.follow_schedule();
        run.expire_touched(&touched);
        if self.are_free(seats, areas) { TakeBackOutcome::Free } else { TakeBackOutcome::Gone }
    }

    fn apply_taken_back(&mut self, ordered: OrderSummary<'_>, fence: u64, at: Millis) {
        let OrderedGoods::Hold { hold, seats, areas, .. } = ordered.goods else { return };
        let buyer = self.intern(ordered.buyer);
        let places = areas.iter().map(|line| line.count).sum::<u32>();
        self.buyers[buyer].sold += seats.len() as u32 + places;
        areas.iter().for_each(|line| self.areas[usize::from(line.area)].sold += line.count);
        let order = Order {
            id: ordered.order,
            fence,
            buyer,
            hold: *hold,
            at,
            total_minor: total_minor(seats, areas),
            seats: seats.clone(),
            areas: areas.clone(),
        };
        let index = self.insert_order(order);
        for line in seats {
            self.change(line.seat, |state| {
                debug_assert_eq!(state.grip, Grip::Free);
                state.grip = Grip::Sold;
                state.by = index;
            });
        }
    }

    /// Neither extended nor released while it is paid; nothing taken out of it and not bought without its order at all.
    fn guard(&self, orders: &Orders, command: &Command, now: Millis) -> Result<Option<Fact>, Refusal> {
        let Command::Event(command) = command else { return Ok(None) };
        match command.about() {
            About::Hold(key) => self.not_paying(orders, key, now)?,
            About::HoldsGoods { key, .. } => {
                self.not_paying(orders, key, now)?;
                self.not_taken(orders, key, now)?;
            }
            About::AnyHold(_) | About::Seats { .. } | About::Chart(_) | About::Nothing => {}
        }
        if let EventCommand::ConfirmHold(command) = command
            && self.opens(&command.key, now)
        {
            new_id(orders, command.order)?;
        }
        Ok(None)
    }
}

impl Seats {
    /// Whether this key opens a hold that is not over.
    fn opens(&self, key: &HoldKey, now: Millis) -> bool {
        let hold = self.hold_index(key.hold).map(|index| &self.holds[index]);
        hold.is_some_and(|hold| hold.fence == key.fence && !is_over(hold.until, now))
    }

    fn not_paying(&self, orders: &Orders, key: &HoldKey, now: Millis) -> Result<(), Refusal> {
        let order = orders.of_goods(key.hold.0).filter(|_| self.opens(key, now));
        is_not_paying(order, Code::HoldPaying)
    }

    fn not_taken(&self, orders: &Orders, key: &HoldKey, now: Millis) -> Result<(), Refusal> {
        match orders.of_goods(key.hold.0) {
            Some(order) if self.opens(key, now) => Err(taken(order.id)),
            Some(_) | None => Ok(()),
        }
    }

    /// Late money takes back all or nothing: what is available, and waited for by nobody.
    fn are_free(&self, seats: &[SeatLine], areas: &[AreaLine]) -> bool {
        let seat_is_free = |line: &SeatLine| {
            self.chart.seat(line.seat).is_some()
                && self.seat_status(line.seat) == Status::Available
                && !self.queues.contains_key(&line.seat)
        };
        let has_places = |line: &AreaLine| self.areas[usize::from(line.area)].available() >= line.count;
        seats.iter().all(seat_is_free) && areas.iter().all(has_places)
    }
}

/// What a fact of the seats means for the order that has taken them.
pub(super) fn goods_change(fact: &EventFact) -> Option<GoodsChange> {
    if let EventFact::HoldExpired { hold, .. } = fact {
        Some(GoodsChange::Gone { goods: hold.0, status: OrderStatus::Expired })
    } else if let EventFact::HoldReleased { hold, .. } | EventFact::HoldOverridden { hold, .. } = fact {
        Some(GoodsChange::Gone { goods: hold.0, status: OrderStatus::Cancelled })
    } else if let EventFact::HoldConfirmed { order, .. } = fact {
        Some(GoodsChange::Sold { order: *order })
    } else if let EventFact::OrderRefunded { order, seats, areas, amount_minor, .. } = fact {
        let units = seats.len() as u32 + areas.iter().map(|away| away.count).sum::<u32>();
        Some(GoodsChange::Returned { order: *order, units, amount_minor: *amount_minor })
    } else {
        None
    }
}
