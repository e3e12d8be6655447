//! The words of a table of sales: commands from text, answers as text.

use onsale_domain::money::Currency;
use onsale_domain::refusal::{Detail, InTheWay};
use onsale_domain::stock::command::{
    ChangeSale, Checkout, CheckoutKey, CreateSale, OrderCheckout, Purchase, RefundPurchase, ReturnCheckout,
    TakeBack,
};
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::{CancelCause, SkuCount, SkuLine};
use onsale_domain::stock::{PurchaseState, SaleCommand, SaleFact, SaleFound, SaleQuery, SaleView};
use onsale_domain::{BuyerId, CheckoutId, Fact, Millis, OrderId, Outcome, Refusal};

use super::since_zero;
use crate::contract::lines::{number, span};
use crate::contract::table::ZERO;
use crate::engine::Answer;

/// What the file of tables says of its sale.
pub(super) fn create() -> Result<CreateSale, String> {
    let sku = |id: &str, stock, price_minor| Sku {
        id: id.into(),
        name: id.into(),
        price_minor,
        stock,
        picture: None,
    };
    let details = SaleDetails {
        name: "small".into(),
        description: String::new(),
        starts_at: ZERO + 100_000,
        ends_at: ZERO + 1_000_000,
        currency: Currency::parse("EUR").ok_or("a currency")?,
        rules: StockRules { buyer_limit: 4, ..StockRules::default() },
        origin: None,
    };
    Ok(CreateSale { details, skus: vec![sku("A", 3, 500), sku("B", 2, 0)] })
}

fn time(word: &str) -> Result<Millis, String> {
    span(word).map(|span| ZERO + span)
}

fn code(word: &str) -> Result<CheckoutId, String> {
    number(word.trim_start_matches('c')).map(CheckoutId)
}

fn order(word: &str) -> Result<OrderId, String> {
    number(word.trim_start_matches('o')).map(OrderId)
}

fn buyer(word: &str) -> Result<BuyerId, String> {
    BuyerId::parse(word).ok_or_else(|| format!("{word} is no buyer"))
}

fn sku(word: &str) -> Result<u16, String> {
    match word.as_bytes() {
        [letter @ b'A'..=b'Z'] => Ok(u16::from(letter - b'A')),
        _ => Err(format!("{word} is no SKU")),
    }
}

/// `2A`: two of A.
fn count(word: &str) -> Result<SkuCount, String> {
    let (units, of) = word.split_at(word.len().saturating_sub(1));
    Ok(SkuCount { sku: sku(of)?, count: number(units)? })
}

fn counts(words: &[&str]) -> Result<Vec<SkuCount>, String> {
    words.iter().map(|word| count(word)).collect()
}

pub(super) fn command(verb: &str, words: &[&str]) -> Result<SaleCommand, String> {
    let key =
        |of: &str, owner: &str| Ok::<_, String>(CheckoutKey { checkout: code(of)?, buyer: buyer(owner)? });
    Ok(match (verb, words) {
        ("checkout", [of, owner, rest @ ..]) => {
            let (wanted, lives) = match rest {
                [wanted @ .., "for", lives] => (wanted, Some(span(lives)?)),
                wanted => (wanted, None),
            };
            let (checkout, buyer, lines) = (code(of)?, buyer(owner)?, counts(wanted)?);
            SaleCommand::Checkout(Checkout { checkout, buyer, lines, checkout_ms: lives })
        }
        ("cancel", [of, owner]) => SaleCommand::CancelCheckout(key(of, owner)?),
        ("purchase", [of, owner, by, settled @ ..]) => SaleCommand::Purchase(Purchase {
            key: key(of, owner)?,
            order: order(by)?,
            settled: settled == ["settled"],
        }),
        ("order", [of, owner, by, "until", until]) => SaleCommand::OrderCheckout(OrderCheckout {
            key: key(of, owner)?,
            order: order(by)?,
            pay_until: time(until)?,
        }),
        ("return", [of, by]) => {
            SaleCommand::ReturnCheckout(ReturnCheckout { checkout: code(of)?, order: order(by)? })
        }
        ("takeback", [of, owner, by, wanted @ ..]) => {
            let line = |line: SkuCount| SkuLine { sku: line.sku, count: line.count, price_minor: 500 };
            let lines = counts(wanted)?.into_iter().map(line).collect();
            SaleCommand::TakeBack(TakeBack { key: key(of, owner)?, order: order(by)?, lines })
        }
        ("refund", [by, wanted @ .., kind]) => SaleCommand::Refund(RefundPurchase {
            order: order(by)?,
            lines: counts(wanted)?,
            restock: *kind == "restock",
            reason: "broken".into(),
        }),
        ("add", [line]) => SaleCommand::AddStock(count(line)?),
        ("withdraw", [line]) => SaleCommand::WithdrawStock(count(line)?),
        ("price", [of, price]) => SaleCommand::ChangePrice { sku: sku(of)?, price_minor: number(price)? },
        ("sku", [id, stock, price, picture @ ..]) => SaleCommand::AddSku(Box::new(Sku {
            id: (*id).into(),
            name: (*id).into(),
            price_minor: number(price)?,
            stock: number(stock)?,
            // A line has no room for a blank.
            picture: picture.first().map(|picture| picture.replace('_', "\n")),
        })),
        ("limit", [limit]) => {
            change(ChangeSale { buyer_limit: Some(number(limit)?), ..ChangeSale::default() })
        }
        ("starts", [at]) => change(ChangeSale { starts_at: Some(time(at)?), ..ChangeSale::default() }),
        ("ends", [at]) => change(ChangeSale { ends_at: Some(time(at)?), ..ChangeSale::default() }),
        ("close", []) => SaleCommand::Close,
        ("cancel_sale", []) => SaleCommand::Cancel,
        ("create", []) => SaleCommand::Create(Box::new(create()?)),
        (verb, words) => return Err(format!("cannot say {verb} {words:?}")),
    })
}

pub(super) fn query(words: &[&str]) -> Result<SaleQuery, String> {
    Ok(match words {
        ["code", of] => SaleQuery::Checkout(code(of)?),
        ["order", by] => SaleQuery::Order(order(by)?),
        ["codes", owner] => SaleQuery::CheckoutsOf(buyer(owner)?),
        ["purchases", owner] => SaleQuery::PurchasesOf { buyer: buyer(owner)?, limit: 2 },
        other => return Err(format!("cannot ask {other:?}")),
    })
}

pub(super) fn levels(view: &SaleView) -> String {
    let shelf = |(sku, level): (&onsale_domain::stock::details::SkuInfo, &onsale_domain::stock::Level)| {
        let (available, reserved, sold) = (level.available(), level.reserved, level.sold);
        format!("{} {available}+{reserved}+{sold}={}", sku.id, level.stock)
    };
    view.skus.iter().zip(view.levels.iter()).map(shelf).collect::<Vec<_>>().join(", ")
}

pub(super) fn found(found: &SaleFound) -> String {
    let bought =
        |one: &PurchaseState| format!("o{} of {} for {}", one.order.0, one.buyer.as_str(), one.total_minor);
    match found {
        SaleFound::Nothing => "nothing".into(),
        SaleFound::Ended(end) => format!("{end:?}").to_lowercase(),
        SaleFound::Checkout(code) => {
            let until = since_zero(code.until);
            format!("{} {} until {until}", code.buyer.as_str(), lines(&code.lines))
        }
        SaleFound::Checkouts(all) => {
            all.iter().map(|code| format!("c{}", code.checkout.0)).collect::<Vec<_>>().join(" ")
        }
        SaleFound::Purchase(one) => bought(one),
        SaleFound::Purchases(all) => all.iter().map(bought).collect::<Vec<_>>().join(", "),
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
pub(super) fn told(answer: &Answer) -> String {
    let facts = answer.step().map_or(&[][..], |step| &step.facts);
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    if let Outcome::AlreadyPurchased(bought) = &answer.outcome {
        parts.push(format!("again o{} {}", bought.order.0, lines(&bought.lines)));
    } else if let Some(refusal) = answer.outcome.refused() {
        parts.push(refused(refusal));
    } else if answer.outcome != Outcome::Done {
        parts.push(format!("{:?}", answer.outcome).to_lowercase());
    }
    format!("{}{}", if answer.replayed { "(again) " } else { "" }, parts.join(", "))
}

fn refused(refusal: &Refusal) -> String {
    let mut text = refusal.code.as_str().to_owned();
    let one = |one: &InTheWay| match one {
        InTheWay::Sku(sku, code) => format!("{}:{}", letter(*sku), code.as_str()),
        InTheWay::Seat(..) | InTheWay::Area(..) => format!("{one:?}"),
    };
    match &refusal.detail {
        Detail::Field { field, .. } => text += &format!(" {field}"),
        Detail::Limit { limit, taken } => text += &format!(" {taken}/{limit}"),
        Detail::None | Detail::Order(_) | Detail::MinNext(_) => {}
    }
    for in_the_way in &refusal.in_the_way {
        text += &format!(" {}", one(in_the_way));
    }
    text
}

fn fact(fact: &Fact) -> String {
    let Fact::Sale(fact) = fact else { return fact.kind().to_owned() };
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
            format!("c{} {} until {}", checkout.0, lines(of), since_zero(*until))
        }
        SaleFact::CheckoutCancelled { checkout, why } => match why {
            CancelCause::Buyer => format!("c{} cancelled", checkout.0),
            CancelCause::SaleCancelled => format!("c{} cancelled!", checkout.0),
        },
        SaleFact::CheckoutExpired { checkout } => format!("c{} expired", checkout.0),
        SaleFact::CheckoutOrdered { checkout, until, .. } => {
            format!("c{} ordered until {}", checkout.0, since_zero(*until))
        }
        SaleFact::CheckoutReturned { checkout, until } => {
            format!("c{} returned until {}", checkout.0, since_zero(*until))
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
