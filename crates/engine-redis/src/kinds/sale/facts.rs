//! Facts of sales as fields. A sale's details are fields of its meta hash, too.

use onsale_domain::ListingId;
use onsale_domain::money::Currency;
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::details::{Origin, SaleDetails, SaleStatus, Sku, StockRules};
use onsale_domain::stock::fact::{CancelCause, SaleCreated};

use crate::facts::{Fields, Malformed, flag, id, read_sku_counts, read_sku_lines, sku_counts, sku_lines};

pub(super) fn encode(fact: &SaleFact, fields: &mut Fields) {
    match fact {
        SaleFact::Created(created) => {
            encode_details(&created.details, fields);
            let skus: Vec<String> = created.skus.iter().map(sku).collect();
            fields.push("skus", skus.join("\n"));
        }
        SaleFact::Changed(details) => encode_details(details, fields),
        SaleFact::StatusChanged { status, by_schedule } => {
            fields.push("status", status.as_str());
            fields.push("by_schedule", flag(*by_schedule));
        }
        SaleFact::SkuAdded(added) => fields.push("sku", sku(added)),
        SaleFact::StockAdded { sku, count } | SaleFact::StockWithdrawn { sku, count } => {
            fields.push("sku", sku.to_string());
            fields.push("count", count.to_string());
        }
        SaleFact::PriceChanged { sku, price_minor } => {
            fields.push("sku", sku.to_string());
            fields.push("price_minor", price_minor.to_string());
        }
        SaleFact::CheckedOut { checkout, buyer, lines, until } => {
            fields.push("checkout", id(checkout.0));
            fields.push("buyer", buyer.as_str());
            fields.push("lines", sku_lines(lines));
            fields.push("until", until.to_string());
        }
        SaleFact::CheckoutCancelled { checkout, why } => {
            fields.push("checkout", id(checkout.0));
            fields.push("why", cause(*why));
        }
        SaleFact::CheckoutExpired { checkout } => fields.push("checkout", id(checkout.0)),
        SaleFact::CheckoutOrdered { checkout, order, until } => {
            fields.push("checkout", id(checkout.0));
            fields.push("order", id(order.0));
            fields.push("until", until.to_string());
        }
        SaleFact::CheckoutReturned { checkout, until } => {
            fields.push("checkout", id(checkout.0));
            fields.push("until", until.to_string());
        }
        SaleFact::Purchased { checkout, order } => {
            fields.push("checkout", id(checkout.0));
            fields.push("order", id(order.0));
        }
        SaleFact::TakenBack { checkout, order, buyer, lines } => {
            fields.push("checkout", id(checkout.0));
            fields.push("order", id(order.0));
            fields.push("buyer", buyer.as_str());
            fields.push("lines", sku_lines(lines));
        }
        SaleFact::Refunded { order, lines, amount_minor, restock, reason } => {
            fields.push("order", id(order.0));
            fields.push("lines", sku_counts(lines));
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("restock", flag(*restock));
            fields.push("reason", reason);
        }
    }
}

/// Reads what [`encode`] or a script wrote.
pub(super) fn decode(kind: &str, fields: &Fields) -> Result<SaleFact, Malformed> {
    Ok(match kind {
        "sale_created" => {
            let skus = fields.text("skus")?.split('\n').map(read_sku).collect::<Result<_, _>>()?;
            SaleFact::Created(Box::new(SaleCreated { details: decode_details(fields)?, skus }))
        }
        "sale_changed" => SaleFact::Changed(Box::new(decode_details(fields)?)),
        "sale_status_changed" => SaleFact::StatusChanged {
            status: read_status(fields.text("status")?)?,
            by_schedule: fields.flag("by_schedule")?,
        },
        "sku_added" => SaleFact::SkuAdded(Box::new(read_sku(fields.text("sku")?)?)),
        "stock_added" => SaleFact::StockAdded { sku: fields.number("sku")?, count: fields.number("count")? },
        "stock_withdrawn" => {
            SaleFact::StockWithdrawn { sku: fields.number("sku")?, count: fields.number("count")? }
        }
        "price_changed" => {
            SaleFact::PriceChanged { sku: fields.number("sku")?, price_minor: fields.number("price_minor")? }
        }
        "checked_out" => SaleFact::CheckedOut {
            checkout: fields.checkout("checkout")?,
            buyer: fields.buyer("buyer")?,
            lines: read_sku_lines(fields.text("lines")?)?,
            until: fields.number("until")?,
        },
        "checkout_cancelled" => SaleFact::CheckoutCancelled {
            checkout: fields.checkout("checkout")?,
            why: match fields.text("why")? {
                "buyer" => CancelCause::Buyer,
                "sale_cancelled" => CancelCause::SaleCancelled,
                _ => return Err(Malformed::of("why")),
            },
        },
        "checkout_expired" => SaleFact::CheckoutExpired { checkout: fields.checkout("checkout")? },
        "checkout_ordered" => SaleFact::CheckoutOrdered {
            checkout: fields.checkout("checkout")?,
            order: fields.order("order")?,
            until: fields.number("until")?,
        },
        "checkout_returned" => SaleFact::CheckoutReturned {
            checkout: fields.checkout("checkout")?,
            until: fields.number("until")?,
        },
        "purchased" => {
            SaleFact::Purchased { checkout: fields.checkout("checkout")?, order: fields.order("order")? }
        }
        "purchase_taken_back" => SaleFact::TakenBack {
            checkout: fields.checkout("checkout")?,
            order: fields.order("order")?,
            buyer: fields.buyer("buyer")?,
            lines: read_sku_lines(fields.text("lines")?)?,
        },
        "purchase_refunded" => SaleFact::Refunded {
            order: fields.order("order")?,
            lines: read_sku_counts(fields.text("lines")?)?,
            amount_minor: fields.number("amount_minor")?,
            restock: fields.flag("restock")?,
            reason: fields.text("reason")?.to_owned(),
        },
        _ => return Err(Malformed::of("kind")),
    })
}

pub(super) fn encode_details(details: &SaleDetails, fields: &mut Fields) {
    fields.push("name", &details.name);
    fields.push("description", &details.description);
    fields.push("starts_at", details.starts_at.to_string());
    fields.push("ends_at", details.ends_at.to_string());
    fields.push("currency", details.currency.as_str());
    fields.push("buyer_limit", details.rules.buyer_limit.to_string());
    fields.push("checkout_ms", details.rules.checkout_ms.to_string());
    // Of which series it is the sale, and of which slot.
    let origin = details.origin.map_or(String::new(), |origin| format!("{} {}", origin.series, origin.slot));
    fields.push("origin", origin);
}

pub(super) fn decode_details(fields: &Fields) -> Result<SaleDetails, Malformed> {
    let origin = match fields.text("origin")? {
        "" => None,
        text => Some(read_origin(text).ok_or_else(|| Malformed::of("origin"))?),
    };
    Ok(SaleDetails {
        name: fields.text("name")?.to_owned(),
        description: fields.text("description")?.to_owned(),
        starts_at: fields.number("starts_at")?,
        ends_at: fields.number("ends_at")?,
        currency: Currency::parse(fields.text("currency")?).ok_or_else(|| Malformed::of("currency"))?,
        rules: StockRules {
            buyer_limit: fields.number("buyer_limit")?,
            checkout_ms: fields.number("checkout_ms")?,
        },
        origin,
    })
}

fn read_origin(text: &str) -> Option<Origin> {
    let (series, slot) = text.split_once(' ')?;
    Some(Origin { series: ListingId::parse(series)?, slot: slot.parse().ok()? })
}

/// A SKU on one line: neither its id nor its name has control characters. A picture, which may have some, comes last.
fn sku(sku: &Sku) -> String {
    format!("{} {} {}", sku.stock, sku.price_minor, sku_names(sku))
}

fn read_sku(line: &str) -> Result<Sku, Malformed> {
    let read = || {
        let mut parts = line.splitn(3, ' ');
        let (stock, price_minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (id, name, picture) = read_names(parts.next()?)?;
        Some(Sku { id, name, price_minor, stock, picture })
    };
    read().ok_or_else(|| Malformed::of("sku"))
}

/// What meta has of a SKU; how many there are, and at which price, stands with the codes.
pub(super) fn sku_names(sku: &Sku) -> String {
    let picture = sku.picture.as_ref().map_or(String::new(), |picture| format!("\t{}", escaped(picture)));
    format!("{}\t{}{picture}", sku.id, sku.name)
}

/// Id, name and picture.
pub(super) fn read_names(text: &str) -> Option<(String, String, Option<String>)> {
    let mut parts = text.splitn(3, '\t');
    let (id, name) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some((id, name, parts.next().map(unescaped)))
}

/// The marks that a line of fields is cut at, and the one that stands for them.
const MARKS: [(&str, &str); 4] = [("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")];

fn escaped(text: &str) -> String {
    MARKS.iter().fold(text.to_owned(), |text, (mark, written)| text.replace(mark, written))
}

fn unescaped(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let known = MARKS.iter().find(|(_, written)| rest[at..].starts_with(written));
        let (mark, length) = known.map_or(("\\", 1), |(mark, written)| (*mark, written.len()));
        read.push_str(&rest[..at]);
        read.push_str(mark);
        rest = &rest[at + length..];
    }
    read + rest
}

pub(super) fn read_status(name: &str) -> Result<SaleStatus, Malformed> {
    let known = SaleStatus::ALL.into_iter().find(|status| status.as_str() == name);
    known.ok_or_else(|| Malformed::of("status"))
}

fn cause(why: CancelCause) -> &'static str {
    match why {
        CancelCause::Buyer => "buyer",
        CancelCause::SaleCancelled => "sale_cancelled",
    }
}
