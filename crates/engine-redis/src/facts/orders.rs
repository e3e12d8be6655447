//! Facts of orders as fields.

use onsale_domain::money::Currency;
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::{OrderPlaced, OrderedGoods, RefundCause};

use super::fields::{Fields, Malformed};
use super::id;
use super::lines::{area_lines, read_area_lines, read_seat_lines, read_sku_lines, seat_lines, sku_lines};

pub(crate) fn encode(fact: &OrderFact, fields: &mut Fields) {
    fields.push("order", id(fact.order().0));
    match fact {
        OrderFact::Placed(placed) => encode_placed(placed, fields),
        OrderFact::PaymentAsked { payment, amount_minor, until, method, .. } => {
            fields.push("payment", id(payment.0));
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("until", until.to_string());
            fields.push("method", said(method.as_deref()));
        }
        OrderFact::PaymentCaptured { payment, amount_minor, reference, .. } => {
            fields.push("payment", id(payment.0));
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("reference", reference);
        }
        OrderFact::PaymentDeclined { payment, reason, until, .. } => {
            fields.push("payment", id(payment.0));
            fields.push("reason", reason);
            fields.push("until", until.map_or(String::new(), |until| until.to_string()));
        }
        OrderFact::RefundOwed { payment, refund, amount_minor, why, .. } => {
            fields.push("payment", id(payment.0));
            fields.push("refund", refund.to_string());
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("why", why.as_str());
        }
        OrderFact::RefundPaid { payment, refund, .. } => {
            fields.push("payment", id(payment.0));
            fields.push("refund", refund.to_string());
        }
        OrderFact::Settled { .. } | OrderFact::Cancelled { .. } | OrderFact::SeatsTakenBack { .. } => {}
    }
}

fn encode_placed(placed: &OrderPlaced, fields: &mut Fields) {
    fields.push("buyer", placed.buyer.as_str());
    let (kind, of, lines, areas) = match &placed.goods {
        OrderedGoods::Hold { hold, seats, areas, .. } => {
            ("hold", hold.0, seat_lines(seats), area_lines(areas))
        }
        OrderedGoods::Checkout { checkout, lines, .. } => {
            ("checkout", checkout.0, sku_lines(lines), String::new())
        }
        OrderedGoods::Award { price_minor, .. } => ("award", 0, price_minor.to_string(), String::new()),
        OrderedGoods::Entry { entry, price_minor, .. } => {
            ("entry", entry.0, price_minor.to_string(), String::new())
        }
    };
    fields.push("goods", kind);
    fields.push("of", id(of));
    fields.push("lines", lines);
    fields.push("areas", areas);
    fields.push("placed_at", placed.goods.placed_at().to_string());
    fields.push("goods_minor", placed.goods_minor.to_string());
    fields.push("fee_minor", placed.fee_minor.to_string());
    fields.push("currency", placed.currency.as_str());
}

/// Reads what [`encode`] or a script wrote.
pub(crate) fn decode(kind: &str, fields: &Fields) -> Result<OrderFact, Malformed> {
    let order = fields.order("order")?;
    Ok(match kind {
        "order_placed" => OrderFact::Placed(Box::new(OrderPlaced {
            order,
            buyer: fields.buyer("buyer")?,
            goods: read_goods(
                fields.text("goods")?,
                fields.text("of")?,
                fields.text("lines")?,
                fields.text("areas")?,
                fields.number("placed_at")?,
            )?,
            goods_minor: fields.number("goods_minor")?,
            fee_minor: fields.number("fee_minor")?,
            currency: Currency::parse(fields.text("currency")?).ok_or_else(|| Malformed::of("currency"))?,
        })),
        "payment_asked" => OrderFact::PaymentAsked {
            order,
            payment: fields.payment("payment")?,
            amount_minor: fields.number("amount_minor")?,
            until: fields.number("until")?,
            method: match fields.text("method")? {
                "" => None,
                text => Some(text.strip_prefix('=').ok_or_else(|| Malformed::of("method"))?.to_owned()),
            },
        },
        "payment_captured" => OrderFact::PaymentCaptured {
            order,
            payment: fields.payment("payment")?,
            amount_minor: fields.number("amount_minor")?,
            reference: fields.text("reference")?.to_owned(),
        },
        "payment_declined" => OrderFact::PaymentDeclined {
            order,
            payment: fields.payment("payment")?,
            reason: fields.text("reason")?.to_owned(),
            until: fields.number_or_none("until")?,
        },
        "order_settled" => OrderFact::Settled { order },
        "order_cancelled" => OrderFact::Cancelled { order },
        "seats_taken_back" => OrderFact::SeatsTakenBack { order },
        "refund_owed" => OrderFact::RefundOwed {
            order,
            payment: fields.payment("payment")?,
            refund: fields.number("refund")?,
            amount_minor: fields.number("amount_minor")?,
            why: read_cause(fields.text("why")?)?,
        },
        "refund_paid" => OrderFact::RefundPaid {
            order,
            payment: fields.payment("payment")?,
            refund: fields.number("refund")?,
        },
        _ => return Err(Malformed::of("kind")),
    })
}

pub fn read_goods(
    kind: &str,
    of: &str,
    lines: &str,
    areas: &str,
    placed_at: i64,
) -> Result<OrderedGoods, Malformed> {
    let number = super::read_id(of).ok_or_else(|| Malformed::of("of"))?;
    Ok(match kind {
        "hold" => OrderedGoods::Hold {
            hold: onsale_domain::HoldId(number),
            seats: read_seat_lines(lines)?,
            areas: read_area_lines(areas)?,
            placed_at,
        },
        "checkout" => OrderedGoods::Checkout {
            checkout: onsale_domain::CheckoutId(number),
            lines: read_sku_lines(lines)?,
            placed_at,
        },
        "award" => OrderedGoods::Award { price_minor: read_price(lines)?, until: placed_at },
        "entry" => OrderedGoods::Entry {
            entry: onsale_domain::EntryId(number),
            price_minor: read_price(lines)?,
            until: placed_at,
        },
        _ => return Err(Malformed::of("goods")),
    })
}

/// What has no parts has one price.
fn read_price(text: &str) -> Result<i64, Malformed> {
    text.parse().map_err(|_| Malformed::of("lines"))
}

pub fn read_cause(name: &str) -> Result<RefundCause, Malformed> {
    let all = [RefundCause::Returned, RefundCause::Late, RefundCause::Twice, RefundCause::Amount];
    all.into_iter().find(|cause| cause.as_str() == name).ok_or_else(|| Malformed::of("why"))
}

/// What was said, told apart from nothing said at all.
pub fn said(text: Option<&str>) -> String {
    text.map_or(String::new(), |text| format!("={text}"))
}
