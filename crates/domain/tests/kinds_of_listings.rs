//! Sales, series and registrations as listings: positions and fences go on, images and logs bring them back, every kind
//! keeps to its own commands, and refused attempts are kept beside the state.

use onsale_domain::Command;
use onsale_domain::listing::{BodyView, fence};
use onsale_domain::money::Currency;
use onsale_domain::registration::command::{CreateRegistration, Register, RegistrationCommand};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::registration::{RegistrationFound, RegistrationQuery};
use onsale_domain::seats::EventQuery;
use onsale_domain::series::SeriesCommand;
use onsale_domain::series::command::OpenSlot;
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::{Schedule, Slot};
use onsale_domain::stock::command::{Checkout, SaleCommand};
use onsale_domain::stock::details::{SaleStatus, StockRules};
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::stock::{SaleFound, SaleQuery};
use onsale_domain::{
    BuyerId, CheckoutId, Code, EntryId, Fact, Listing, ListingId, ListingKind, Millis, Outcome, Tenant,
};
use onsale_domain::{Found, Query};

const HOUR: Millis = 3_600_000;

fn id(kind: ListingKind) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind, number: 7 }
}

fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a short name")
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("three letters")
}

fn series() -> SeriesDetails {
    let template = SaleTemplate {
        name: "hour".into(),
        description: String::new(),
        currency: euro(),
        rules: StockRules { buyer_limit: 2, checkout_ms: 60_000 },
        length_ms: HOUR,
        items: vec![ItemTemplate { price_minor: 100, stock: 2, name: None, picture: None }],
    };
    SeriesDetails { name: "hourly".into(), schedule: Schedule::Hourly, from: 0, template }
}

fn registration() -> CreateRegistration {
    let details = RegistrationDetails {
        name: "course".into(),
        description: String::new(),
        opens_at: 0,
        starts_at: 100 * HOUR,
        cut_off_ms: 24 * HOUR,
        currency: euro(),
        price_minor: 100,
        checkout_ms: 60_000,
        ends_at: None,
        event: None,
        venue: None,
    };
    CreateRegistration { details, capacity: 1 }
}

/// A listing with the log of its facts.
struct Logged {
    listing: Listing,
    log: Vec<(Millis, Fact)>,
}

impl Logged {
    fn new(id: ListingId) -> Logged {
        Logged { listing: Listing::new(id, 3), log: Vec::new() }
    }

    fn ask(&mut self, command: Command, now: Millis) -> (Outcome, Vec<Fact>) {
        let (before, mut facts) = (self.listing.offset, Vec::new());
        let outcome = self.listing.execute(&command, now, &mut facts);
        assert_eq!(self.listing.offset, before + facts.len() as u64, "every fact has its offset");
        self.listing.check_invariants().expect("adds up");
        self.log.extend(facts.iter().map(|fact| (now, fact.clone())));
        let mut replayed = Listing::new(self.listing.id, 3);
        self.log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
        let reread = Listing::from_image(&self.listing.image()).expect("an image is read");
        for copy in [replayed, reread] {
            assert_eq!(copy.canonical_image(), self.listing.canonical_image());
            assert_eq!(copy.next_due(), self.listing.next_due());
        }
        (outcome, facts)
    }

    fn code(&mut self, command: Command, now: Millis) -> Option<Code> {
        self.ask(command, now).0.refused().map(|refusal| refusal.code)
    }
}

fn checkout(number: u64, name: &str, count: u32) -> Command {
    Command::Sale(SaleCommand::Checkout(Checkout {
        checkout: CheckoutId(number),
        buyer: buyer(name),
        lines: vec![SkuCount { sku: 0, count }],
        checkout_ms: None,
    }))
}

#[test]
fn a_sale_of_a_series_lives_as_a_listing() {
    let mut hourly = Logged::new(id(ListingKind::Series));
    let create = || Command::Series(SeriesCommand::Create(Box::new(series())));
    assert_eq!(hourly.code(Command::Series(SeriesCommand::End), 0), Some(Code::ListingUnknown));
    assert_eq!(hourly.ask(create(), 0).0, Outcome::Done);
    assert_eq!(hourly.code(create(), 0), Some(Code::ListingExists));
    let slot = Slot { at: HOUR, offset_s: 0 };
    let open = OpenSlot { slot, skipped: vec![Slot { at: 0, ..slot }] };
    assert_eq!(hourly.ask(Command::Series(SeriesCommand::OpenSlot(open)), HOUR).1.len(), 2);
    assert_eq!(hourly.ask(Command::ExpireDue { limit: 64 }, HOUR).0, Outcome::Unchanged);
    assert_eq!(hourly.code(checkout(1, "ann", 1), HOUR), Some(Code::WrongKind));
    let Some(BodyView::Series(view)) = hourly.listing.view() else { panic!("a series") };
    let made = view.sales_to_make(HOUR);
    let [(sale, create)] = &made[..] else { panic!("one sale") };
    assert_eq!(view.active_at(HOUR), Some(*sale));

    let mut sale = Logged::new(*sale);
    let create = || Command::Sale(SaleCommand::Create(Box::new(create.clone())));
    assert_eq!(sale.ask(create(), HOUR - 60_000).1.len(), 1);
    assert_eq!(sale.code(create(), HOUR), Some(Code::ListingExists), "the other server was quicker");
    assert_eq!(sale.listing.next_due(), Some(HOUR));
    assert_eq!(sale.ask(checkout(1, "ann", 2), HOUR).1.len(), 2, "opened, and reserved");
    assert_eq!(sale.listing.next_due(), Some(HOUR + 60_000));
    let Some(BodyView::Sale(view)) = sale.listing.view() else { panic!("a sale") };
    assert_eq!(view.sold_out(), Some(false), "for now");
    assert_eq!((view.status, view.status_at(2 * HOUR)), (SaleStatus::Open, SaleStatus::Ended));
    assert_eq!(sale.code(checkout(2, "bob", 1), HOUR + 1), Some(Code::SoldOutForNow));
    assert_eq!(sale.code(checkout(2, "bob", 0), HOUR + 1), Some(Code::Invalid));
    let attempts: Vec<_> = sale.listing.attempts().expect("one").since(0).collect();
    assert_eq!(attempts.len(), 1);
    assert_eq!(
        (attempts[0].1.at, attempts[0].1.verb, &attempts[0].1.buyer),
        (HOUR + 1, "checkout", &buyer("bob"))
    );
    let query = Query::Sale(SaleQuery::CheckoutsOf(buyer("ann")));
    let Found::Sale(SaleFound::Checkouts(codes)) = sale.listing.ask(&query, HOUR) else { panic!("codes") };
    assert_eq!(codes[0].until, HOUR + 60_000);
    assert_eq!(sale.listing.ask(&Query::Event(EventQuery::HoldsOf(buyer("ann"))), HOUR), Found::Nothing);
    let image = sale.listing.image();
    assert_eq!(sale.ask(Command::ExpireDue { limit: 64 }, HOUR + 60_000).1.len(), 1);
    assert_eq!(sale.code(Command::Series(SeriesCommand::End), HOUR), Some(Code::WrongKind));
    let Some(BodyView::Sale(view)) = sale.listing.view() else { panic!("a sale") };
    assert_eq!((view.levels[0].available(), view.sold_out()), (2, None));
    assert!(Listing::from_image(&image).expect("an image is read").attempts().is_none());
}

#[test]
fn a_registration_lives_as_a_listing() {
    let mut course = Logged::new(id(ListingKind::Registration));
    let create = Command::Registration(RegistrationCommand::Create(Box::new(registration())));
    assert_eq!(course.ask(create, 0).1.len(), 2);
    let register = |number, name| {
        let (entry, buyer) = (EntryId(number), buyer(name));
        Command::Registration(RegistrationCommand::Register(Register { entry, buyer }))
    };
    course.ask(register(1, "ann"), 0);
    course.ask(register(2, "bob"), 0);
    assert_eq!(course.listing.next_due(), Some(60_000));
    assert_eq!(
        course.ask(Command::ExpireDue { limit: 1 }, 60_000).1.len(),
        2,
        "lapsed, and offered to the next"
    );
    let query = Query::Registration(RegistrationQuery::EntryOf(buyer("bob")));
    let Found::Registration(RegistrationFound::Entry(entry)) = course.listing.ask(&query, 60_000) else {
        panic!("an entry")
    };
    assert_eq!(entry.fence, fence(3, 4), "the fence of the fact that made it");
    assert_eq!(course.code(register(9, "cem"), 76 * HOUR), Some(Code::RegistrationClosed));
    assert_eq!(course.listing.attempts().map(|attempts| attempts.count(Code::RegistrationClosed)), Some(1));
}

#[test]
fn a_kind_is_not_created_under_the_id_of_another() {
    for kind in ListingKind::ALL {
        let commands = [
            (ListingKind::Series, Command::Series(SeriesCommand::Create(Box::new(series())))),
            (
                ListingKind::Registration,
                Command::Registration(RegistrationCommand::Create(Box::new(registration()))),
            ),
        ];
        for (own, command) in commands {
            assert!(command.creates() && command.is_sealed());
            let code = Logged::new(id(kind)).code(command, 0);
            assert_eq!(code, (own != kind).then_some(Code::ListingUnknown));
        }
    }
}

#[test]
fn every_name_is_unique_over_all_kinds() {
    let verbs: Vec<&str> = Command::verbs().map(|verb| verb.name).collect();
    for names in [verbs, Fact::kinds().collect()] {
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
    }
}

#[test]
fn a_fact_is_no_larger_than_it_was() {
    assert!(size_of::<Fact>() <= 112, "{} bytes", size_of::<Fact>());
}
