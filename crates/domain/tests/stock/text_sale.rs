//! A sale that is spoken to in lines of text. The only test code that knows the sale's API.
//! `<seconds> <verb> <words> -> <answer>`; SKUs are A, B, C …, codes c1, c2 …, orders o1, o2 ….

use onsale_domain::money::Currency;
use onsale_domain::refusal::{Detail, InTheWay};
use onsale_domain::step_writer::StepWriter;
use onsale_domain::stock::command::{
    ChangeSale, Checkout, CheckoutKey, CreateSale, OrderCheckout, Purchase, RefundPurchase, ReturnCheckout,
    SaleCommand, TakeBack,
};
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::stock::image::SaleImage;
use onsale_domain::stock::{Sale, SaleFact, SaleFound, SaleQuery, check_invariants};
use onsale_domain::{BuyerId, CheckoutId, Millis, OrderId, Outcome, Refusal};
use onsale_domain::{Fact, Kind};

/// Fences of the first facts.
const FENCE: u64 = 1 << 40;

pub(crate) struct TextSale {
    pub sale: Sale,
    fence: u64,
    last_at: Millis,
    log: Vec<(SaleFact, u64, Millis)>,
}

/// On sale from second 100 to second 1000: 3 of A at 500, 2 of B for nothing, at most 4 for each buyer.
pub(crate) fn create() -> CreateSale {
    let sku = |id: &str, stock, price_minor| Sku {
        id: id.into(),
        name: id.into(),
        price_minor,
        stock,
        picture: None,
    };
    CreateSale {
        details: SaleDetails {
            name: "small".into(),
            description: String::new(),
            starts_at: 100_000,
            ends_at: 1_000_000,
            currency: Currency::parse("EUR").expect("three letters"),
            rules: StockRules { buyer_limit: 4, ..StockRules::default() },
            origin: None,
        },
        skus: vec![sku("A", 3, 500), sku("B", 2, 0)],
    }
}

impl TextSale {
    pub(crate) fn new(create: &CreateSale, now: Millis) -> TextSale {
        let facts = Sale::create(create, now).expect("a sale that can be created");
        let mut sale = Sale::begin(&facts[0]).expect("the first fact begins it");
        let mut log = vec![(facts[0].clone(), FENCE + 1, now)];
        for (n, fact) in facts.iter().enumerate().skip(1) {
            let fence = FENCE + 1 + n as u64;
            sale.apply(fact, fence, now);
            log.push((fact.clone(), fence, now));
        }
        TextSale { sale, fence: FENCE + facts.len() as u64, last_at: now, log }
    }

    /// Runs a command and whatever must be true after every one of them.
    pub(crate) fn run(
        &mut self,
        command: Option<&SaleCommand>,
        limit: u32,
        clock: Millis,
    ) -> (Vec<SaleFact>, Answer) {
        let now = clock.max(self.last_at);
        let mut written = Vec::new();
        let mut writer = StepWriter::new(now, self.fence, &mut written);
        let answer = match command {
            Some(command) => self.sale.execute(command, &mut writer),
            None => self.sale.sweep(limit, &mut writer),
        };
        let own = |fact: Fact| if let Fact::Sale(fact) = fact { fact } else { panic!("{fact:?} of a sale") };
        let facts: Vec<SaleFact> = written.into_iter().map(own).collect();
        for fact in &facts {
            self.fence += 1;
            self.last_at = now;
            self.log.push((fact.clone(), self.fence, now));
        }
        if let Err(wrong) = check_invariants(&self.sale) {
            panic!("{wrong} after {command:?} -> {answer:?} {facts:?}");
        }
        (facts, answer)
    }

    /// The same sale, from its facts, and from its image.
    pub(crate) fn copies(&self) -> [TextSale; 2] {
        let (first, rest) = self.log.split_first().expect("a sale has a first fact");
        let mut replayed = Sale::begin(&first.0).expect("the first fact begins it");
        rest.iter().for_each(|(fact, fence, at)| replayed.apply(fact, *fence, *at));
        let bytes = minicbor::to_vec(self.sale.image()).expect("memory takes it");
        let image: SaleImage = minicbor::decode(&bytes).expect("it was just written");
        [replayed, Sale::from_image(image)].map(|sale| TextSale {
            sale,
            fence: self.fence,
            last_at: self.last_at,
            log: self.log.clone(),
        })
    }

    /// The state as bytes that do not depend on how it came about.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let mut image = self.sale.image();
        image.sort();
        minicbor::to_vec(image).expect("memory takes it")
    }
}

pub(crate) type Answer = Result<Outcome, Refusal>;

/// Plays a table and compares every answer.
#[track_caller]
pub(crate) fn check(table: &str) {
    let mut spoken = TextSale::new(&create(), 0);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (asked, expected) = line.split_once("->").unwrap_or_else(|| panic!("no answer in {line:?}"));
        let mut copies = spoken.copies();
        let answer = spoken.say(asked);
        assert_eq!(answer, expected.trim(), "\n  {line}\nof\n{table}");
        for copy in &mut copies {
            assert_eq!(copy.say(asked), answer, "a copy answers otherwise:\n  {line}\nof\n{table}");
            assert_eq!(copy.picture(), spoken.picture(), "a copy is another after:\n  {line}\nof\n{table}");
        }
    }
}

impl TextSale {
    fn say(&mut self, asked: &str) -> String {
        let mut words = asked.split_whitespace();
        let at: Millis = words.next().and_then(seconds).expect("a time");
        let verb = words.next().expect("a verb");
        let words: Vec<&str> = words.collect();
        let command = match verb {
            "levels" => return self.levels(),
            "ask" => return self.ask(&words, at),
            "sweep" => {
                let limit = words.first().map_or(64, |limit| limit.parse().expect("a limit"));
                let (facts, answer) = self.run(None, limit, at);
                return told(&facts, &answer);
            }
            _ => command(verb, &words),
        };
        let (facts, answer) = self.run(Some(&command), 0, at);
        told(&facts, &answer)
    }

    fn levels(&self) -> String {
        let level =
            |(sku, level): (&onsale_domain::stock::details::SkuInfo, &onsale_domain::stock::Level)| {
                let (available, reserved, sold) = (level.available(), level.reserved, level.sold);
                format!("{} {available}+{reserved}+{sold}={}", sku.id, level.stock)
            };
        self.sale.skus().iter().zip(self.sale.levels()).map(level).collect::<Vec<_>>().join(", ")
    }

    fn ask(&self, words: &[&str], now: Millis) -> String {
        let query = match words {
            ["code", code] => SaleQuery::Checkout(checkout_id(code)),
            ["order", order] => SaleQuery::Order(order_id(order)),
            ["codes", buyer] => SaleQuery::CheckoutsOf(buyer_id(buyer)),
            ["purchases", buyer] => SaleQuery::PurchasesOf { buyer: buyer_id(buyer), limit: 2 },
            other => panic!("cannot ask {other:?}"),
        };
        let bought = |one: &onsale_domain::stock::PurchaseState| {
            format!("o{} of {} for {}", one.order.0, one.buyer.as_str(), one.total_minor)
        };
        match self.sale.ask(&query, now.max(self.last_at)) {
            SaleFound::Nothing => "nothing".into(),
            SaleFound::Ended(end) => format!("{end:?}").to_lowercase(),
            SaleFound::Checkout(code) => {
                format!("{} {} until {}", code.buyer.as_str(), lines(&code.lines), code.until / 1_000)
            }
            SaleFound::Checkouts(all) => {
                all.iter().map(|code| format!("c{}", code.checkout.0)).collect::<Vec<_>>().join(" ")
            }
            SaleFound::Purchase(one) => bought(&one),
            SaleFound::Purchases(all) => all.iter().map(bought).collect::<Vec<_>>().join(", "),
        }
    }
}

fn seconds(word: &str) -> Option<Millis> {
    match word.split_once('.') {
        None => word.parse::<Millis>().ok().map(|seconds| seconds * 1_000),
        Some((seconds, ms)) => Some(seconds.parse::<Millis>().ok()? * 1_000 + ms.parse::<Millis>().ok()?),
    }
}

fn number(word: &str) -> u64 {
    word[1..].parse().expect("a number behind a letter")
}

fn checkout_id(word: &str) -> CheckoutId {
    CheckoutId(number(word))
}

fn order_id(word: &str) -> OrderId {
    OrderId(number(word))
}

fn buyer_id(word: &str) -> BuyerId {
    BuyerId::parse(word).expect("a short name")
}

fn sku(word: &str) -> u16 {
    u16::from(word.as_bytes()[0] - b'A')
}

/// `2A`: two of A.
fn count(word: &str) -> SkuCount {
    let at = word.len() - 1;
    SkuCount { sku: sku(&word[at..]), count: word[..at].parse().expect("a count") }
}

fn command(verb: &str, words: &[&str]) -> SaleCommand {
    let key = |code: &str, buyer: &str| CheckoutKey { checkout: checkout_id(code), buyer: buyer_id(buyer) };
    let time = |word: &str| seconds(word).expect("a time");
    match (verb, words) {
        ("checkout", [code, buyer, rest @ ..]) => {
            let (wanted, for_) = match rest {
                [wanted @ .., "for", for_] => (wanted, Some(time(for_))),
                wanted => (wanted, None),
            };
            SaleCommand::Checkout(Checkout {
                checkout: checkout_id(code),
                buyer: buyer_id(buyer),
                lines: wanted.iter().map(|word| count(word)).collect(),
                checkout_ms: for_,
            })
        }
        ("cancel", [code, buyer]) => SaleCommand::CancelCheckout(key(code, buyer)),
        ("purchase", [code, buyer, order, settled @ ..]) => SaleCommand::Purchase(Purchase {
            key: key(code, buyer),
            order: order_id(order),
            settled: settled == ["settled"],
        }),
        ("order", [code, buyer, order, "until", until]) => SaleCommand::OrderCheckout(OrderCheckout {
            key: key(code, buyer),
            order: order_id(order),
            pay_until: time(until),
        }),
        ("return", [code, order]) => SaleCommand::ReturnCheckout(ReturnCheckout {
            checkout: checkout_id(code),
            order: order_id(order),
        }),
        ("takeback", [code, buyer, order, wanted @ ..]) => SaleCommand::TakeBack(TakeBack {
            key: key(code, buyer),
            order: order_id(order),
            lines: wanted
                .iter()
                .map(|word| SkuLine { sku: count(word).sku, count: count(word).count, price_minor: 500 })
                .collect(),
        }),
        ("refund", [order, wanted @ .., kind]) => SaleCommand::Refund(RefundPurchase {
            order: order_id(order),
            lines: wanted.iter().map(|word| count(word)).collect(),
            restock: *kind == "restock",
            reason: "broken".into(),
        }),
        ("add", [line]) => SaleCommand::AddStock(count(line)),
        ("withdraw", [line]) => SaleCommand::WithdrawStock(count(line)),
        ("price", [of, price]) => {
            SaleCommand::ChangePrice { sku: sku(of), price_minor: price.parse().expect("a price") }
        }
        ("sku", [id, stock, price]) => SaleCommand::AddSku(Box::new(Sku {
            id: (*id).into(),
            name: (*id).into(),
            price_minor: price.parse().expect("a price"),
            stock: stock.parse().expect("a stock"),
            picture: None,
        })),
        ("limit", [limit]) => change(ChangeSale { buyer_limit: limit.parse().ok(), ..ChangeSale::default() }),
        ("starts", [at]) => change(ChangeSale { starts_at: seconds(at), ..ChangeSale::default() }),
        ("ends", [at]) => change(ChangeSale { ends_at: seconds(at), ..ChangeSale::default() }),
        ("close", []) => SaleCommand::Close,
        ("cancel_sale", []) => SaleCommand::Cancel,
        ("create", []) => SaleCommand::Create(Box::new(create())),
        (verb, words) => panic!("cannot say {verb} {words:?}"),
    }
}

fn change(change: ChangeSale) -> SaleCommand {
    SaleCommand::Change(Box::new(change))
}

fn lines(lines: &[SkuLine]) -> String {
    let line = |line: &SkuLine| format!("{}{}@{}", line.count, letter(line.sku), line.price_minor);
    lines.iter().map(line).collect::<Vec<_>>().join(" ")
}

fn letter(sku: u16) -> char {
    char::from(b'A' + sku as u8)
}

/// What expired on the way, then the answer.
fn told(facts: &[SaleFact], answer: &Answer) -> String {
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    match answer {
        Ok(Outcome::Done) => {}
        Ok(Outcome::AlreadyPurchased(bought)) => {
            parts.push(format!("again o{} {}", bought.order.0, lines(&bought.lines)));
        }
        Ok(other) => parts.push(format!("{other:?}").to_lowercase()),
        Err(refusal) => parts.push(refused(refusal)),
    }
    parts.join(", ")
}

fn refused(refusal: &Refusal) -> String {
    let mut text = refusal.code.as_str().to_owned();
    let one = |one: &InTheWay| match one {
        InTheWay::Sku(sku, code) => format!("{}:{}", letter(*sku), code.as_str()),
        InTheWay::Seat(..) | InTheWay::Area(..) => panic!("a sale has no seats"),
    };
    match &refusal.detail {
        Detail::Field { field, .. } => text += &format!(" {field}"),
        Detail::Limit { limit, taken } => text += &format!(" {taken}/{limit}"),
        Detail::MinNext(_) => panic!("a sale has no bids"),
        Detail::None | Detail::Order(_) => {}
    }
    for in_the_way in &refusal.in_the_way {
        text += &format!(" {}", one(in_the_way));
    }
    text
}

fn fact(fact: &SaleFact) -> String {
    match fact {
        SaleFact::Created(_) => "created".into(),
        SaleFact::Changed(_) => "changed".into(),
        SaleFact::StatusChanged { status, by_schedule } => {
            format!("{}{}", status.as_str(), if *by_schedule { "" } else { "!" })
        }
        SaleFact::SkuAdded(sku) => format!("added {}", sku.id),
        SaleFact::StockAdded { sku, count } => format!("+{count}{}", letter(*sku)),
        SaleFact::StockWithdrawn { sku, count } => format!("-{count}{}", letter(*sku)),
        SaleFact::PriceChanged { sku, price_minor } => format!("{} costs {price_minor}", letter(*sku)),
        SaleFact::CheckedOut { checkout, lines: of, until, .. } => {
            format!("c{} {} until {}", checkout.0, lines(of), until / 1_000)
        }
        SaleFact::CheckoutCancelled { checkout, why } => match why {
            onsale_domain::stock::fact::CancelCause::Buyer => format!("c{} cancelled", checkout.0),
            onsale_domain::stock::fact::CancelCause::SaleCancelled => format!("c{} cancelled!", checkout.0),
        },
        SaleFact::CheckoutExpired { checkout } => format!("c{} expired", checkout.0),
        SaleFact::CheckoutOrdered { checkout, until, .. } => {
            format!("c{} ordered until {}", checkout.0, until / 1_000)
        }
        SaleFact::CheckoutReturned { checkout, until } => {
            format!("c{} returned until {}", checkout.0, until / 1_000)
        }
        SaleFact::Purchased { checkout, order } => format!("c{} bought o{}", checkout.0, order.0),
        SaleFact::TakenBack { order, lines: of, .. } => format!("o{} took back {}", order.0, lines(of)),
        SaleFact::Refunded { order, lines: of, amount_minor, restock, .. } => {
            let line = |line: &SkuCount| format!("{}{}", line.count, letter(line.sku));
            let of = of.iter().map(line).collect::<Vec<_>>().join(" ");
            format!("o{} refunded {of} {amount_minor}{}", order.0, if *restock { "" } else { " written off" })
        }
    }
}
