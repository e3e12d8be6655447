//! A command as the arguments of its script. What Lua cannot see (the rows of a chart, the merged details) is made
//! here from a picture of the listing, and the script checks that the picture was fresh enough.

mod auctions;
mod best;
mod chart;
pub(crate) mod desks;
mod orders;
mod plain;
mod registrations;
mod sales;
mod series;

pub(crate) use auctions::rules as rules_of_auction;

use onsale_domain::auction::AuctionCommand;
use onsale_domain::event::EventDetails;
use onsale_domain::listing::Body;
use onsale_domain::refusal::Detail;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::Seats;
use onsale_domain::seats::command::{HoldKey, Pick, PlaceHold};
use onsale_domain::stock::SaleCommand;
use onsale_domain::venue::Venue;
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{Code, Command, Fact, ListingKind, Millis, Refusal};

use crate::facts::{self, Fields};
use crate::layout::Layout;
use crate::picture::Picture;
use crate::scripts::Name;

/// A script and its own arguments.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: Name,
    pub layout: Layout,
    pub args: Vec<Vec<u8>>,
    /// What a refusal with this code means in full: scripts answer it with its number alone.
    pub refusal: Option<Refusal>,
}

/// What the house decides about its scripts' arguments.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The epoch of a listing that is made.
    pub epoch: u64,
    pub compact_from: usize,
    /// Whether a choice of best seats must be made at the listing's very position.
    pub strict: bool,
    /// Whether a hold that looks plain is asked for with the short script; that answers `plain` if it is not.
    pub plain: bool,
}

/// Prepares a command. `now` is the clock that a choice of best seats is made at.
pub fn prepare(picture: &Picture, command: &Command, now: Millis, terms: &Terms) -> Call {
    if command.creates() && command.kind() != Some(picture.listing.id.kind) {
        return refused(Refusal::of(Code::ListingUnknown), "create");
    }
    match (picture.listing.id.kind, command) {
        (ListingKind::Venue, Command::Venue(VenueCommand::CreateVenue(create))) => {
            create_venue(picture, create, terms)
        }
        (ListingKind::Event, Command::Event(EventCommand::CreateEvent(create))) => {
            match Seats::create(create) {
                Err(refusal) => refused(refusal, "create"),
                Ok(created) => chart::create(create, created, terms),
            }
        }
        (ListingKind::Venue, Command::Venue(VenueCommand::PublishLayout(layout))) => match layout.check() {
            Err(refusal) => refused(refusal, "venue"),
            Ok(()) => {
                let mut args = Args::default();
                args.bytes(facts::layout(layout));
                args.call(Name::PublishLayout, picture)
            }
        },
        (ListingKind::Venue, _) => refused(Refusal::of(Code::WrongKind), ""),
        (
            ListingKind::Event | ListingKind::Sale | ListingKind::Auction | ListingKind::Registration,
            Command::Order(command),
        ) => orders::prepare(picture, command),
        (ListingKind::Event, Command::Event(_) | Command::ExpireDue { .. }) => match command.check() {
            Err(refusal) => refused(refusal, ""),
            Ok(()) => of_seats(picture, command, now, terms),
        },
        (ListingKind::Event, _) => refused(Refusal::of(Code::WrongKind), ""),
        (ListingKind::Sale, Command::Sale(command)) => sales::prepare(picture, command, terms),
        (ListingKind::Sale, Command::ExpireDue { limit }) => sales::expire_due(picture, *limit),
        (ListingKind::Sale, _) => refused(Refusal::of(Code::WrongKind), ""),
        (ListingKind::Series, Command::Series(command)) => series::prepare(picture, command, terms),
        (ListingKind::Series, Command::ExpireDue { .. }) => series::sweep(picture),
        (ListingKind::Registration, Command::Registration(command)) => {
            registrations::prepare(picture, command, terms)
        }
        (ListingKind::Registration, Command::ExpireDue { limit }) => {
            registrations::expire_due(picture, *limit)
        }
        (ListingKind::Auction, Command::Auction(command)) => auctions::prepare(picture, command, terms),
        (ListingKind::Auction, Command::ExpireDue { .. }) => auctions::close_due(picture),
        (ListingKind::Desk, Command::Desk(_) | Command::ExpireDue { .. }) => {
            desks::prepare(picture, command, now, terms)
        }
        (ListingKind::Series | ListingKind::Registration | ListingKind::Auction | ListingKind::Desk, _) => {
            refused(Refusal::of(Code::WrongKind), "")
        }
    }
}

/// The short script for what most buyers ask, and the fact that its yes means.
pub(crate) fn plain(picture: &Picture, command: &Command) -> Option<(Call, Fact)> {
    if let Command::Event(EventCommand::PlaceHold(hold)) = command {
        plain::place_plain_hold(picture, command, hold)
    } else if let Command::Sale(SaleCommand::Checkout(checkout)) = command {
        sales::plain_checkout(picture, checkout)
    } else if let Command::Auction(AuctionCommand::PlaceBid(bid)) = command {
        auctions::plain_bid(picture, bid)
    } else {
        None
    }
}

fn create_venue(picture: &Picture, create: &CreateVenue, terms: &Terms) -> Call {
    let created = match Venue::create(create) {
        Err(refusal) => return refused(refusal, "create"),
        Ok(created) => created,
    };
    let mut args = Args::default();
    args.push(terms.epoch);
    args.bytes(facts::layout(&create.layout));
    args.list([("name", create.name.as_str()), ("place", create.place.as_str())]);
    created.into_iter().for_each(|fact| args.fact(&Fact::Venue(fact)));
    args.call(Name::CreateVenue, picture)
}

fn of_seats(picture: &Picture, command: &Command, now: Millis, terms: &Terms) -> Call {
    let mut args = Args::default();
    let name = match command {
        Command::Event(EventCommand::PlaceHold(hold)) => {
            place_hold(&mut args, picture, command, hold, now, terms);
            Name::PlaceHold
        }
        Command::Event(EventCommand::ExtendHold(extend)) => {
            args.key(&extend.key);
            args.optional(extend.extension_ms);
            Name::ExtendHold
        }
        Command::Event(EventCommand::DropSeats(drop)) => {
            args.key(&drop.key);
            args.bytes(facts::seats(&drop.seats));
            args.bytes(facts::area_counts(&drop.areas));
            Name::DropSeats
        }
        Command::Event(EventCommand::ReleaseHold(key)) => {
            args.key(key);
            Name::ReleaseHold
        }
        Command::Event(EventCommand::ConfirmHold(confirm)) => {
            args.key(&confirm.key);
            args.bytes(facts::id(confirm.order.0));
            Name::ConfirmHold
        }
        Command::Event(EventCommand::OverrideHold(take)) => {
            args.bytes(facts::id(take.hold.0));
            args.bytes(&take.staff);
            args.bytes(&take.reason);
            args.bytes(take.to.as_ref().map_or("", |(buyer, _)| buyer.as_str()));
            args.optional(take.to.as_ref().and_then(|(_, hold_ms)| *hold_ms));
            Name::OverrideHold
        }
        Command::Event(EventCommand::RefundOrder(refund)) => {
            args.bytes(facts::id(refund.order.0));
            args.bytes(facts::seats(&refund.seats));
            args.bytes(facts::area_counts(&refund.areas));
            args.bytes(&refund.reason);
            Name::RefundOrder
        }
        Command::Event(EventCommand::BlockSeats(block)) => {
            args.bytes(facts::seats(&block.seats));
            args.bytes(facts::area_counts(&block.areas));
            args.bytes(&block.reason);
            Name::BlockSeats
        }
        Command::Event(EventCommand::UnblockSeats(unblock)) => {
            args.bytes(facts::seats(&unblock.seats));
            args.bytes(facts::area_counts(&unblock.areas));
            Name::UnblockSeats
        }
        Command::Event(EventCommand::JoinQueue(join)) => {
            args.bytes(facts::id(join.place.0));
            args.push(join.seat);
            args.bytes(join.buyer.as_str());
            Name::JoinQueue
        }
        Command::Event(EventCommand::LeaveQueue(leave)) => {
            args.push(leave.seat);
            args.bytes(leave.buyer.as_str());
            Name::LeaveQueue
        }
        Command::Event(EventCommand::ChangeStatus(status)) => {
            args.bytes(status.as_str());
            Name::ChangeStatus
        }
        Command::Event(EventCommand::ChangeEvent(change)) => {
            chart::change(&mut args, picture, change);
            Name::ChangeEvent
        }
        Command::Event(EventCommand::AdoptChart(adopt)) => {
            chart::adopt(&mut args, picture, adopt);
            Name::AdoptChart
        }
        Command::ExpireDue { limit } => {
            args.push(limit);
            Name::ExpireDue
        }
        Command::Venue(VenueCommand::CreateVenue(_))
        | Command::Venue(VenueCommand::PublishLayout(_))
        | Command::Event(EventCommand::CreateEvent(_))
        | Command::Sale(_)
        | Command::Series(_)
        | Command::Registration(_)
        | Command::Auction(_)
        | Command::Order(_)
        | Command::Desk(_) => Name::RefuseKind,
    };
    args.call(name, picture)
}

fn place_hold(
    args: &mut Args,
    picture: &Picture,
    command: &Command,
    hold: &PlaceHold,
    now: Millis,
    terms: &Terms,
) {
    args.bytes(facts::id(hold.hold.0));
    args.bytes(hold.buyer.as_str());
    let (seats, best) = match &hold.pick {
        Pick::Seats(seats) => (facts::seats(seats), String::new()),
        Pick::Best(_) => best::choose(picture, command, now, terms.strict),
    };
    args.bytes(seats);
    args.bytes(facts::area_counts(&hold.areas));
    args.optional(hold.hold_ms);
    args.bytes(best);
    let (Pick::Seats(seats), Body::Event(event)) = (&hold.pick, &picture.listing.body) else {
        return ["", "", ""].iter().for_each(|nothing| args.bytes(nothing));
    };
    args.push(picture.versions.chart);
    args.bytes(best::tiers(event, seats));
    args.bytes(match event.details().rules.refuse_single_seats {
        true => best::neighbours(event, seats),
        false => String::new(),
    });
}

/// A refusal that no state could change; the key and the listing are still looked at first.
fn refused(refusal: Refusal, kind: &str) -> Call {
    let args = vec![(refusal.code as u8).to_string().into_bytes(), kind.as_bytes().to_vec()];
    Call { name: Name::RefuseCommand, layout: Layout::Hash, args, refusal: Some(refusal) }
}

/// The details as fields of the meta hash.
fn meta_fields(details: &EventDetails) -> Fields {
    let mut fields = Fields::default();
    facts::details::encode(details, &mut fields);
    fields
}

/// What scripts have to know of the details, in one line: times, rules, and the price of each tier.
fn rules(details: &EventDetails) -> String {
    let optional = |number: Option<Millis>| number.map_or(String::new(), |number| number.to_string());
    let rules = &details.rules;
    let packed = format!(
        "{}|{}|{}|{}|{}|{}|{}|{}",
        optional(details.sale_opens_at),
        details.sale_ends_at(),
        details.ends_at,
        rules.hold_ms,
        optional(rules.extension_ms),
        rules.extensions_max,
        rules.buyer_limit,
        u8::from(rules.refuse_single_seats),
    );
    let prices: Vec<String> = details.tiers.iter().map(|tier| tier.price_minor.to_string()).collect();
    format!("{packed}|{}", prices.join(","))
}

#[derive(Debug, Default)]
struct Args(Vec<Vec<u8>>);

impl Args {
    fn push(&mut self, value: impl ToString) {
        self.0.push(value.to_string().into_bytes());
    }

    fn bytes(&mut self, value: impl AsRef<[u8]>) {
        self.0.push(value.as_ref().to_vec());
    }

    fn optional(&mut self, value: Option<Millis>) {
        self.bytes(value.map_or(String::new(), |value| value.to_string()));
    }

    /// Which field is wrong, and why; two empty ones if none is.
    fn wrong(&mut self, refusal: Option<&Refusal>) {
        let (field, why) = refusal.map_or(("", ""), |refusal| match &refusal.detail {
            Detail::Field { field, why } => (field.as_str(), why.as_str()),
            Detail::None | Detail::Limit { .. } | Detail::Order(_) | Detail::MinNext(_) => ("", ""),
        });
        self.bytes(field);
        self.bytes(why);
    }

    fn key(&mut self, key: &HoldKey) {
        self.bytes(facts::id(key.hold.0));
        self.push(key.fence);
        self.bytes(key.buyer.as_str());
    }

    fn list<'a>(&mut self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let flat: Vec<&str> = pairs.into_iter().flat_map(|(name, value)| [name, value]).collect();
        self.push(flat.len());
        flat.iter().for_each(|value| self.bytes(value));
    }

    fn fields(&mut self, fields: &Fields) {
        self.push(2 * fields.len());
        fields.flat().for_each(|value| self.bytes(value));
    }

    fn fact(&mut self, fact: &Fact) {
        self.fields(&facts::encode(fact));
    }

    fn call(self, name: Name, picture: &Picture) -> Call {
        Call { name, layout: picture.layout, args: self.0, refusal: None }
    }
}
