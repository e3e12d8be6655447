//! Looking what listings owe, and having the desk take it: those that moved, and all of them once after a start or a
//! takeover.

use std::collections::BTreeSet;

use onsale_domain::desk::command::TakeWork;
use onsale_domain::desk::{DeskCommand, DeskFound, DeskQuery, Slip};
use onsale_domain::order::{OrdersFound, OrdersQuery, Work};
use onsale_domain::{Found, ListingId, Outcome};
use onsale_engine::EngineError;

use super::{AT_ONCE, Call, Job, KINDS, Machine, PAGE};

/// Listings of the catch-up asked for in one go.
pub(super) const LISTINGS: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Look {
    catch_up: CatchUp,
    /// To be read; the number of listings bounds it.
    waiting: BTreeSet<ListingId>,
    reading: BTreeSet<ListingId>,
    /// Could not be read in this round, and are in the next.
    aside: BTreeSet<ListingId>,
}

/// How far all listings were looked at since this server looks after payments; from then on those that moved are enough.
#[derive(Debug, Default)]
struct CatchUp {
    /// The index of the kind, past the last when every listing was looked at.
    kind: usize,
    after: Option<ListingId>,
    is_asked: bool,
}

/// Slips on their way to the desk.
#[derive(Debug)]
pub(super) struct TakeSlips {
    work: TakeWork,
    is_full: bool,
}

impl Look {
    pub(super) fn add(&mut self, listing: ListingId) {
        self.waiting.insert(listing);
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.reading.is_empty() && !self.catch_up.is_asked
    }

    pub(super) fn end_round(&mut self) {
        self.waiting.append(&mut self.aside);
    }

    pub(super) fn let_go(&mut self) {
        self.waiting.append(&mut self.reading);
        self.end_round();
        self.catch_up.is_asked = false;
    }
}

impl Machine {
    /// Goes on looking; true when every listing of this round was looked at.
    pub(super) fn is_looked_through(&mut self) -> bool {
        while self.look.reading.len() < AT_ONCE
            && let Some(listing) = self.look.waiting.pop_first()
        {
            self.look.reading.insert(listing);
            self.read_cursor(listing);
        }
        let catch_up = &mut self.look.catch_up;
        if self.look.reading.is_empty()
            && !catch_up.is_asked
            && let Some(kind) = KINDS.get(catch_up.kind).copied()
        {
            catch_up.is_asked = true;
            let after = catch_up.after;
            self.call(Call::Listings { kind, after, limit: LISTINGS }, Job::ReadListings);
        }
        self.look.is_at_rest()
    }

    pub(super) fn listings_read(&mut self, listings: &[ListingId]) {
        let catch_up = &mut self.look.catch_up;
        catch_up.is_asked = false;
        catch_up.after = listings.last().copied();
        if listings.len() < LISTINGS {
            (catch_up.kind, catch_up.after) = (catch_up.kind + 1, None);
        }
        self.look.waiting.extend(listings);
    }

    fn read_cursor(&mut self, listing: ListingId) {
        self.call(Call::AskDesk(DeskQuery::Cursor(listing)), Job::ReadCursor(listing));
    }

    /// How far the desk has read the listing's log; a desk that was never needed has read nothing.
    pub(super) fn cursor_read(&mut self, listing: ListingId, found: Result<Found, EngineError>) {
        let fence = match found {
            Ok(Found::Desk(DeskFound::Cursor(fence))) => fence,
            Ok(_) => 0,
            Err(error) => return self.put_aside(listing, error),
        };
        let query = OrdersQuery::WorkAfter { fence, limit: PAGE };
        self.call(Call::AskListing(listing, query), Job::ReadWork(listing));
    }

    pub(super) fn work_read(&mut self, listing: ListingId, found: Result<Found, EngineError>) {
        let work = match found {
            Ok(Found::Orders(OrdersFound::Work(work))) => work,
            Ok(_) => Vec::new(),
            Err(error) => return self.put_aside(listing, error),
        };
        let Some(last) = work.last() else {
            self.look.reading.remove(&listing);
            return;
        };
        let (through, is_full) = (last.fence, work.len() == PAGE);
        let slips = work.into_iter().map(slip).collect();
        let slips = TakeSlips { work: TakeWork { listing, through, slips }, is_full };
        match self.desk_is_open {
            true => self.take_slips(slips),
            false => self.desk(DeskCommand::Open, Job::OpenDesk(Box::new(slips))),
        }
    }

    pub(super) fn desk_opened(&mut self, slips: TakeSlips, opened: Result<Outcome, EngineError>) {
        match opened {
            Ok(_) => {
                self.desk_is_open = true;
                self.take_slips(slips);
            }
            Err(error) => self.put_aside(slips.work.listing, error),
        }
    }

    fn take_slips(&mut self, slips: TakeSlips) {
        let (listing, is_full) = (slips.work.listing, slips.is_full);
        self.desk(DeskCommand::TakeWork(slips.work), Job::TakeSlips { listing, is_full });
    }

    pub(super) fn slips_taken(
        &mut self,
        listing: ListingId,
        is_full: bool,
        taken: Result<Outcome, EngineError>,
    ) {
        match taken {
            Ok(_) if is_full => self.read_cursor(listing),
            Ok(_) => drop(self.look.reading.remove(&listing)),
            Err(error) => self.put_aside(listing, error),
        }
    }

    /// Nothing that moved is forgotten: the next round reads it.
    fn put_aside(&mut self, listing: ListingId, error: EngineError) {
        self.look.reading.remove(&listing);
        self.look.aside.insert(listing);
        self.note_trouble(error);
    }
}

fn slip(work: Work) -> Slip {
    Slip {
        order: work.order,
        payment: work.payment,
        refund: work.refund,
        amount_minor: work.amount_minor,
        currency: work.currency,
        until: work.until,
        of_reference: work.reference,
        method: work.method,
    }
}
