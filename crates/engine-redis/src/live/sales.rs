//! What pages and programs of others are shown of sales: the one that is on, and when a buyer last bought something.
//! It follows from facts and the clock, and decides nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use onsale_domain::stock::{SaleFact, SaleFound, SaleQuery};
use onsale_domain::{BuyerId, Fact, ListingId, ListingKind, Millis, Tenant};
use onsale_engine::Running;
use parking_lot::Mutex;

use super::Inner;
use super::derive::Commands;
use super::replica::Replica;

/// What nobody renews is not shown for longer than this.
const ACTIVE_MS: Millis = 60_000;
/// So often it is written though it has not changed.
const AGAIN: Duration = Duration::from_secs(20);
/// A buyer's last purchase is of interest for a week.
const LAST_MS: Millis = 7 * 24 * 3_600_000;

#[derive(Debug, Default)]
pub(super) struct ShownSales(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What was written last, and when.
    last: BTreeMap<Tenant, (ListingId, Instant)>,
    running: Running,
}

/// Who bought something by this fact, as far as the replica has taken it in.
pub(super) fn buyer_of(replica: &Replica, fact: &Fact) -> Option<BuyerId> {
    let Fact::Sale(fact) = fact else { return None };
    if let SaleFact::TakenBack { buyer, .. } = fact {
        return Some(buyer.clone());
    }
    let SaleFact::Purchased { order, .. } = fact else { return None };
    let found = replica.with(|picture| {
        let sale = picture.listing.sale()?;
        Some(sale.ask(&SaleQuery::Order(*order), 0))
    });
    if let Some(SaleFound::Purchase(bought)) = found { Some(bought.buyer) } else { None }
}

pub(super) fn last_purchases(inner: &Inner, bought: BTreeMap<(Tenant, BuyerId), Millis>) -> Commands {
    let set = |((tenant, buyer), at): ((Tenant, BuyerId), Millis)| {
        let key = inner.across.last_purchase(tenant, &buyer);
        (key.clone(), redis::cmd("SET").arg(key).arg(at).arg("PX").arg(LAST_MS).to_owned())
    };
    bought.into_iter().map(set).collect()
}

/// A sale that moved, or that was found.
pub(super) fn note(shown: &ShownSales, replica: &Replica) {
    if replica.id.kind == ListingKind::Sale {
        shown.0.lock().running.set(replica.id, replica.view().as_deref());
    }
}

/// The sale that is on now, of each tenant: of a series before one that stands alone, and the one that began last.
pub(super) fn active(inner: &Inner, shown: &ShownSales) -> Commands {
    let now = inner.clock.now();
    let State { last: shown, running } = &mut *shown.0.lock();
    let look = |listing: &ListingId| inner.directory.get(listing)?.view();
    let mut on: BTreeMap<Tenant, ListingId> = BTreeMap::new();
    for tenant in running.tenants(now) {
        on.extend(running.active(tenant, now, look).map(|sale| (tenant, sale)));
    }
    let mut commands = Vec::new();
    for (tenant, sale) in &on {
        let known = shown.get(tenant);
        if known.is_none_or(|(known, at)| known != sale || at.elapsed() > AGAIN) {
            shown.insert(*tenant, (*sale, Instant::now()));
            let key = inner.across.active_sale(*tenant);
            let set = redis::cmd("SET").arg(&key).arg(sale.to_string()).arg("PX").arg(ACTIVE_MS).to_owned();
            commands.push((key, set));
        }
    }
    let over: Vec<Tenant> = shown.keys().filter(|tenant| !on.contains_key(*tenant)).copied().collect();
    for tenant in over {
        shown.remove(&tenant);
        let key = inner.across.active_sale(tenant);
        commands.push((key.clone(), redis::cmd("DEL").arg(key).to_owned()));
    }
    commands
}
