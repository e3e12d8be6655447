//! Facts of auctions as fields. An auction's details are fields of its meta hash, too. What is not there is empty.

use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose, SoftCloseMode};
use onsale_domain::auction::fact::{Award, Closing, Leader, PassCause, ReplayResult};
use onsale_domain::auction::increment::{Increment, LadderStep, NamedLadder};
use onsale_domain::auction::{AuctionDetails, AuctionFact, AuctionTerms};
use onsale_domain::money::Currency;

use crate::facts::{Fields, Malformed, flag, id};

pub(super) fn encode(fact: &AuctionFact, fields: &mut Fields) {
    match fact {
        AuctionFact::AuctionCreated(details) | AuctionFact::AuctionChanged(details) => {
            encode_details(details, fields);
        }
        AuctionFact::AuctionCancelled { reason } => fields.push("reason", reason),
        AuctionFact::BidPlaced {
            bid,
            bidder,
            max_minor,
            leading,
            price_minor,
            min_next_minor,
            reserve_met,
            ends_at,
        } => {
            fields.push("bid", bid.to_string());
            fields.push("bidder", bidder.as_str());
            fields.push("max_minor", max_minor.to_string());
            let (leading, met) = (flag(*leading), flag(*reserve_met));
            fields.push("after", format!("{leading}|{price_minor}|{min_next_minor}|{met}|{ends_at}"));
        }
        AuctionFact::BidRetracted { bid, reason, after } => {
            fields.push("bid", bid.to_string());
            fields.push("reason", reason);
            encode_replayed(Some(after), fields);
        }
        AuctionFact::BidderBanned { bidder, reason, after } => {
            fields.push("bidder", bidder.as_str());
            fields.push("reason", reason);
            encode_replayed(after.as_deref(), fields);
        }
        AuctionFact::BidderUnbanned { bidder } => fields.push("bidder", bidder.as_str()),
        AuctionFact::AuctionClosed { how, award } => {
            fields.push("how", closing(*how));
            encode_award(award.as_ref(), fields);
        }
        AuctionFact::AwardPassed { from, why, to } => {
            fields.push("from", from.as_str());
            fields.push("why", cause(*why));
            encode_award(to.as_ref(), fields);
        }
        AuctionFact::AwardSettled { bidder, price_minor, order } => {
            fields.push("bidder", bidder.as_str());
            fields.push("price_minor", price_minor.to_string());
            fields.push("order", id(order.0));
        }
        AuctionFact::WatchStarted { watcher } | AuctionFact::WatchEnded { watcher } => {
            fields.push("watcher", watcher.as_str());
        }
        AuctionFact::AwardRefunded { order, bidder, amount_minor, left_minor, reason } => {
            fields.push("order", id(order.0));
            fields.push("bidder", bidder.as_str());
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("left_minor", left_minor.to_string());
            fields.push("reason", reason);
        }
    }
}

/// Reads what [`encode`] or a script wrote.
pub(super) fn decode(kind: &str, fields: &Fields) -> Result<AuctionFact, Malformed> {
    let owned = |name: &str| fields.text(name).map(str::to_owned);
    Ok(match kind {
        "auction_created" => AuctionFact::AuctionCreated(Box::new(decode_details(fields)?)),
        "auction_changed" => AuctionFact::AuctionChanged(Box::new(decode_details(fields)?)),
        "auction_cancelled" => AuctionFact::AuctionCancelled { reason: owned("reason")? },
        "bid_placed" => decode_bid(fields)?,
        "bid_retracted" => AuctionFact::BidRetracted {
            bid: fields.number("bid")?,
            reason: owned("reason")?,
            after: Box::new(decode_replayed(fields)?.ok_or_else(|| Malformed::of("price_minor"))?),
        },
        "bidder_banned" => AuctionFact::BidderBanned {
            bidder: fields.buyer("bidder")?,
            reason: owned("reason")?,
            after: decode_replayed(fields)?.map(Box::new),
        },
        "bidder_unbanned" => AuctionFact::BidderUnbanned { bidder: fields.buyer("bidder")? },
        "auction_closed" => AuctionFact::AuctionClosed {
            how: read_closing(fields.text("how")?)?,
            award: decode_award(fields)?,
        },
        "award_passed" => AuctionFact::AwardPassed {
            from: fields.buyer("from")?,
            why: match fields.text("why")? {
                "unpaid" => PassCause::Unpaid,
                "declined" => PassCause::Declined,
                _ => return Err(Malformed::of("why")),
            },
            to: decode_award(fields)?,
        },
        "award_settled" => AuctionFact::AwardSettled {
            bidder: fields.buyer("bidder")?,
            price_minor: fields.number("price_minor")?,
            order: fields.order("order")?,
        },
        "award_refunded" => AuctionFact::AwardRefunded {
            order: fields.order("order")?,
            bidder: fields.buyer("bidder")?,
            amount_minor: fields.number("amount_minor")?,
            left_minor: fields.number("left_minor")?,
            reason: owned("reason")?,
        },
        "watch_started" => AuctionFact::WatchStarted { watcher: fields.buyer("watcher")? },
        "watch_ended" => AuctionFact::WatchEnded { watcher: fields.buyer("watcher")? },
        _ => return Err(Malformed::of("kind")),
    })
}

/// `after` is one field because bids are many, and every field costs: leading, price, least next bid, whether the
/// reserve is met, end.
fn decode_bid(fields: &Fields) -> Result<AuctionFact, Malformed> {
    let malformed = || Malformed::of("after");
    let parts: Vec<i64> = fields
        .text("after")?
        .split('|')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| malformed())?;
    let [leading @ (0 | 1), price_minor, min_next_minor, met @ (0 | 1), ends_at] = parts.as_slice() else {
        return Err(malformed());
    };
    Ok(AuctionFact::BidPlaced {
        bid: fields.number("bid")?,
        bidder: fields.buyer("bidder")?,
        max_minor: fields.number("max_minor")?,
        leading: *leading == 1,
        price_minor: *price_minor,
        min_next_minor: *min_next_minor,
        reserve_met: *met == 1,
        ends_at: *ends_at,
    })
}

fn encode_replayed(after: Option<&ReplayResult>, fields: &mut Fields) {
    let number = |of: fn(&ReplayResult) -> i64| after.map_or(String::new(), |after| of(after).to_string());
    let leader = after.and_then(|after| after.leader.as_ref());
    fields.push("leader_bid", leader.map_or(String::new(), |leader| leader.bid.to_string()));
    fields.push("leader", leader.map_or("", |leader| leader.bidder.as_str()));
    fields.push("price_minor", number(|after| after.price_minor));
    fields.push("min_next_minor", number(|after| after.min_next_minor));
    fields.push("reserve_met", number(|after| i64::from(after.reserve_met)));
}

fn decode_replayed(fields: &Fields) -> Result<Option<ReplayResult>, Malformed> {
    let all = ["leader_bid", "leader", "price_minor", "min_next_minor", "reserve_met"]
        .map(|name| fields.text(name));
    if all.iter().any(Result::is_err)
        || all.iter().all(|text| text.as_ref().is_ok_and(|text| text.is_empty()))
    {
        return all.into_iter().collect::<Result<Vec<_>, _>>().map(|_| None);
    }
    let leader = match fields.number_or_none("leader_bid")? {
        None => None,
        Some(bid) => Some(Leader { bid, bidder: fields.buyer("leader")? }),
    };
    Ok(Some(ReplayResult {
        leader,
        price_minor: fields.number("price_minor")?,
        min_next_minor: fields.number("min_next_minor")?,
        reserve_met: fields.flag("reserve_met")?,
    }))
}

fn encode_award(award: Option<&Award>, fields: &mut Fields) {
    let number = |of: fn(&Award) -> i64| award.map_or(String::new(), |award| of(award).to_string());
    let bid = award.and_then(|award| award.bid);
    fields.push("bidder", award.map_or("", |award| award.bidder.as_str()));
    fields.push("bid", bid.map_or(String::new(), |bid| bid.to_string()));
    fields.push("price_minor", number(|award| award.price_minor));
    fields.push("until", number(|award| award.until));
}

fn decode_award(fields: &Fields) -> Result<Option<Award>, Malformed> {
    let bid = fields.number_or_none("bid")?;
    let (price, until) = (fields.number_or_none("price_minor")?, fields.number_or_none("until")?);
    let absent = |name: &str| Malformed::of(name);
    match fields.text("bidder")? {
        "" => Ok(None),
        _ => Ok(Some(Award {
            bidder: fields.buyer("bidder")?,
            bid,
            price_minor: price.ok_or_else(|| absent("price_minor"))?,
            until: until.ok_or_else(|| absent("until"))?,
        })),
    }
}

pub(super) fn closing(how: Closing) -> &'static str {
    match how {
        Closing::Won => "won",
        Closing::BoughtNow => "bought_now",
        Closing::ReserveNotMet => "reserve_not_met",
        Closing::NoBids => "no_bids",
    }
}

pub(super) fn read_closing(name: &str) -> Result<Closing, Malformed> {
    let all = [Closing::Won, Closing::BoughtNow, Closing::ReserveNotMet, Closing::NoBids];
    all.into_iter().find(|how| closing(*how) == name).ok_or_else(|| Malformed::of("how"))
}

fn cause(why: PassCause) -> &'static str {
    match why {
        PassCause::Unpaid => "unpaid",
        PassCause::Declined => "declined",
    }
}

pub(super) fn encode_details(details: &AuctionDetails, fields: &mut Fields) {
    let AuctionTerms { start_minor, tick_minor, increment, reserve_minor, buy_now, soft_close, .. } =
        &details.terms;
    let optional = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    fields.push("name", &details.name);
    fields.push("description", &details.description);
    fields.push("seller", details.seller.as_str());
    fields.push("currency", details.currency.as_str());
    fields.push("starts_at", details.starts_at.to_string());
    fields.push("ends_at", details.ends_at.to_string());
    fields.push("start_minor", start_minor.to_string());
    fields.push("tick_minor", tick_minor.to_string());
    fields.push("increment", write_increment(increment));
    fields.push("reserve_minor", optional(*reserve_minor));
    fields.push("buy_now_minor", optional(buy_now.map(|terms| terms.price_minor)));
    fields.push("buy_now_policy", buy_now.map_or("", |terms| policy(terms.policy)));
    fields.push("soft_close", soft_close.as_ref().map_or(String::new(), write_soft_close));
    fields.push("bidders_may_retract", flag(details.terms.bidders_may_retract));
}

pub(super) fn decode_details(fields: &Fields) -> Result<AuctionDetails, Malformed> {
    let policy = fields.text("buy_now_policy")?;
    let buy_now = match fields.number_or_none("buy_now_minor")? {
        None => None,
        Some(price_minor) => Some(BuyNowTerms { price_minor, policy: read_policy(policy)? }),
    };
    Ok(AuctionDetails {
        name: fields.text("name")?.to_owned(),
        description: fields.text("description")?.to_owned(),
        seller: fields.buyer("seller")?,
        currency: Currency::parse(fields.text("currency")?).ok_or_else(|| Malformed::of("currency"))?,
        starts_at: fields.number("starts_at")?,
        ends_at: fields.number("ends_at")?,
        terms: AuctionTerms {
            start_minor: fields.number("start_minor")?,
            tick_minor: fields.number("tick_minor")?,
            increment: read_increment(fields.text("increment")?)?,
            reserve_minor: fields.number_or_none("reserve_minor")?,
            buy_now,
            soft_close: match fields.text("soft_close")? {
                "" => None,
                text => Some(read_soft_close(text).ok_or_else(|| Malformed::of("soft_close"))?),
            },
            bidders_may_retract: fields.flag("bidders_may_retract")?,
        },
    })
}

/// `0:5,100:25` is a step of 5 from 0 on and of 25 from 100 on.
pub(super) fn ladder(rungs: &[LadderStep]) -> String {
    let rungs = rungs.iter().map(|rung| format!("{}:{}", rung.from_minor, rung.step_minor));
    rungs.collect::<Vec<_>>().join(",")
}

/// One amount, the name of a ladder, or a ladder.
fn write_increment(increment: &Increment) -> String {
    match increment {
        Increment::Fixed(step) => step.to_string(),
        Increment::Named(named) => named.as_str().to_owned(),
        Increment::Ladder(rungs) => ladder(rungs),
    }
}

fn read_increment(text: &str) -> Result<Increment, Malformed> {
    let malformed = || Malformed::of("increment");
    if let Some(named) = NamedLadder::ALL.into_iter().find(|named| named.as_str() == text) {
        return Ok(Increment::Named(named));
    }
    if !text.contains(':') {
        return text.parse().map(Increment::Fixed).map_err(|_| malformed());
    }
    let rung = |part: &str| {
        let (from, step) = part.split_once(':')?;
        Some(LadderStep { from_minor: from.parse().ok()?, step_minor: step.parse().ok()? })
    };
    text.split(',').map(rung).collect::<Option<_>>().map(Increment::Ladder).ok_or_else(malformed)
}

fn policy(policy: BuyNowPolicy) -> &'static str {
    match policy {
        BuyNowPolicy::UntilFirstBid => "until_first_bid",
        BuyNowPolicy::UntilReserveMet => "until_reserve_met",
        BuyNowPolicy::Always => "always",
    }
}

fn read_policy(text: &str) -> Result<BuyNowPolicy, Malformed> {
    let all = [BuyNowPolicy::UntilFirstBid, BuyNowPolicy::UntilReserveMet, BuyNowPolicy::Always];
    all.into_iter().find(|known| policy(*known) == text).ok_or_else(|| Malformed::of("buy_now_policy"))
}

/// The extensions of a soft close, separated by commas.
pub(super) fn extensions(rule: &SoftClose) -> String {
    rule.extensions_ms.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// `reset|30000|3600000|30000,20000`: mode, window, cap, extensions.
fn write_soft_close(rule: &SoftClose) -> String {
    let mode = match rule.mode {
        SoftCloseMode::Reset => "reset",
        SoftCloseMode::Add => "add",
    };
    format!("{mode}|{}|{}|{}", rule.window_ms, rule.cap_ms, extensions(rule))
}

fn read_soft_close(text: &str) -> Option<SoftClose> {
    let mut parts = text.split('|');
    let mode = match parts.next()? {
        "reset" => SoftCloseMode::Reset,
        "add" => SoftCloseMode::Add,
        _ => return None,
    };
    let (window_ms, cap_ms) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let extensions_ms = parts.next()?.split(',').map(|text| text.parse().ok()).collect::<Option<_>>()?;
    Some(SoftClose { mode, window_ms, extensions_ms, cap_ms })
}
