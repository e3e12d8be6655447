//! What buyers and staff want where things are ordered and paid: events with orders, and sales. What the provider makes of
//! it is not theirs to say; `world/payments.rs` has it.

use onsale_domain::event::EventStatus;
use onsale_domain::order::command::{GoodsKey, NoteRefund, OrderKey, PayOrder, PlaceOrder};
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::order::{BookedOrder, Fees, OrderCommand, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::outcome::HoldState;
use onsale_domain::seats::command::{
    AdoptChart, BestAvailable, BlockSeats, ConfirmHold, CreateEvent, DropSeats, ExtendHold, GrowHold,
    HoldKey, JoinQueue, OverrideHold, Pick, PlaceHold, RefundOrder,
};
use onsale_domain::seats::{EventCommand, EventFound, EventQuery};
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::{Checkout, CheckoutKey, Purchase, RefundPurchase};
use onsale_domain::{
    BuyerId, CheckoutId, Command, HoldId, ListingId, ListingKind, OrderId, PaymentId, Tenant,
};
use onsale_domain::{Found, Query};
use onsale_engine::Request;

use super::Workload;
use super::events::{details, layout};
use super::kept::{give_up, is_slow, time_to_pay};
use super::sales::{count_of, line, new_sale};
use crate::auditor::Auditor;
use crate::model::other::{Other, is_paid_event, paid_number};
use crate::rng::Rng;

/// How a provider is with a payment, by its `method`.
pub(super) const MOODS: [&str; 9] =
    ["succeed", "succeed", "decline", "action", "delay", "duplicate", "reorder", "lost", "silent"];

impl Workload {
    /// Something about orders; two events and a sale that have them at least.
    pub(super) fn with_orders(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Request {
        let has_orders = |id: ListingId| {
            id.tenant == Tenant::DEFAULT && (is_paid_event(id) || id.kind == ListingKind::Sale)
        };
        let all = auditor.listings.values().filter(|one| has_orders(one.id));
        let all: Vec<_> = all.filter_map(|one| Some((one.id, one.other()?))).collect();
        let lively: Vec<_> = all.iter().filter(|(_, other)| other.goes_on()).copied().collect();
        let wanted = lively.len() < 3 && self.listings_made < 3 * self.listings_max;
        let crowd = if rng.chance(900) && !lively.is_empty() { &lively } else { &all };
        let Some((id, other)) = rng.pick(crowd).filter(|_| !wanted || rng.chance(900)) else {
            return self.create_with_orders(rng, clock);
        };
        let buyer = self.buyer(rng);
        let command = match id.kind == ListingKind::Event {
            true if rng.chance(80) => self.staff(rng, other, clock),
            true => self.at_the_event(rng, other, buyer, clock),
            false => self.at_the_sale(rng, other, buyer, clock),
        };
        self.request(rng, *id, command)
    }

    fn create_with_orders(&mut self, rng: &mut Rng, clock: i64) -> Request {
        self.listings_made += 1;
        let (tenant, number) = (Tenant::DEFAULT, self.fresh());
        if rng.chance(350) {
            let id = ListingId { tenant, kind: ListingKind::Sale, number };
            let create = SaleCommand::Create(Box::new(new_sale(rng, clock)));
            return self.request(rng, id, Command::Sale(create));
        }
        let id = ListingId { tenant, kind: ListingKind::Event, number: paid_number(number) };
        let chart = AdoptChart { venue: None, version: 1, layout: layout(rng).into() };
        let (details, status) = (details(rng, clock), EventStatus::OnSale);
        self.request(
            rng,
            id,
            Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent { details, status, chart }))),
        )
    }

    fn staff(&mut self, rng: &mut Rng, other: &Other, clock: i64) -> Command {
        match rng.below(10) {
            0 => Command::Event(EventCommand::ChangeStatus(EventStatus::Cancelled)),
            1 => Command::Event(EventCommand::ChangeStatus(EventStatus::Closed)),
            2 | 3 => {
                let (seats, areas) = (vec![rng.below(8) as u32], Vec::new());
                Command::Event(EventCommand::BlockSeats(BlockSeats {
                    seats,
                    areas,
                    reason: "a camera".into(),
                }))
            }
            4..8 => {
                let holds = holds_of(other, &self.buyer(rng), clock);
                let hold = rng.pick(&holds).map_or(HoldId(7), |hold| hold.hold);
                let to = rng.chance(300).then(|| (self.buyer(rng), None));
                let reason = "a wheelchair".into();
                Command::Event(EventCommand::OverrideHold(OverrideHold { hold, reason, to }))
            }
            _ => Command::ExpireDue { limit: rng.below(70) as u32 },
        }
    }

    fn at_the_event(&mut self, rng: &mut Rng, other: &Other, buyer: BuyerId, clock: i64) -> Command {
        let (holds, orders) = (holds_of(other, &buyer, clock), orders_of(other, &buyer, clock));
        if let Some(order) = rng.pick(&orders).filter(|_| rng.chance(550)) {
            return self.about(rng, other, order, clock);
        }
        let Some(hold) = rng.pick(&holds).filter(|_| rng.chance(700)) else {
            return self.hold_with_orders(rng, buyer);
        };
        let key = HoldKey { hold: hold.hold, fence: hold.fence, buyer: hold.buyer.clone() };
        match rng.weighted(&[500, 40, 40, 30, 20, 40]) {
            0 => {
                let order = OrderId(if rng.chance(970) { self.fresh() } else { self.next_id });
                self.place_order(rng, order, GoodsKey::Hold(key))
            }
            1 => Command::Event(EventCommand::ReleaseHold(key)),
            2 => Command::Event(EventCommand::ExtendHold(ExtendHold { key, extension_ms: None })),
            3 => Command::Event(EventCommand::ConfirmHold(ConfirmHold {
                key,
                order: OrderId(self.fresh()),
                settled: rng.chance(850),
            })),
            // One seat cannot be dropped: such a hold grows by the next.
            4 if hold.seats.len() == 1 => {
                let seats = hold.seats.iter().map(|line| line.seat + 1).collect();
                Command::Event(EventCommand::GrowHold(GrowHold { key, seats, areas: Vec::new() }))
            }
            4 => {
                let seats = hold.seats.iter().map(|line| line.seat).take(1).collect();
                Command::Event(EventCommand::DropSeats(DropSeats { key, seats, areas: Vec::new() }))
            }
            _ => {
                let (place, seat) = (HoldId(self.fresh()), hold.seats.first().map_or(0, |line| line.seat));
                Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer: self.buyer(rng) }))
            }
        }
    }

    fn hold_with_orders(&mut self, rng: &mut Rng, buyer: BuyerId) -> Command {
        let pick = match rng.chance(300) {
            true => {
                let (count, accessible) = (rng.range(1, 3) as u32, false);
                Pick::Best(BestAvailable { count, section: None, tier: None, accessible })
            }
            false => {
                let first = rng.below(8) as u32;
                Pick::Seats((first..=first + rng.below(2) as u32).collect())
            }
        };
        let hold_ms = rng.chance(500).then(|| rng.range(30_000, 60_000));
        Command::Event(EventCommand::PlaceHold(PlaceHold {
            hold: HoldId(self.fresh()),
            buyer,
            pick,
            areas: Vec::new(),
            hold_ms,
        }))
    }

    fn at_the_sale(&mut self, rng: &mut Rng, other: &Other, buyer: BuyerId, clock: i64) -> Command {
        let Some(sale) = other.listing.sale() else { return Command::ExpireDue { limit: 1 } };
        let orders = orders_of(other, &buyer, clock);
        if let Some(order) = rng.pick(&orders).filter(|_| rng.chance(550)) {
            return self.about(rng, other, order, clock);
        }
        let image = sale.image();
        let codes: Vec<_> = image.codes.iter().filter(|code| code.buyer == buyer).collect();
        let Some(code) = rng.pick(&codes).filter(|_| rng.chance(700)) else {
            let (checkout, lines) = (CheckoutId(self.fresh()), vec![count_of(line(rng, &image))]);
            let checkout_ms = Some(rng.range(30_000, 60_000));
            return Command::Sale(SaleCommand::Checkout(Checkout { checkout, buyer, lines, checkout_ms }));
        };
        let key = CheckoutKey { checkout: code.id, buyer };
        match rng.weighted(&[500, 50, 50]) {
            0 => {
                let order = OrderId(self.fresh());
                self.place_order(rng, order, GoodsKey::Checkout(key))
            }
            1 => Command::Sale(SaleCommand::CancelCheckout(key)),
            _ => {
                let order = OrderId(self.fresh());
                Command::Sale(SaleCommand::Purchase(Purchase { key, order, settled: rng.chance(500) }))
            }
        }
    }

    pub(super) fn place_order(&mut self, rng: &mut Rng, order: OrderId, goods: GoodsKey) -> Command {
        let per_order_minor = rng.range(0, 60);
        let fees = Fees { per_order_minor, per_unit_minor: rng.range(0, 9), share: rng.below(300) as u16 };
        Command::Order(OrderCommand::Place(PlaceOrder { order, goods, fees }))
    }

    /// What a buyer does with an order.
    pub(super) fn about(&mut self, rng: &mut Rng, other: &Other, order: &BookedOrder, clock: i64) -> Command {
        let buyer = if rng.chance(970) { order.buyer.clone() } else { self.buyer(rng) };
        let key = OrderKey { order: order.order, buyer };
        let ends = match order.status {
            OrderStatus::Pending => 150,
            OrderStatus::Paying => 300,
            OrderStatus::Confirmed
            | OrderStatus::Expired
            | OrderStatus::Cancelled
            | OrderStatus::Refunded => 900,
        };
        // A slip that nobody wrote: its listing knows nothing of it.
        if rng.chance(15) {
            let payment = PaymentId(self.fresh());
            let note = NoteRefund { order: order.order, payment, refund: 1 };
            return Command::Order(OrderCommand::NoteRefund(note));
        }
        if rng.chance(ends) {
            return match (&order.goods, order.status) {
                (_, OrderStatus::Pending) => Command::Order(OrderCommand::Cancel(key)),
                (OrderedGoods::Hold { hold, .. }, OrderStatus::Paying) => {
                    // Whoever has the token may try; a hold that is paid is not let go.
                    let found = other.listing.ask(&Query::Event(EventQuery::Hold(*hold)), clock);
                    let fence =
                        if let Found::Event(EventFound::Hold(state)) = found { state.fence } else { 0 };
                    Command::Event(EventCommand::ReleaseHold(HoldKey {
                        hold: *hold,
                        fence,
                        buyer: key.buyer,
                    }))
                }
                (OrderedGoods::Checkout { checkout, .. }, OrderStatus::Paying) => {
                    let key = CheckoutKey { checkout: *checkout, buyer: key.buyer };
                    Command::Sale(SaleCommand::CancelCheckout(key))
                }
                (OrderedGoods::Award { .. } | OrderedGoods::Entry { .. }, _) => {
                    give_up(rng, order, key.buyer)
                }
                (goods, _) => give_back(rng, order.order, goods),
            };
        }
        let method = rng.pick(&MOODS).map(|mood| (*mood).to_owned());
        let method = if is_slow(rng, &order.goods) { Some("days".to_owned()) } else { method };
        Command::Order(OrderCommand::Pay(PayOrder {
            key,
            payment: PaymentId(self.fresh()),
            pay_until: clock + time_to_pay(rng, &order.goods),
            method,
            settled: rng.chance(60),
        }))
    }
}

fn give_back(rng: &mut Rng, order: OrderId, goods: &OrderedGoods) -> Command {
    let (part, reason) = (rng.chance(500), "asked for".to_owned());
    match goods {
        OrderedGoods::Hold { seats, .. } => {
            let seats = seats.iter().take(usize::from(part)).map(|line| line.seat).collect();
            Command::Event(EventCommand::RefundOrder(RefundOrder { order, seats, areas: Vec::new(), reason }))
        }
        OrderedGoods::Checkout { lines, .. } => {
            let one = |line: &onsale_domain::stock::fact::SkuLine| count_of(*line);
            let lines = lines.iter().take(usize::from(part)).map(one).collect();
            let restock = rng.chance(700);
            Command::Sale(SaleCommand::Refund(RefundPurchase { order, lines, restock, reason }))
        }
        OrderedGoods::Award { .. } | OrderedGoods::Entry { .. } => unreachable!("these are given up"),
    }
}

fn holds_of(other: &Other, buyer: &BuyerId, clock: i64) -> Vec<HoldState> {
    let found = other.listing.ask(&Query::Event(EventQuery::HoldsOf(buyer.clone())), clock);
    if let Found::Event(EventFound::Holds(holds)) = found { holds } else { Vec::new() }
}

pub(super) fn orders_of(other: &Other, buyer: &BuyerId, clock: i64) -> Vec<BookedOrder> {
    let query = Query::Orders(OrdersQuery::OrdersOf { buyer: buyer.clone(), limit: 6 });
    let found = other.listing.ask(&query, clock);
    if let Found::Orders(OrdersFound::Orders(orders)) = found { orders } else { Vec::new() }
}
