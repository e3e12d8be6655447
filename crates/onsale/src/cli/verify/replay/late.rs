//! Late money for what was kept for days, as the domain writes it: the books must not take it for damage.

mod auctions;

use onsale_domain::money::Currency;
use onsale_domain::order::command::{
    EntryKey, GoodsKey, NotePayment, OrderKey, PayOrder, PaymentResult, PlaceOrder,
};
use onsale_domain::order::{Fees, OrderCommand};
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::registration::command::{CreateRegistration, Register};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::{BuyerId, Command, EntryId, ListingId, OrderId, Outcome, PaymentId, Tenant};

use super::*;

const DAY: i64 = 86_400_000;
const ENTRY: EntryId = EntryId(7);

fn ann() -> BuyerId {
    BuyerId::parse("ann").expect("a buyer")
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("three letters")
}

/// Decides, and has everything that follows booked a second time.
fn played(kind: ListingKind, story: Vec<(i64, Command)>) -> (ReplayedListing, Vec<&'static str>) {
    let id = ListingId { tenant: Tenant::DEFAULT, kind, number: 1 };
    let (mut listing, mut kinds) = (Listing::new(id, FIRST_EPOCH), Vec::new());
    let mut kept = ReplayedListing::new(Listing::new(id, FIRST_EPOCH), true);
    for (at, command) in story {
        let mut facts = Vec::new();
        let outcome = listing.execute(&command, at, &mut facts);
        assert!(matches!(outcome, Outcome::Done | Outcome::Unchanged), "{command:?}: {outcome:?}");
        for fact in &facts {
            kept.take(fact, at).unwrap_or_else(|why| panic!("{fact:?} at {at}: {why}"));
        }
        kinds.extend(facts.iter().map(Fact::kind));
        kept.books.money.check().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    }
    kept.agrees().unwrap_or_else(|why| panic!("{why}"));
    (kept, kinds)
}

/// Ordered and paid at `at`, and the money comes much later.
fn paid_late(goods: GoodsKey, amount_minor: i64, at: i64, late: i64) -> Vec<(i64, Command)> {
    let (order, payment) = (OrderId(1), PaymentId(2));
    let fees = Fees { per_order_minor: 0, per_unit_minor: 0, share: 0 };
    let (key, pay_until) = (OrderKey { order, buyer: ann() }, at + 1_000);
    let pay = PayOrder { key, payment, pay_until, method: None, settled: false };
    let result = PaymentResult::Captured { amount_minor, reference: "r".to_owned() };
    vec![
        (at, Command::Order(OrderCommand::Place(PlaceOrder { order, goods, fees }))),
        (at, Command::Order(OrderCommand::Pay(pay))),
        (late, Command::ExpireDue { limit: 64 }),
        (late, Command::Order(OrderCommand::NotePayment(NotePayment { order, payment, result }))),
    ]
}

fn registration() -> Vec<(i64, Command)> {
    let details = RegistrationDetails {
        name: "Course".into(),
        description: String::new(),
        opens_at: 1,
        starts_at: 30 * DAY,
        cut_off_ms: DAY,
        currency: euro(),
        price_minor: 500,
        checkout_ms: 60_000,
        ends_at: None,
        event: None,
        venue: None,
    };
    let create = RegistrationCommand::Create(Box::new(CreateRegistration { details, capacity: 1 }));
    let register = RegistrationCommand::Register(Register { entry: ENTRY, buyer: ann() });
    vec![(1_000, Command::Registration(create)), (1_000, Command::Registration(register))]
}

#[test]
fn a_place_that_late_money_has_back_is_no_damage() {
    // While it is open, and after its cut-off.
    for late in [DAY, 29 * DAY + 1] {
        let key = GoodsKey::Entry(EntryKey { entry: ENTRY, buyer: ann() });
        let story = registration().into_iter().chain(paid_late(key, 500, 1_000, late)).collect();
        let (kept, kinds) = played(ListingKind::Registration, story);
        let courses = ["registration_offer_lapsed", "registration_confirmed"];
        assert!(courses.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        assert_eq!((kept.books.entries.totals().confirmed, kept.books.entries.totals().kept), (1, 0));
        assert_eq!(kept.books.money.sums().map(|(_, sums)| sums.confirmed_minor).sum::<i64>(), 500);
    }
}
