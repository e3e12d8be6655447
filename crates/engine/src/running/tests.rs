//! Which sale is on, by tables of times; and how many sales a question looks at.

use onsale_domain::listing::BodyView;
use onsale_domain::money::Currency;
use onsale_domain::stock::details::{Origin, SaleDetails, StockRules};

use super::*;
use crate::engine::Position;

const HOUR: Millis = 3_600_000;
const TENANT: Tenant = Tenant::DEFAULT;

/// What the sales are now, and how many of them were looked at.
#[derive(Default)]
struct World {
    running: Running,
    views: BTreeMap<ListingId, Arc<View>>,
    looked: usize,
}

fn listing(tenant: u32, number: u64) -> ListingId {
    ListingId { tenant: Tenant::new(tenant).expect("a tenant"), kind: ListingKind::Sale, number }
}

impl World {
    /// A sale is so from now on; whoever keeps what is running has not heard of it.
    fn change(&mut self, listing: ListingId, (starts_at, ends_at): (Millis, Millis), of_series: bool) {
        let series = ListingId { kind: ListingKind::Series, ..listing };
        let details = SaleDetails {
            name: "Drop".into(),
            description: String::new(),
            starts_at,
            ends_at,
            currency: Currency::parse("EUR").expect("a code"),
            rules: StockRules::default(),
            origin: of_series.then_some(Origin { series, slot: starts_at }),
        };
        self.put(listing, details, SaleStatus::Scheduled);
    }

    fn put(&mut self, listing: ListingId, details: SaleDetails, status: SaleStatus) {
        let (skus, levels) = (Arc::default(), Arc::new([]));
        let sale = SaleView { details: Arc::new(details), status, skus, levels };
        let position = Position { epoch: 1, offset: 1 };
        let body = BodyView::Sale(sale);
        let view = View { listing, position, at: 0, created_at: 0, about: None, body };
        self.views.insert(listing, Arc::new(view));
    }

    fn say(&mut self, listing: ListingId, status: SaleStatus) {
        let details = self.views[&listing].body.sale().expect("a sale").details.as_ref().clone();
        self.put(listing, details, status);
    }

    fn make(&mut self, listing: ListingId, times: (Millis, Millis), of_series: bool) {
        self.change(listing, times, of_series);
        self.hear(listing);
    }

    fn hear(&mut self, listing: ListingId) {
        self.running.set(listing, self.views.get(&listing).map(AsRef::as_ref));
    }

    /// The number of the first tenant's sale that is on.
    fn on(&mut self, now: Millis) -> Option<u64> {
        self.looked = 0;
        let World { running, views, looked } = self;
        let look = |listing: &ListingId| {
            *looked += 1;
            views.get(listing).cloned()
        };
        running.active(TENANT, now, look).map(|sale| sale.number)
    }
}

#[test]
fn a_sale_of_a_series_comes_first_and_then_the_one_that_began_last() {
    let mut world = World::default();
    world.make(listing(0, 1), (10, 100), false);
    world.make(listing(0, 2), (20, 90), false);
    world.make(listing(0, 3), (15, 80), true);
    world.make(listing(0, 4), (20, 90), false);
    world.make(listing(1, 9), (5, 300), true);
    let told: Vec<_> = [9, 10, 14, 15, 79, 80, 89, 90, 99, 100].map(|now| (now, world.on(now))).into();
    let [none, first, series, last] = [None, Some(1), Some(3), Some(4)];
    let shown = [none, first, first, series, series, last, last, first, first, none];
    assert_eq!(told.iter().map(|(_, on)| *on).collect::<Vec<_>>(), shown, "{told:?}");
    assert_eq!(world.running.tenants(100), [listing(1, 9).tenant]);
    assert_eq!(world.running.tenants(300), []);
}

#[test]
fn a_question_looks_at_one_sale_however_many_are_to_come_and_are_open() {
    const SALES: u64 = 20_000;
    let mut world = World::default();
    (1..=SALES).for_each(|number| world.make(listing(0, number), (1_000 * HOUR, 2_000 * HOUR), false));
    assert_eq!((world.on(0), world.looked), (None, 0));
    (1..=SALES).for_each(|number| world.make(listing(0, SALES + number), (0, 1_000 * HOUR), false));
    for now in 0..100 {
        assert_eq!((world.on(now), world.looked), (Some(2 * SALES), 1));
    }
    // What is over and was not said to be is met once.
    world.say(listing(0, 2 * SALES), SaleStatus::Ended);
    assert_eq!((world.on(100), world.looked), (Some(2 * SALES - 1), 2));
    assert_eq!((world.on(101), world.looked), (Some(2 * SALES - 1), 1));
    assert_eq!((world.on(1_000 * HOUR), world.looked), (Some(SALES), 1));
}

#[test]
fn what_moves_is_shown_as_it_is() {
    let mut world = World::default();
    for number in [1, 2] {
        world.make(listing(0, number), (10, 100), false);
    }
    assert_eq!(world.on(10), Some(2));
    // Called off; nobody has said so to whoever asks.
    world.say(listing(0, 2), SaleStatus::Cancelled);
    assert_eq!(world.on(11), Some(1));
    // Opened before its time, and made longer.
    world.change(listing(0, 3), (90, 200), false);
    world.say(listing(0, 3), SaleStatus::Open);
    world.hear(listing(0, 3));
    assert_eq!(world.on(12), Some(3));
    world.change(listing(0, 1), (10, 300), false);
    world.hear(listing(0, 1));
    assert_eq!(
        (world.on(199), world.on(200), world.on(299), world.on(300)),
        (Some(3), Some(1), Some(1), None)
    );
    // Deleted before it began, put off, and a clock that goes back.
    world.make(listing(0, 4), (400, 500), false);
    world.make(listing(0, 5), (410, 600), false);
    world.views.remove(&listing(0, 4));
    world.hear(listing(0, 4));
    assert_eq!((world.on(405), world.on(410), world.on(409), world.on(410)), (None, Some(5), None, Some(5)));
    world.change(listing(0, 5), (700, 800), false);
    world.hear(listing(0, 5));
    assert_eq!((world.on(411), world.on(700), world.on(800)), (None, Some(5), None));
    assert!(world.running.known.is_empty() && world.running.ending.is_empty(), "what is over takes no room");
}
