//! Which sale of a tenant is the one that is on: of a series before one that stands alone, and the one that began last.
//! A question costs what began and ended since the last one, however many sales are to come. It decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::HashMap;
use onsale_domain::stock::SaleView;
use onsale_domain::stock::details::SaleStatus;
use onsale_domain::{ListingId, ListingKind, Millis, Tenant};
use parking_lot::Mutex;

use crate::agenda::Agenda;
use crate::catch_up::CatchUp;
use crate::engine::{Engine, View};

/// Sales taken out of an agenda in one go.
const AT_ONCE: usize = 256;

/// Of a series, when it began, its id: the last is the one that is on.
type Rank = (bool, Millis, ListingId);

/// The sales that are not over, brought up to date by whoever hears that one has moved.
#[derive(Debug, Default)]
pub struct Running {
    /// Those that have not begun, by their start.
    coming: Agenda,
    /// Those that have, by their end.
    ending: Agenda,
    open: BTreeMap<Tenant, BTreeSet<Rank>>,
    /// What each of them is ranked by, and when it ends.
    known: HashMap<ListingId, (Rank, Millis)>,
}

impl Running {
    /// A sale has moved, or was found; without a view it is gone.
    pub fn set(&mut self, listing: ListingId, view: Option<&View>) {
        if let Some((rank, _)) = self.known.remove(&listing) {
            self.close(&rank);
        }
        let sale = view.and_then(sale_of);
        let end = view.and_then(|view| view.body.over_at());
        let from = sale.zip(end).map(|(sale, end)| {
            self.known.insert(listing, (rank(listing, sale), end));
            // One that was opened is on whatever its start says.
            if sale.status == SaleStatus::Open { Millis::MIN } else { sale.details.starts_at }
        });
        self.ending.set(listing, None);
        self.coming.set(listing, from);
    }

    /// The tenants of whom some sale has begun that was not over when this was asked last.
    pub fn tenants(&mut self, now: Millis) -> Vec<Tenant> {
        self.pass(now);
        self.open.keys().copied().collect()
    }

    /// The sale of a tenant that is on; `look` tells its view as it is now.
    pub fn active(
        &mut self,
        tenant: Tenant,
        now: Millis,
        mut look: impl FnMut(&ListingId) -> Option<Arc<View>>,
    ) -> Option<ListingId> {
        loop {
            self.pass(now);
            let best = *self.open.get(&tenant)?.last()?;
            let listing = best.2;
            let view = look(&listing);
            let sale = view.as_deref().and_then(sale_of);
            if sale.is_some_and(|sale| sale.status_at(now) == SaleStatus::Open && rank(listing, sale) == best)
            {
                return Some(listing);
            }
            // It has moved, and nobody has said so yet.
            self.set(listing, view.as_deref());
        }
    }

    /// What is due moves on: from those that are to come to those that are open, and from there to nowhere.
    fn pass(&mut self, now: Millis) {
        while let begun = self.coming.take_due(now, AT_ONCE)
            && !begun.is_empty()
        {
            for listing in begun {
                let Some((rank, end)) = self.known.get(&listing).copied() else { continue };
                self.ending.set(listing, Some(end));
                self.open.entry(listing.tenant).or_default().insert(rank);
            }
        }
        while let over = self.ending.take_due(now, AT_ONCE)
            && !over.is_empty()
        {
            for listing in over {
                let Some((rank, _)) = self.known.remove(&listing) else { continue };
                self.close(&rank);
            }
        }
    }

    fn close(&mut self, rank: &Rank) {
        let tenant = rank.2.tenant;
        let Some(open) = self.open.get_mut(&tenant) else { return };
        open.remove(rank);
        if open.is_empty() {
            self.open.remove(&tenant);
        }
    }
}

fn sale_of(view: &View) -> Option<&SaleView> {
    view.body.sale()
}

fn rank(listing: ListingId, sale: &SaleView) -> Rank {
    (sale.details.origin.is_some(), sale.details.starts_at, listing)
}

/// The same for who has only the port: every question first takes in what has moved.
#[derive(Debug)]
pub struct ActiveSales(Mutex<(CatchUp, Running)>);

impl ActiveSales {
    pub fn new(engine: &dyn Engine) -> ActiveSales {
        let catch_up = CatchUp::new(engine, &[ListingKind::Sale]);
        ActiveSales(Mutex::new((catch_up, Running::default())))
    }

    /// The sale of a tenant that is on at this moment.
    pub fn of(&self, engine: &dyn Engine, tenant: Tenant, now: Millis) -> Option<ListingId> {
        let mut sales = self.0.lock();
        let (catch_up, running) = &mut *sales;
        catch_up.run(engine, (tenant, ListingKind::Sale), |listing, view| running.set(listing, view));
        running.active(tenant, now, |listing| engine.view(listing))
    }
}

#[cfg(test)]
mod tests;
