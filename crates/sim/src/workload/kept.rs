//! What bidders who have won, and those for whom a place is kept, make of it: they order it, pay it in time or late, turn it
//! down, or forget it.

use onsale_domain::order::command::{EntryKey, GoodsKey};
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::order::{BookedOrder, OrderStatus};
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::registration::command::{CancelEntry, ConfirmEntry, CreateRegistration, Register};
use onsale_domain::registration::details::RegistrationStatus;
use onsale_domain::{BuyerId, Command, EntryId, ListingId, ListingKind, OrderId, Tenant};
use onsale_engine::Request;

use super::Workload;
use super::auctions::{AWARDS, at_the_auction, give_up_award, is_running};
use super::orders::orders_of;
use super::sales::new_registration;
use crate::auditor::Auditor;
use crate::model::other::Other;
use crate::rng::Rng;

const HOUR: i64 = 3_600_000;

/// A kind that keeps something for days until it is paid, and what is wanted of it.
pub(super) struct KeepingKind {
    pub kind: ListingKind,
    /// So many of them should be alive.
    pub alive_least: usize,
    pub create: fn(&mut Workload, &mut Rng, clock: i64) -> Command,
    pub wish: fn(&mut Workload, &mut Rng, &Other, clock: i64) -> Command,
}

const PLACES: KeepingKind = KeepingKind {
    kind: ListingKind::Registration,
    alive_least: 2,
    create: Workload::create_registration,
    wish: Workload::at_the_registration,
};

impl Workload {
    /// Something about an award or a place; four auctions and two registrations alive at least.
    pub(super) fn keep(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Vec<Request> {
        let kept = if rng.chance(500) { &AWARDS } else { &PLACES };
        let own = |id: ListingId| id.kind == kept.kind && id.tenant == Tenant::DEFAULT;
        let all = auditor.listings.values().filter(|one| own(one.id));
        let all: Vec<_> = all.filter_map(|one| Some((one.id, one.other()?))).collect();
        let lively: Vec<_> = all.iter().filter(|(_, other)| other.goes_on()).copied().collect();
        let wanted = lively.len() < kept.alive_least && self.listings_made < 8 * self.listings_max;
        let places: Vec<_> = all.iter().filter(|(_, other)| is_about_to_begin(other)).copied().collect();
        let crowd = match rng.below(1_000) {
            0..700 if !lively.is_empty() => &lively,
            700..930 if !places.is_empty() => &places,
            _ => &all,
        };
        let Some((id, other)) = rng.pick(crowd).filter(|_| !wanted || rng.chance(900)) else {
            return vec![self.create_kept(rng, kept, clock)];
        };
        // A winner has others behind.
        let running: Vec<_> = lively.iter().filter(|(_, other)| is_running(other)).copied().collect();
        if let Some((id, other)) = rng.pick(&running).filter(|_| rng.chance(400)) {
            let bids = rng.range(1, 5);
            return (0..bids)
                .map(|_| {
                    let command = at_the_auction(self, rng, other, clock);
                    self.request(rng, *id, command)
                })
                .collect();
        }
        let command = (kept.wish)(self, rng, other, clock);
        vec![self.request(rng, *id, command)]
    }

    fn create_kept(&mut self, rng: &mut Rng, kept: &KeepingKind, clock: i64) -> Request {
        self.listings_made += 1;
        let id = ListingId { tenant: Tenant::DEFAULT, kind: kept.kind, number: self.fresh() };
        let command = (kept.create)(self, rng, clock);
        self.request(rng, id, command)
    }

    /// Goes on for days, with few places.
    fn create_registration(&mut self, rng: &mut Rng, clock: i64) -> Command {
        let (mut details, capacity) = (new_registration(rng, clock), rng.range(1, 4) as u32);
        details.price_minor = rng.range(1, 900);
        details.starts_at = details.opens_at + rng.range(12 * HOUR, 240 * HOUR);
        // A place that is given back after the cut-off is paid for all the same.
        details.cut_off_ms = rng.range(0, 11 * HOUR);
        let create = CreateRegistration { details, capacity };
        Command::Registration(RegistrationCommand::Create(Box::new(create)))
    }

    fn at_the_registration(&mut self, rng: &mut Rng, other: &Other, clock: i64) -> Command {
        let Some(registration) = other.listing.registration() else { return Command::ExpireDue { limit: 1 } };
        let image = registration.image();
        if rng.chance(60) {
            return Command::Registration(self.of_registration(rng, &image, clock));
        }
        let Some(known) = rng.pick(&image.entries).filter(|_| rng.chance(750)) else {
            let register = Register { entry: EntryId(self.fresh()), buyer: self.buyer(rng) };
            return Command::Registration(RegistrationCommand::Register(register));
        };
        let (entry, buyer) = (known.id, known.buyer.clone());
        let orders = orders_of(other, &buyer, clock);
        if let Some(order) = rng.pick(&orders).filter(|order| rng.chance(often(order.status))) {
            return self.about(rng, other, order, clock);
        }
        // Who only waits has nothing to order.
        let order = if known.until.is_some() { 600 } else { 30 };
        Command::Registration(match rng.weighted(&[order, 60, 60, 30]) {
            0 => return self.order_kept(rng, GoodsKey::Entry(EntryKey { entry, buyer })),
            1 => {
                let order = OrderId(self.fresh());
                RegistrationCommand::Confirm(ConfirmEntry { entry, buyer, order, settled: rng.chance(500) })
            }
            2 => RegistrationCommand::CancelEntry(CancelEntry { entry, buyer: Some(buyer) }),
            _ => RegistrationCommand::CancelEntry(CancelEntry { entry, buyer: None }),
        })
    }

    /// Mostly an order under a number of its own.
    pub(super) fn order_kept(&mut self, rng: &mut Rng, goods: GoodsKey) -> Command {
        let order = OrderId(if rng.chance(970) { self.fresh() } else { self.next_id });
        self.place_order(rng, order, goods)
    }
}

fn is_about_to_begin(other: &Other) -> bool {
    other.listing.registration().is_some_and(|one| one.status() == RegistrationStatus::Closed)
}

/// Whoever has ordered pays; whoever pays waits.
pub(super) fn often(status: OrderStatus) -> u64 {
    match status {
        OrderStatus::Pending => 800,
        OrderStatus::Paying => 150,
        OrderStatus::Confirmed | OrderStatus::Expired | OrderStatus::Cancelled | OrderStatus::Refunded => 300,
    }
}

/// Some money for what is kept for days takes days itself.
pub(super) fn is_slow(rng: &mut Rng, goods: &OrderedGoods) -> bool {
    match goods {
        OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. } => false,
        OrderedGoods::Award { .. } | OrderedGoods::Entry { .. } => rng.chance(350),
    }
}

/// How long a provider is waited for.
pub(super) fn time_to_pay(rng: &mut Rng, goods: &OrderedGoods) -> i64 {
    match goods {
        OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. } => rng.range(1_000, 200_000),
        OrderedGoods::Award { .. } | OrderedGoods::Entry { .. } => {
            let most = if rng.chance(500) { 200_000 } else { 60 * HOUR };
            rng.range(1_000, most)
        }
    }
}

/// Whoever has ordered, or paid, wants it no more; or staff takes the place away, or pays back what an award cost.
pub(super) fn give_up(rng: &mut Rng, order: &BookedOrder, buyer: BuyerId) -> Command {
    let OrderedGoods::Entry { entry, .. } = &order.goods else { return give_up_award(rng, order, buyer) };
    let buyer = rng.chance(600).then_some(buyer);
    Command::Registration(RegistrationCommand::CancelEntry(CancelEntry { entry: *entry, buyer }))
}
