//! A script's reply as an answer of the port.

use std::sync::Arc;

use onsale_domain::field::FieldPath;
use onsale_domain::listing::{Key, split_fence};
use onsale_domain::outcome::{HoldState, PlaceState};
use onsale_domain::refusal::{Detail, InTheWay};
use onsale_domain::registration::{EntryStanding, EntryState};
use onsale_domain::seats::OrderState;
use onsale_domain::stock::PurchaseState;
use onsale_domain::{CheckoutId, Code, EntryId, Fact, ListingId, Millis, OrderId, Outcome, Refusal, Step};
use onsale_engine::{Answer, Position};
use redis::Value;

use crate::facts::{self, Fields, Malformed};
use crate::kinds;

/// What became of a call.
#[derive(Clone, Debug)]
pub enum Reply {
    Answer(Box<Answer>),
    /// Nothing was decided: what the command was prepared from has moved.
    Retry {
        why: String,
        detail: String,
        now: Millis,
    },
    /// It was answered before, but its facts are no longer in the stream.
    Trimmed {
        epoch: u64,
        first: u64,
        count: u64,
    },
    /// It has no head, and yet a key of it is there: nothing was written.
    Damaged,
}

impl Reply {
    /// Nothing was decided because the short script for plain holds does not have the rules that this one needs.
    pub fn is_not_plain(&self) -> bool {
        matches!(self, Reply::Retry { why, .. } if why == "plain")
    }
}

/// The answer to a plain wish that was granted: `{0, fence, at, …}` with what its kind's script tells besides; none if it
/// was answered like any other.
pub fn read_plain(
    listing: ListingId,
    value: &Value,
    asked: &Fact,
    key: Option<Key>,
) -> Result<Option<Answer>, Malformed> {
    let Value::Array(parts) = value else { return Err(Malformed::of("reply")) };
    let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
    let numbers: Vec<i64> = parts.iter().map_while(number).collect();
    let [0, fence, at, told @ ..] = numbers.as_slice() else { return Ok(None) };
    let Some(fact) = kinds::plain_fact(asked, told).filter(|_| numbers.len() == parts.len()) else {
        return Ok(None);
    };
    let (epoch, offset) = split_fence(*fence as u64);
    let step = Step { listing, epoch, first: offset, at: *at, key, facts: vec![fact], by: None };
    let told = Some(Arc::new(step)).into();
    let position = Position { epoch, offset };
    Ok(Some(Answer { position, at: *at, told, outcome: Outcome::Done, replayed: false }))
}

/// Reads a reply; `refusal` is what a bare code of a command that was refused beforehand means.
pub fn read(listing: ListingId, value: Value, refusal: Option<&Refusal>) -> Result<Reply, Malformed> {
    let mut parts = array(value)?.into_iter();
    let mut next = || parts.next().ok_or_else(|| Malformed::of("reply"));
    let outcome = int(next()?)?;
    let detail: Vec<String> = array(next()?)?.into_iter().map(text).collect::<Result<_, _>>()?;
    let (epoch, offset, at) = (int(next()?)?, int(next()?)?, int(next()?)?);
    let replayed = int(next()?)? == 1;
    let told = array(next()?)?.into_iter().map(fields).collect::<Result<Vec<_>, _>>()?;
    let detail = DetailFields(detail);
    // A listing that does not exist has no epoch yet; readers know it at the first.
    let position = Position { epoch: epoch.max(1) as u64, offset: offset as u64 };
    let outcome = match outcome {
        0 => Outcome::Done,
        1 => Outcome::Unchanged,
        2 => Outcome::AlreadyYours(Box::new(detail.hold()?)),
        3 => Outcome::StillQueued(Box::new(detail.place()?)),
        4 => Outcome::Refused(Box::new(detail.refusal(refusal)?)),
        5 => {
            let why = detail.get(0)?.to_owned();
            let detail = detail.get(1).unwrap_or_default().to_owned();
            return Ok(Reply::Retry { why, detail, now: at });
        }
        6 => {
            let (epoch, first, count) = (detail.number(0)?, detail.number(1)?, detail.number(2)?);
            return Ok(Reply::Trimmed { epoch, first, count });
        }
        7 => Outcome::AlreadyPurchased(Box::new(detail.purchase()?)),
        8 => Outcome::AlreadyRegistered(Box::new(detail.entry()?)),
        9 => return Ok(Reply::Damaged),
        10 => Outcome::AlreadyConfirmed(Box::new(detail.order()?)),
        _ => return Err(Malformed::of("outcome")),
    };
    let step = match told.len() as u64 {
        0 => None,
        _ if replayed => Some(facts::decode_step(listing, detail.number(0)?, detail.number(1)?, &told)?),
        count => Some(facts::decode_step(listing, position.epoch, position.offset + 1 - count, &told)?),
    };
    Ok(Reply::Answer(Box::new(Answer { position, at, told: step.map(Arc::new).into(), outcome, replayed })))
}

struct DetailFields(Vec<String>);

impl DetailFields {
    fn get(&self, n: usize) -> Result<&str, Malformed> {
        self.0.get(n).map(String::as_str).ok_or_else(|| Malformed::of("detail"))
    }

    fn number<T: std::str::FromStr>(&self, n: usize) -> Result<T, Malformed> {
        self.get(n)?.parse().map_err(|_| Malformed::of("detail"))
    }

    fn hold(&self) -> Result<HoldState, Malformed> {
        let malformed = || Malformed::of("hold");
        Ok(HoldState {
            hold: facts::read_id(self.get(0)?).map(onsale_domain::HoldId).ok_or_else(malformed)?,
            buyer: onsale_domain::BuyerId::parse(self.get(1)?).ok_or_else(malformed)?,
            fence: self.number(2)?,
            placed_at: self.number(3)?,
            until: self.number(4)?,
            extensions: self.number(5)?,
            offered: self.get(6)? == "1",
            seats: facts::read_seat_lines(self.get(7)?)?,
            areas: facts::read_area_lines(self.get(8)?)?,
        })
    }

    fn place(&self) -> Result<PlaceState, Malformed> {
        let place = facts::read_id(self.get(0)?).map(onsale_domain::HoldId);
        Ok(PlaceState {
            place: place.ok_or_else(|| Malformed::of("place"))?,
            seat: self.number(1)?,
            until: self.number(2)?,
            ahead: self.number(3)?,
        })
    }

    fn order(&self) -> Result<OrderState, Malformed> {
        let malformed = || Malformed::of("order");
        Ok(OrderState {
            order: facts::read_id(self.get(0)?).map(OrderId).ok_or_else(malformed)?,
            hold: facts::read_id(self.get(1)?).map(onsale_domain::HoldId).ok_or_else(malformed)?,
            buyer: onsale_domain::BuyerId::parse(self.get(2)?).ok_or_else(malformed)?,
            fence: self.number(3)?,
            at: self.number(4)?,
            total_minor: self.number(5)?,
            seats: facts::read_seat_lines(self.get(6)?)?,
            areas: facts::read_area_lines(self.get(7)?)?,
        })
    }

    fn purchase(&self) -> Result<PurchaseState, Malformed> {
        let malformed = || Malformed::of("purchase");
        let lines = facts::read_sku_lines(self.get(4)?)?;
        let mut refunded = facts::read_seats(self.get(5)?)?;
        // Nothing was given back yet.
        refunded.resize(lines.len(), 0);
        Ok(PurchaseState {
            order: facts::read_id(self.get(0)?).map(OrderId).ok_or_else(malformed)?,
            checkout: facts::read_id(self.get(1)?).map(CheckoutId).ok_or_else(malformed)?,
            buyer: onsale_domain::BuyerId::parse(self.get(2)?).ok_or_else(malformed)?,
            at: self.number(3)?,
            total_minor: lines.iter().map(|line| line.total_minor()).sum(),
            lines,
            refunded,
        })
    }

    fn entry(&self) -> Result<EntryState, Malformed> {
        let malformed = || Malformed::of("entry");
        let standing = match self.get(3)? {
            "w" => EntryStanding::Waiting { ahead: self.number(6)? },
            "o" => EntryStanding::Offered { until: self.number(4)?, price_minor: self.number(5)? },
            "c" => EntryStanding::Confirmed {
                order: match self.get(7)? {
                    "" => None,
                    order => Some(facts::read_id(order).map(OrderId).ok_or_else(malformed)?),
                },
            },
            _ => return Err(malformed()),
        };
        Ok(EntryState {
            entry: facts::read_id(self.get(0)?).map(EntryId).ok_or_else(malformed)?,
            buyer: onsale_domain::BuyerId::parse(self.get(1)?).ok_or_else(malformed)?,
            fence: self.number(2)?,
            standing,
        })
    }

    fn refusal(&self, known: Option<&Refusal>) -> Result<Refusal, Malformed> {
        let code = code(self.number(0)?)?;
        if let Some(known) = known.filter(|known| known.code == code) {
            return Ok(known.clone());
        }
        let in_the_way = match self.get(1)? {
            "" => Vec::new(),
            all => all.split(',').map(obstacle).collect::<Result<_, _>>()?,
        };
        let detail = match self.get(2)? {
            "" => Detail::None,
            "field" => Detail::Field {
                field: FieldPath::parse(self.get(3)?).ok_or_else(|| Malformed::of("field"))?,
                why: self.get(4)?.to_owned(),
            },
            "limit" => Detail::Limit { limit: self.number(3)?, taken: self.number(4)? },
            "min_next" => Detail::MinNext(self.number(3)?),
            "order" => Detail::Order(
                facts::read_id(self.get(3)?).map(OrderId).ok_or_else(|| Malformed::of("order"))?,
            ),
            _ => return Err(Malformed::of("detail")),
        };
        Ok(Refusal { code, in_the_way, detail })
    }
}

pub(crate) fn code(number: u8) -> Result<Code, Malformed> {
    Code::ALL.iter().copied().find(|code| *code as u8 == number).ok_or_else(|| Malformed::of("code"))
}

/// `s12:22` is a seat and why, `a0:24` an area, `k3:48` a SKU.
pub(crate) fn obstacle(text: &str) -> Result<InTheWay, Malformed> {
    let malformed = || Malformed::of("in the way");
    let (place, number) = text.split_once(':').ok_or_else(malformed)?;
    let why = code(number.parse().map_err(|_| malformed())?)?;
    let (kind, index) = place.split_at_checked(1).ok_or_else(malformed)?;
    match kind {
        "s" => Ok(InTheWay::Seat(index.parse().map_err(|_| malformed())?, why)),
        "a" => Ok(InTheWay::Area(index.parse().map_err(|_| malformed())?, why)),
        "k" => Ok(InTheWay::Sku(index.parse().map_err(|_| malformed())?, why)),
        _ => Err(malformed()),
    }
}

pub(crate) fn array(value: Value) -> Result<Vec<Value>, Malformed> {
    let Value::Array(all) = value else { return Err(Malformed::of("array")) };
    Ok(all)
}

fn int(value: Value) -> Result<i64, Malformed> {
    let Value::Int(number) = value else { return Err(Malformed::of("number")) };
    Ok(number)
}

fn text(value: Value) -> Result<String, Malformed> {
    if let Value::Int(number) = value {
        return Ok(number.to_string());
    }
    String::from_utf8(bytes(value)?).map_err(|_| Malformed::of("text"))
}

pub(crate) fn bytes(value: Value) -> Result<Vec<u8>, Malformed> {
    if let Value::SimpleString(text) = value {
        return Ok(text.into_bytes());
    }
    let Value::BulkString(bytes) = value else { return Err(Malformed::of("bytes")) };
    Ok(bytes)
}

/// The flat fields of one fact.
pub(crate) fn fields(value: Value) -> Result<Fields, Malformed> {
    Fields::from_flat(array(value)?.into_iter().map(bytes).collect::<Result<_, _>>()?)
}
