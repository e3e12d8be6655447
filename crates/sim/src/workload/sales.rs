//! What buyers and staff want of sales, registrations and series.

use onsale_domain::money::Currency;
use onsale_domain::registration::command::{
    CancelEntry, ChangeRegistration, ConfirmEntry, CreateRegistration, Register,
};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::registration::image::RegistrationImage;
use onsale_domain::registration::{Registration, RegistrationCommand, RegistrationQuery};
use onsale_domain::series::command::{ChangeSeries, OpenSlot};
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::{Schedule, Slot};
use onsale_domain::series::{Series, SeriesCommand};
use onsale_domain::stock::command::{
    ChangeSale, Checkout, CheckoutKey, CreateSale, OrderCheckout, Purchase, RefundPurchase, ReturnCheckout,
    TakeBack,
};
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::stock::image::SaleImage;
use onsale_domain::stock::{Sale, SaleCommand, SaleQuery};
use onsale_domain::{BuyerId, CheckoutId, Command, EntryId, ListingKind, OrderId, Query};
use onsale_engine::Request;

use super::Workload;
use super::demand::Demand;
use crate::rng::Rng;

const HOUR: i64 = 3_600_000;

impl Demand for Sale {
    fn wish(&self, workload: &mut Workload, rng: &mut Rng, clock: i64) -> Command {
        if rng.chance(30) {
            return Command::ExpireDue { limit: rng.below(70) as u32 };
        }
        Command::Sale(workload.of_sale(rng, &self.image(), clock))
    }

    fn question(&self, workload: &mut Workload, rng: &mut Rng, buyer: BuyerId) -> Query {
        let (key, order, _) = workload.code(rng, &self.image());
        Query::Sale(match rng.below(4) {
            0 => SaleQuery::Checkout(key.checkout),
            1 => SaleQuery::CheckoutsOf(buyer),
            2 => SaleQuery::Order(order),
            _ => SaleQuery::PurchasesOf { buyer, limit: 3 },
        })
    }
}

impl Demand for Registration {
    fn wish(&self, workload: &mut Workload, rng: &mut Rng, clock: i64) -> Command {
        if rng.chance(30) {
            return Command::ExpireDue { limit: rng.below(70) as u32 };
        }
        Command::Registration(workload.of_registration(rng, &self.image(), clock))
    }

    fn question(&self, _workload: &mut Workload, rng: &mut Rng, buyer: BuyerId) -> Query {
        let image = self.image();
        let entry = rng.pick(&image.entries).map_or(EntryId(7), |entry| entry.id);
        Query::Registration(match rng.below(3) {
            0 => RegistrationQuery::Entry(entry),
            1 => RegistrationQuery::EntryOf(buyer),
            _ => RegistrationQuery::Entries { after: 0, limit: 5 },
        })
    }
}

impl Demand for Series {
    fn wish(&self, workload: &mut Workload, rng: &mut Rng, clock: i64) -> Command {
        Command::Series(workload.of_series(rng, clock))
    }
}

impl Workload {
    pub(super) fn create_other(&mut self, rng: &mut Rng, clock: i64) -> Request {
        match rng.below(4) {
            0 | 1 => {
                let id = self.new_id(rng, ListingKind::Sale);
                let create = SaleCommand::Create(Box::new(new_sale(rng, clock)));
                self.request(rng, id, Command::Sale(create))
            }
            2 => {
                let id = self.new_id(rng, ListingKind::Registration);
                let (details, capacity) = (new_registration(rng, clock), rng.range(1, 9) as u32);
                let create = CreateRegistration { details, capacity };
                self.request(rng, id, Command::Registration(RegistrationCommand::Create(Box::new(create))))
            }
            _ => {
                let id = self.new_id(rng, ListingKind::Series);
                let details = SeriesDetails {
                    name: "Every hour".into(),
                    schedule: Schedule::Hourly,
                    from: clock - rng.range(0, 4 * HOUR),
                    template: template(rng),
                };
                self.request(rng, id, Command::Series(SeriesCommand::Create(Box::new(details))))
            }
        }
    }

    /// A code, mostly a living one in its owner's hands; an order, mostly the one that has it.
    fn code(&mut self, rng: &mut Rng, sale: &SaleImage) -> (CheckoutKey, OrderId, Vec<SkuLine>) {
        let living = rng.pick(&sale.codes).filter(|_| rng.chance(850));
        let ended = rng.pick(&sale.ended).map(|ended| ended.id);
        let (checkout, buyer, order, lines) = match (living, rng.pick(&sale.purchases), ended) {
            (Some(code), ..) => (code.id, code.buyer.clone(), code.order, code.lines.clone()),
            (None, Some(bought), _) if rng.chance(400) => {
                (bought.code, bought.buyer.clone(), Some(bought.order), bought.lines.clone())
            }
            (None, _, Some(ended)) => (ended, self.buyer(rng), None, vec![line(rng, sale)]),
            (None, ..) => (CheckoutId(7), self.buyer(rng), None, vec![line(rng, sale)]),
        };
        let buyer = if rng.chance(950) { buyer } else { self.buyer(rng) };
        let order = order.filter(|_| rng.chance(850)).unwrap_or_else(|| OrderId(self.fresh()));
        (CheckoutKey { checkout, buyer }, order, lines)
    }

    fn of_sale(&mut self, rng: &mut Rng, sale: &SaleImage, clock: i64) -> SaleCommand {
        const WEIGHTS: [u64; 15] = [420, 90, 60, 60, 180, 40, 60, 18, 18, 12, 8, 14, 8, 8, 5];
        let verb = match rng.weighted(&WEIGHTS) {
            // Where there are orders, they alone take codes and give them back.
            2 | 3 | 5 if self.paying > 0 => 0,
            verb => verb,
        };
        match verb {
            0 => {
                let lines = (0..rng.range(1, 2)).map(|_| count_of(line(rng, sale))).collect();
                let checkout = CheckoutId(if rng.chance(985) { self.fresh() } else { self.next_id });
                let checkout_ms = rng.chance(300).then(|| rng.range(30_000, 120_000));
                let lines = if rng.chance(990) { lines } else { Vec::new() };
                SaleCommand::Checkout(Checkout { checkout, buyer: self.buyer(rng), lines, checkout_ms })
            }
            1 => SaleCommand::CancelCheckout(self.code(rng, sale).0),
            2 => {
                let (key, order, _) = self.code(rng, sale);
                let pay_until = clock + rng.range(0, 900_000);
                SaleCommand::OrderCheckout(OrderCheckout { key, order, pay_until })
            }
            3 => {
                let ordered: Vec<_> =
                    sale.codes.iter().filter_map(|code| Some((code.id, code.order?))).collect();
                let (checkout, order) =
                    rng.pick(&ordered).copied().unwrap_or((CheckoutId(7), OrderId(self.next_id)));
                SaleCommand::ReturnCheckout(ReturnCheckout { checkout, order })
            }
            4 => {
                let (key, order, _) = self.code(rng, sale);
                SaleCommand::Purchase(Purchase { key, order, settled: rng.chance(850) })
            }
            5 => {
                let (mut key, mut order, lines) = self.code(rng, sale);
                // Money that came late, for a code that is over.
                if let Some(ended) = rng.pick(&sale.ended).filter(|_| rng.chance(700)) {
                    (key.checkout, order) = (ended.id, OrderId(self.fresh()));
                }
                SaleCommand::TakeBack(TakeBack { key, order, lines })
            }
            6 => {
                let bought = rng.pick(&sale.purchases);
                let order = bought.map_or(OrderId(9), |bought| bought.order);
                let part = bought.filter(|_| rng.chance(400)).map(|bought| count_of(bought.lines[0]));
                let lines = part.map(|part| SkuCount { count: 1, ..part }).into_iter().collect();
                let (restock, reason) = (rng.chance(700), "asked for".into());
                SaleCommand::Refund(RefundPurchase { order, lines, restock, reason })
            }
            7 => SaleCommand::AddStock(count_of(line(rng, sale))),
            8 => SaleCommand::WithdrawStock(count_of(line(rng, sale))),
            9 => SaleCommand::ChangePrice { sku: line(rng, sale).sku, price_minor: rng.range(-1, 900) },
            10 => {
                let id = format!("new-{}", rng.below(4));
                let sku = Sku {
                    id,
                    name: "New".into(),
                    price_minor: 100,
                    stock: rng.below(4) as u32,
                    picture: None,
                };
                SaleCommand::AddSku(Box::new(sku))
            }
            11 => {
                let buyer_limit = rng.chance(500).then(|| rng.range(0, 8) as u32);
                let ends_at = rng.chance(500).then(|| clock + rng.range(-1_000, HOUR));
                SaleCommand::Change(Box::new(ChangeSale { buyer_limit, ends_at, ..ChangeSale::default() }))
            }
            12 => SaleCommand::Close,
            13 => SaleCommand::Cancel,
            _ => SaleCommand::Create(Box::new(new_sale(rng, clock))),
        }
    }

    pub(super) fn of_registration(
        &mut self,
        rng: &mut Rng,
        now: &RegistrationImage,
        clock: i64,
    ) -> RegistrationCommand {
        const WEIGHTS: [u64; 7] = [420, 200, 220, 20, 20, 12, 12];
        let known = rng.pick(&now.entries).map(|entry| (entry.id, entry.buyer.clone()));
        let known = known.filter(|_| rng.chance(930)).unwrap_or_else(|| (EntryId(7), self.buyer(rng)));
        match rng.weighted(&WEIGHTS) {
            0 => {
                let entry = EntryId(if rng.chance(985) { self.fresh() } else { self.next_id });
                RegistrationCommand::Register(Register { entry, buyer: self.buyer(rng) })
            }
            1 => {
                let (entry, buyer) = known;
                let order = OrderId(self.fresh());
                RegistrationCommand::Confirm(ConfirmEntry { entry, buyer, order, settled: rng.chance(850) })
            }
            2 => {
                let (entry, owner) = known;
                let owner = if rng.chance(930) { owner } else { self.buyer(rng) };
                RegistrationCommand::CancelEntry(CancelEntry {
                    entry,
                    buyer: rng.chance(600).then_some(owner),
                })
            }
            3 => RegistrationCommand::ChangeCapacity { capacity: rng.below(12) as u32 },
            4 => {
                let price_minor = rng.chance(500).then(|| rng.range(-1, 900));
                let starts_at = rng.chance(500).then(|| clock + rng.range(0, 2 * HOUR));
                let change = ChangeRegistration { price_minor, starts_at, ..ChangeRegistration::default() };
                RegistrationCommand::Change(Box::new(change))
            }
            5 => RegistrationCommand::Close,
            _ => RegistrationCommand::Cancel,
        }
    }

    fn of_series(&mut self, rng: &mut Rng, clock: i64) -> SeriesCommand {
        let slot = |rng: &mut Rng| Slot { at: (clock / HOUR + rng.range(-3, 1)) * HOUR, offset_s: 0 };
        match rng.below(20) {
            0 => SeriesCommand::Pause,
            1 | 2 => SeriesCommand::Resume,
            3 | 7 | 8 => SeriesCommand::SkipSlots(vec![slot(rng)]),
            4 => {
                let template = rng.chance(500).then(|| template(rng));
                let name = rng.chance(500).then(|| "Another name".to_owned());
                SeriesCommand::Change(Box::new(ChangeSeries { name, template }))
            }
            5 if rng.chance(150) => SeriesCommand::End,
            6 => SeriesCommand::OpenSlot(OpenSlot {
                slot: Slot { at: clock, offset_s: 0 },
                skipped: Vec::new(),
            }),
            _ => SeriesCommand::OpenSlot(OpenSlot { slot: slot(rng), skipped: Vec::new() }),
        }
    }
}

pub(super) fn line(rng: &mut Rng, sale: &SaleImage) -> SkuLine {
    let unknown = u64::from(rng.chance(15));
    let sku = rng.below(sale.skus.len() as u64 + unknown) as u16;
    let price_minor = sale.skus.get(usize::from(sku)).map_or(1, |sku| sku.price_minor);
    SkuLine { sku, count: if rng.chance(800) { 1 } else { rng.range(1, 4) as u32 }, price_minor }
}

pub(super) fn count_of(line: SkuLine) -> SkuCount {
    SkuCount { sku: line.sku, count: line.count }
}

pub(super) fn new_sale(rng: &mut Rng, clock: i64) -> CreateSale {
    let starts_at = clock + if rng.chance(700) { -1 } else { rng.range(0, 60_000) };
    let length = if rng.chance(800) { rng.range(HOUR, 20 * HOUR) } else { rng.range(1_000, 600_000) };
    let sku = |n: i64, rng: &mut Rng| Sku {
        id: format!("sku-{n}"),
        name: "Thing".into(),
        price_minor: if rng.chance(300) { 0 } else { rng.range(1, 900) },
        stock: rng.below(12) as u32,
        picture: None,
    };
    let rules = StockRules { buyer_limit: rng.range(1, 6) as u32, checkout_ms: rng.range(30_000, 300_000) };
    let name = if rng.chance(970) { "Drop".into() } else { String::new() };
    let skus = (0..rng.range(1, 3)).map(|n| sku(n, rng)).collect();
    let (currency, description) = (euro(), String::new());
    let details = SaleDetails {
        name,
        description,
        starts_at,
        ends_at: starts_at + length,
        currency,
        rules,
        origin: None,
    };
    CreateSale { details, skus }
}

pub(super) fn new_registration(rng: &mut Rng, clock: i64) -> RegistrationDetails {
    let opens_at = clock + if rng.chance(700) { -1 } else { rng.range(0, 60_000) };
    RegistrationDetails {
        name: if rng.chance(970) { "Course".into() } else { String::new() },
        description: String::new(),
        opens_at,
        starts_at: opens_at + rng.range(HOUR / 2, 20 * HOUR),
        cut_off_ms: rng.range(0, HOUR / 4),
        currency: euro(),
        price_minor: if rng.chance(500) { 0 } else { rng.range(1, 900) },
        checkout_ms: rng.range(30_000, 300_000),
        ends_at: None,
        event: None,
        venue: None,
    }
}

fn template(rng: &mut Rng) -> SaleTemplate {
    SaleTemplate {
        name: "The hour's".into(),
        description: String::new(),
        currency: euro(),
        rules: StockRules::default(),
        length_ms: HOUR,
        items: (0..rng.range(0, 3))
            .map(|price_minor| ItemTemplate { price_minor, stock: 5, name: None, picture: None })
            .collect(),
    }
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("a code")
}
