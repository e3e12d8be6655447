//! What an auction is, in JSON: as it is asked for, and as it is shown.

use onsale_domain::Millis;
use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose, SoftCloseMode};
use onsale_domain::auction::increment::{Increment, LadderStep, NamedLadder};
use onsale_domain::auction::{AuctionDetails, AuctionTerms};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::http::about::{CardBody, Metadata};
use crate::http::events::currency;
use crate::http::extract::{self, objects::Objects};
use crate::http::problem::Problem;
use crate::http::time::Time;

/// A new auction. Amounts are in minor units of its currency, whatever its decimals.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAuction {
    #[schema(example = "Station clock, 1931")]
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// Who sells it, and therefore may not bid.
    #[schema(example = "sam")]
    pub seller: String,
    /// An ISO 4217 code with a minor unit.
    #[schema(example = "EUR")]
    pub currency: String,
    /// Bids count from here on; at once if absent.
    pub starts_at: Option<Time>,
    pub ends_at: Time,
    #[schema(example = 5000)]
    pub start_minor: i64,
    /// Every amount is a multiple of it; 1 if absent.
    #[serde(default = "one")]
    pub tick_minor: i64,
    pub increment: IncrementBody,
    /// Below it nothing is sold. Shown to nobody but the seller until it is met.
    #[schema(example = 20000)]
    pub reserve_minor: Option<i64>,
    pub buy_now: Option<BuyNowBody>,
    /// The usual one if absent: a bid with at most 30 s left moves the end to 30 s after it, up to an hour past the
    /// original end. `null`: the end never moves.
    #[serde(default = "usual")]
    pub soft_close: Option<SoftCloseBody>,
    /// Whether bidders, and not staff alone, may retract.
    #[serde(default)]
    pub bidders_may_retract: bool,
    /// The merchant's own name of it, unique among its kind: it is found by that, and never changes.
    #[schema(example = "shop-4711")]
    pub external_id: Option<String>,
    /// A JSON object of at most 2,048 bytes, returned as it was written, and never looked into.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    pub card: Option<CardBody>,
}

/// By how much a bid must pass the price: one amount, a known ladder (`ebay_us`, `trade_me`, `yahoo_jp`), or a ladder of
/// your own: a list of objects with `from_minor` and `step_minor`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = r#"must be an amount, "ebay_us", "trade_me", "yahoo_jp", or a list like [{"from_minor": 0, "step_minor": 50}]"#
)]
#[schema(as = Increment, example = json!("ebay_us"))]
pub enum IncrementBody {
    Fixed(i64),
    Named(LadderBody),
    Ladder(#[serde(deserialize_with = "rungs")] Vec<RungBody>),
}

/// Which form it is in is found out by trying: what is tried must be told again that an object is no list.
fn rungs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RungBody>, D::Error> {
    Vec::deserialize(Objects(deserializer))
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NamedLadder)]
pub enum LadderBody {
    EbayUs,
    TradeMe,
    YahooJp,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LadderStep)]
pub struct RungBody {
    #[schema(example = 0)]
    pub from_minor: i64,
    #[schema(example = 50)]
    pub step_minor: i64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BuyNowTerms)]
pub struct BuyNowBody {
    #[schema(example = 90000)]
    pub price_minor: i64,
    pub policy: PolicyBody,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = BuyNowPolicy)]
pub enum PolicyBody {
    UntilFirstBid,
    /// Without a reserve: until the first bid.
    UntilReserveMet,
    Always,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = SoftClose)]
pub struct SoftCloseBody {
    pub mode: ModeBody,
    /// A bid with no more than this left moves the end.
    #[schema(value_type = i64, example = 30000)]
    pub window_ms: Millis,
    /// By the number of extensions so far; the last repeats.
    #[schema(value_type = Vec<i64>, example = json!([30000]))]
    pub extensions_ms: Vec<Millis>,
    /// The end never moves further than this past the original one.
    #[schema(value_type = i64, example = 3600000)]
    pub cap_ms: Millis,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SoftCloseMode)]
pub enum ModeBody {
    /// The end is at least one extension after the bid.
    Reset,
    /// The end moves by one extension.
    Add,
}

/// What an auction is, apart from its bids.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuctionDetails)]
pub struct DetailsBody {
    pub name: String,
    pub description: String,
    pub seller: String,
    pub currency: String,
    pub starts_at: Time,
    /// It is over at this instant.
    pub ends_at: Time,
    pub start_minor: i64,
    pub tick_minor: i64,
    pub increment: IncrementBody,
    /// Shown to its seller alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve_minor: Option<i64>,
    pub buy_now: Option<BuyNowBody>,
    pub soft_close: Option<SoftCloseBody>,
    pub bidders_may_retract: bool,
}

fn one() -> i64 {
    1
}

fn usual() -> Option<SoftCloseBody> {
    Some(SoftCloseBody::default())
}

impl Default for SoftCloseBody {
    fn default() -> SoftCloseBody {
        SoftCloseBody::from(&SoftClose::default())
    }
}

impl NewAuction {
    pub fn details(&self, now: Millis) -> Result<AuctionDetails, Problem> {
        let seller = extract::buyer(&self.seller);
        let wrong = || Problem::invalid("seller", extract::BUYER_RULE);
        Ok(AuctionDetails {
            name: self.name.clone(),
            description: self.description.clone(),
            seller: seller.ok_or_else(wrong)?,
            currency: currency(&self.currency)?,
            starts_at: self.starts_at.map_or(now, Time::ms),
            ends_at: self.ends_at.0,
            terms: AuctionTerms {
                start_minor: self.start_minor,
                tick_minor: self.tick_minor,
                increment: self.increment.to_domain(),
                reserve_minor: self.reserve_minor,
                buy_now: self.buy_now.map(BuyNowBody::into_domain),
                soft_close: self.soft_close.as_ref().map(SoftCloseBody::to_domain),
                bidders_may_retract: self.bidders_may_retract,
            },
        })
    }
}

impl DetailsBody {
    /// `ends_at` as soft close may have moved it; the reserve only for who may know it.
    pub fn new(details: &AuctionDetails, ends_at: Millis, with_reserve: bool) -> DetailsBody {
        let terms = &details.terms;
        DetailsBody {
            name: details.name.clone(),
            description: details.description.clone(),
            seller: details.seller.as_str().to_owned(),
            currency: details.currency.as_str().to_owned(),
            starts_at: Time(details.starts_at),
            ends_at: Time(ends_at),
            start_minor: terms.start_minor,
            tick_minor: terms.tick_minor,
            increment: IncrementBody::from(&terms.increment),
            reserve_minor: terms.reserve_minor.filter(|_| with_reserve),
            buy_now: terms.buy_now.map(BuyNowBody::from),
            soft_close: terms.soft_close.as_ref().map(SoftCloseBody::from),
            bidders_may_retract: terms.bidders_may_retract,
        }
    }
}

impl IncrementBody {
    pub fn to_domain(&self) -> Increment {
        match self {
            IncrementBody::Fixed(step) => Increment::Fixed(*step),
            IncrementBody::Named(named) => Increment::Named(match named {
                LadderBody::EbayUs => NamedLadder::EbayUs,
                LadderBody::TradeMe => NamedLadder::TradeMe,
                LadderBody::YahooJp => NamedLadder::YahooJp,
            }),
            IncrementBody::Ladder(rungs) => {
                let rung =
                    |rung: &RungBody| LadderStep { from_minor: rung.from_minor, step_minor: rung.step_minor };
                Increment::Ladder(rungs.iter().map(rung).collect())
            }
        }
    }
}

impl From<&Increment> for IncrementBody {
    fn from(increment: &Increment) -> IncrementBody {
        match increment {
            Increment::Fixed(step) => IncrementBody::Fixed(*step),
            Increment::Named(named) => IncrementBody::Named(match named {
                NamedLadder::EbayUs => LadderBody::EbayUs,
                NamedLadder::TradeMe => LadderBody::TradeMe,
                NamedLadder::YahooJp => LadderBody::YahooJp,
            }),
            Increment::Ladder(rungs) => {
                let rung =
                    |rung: &LadderStep| RungBody { from_minor: rung.from_minor, step_minor: rung.step_minor };
                IncrementBody::Ladder(rungs.iter().map(rung).collect())
            }
        }
    }
}

impl BuyNowBody {
    pub fn into_domain(self) -> BuyNowTerms {
        let policy = match self.policy {
            PolicyBody::UntilFirstBid => BuyNowPolicy::UntilFirstBid,
            PolicyBody::UntilReserveMet => BuyNowPolicy::UntilReserveMet,
            PolicyBody::Always => BuyNowPolicy::Always,
        };
        BuyNowTerms { price_minor: self.price_minor, policy }
    }
}

impl From<BuyNowTerms> for BuyNowBody {
    fn from(terms: BuyNowTerms) -> BuyNowBody {
        let policy = match terms.policy {
            BuyNowPolicy::UntilFirstBid => PolicyBody::UntilFirstBid,
            BuyNowPolicy::UntilReserveMet => PolicyBody::UntilReserveMet,
            BuyNowPolicy::Always => PolicyBody::Always,
        };
        BuyNowBody { price_minor: terms.price_minor, policy }
    }
}

impl SoftCloseBody {
    pub fn to_domain(&self) -> SoftClose {
        SoftClose {
            mode: match self.mode {
                ModeBody::Reset => SoftCloseMode::Reset,
                ModeBody::Add => SoftCloseMode::Add,
            },
            window_ms: self.window_ms,
            extensions_ms: self.extensions_ms.clone(),
            cap_ms: self.cap_ms,
        }
    }
}

impl From<&SoftClose> for SoftCloseBody {
    fn from(soft: &SoftClose) -> SoftCloseBody {
        SoftCloseBody {
            mode: match soft.mode {
                SoftCloseMode::Reset => ModeBody::Reset,
                SoftCloseMode::Add => ModeBody::Add,
            },
            window_ms: soft.window_ms,
            extensions_ms: soft.extensions_ms.clone(),
            cap_ms: soft.cap_ms,
        }
    }
}
