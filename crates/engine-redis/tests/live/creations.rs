//! One small listing of every kind.

use onsale_domain::auction::increment::{Increment, NamedLadder};
use onsale_domain::auction::{AuctionCommand, AuctionDetails, AuctionTerms};
use onsale_domain::desk::DeskCommand;
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::money::Currency;
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::registration::command::CreateRegistration;
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::series::command::SeriesCommand;
use onsale_domain::series::schedule::Slot;
use onsale_domain::stock::SaleCommand;
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{Command, ListingId, ListingKind, Millis};

use super::house::{buyer, tempest};
use super::kinds::hourly;

const HOUR: Millis = 3_600_000;
const SEATS: usize = 9;

/// What makes this listing now.
pub(crate) fn creation(listing: ListingId, now: Millis) -> Command {
    match listing.kind {
        ListingKind::Event => tempest(now, SEATS),
        ListingKind::Venue => {
            let row = Row { label: "A".into(), seats: vec![Seat { id: "A-1".into(), ..Seat::default() }] };
            let section = Section { name: "stalls".into(), rows: vec![row] };
            let layout = Layout { sections: vec![section], areas: Vec::new() };
            let (name, place) = ("Globe".into(), "Bankside".into());
            let create = CreateVenue { name, place, layout: layout.into() };
            Command::Venue(VenueCommand::CreateVenue(Box::new(create)))
        }
        ListingKind::Sale => {
            let create = hourly().template.sale(listing, Slot { at: now - 1_000, offset_s: 0 });
            Command::Sale(SaleCommand::Create(Box::new(create)))
        }
        ListingKind::Series => Command::Series(SeriesCommand::Create(Box::new(hourly()))),
        ListingKind::Registration => {
            let details = RegistrationDetails {
                name: "course".into(),
                description: String::new(),
                opens_at: now - 1_000,
                starts_at: now + 48 * HOUR,
                cut_off_ms: HOUR,
                currency: Currency::parse("EUR").expect("three letters"),
                price_minor: 0,
                checkout_ms: 600_000,
                ends_at: None,
                event: None,
                venue: None,
            };
            let create = CreateRegistration { details, capacity: 2 };
            Command::Registration(RegistrationCommand::Create(Box::new(create)))
        }
        ListingKind::Auction => {
            let terms = AuctionTerms {
                start_minor: 1_000,
                tick_minor: 1,
                increment: Increment::Named(NamedLadder::EbayUs),
                reserve_minor: None,
                buy_now: None,
                soft_close: None,
                bidders_may_retract: false,
            };
            Command::Auction(AuctionCommand::CreateAuction(Box::new(AuctionDetails {
                name: "Clock".into(),
                description: String::new(),
                seller: buyer("sam"),
                currency: Currency::parse("EUR").expect("three letters"),
                starts_at: now,
                ends_at: now + HOUR,
                terms,
            })))
        }
        ListingKind::Desk => Command::Desk(DeskCommand::Open),
    }
}
