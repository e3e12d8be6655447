//! What every listing can do whatever its kind, over the port: `tables/listing.txt` says how a line reads. Each table is played
//! for each kind.

use onsale_domain::about::{About, Card};
use onsale_domain::auction::command::PlaceBid;
use onsale_domain::auction::{AuctionCommand, AuctionDetails};
use onsale_domain::id::ListingKind;
use onsale_domain::listing::{Creation, Describe, Key, ListingCommand};
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::registration::command::Register;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{Pick, PlaceHold};
use onsale_domain::series::SeriesCommand;
use onsale_domain::series::command::OpenSlot;
use onsale_domain::series::schedule::Slot;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::Checkout;
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{
    BuyerId, CheckoutId, Command, EntryId, Fact, HoldId, ListingId, Millis, Outcome, Refusal, Tenant,
};
use onsale_tables::{Table, cut};
use xxhash_rust::xxh3::xxh3_128;

use super::Harness;
use super::lines::{Words, span};
use super::registrations::OfRegistrations;
use super::sales::OfSales;
use super::series::OfSeries;
use super::table::Settings;
use crate::engine::{Answer, EngineError, Position, Request};

const FILES: &[(&str, &str)] = &[("listing", include_str!("tables/listing.txt"))];
/// A slot of the series begins with every table, and everything else is open a while later.
const ZERO: Millis = <OfSeries as Words>::ZERO;
/// Every kind that a merchant makes.
const KINDS: [ListingKind; 6] = [
    ListingKind::Event,
    ListingKind::Venue,
    ListingKind::Sale,
    ListingKind::Series,
    ListingKind::Registration,
    ListingKind::Auction,
];

pub(super) fn all() -> Vec<Table> {
    cut(FILES)
}

/// Plays a table for every kind; tables in which somebody uses the listing, for every kind that can be used.
pub(super) fn play(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    let is_used = table.contains(" use ");
    let kinds = KINDS.into_iter().filter(|kind| !is_used || *kind != ListingKind::Venue);
    for kind in kinds {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind, number: 400 + kind as u64 };
        let mut game = Game { harness, listing, used: 0 };
        game.play(table, restarts).map_err(|why| format!("{}:\n{why}", kind.name()))?;
    }
    Ok(())
}

struct Game<'a> {
    harness: &'a mut dyn Harness,
    listing: ListingId,
    /// Ids that were given to what uses it.
    used: u64,
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime for one thread can be built").block_on(future)
}

impl Game<'_> {
    fn play(&mut self, table: &str, restarts: bool) -> Result<(), String> {
        let (mut report, mut failed) = (String::new(), false);
        for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (asked, expected) = line.split_once("->").ok_or_else(|| format!("no answer in {line:?}"))?;
            let got = self.line(asked).map_err(|why| format!("{report}{line}\n    stopped: {why}"))?;
            report.push_str(&format!("{line}\n"));
            self.harness
                .check_invariants(&self.listing)
                .map_err(|why| format!("{report}    broken: {why}"))?;
            if got != expected.trim() {
                failed = true;
                report.push_str(&format!("    got: {got}\n"));
            }
            if restarts {
                self.harness.restart();
            }
        }
        let before = self.show();
        self.harness.restart();
        if before != self.show() {
            failed = true;
            report.push_str(&format!("    {before} is {} after a restart\n", self.show()));
        }
        if failed { Err(report) } else { Ok(()) }
    }

    fn line(&mut self, asked: &str) -> Result<String, String> {
        let words: Vec<&str> = asked.split_whitespace().collect();
        let (words, key) = match words.as_slice() {
            [rest @ .., "key", name] => {
                let fingerprint = xxh3_128(rest[1..].join(" ").as_bytes());
                // Every kind has keys of its own: all are in one engine.
                let scope = xxh3_128(format!("{name} {}", self.listing).as_bytes());
                (rest, Some(Key { scope, fingerprint }))
            }
            all => (all, None),
        };
        let [at, verb, words @ ..] = words else { return Err("a time and a verb".into()) };
        self.harness.set_clock(ZERO + span(at)?);
        let command = match (*verb, words) {
            ("show", []) => return Ok(self.show()),
            ("facts", []) => return Ok(self.facts()),
            ("make", []) => create(self.listing.kind)?,
            ("make", said) => {
                let about = said_of(said)?.of(None);
                let id = said.iter().find_map(|word| word.strip_prefix("id="));
                let about = About { external_id: id.map(str::to_owned), ..about };
                Command::Create(Box::new(Creation { command: create(self.listing.kind)?, about }))
            }
            ("describe", said) => Command::Listing(ListingCommand::Describe(Box::new(said_of(said)?))),
            ("delete", []) => Command::Listing(ListingCommand::Delete),
            ("use", [who]) => {
                self.used += 1;
                used(self.listing.kind, self.used, BuyerId::parse(who).ok_or("a buyer")?)?
            }
            ("sweep", []) => Command::ExpireDue { limit: 64 },
            (verb, words) => return Err(format!("cannot say {verb} {words:?}")),
        };
        let request = Request { listing: self.listing, command, key, by: None };
        let answer = block(self.harness.engine().submit(request)).map_err(|error| error.to_string())?;
        Ok(told(&answer))
    }

    /// What every reader is told, whether it is in the list, and since when.
    fn show(&self) -> String {
        let engine = self.harness.engine();
        let ListingId { tenant, kind, .. } = self.listing;
        let is_listed =
            engine.listings(tenant, kind, None, 10).iter().any(|view| view.listing == self.listing);
        let Some(view) = engine.view(&self.listing) else {
            return if is_listed { "nothing, but listed" } else { "nothing" }.into();
        };
        let seconds = |at: Millis| (at - ZERO) / 1_000;
        let about = view.about.as_deref().cloned().unwrap_or_default();
        let card = about.card.map(|card| format!("card={}", card.category.unwrap_or_default()));
        let id = about.external_id.map(|id| format!("id={id}"));
        let parts = [id, about.metadata, card].into_iter().flatten();
        let times = format!("made {} moved {}", seconds(view.created_at), seconds(view.at));
        let listed = (!is_listed).then(|| "not listed".to_owned());
        parts.chain([times]).chain(listed).collect::<Vec<_>>().join(" ")
    }

    fn facts(&self) -> String {
        match block(self.harness.engine().facts_after(self.listing, Position::default(), 100)) {
            Ok(page) => format!("{} steps", page.steps.len()),
            Err(EngineError::UnknownListing) => "unknown".into(),
            Err(error) => error.to_string(),
        }
    }
}

/// `note=…` is the metadata `{"note":"…"}`; `none` takes away.
fn said_of(words: &[&str]) -> Result<Describe, String> {
    let mut said = Describe::default();
    for word in words {
        match word.split_once('=').ok_or_else(|| format!("{word} says nothing"))? {
            ("id", _) => {}
            ("note", "none") => said.metadata = Some(None),
            ("note", text) => said.metadata = Some(Some(format!("{{\"note\":\"{text}\"}}"))),
            ("card", "none") => said.card = Some(None),
            ("card", category) => {
                let category = Some(category.to_owned());
                said.card = Some(Some(Card { category, ..Card::default() }));
            }
            ("country", code) => {
                let country = Some(code.to_owned());
                said.card = Some(Some(Card { country, ..Card::default() }));
            }
            (other, _) => return Err(format!("nothing is called {other}")),
        }
    }
    Ok(said)
}

fn create(kind: ListingKind) -> Result<Command, String> {
    let shift = |time: &mut Millis| *time += ZERO - super::table::ZERO;
    let mut command = match kind {
        ListingKind::Event => {
            Command::Event(EventCommand::CreateEvent(Box::new(Settings::default().create()?)))
        }
        ListingKind::Venue => super::table::create_venue("hall", &["A1", "A2"])?,
        ListingKind::Sale => OfSales::create()?,
        ListingKind::Series => OfSeries::create()?,
        ListingKind::Registration => OfRegistrations::create()?,
        ListingKind::Auction => {
            let usual = onsale_tables::auction::usual();
            let (starts_at, ends_at) = (super::table::ZERO, super::table::ZERO + usual.ends_at);
            let details = AuctionDetails { starts_at, ends_at, ..usual };
            Command::Auction(AuctionCommand::CreateAuction(Box::new(details)))
        }
        ListingKind::Desk => return Err("nobody makes a desk".into()),
    };
    if let Command::Sale(SaleCommand::Create(sale)) = &mut command {
        shift(&mut sale.details.starts_at);
        shift(&mut sale.details.ends_at);
    } else if let Command::Registration(RegistrationCommand::Create(registration)) = &mut command {
        shift(&mut registration.details.opens_at);
        shift(&mut registration.details.starts_at);
    } else if let Command::Auction(AuctionCommand::CreateAuction(auction)) = &mut command {
        shift(&mut auction.starts_at);
        shift(&mut auction.ends_at);
    } else if let Command::Event(EventCommand::CreateEvent(event)) = &mut command {
        shift(&mut event.details.starts_at);
        shift(&mut event.details.ends_at);
    }
    Ok(command)
}

/// Somebody takes the first there is of it, where it can be let go, for a minute.
fn used(kind: ListingKind, number: u64, buyer: BuyerId) -> Result<Command, String> {
    Ok(match kind {
        ListingKind::Event => Command::Event(EventCommand::PlaceHold(PlaceHold {
            hold: HoldId(number),
            buyer,
            pick: Pick::Seats(vec![0]),
            areas: Vec::new(),
            hold_ms: Some(60_000),
        })),
        ListingKind::Sale => Command::Sale(SaleCommand::Checkout(Checkout {
            checkout: CheckoutId(number),
            buyer,
            lines: vec![SkuCount { sku: 0, count: 1 }],
            checkout_ms: Some(60_000),
        })),
        ListingKind::Series => Command::Series(SeriesCommand::OpenSlot(OpenSlot {
            slot: Slot { at: ZERO, offset_s: 0 },
            skipped: Vec::new(),
        })),
        ListingKind::Registration => {
            Command::Registration(RegistrationCommand::Register(Register { entry: EntryId(number), buyer }))
        }
        ListingKind::Auction => Command::Auction(AuctionCommand::PlaceBid(PlaceBid {
            bidder: buyer,
            max_minor: 5_000,
            currency: onsale_tables::auction::usual().currency,
        })),
        ListingKind::Venue | ListingKind::Desk => return Err("nobody uses it".into()),
    })
}

/// Only what was asked for: what the clock brings about beside it differs from kind to kind.
fn told(answer: &Answer) -> String {
    let mut parts: Vec<&str> = answer.facts().filter_map(|(_, fact)| told_fact(fact)).collect();
    let refusal: Option<&Refusal> = answer.outcome.refused();
    match (refusal, &answer.outcome) {
        (Some(refusal), _) => parts.push(refusal.code.as_str()),
        (None, Outcome::Unchanged) => parts.push("unchanged"),
        (None, _) => {}
    }
    format!("{}{}", if answer.replayed { "again: " } else { "" }, parts.join(", "))
}

fn told_fact(fact: &Fact) -> Option<&'static str> {
    match fact.kind() {
        "listing_described" => Some("described"),
        "listing_deleted" => Some("deleted"),
        kind if kind.ends_with("_created") => Some("made"),
        "hold_placed" | "checked_out" | "slot_opened" | "registered" | "bid_placed" => Some("used"),
        _ => None,
    }
}
