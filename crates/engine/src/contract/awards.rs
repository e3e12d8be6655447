//! Tables of what an order makes of an auction's award; `tables/award_order.txt` says how a line reads. The auction's own
//! tables stand in `auctions`: here bids are only made to be paid.

use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::RefundAward;
use onsale_domain::order::command::{GoodsKey, NotePayment, OrderKey, PayOrder, PaymentResult, PlaceOrder};
use onsale_domain::order::{Fees, OrderCommand, OrderFact, OrdersFound, OrdersQuery};
use onsale_domain::{
    Command, Fact, Found, ListingId, ListingKind, Millis, OrderId, Outcome, PaymentId, Query, Tenant,
};
use onsale_tables::auction::{command as of_auction, name, say, usual};
use onsale_tables::{Table, cut};

use super::lines::{Player, TableLine, Words, number};
use super::table::ZERO;
use crate::engine::Answer;

const FILES: &[(&str, &str)] = &[("award_order", include_str!("tables/award_order.txt"))];
/// How long a payment may take.
const PAY_MS: Millis = 600_000;

pub(super) fn all() -> Vec<Table> {
    cut(FILES)
}

pub(super) struct OfAwards;

impl Words for OfAwards {
    const LISTING: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number: 2 };
    const ZERO: Millis = ZERO;

    fn create() -> Result<Command, String> {
        let mut details = usual();
        details.starts_at = ZERO;
        details.ends_at = ZERO + 100_000;
        Ok(Command::Auction(AuctionCommand::CreateAuction(Box::new(details))))
    }

    fn say(player: &mut Player<'_>, said: &TableLine<'_>) -> Result<String, String> {
        let command = match (said.verb, said.words) {
            ("order?", [id]) => return shown(player, order(id)?),
            ("order", [id, who]) => Command::Order(OrderCommand::Place(PlaceOrder {
                order: order(id)?,
                goods: GoodsKey::Award(name(who)),
                fees: Fees::default(),
            })),
            ("pay", [id, with, who]) => Command::Order(OrderCommand::Pay(PayOrder {
                key: OrderKey { order: order(id)?, buyer: name(who) },
                payment: payment(with)?,
                pay_until: said.now + PAY_MS,
                method: None,
                settled: false,
            })),
            ("captured", [id, with, amount]) => Command::Order(OrderCommand::NotePayment(NotePayment {
                order: order(id)?,
                payment: payment(with)?,
                result: PaymentResult::Captured { amount_minor: number(amount)?, reference: "ref".into() },
            })),
            ("refund", [id, amount @ ..]) => Command::Auction(AuctionCommand::RefundAward(RefundAward {
                order: order(id)?,
                amount_minor: amount.first().map(|amount| number(amount)).transpose()?,
                reason: "broken".into(),
            })),
            (verb, words) => {
                let line = [&[verb], words].concat().join(" ");
                of_auction(&line, &usual()).ok_or_else(|| format!("cannot say {line}"))?
            }
        };
        player.submit(command, said.key).map(|answer| told(&answer))
    }

    fn picture(player: &Player<'_>) -> Result<String, String> {
        Ok(format!("{:?}\n{}", player.view()?.body, player.facts()?))
    }
}

fn order(word: &str) -> Result<OrderId, String> {
    number(word.trim_start_matches('o')).map(OrderId)
}

fn payment(word: &str) -> Result<PaymentId, String> {
    number(word.trim_start_matches('p')).map(PaymentId)
}

fn shown(player: &Player<'_>, order: OrderId) -> Result<String, String> {
    let found = player.ask(Query::Orders(OrdersQuery::Order(order)))?;
    let Found::Orders(OrdersFound::Order(order)) = found else { return Ok("unknown".into()) };
    let refunds = order.payments.iter().flat_map(|payment| &payment.refunds);
    let back: i64 = refunds.map(|refund| refund.amount_minor).sum();
    Ok(format!("{} {} - {back}", order.status.as_str(), order.goods_minor))
}

fn told(answer: &Answer) -> String {
    let facts = answer.step().map_or(&[][..], |step| &step.facts);
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    if let Some(refusal) = answer.outcome.refused() {
        parts.push(refusal.code.as_str().to_owned());
    } else if answer.outcome != Outcome::Done {
        parts.push(format!("{:?}", answer.outcome).to_lowercase());
    }
    format!("{}{}", if answer.replayed { "(again) " } else { "" }, parts.join(", "))
}

/// Of an order what it comes to, of an auction its own words, except for times, which its own tables tell.
fn fact(fact: &Fact) -> String {
    if let Fact::Order(OrderFact::Placed(placed)) = fact {
        return format!("o{} for {}", placed.order.0, placed.goods_minor);
    }
    if let Fact::Order(OrderFact::RefundOwed { amount_minor, .. }) = fact {
        return format!("{amount_minor} owed");
    }
    if let Fact::Auction(fact) = fact {
        let words = say(fact, ZERO + 100_000);
        return words.split(" until ").next().unwrap_or_default().to_owned();
    }
    fact.kind().to_owned()
}
