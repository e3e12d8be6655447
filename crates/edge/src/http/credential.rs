//! The check of a `Hold-Token` before a hold is touched: right house, right hold, right buyer.

use axum::http::HeaderMap;
use onsale_domain::Question;
use onsale_domain::ended::End;
use onsale_domain::seats::command::HoldKey;
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, Code, HoldId, ListingId};

use super::lost;
use super::problem::{Problem, catalog};
use crate::app::App;
use crate::token::Token;

/// A checked token: the key that the engine takes, and the token's text for the request's fingerprint.
#[derive(Debug)]
pub struct Credential<'a> {
    pub key: HoldKey,
    pub text: &'a str,
}

/// Checks the token of a request about `hold`. With the buyer's header nothing is looked up; without it the
/// engine is asked who holds. `keyed`: the request has an idempotency key, so it may be the replay of one that
/// ended the hold; the fingerprint contains the token, so only the very same token gets that answer again.
pub async fn check<'a>(
    app: &App,
    event: ListingId,
    hold: HoldId,
    headers: &'a HeaderMap,
    buyer: Option<&BuyerId>,
    keyed: bool,
) -> Result<Credential<'a>, Problem> {
    let text = headers.get("hold-token").and_then(|value| value.to_str().ok());
    let token = text.and_then(Token::parse);
    if let (Some(token), Some(text), Some(buyer)) = (&token, text, buyer)
        && app.tokens.check(token, &event, hold, buyer)
    {
        return Ok(Credential { key: HoldKey { hold, fence: token.fence, buyer: buyer.clone() }, text });
    }
    let found = app.engine.ask(event, EventQuery::Hold(hold).into()).await?;
    match EventQuery::answer(found).unwrap_or(EventFound::Nothing) {
        EventFound::Hold(state) => match (&token, text) {
            (Some(token), Some(text))
                if buyer.is_none() && app.tokens.check(token, &event, hold, &state.buyer) =>
            {
                Ok(Credential { key: HoldKey { hold, fence: token.fence, buyer: state.buyer }, text })
            }
            (_, None) => Err(Problem::token_missing("Hold-Token")),
            (_, Some(_)) => Err(Problem::wrong_token("Hold-Token")),
        },
        // Its order knows whose it was, and may be asked for again.
        EventFound::Ended(End::Confirmed) if buyer.is_none() && token.is_some() => {
            let order = lost::order_of(app, event, hold.0).await?;
            match (&token, text, order) {
                (Some(token), Some(text), Some(order))
                    if app.tokens.check(token, &event, hold, &order.buyer) =>
                {
                    Ok(Credential { key: HoldKey { hold, fence: token.fence, buyer: order.buyer }, text })
                }
                (_, _, Some(_)) => Err(Problem::of(catalog::WRONG_TOKEN)),
                (_, _, None) => Err(Problem::code(Code::HoldConfirmed)),
            }
        }
        // An ended hold is forgotten after an hour, the key of a confirmation after a day: only the engine knows.
        EventFound::Ended(_) | EventFound::Nothing if buyer.is_none() && keyed && token.is_some() => {
            let nobody = BuyerId::parse("-").ok_or_else(|| Problem::of(catalog::INTERNAL))?;
            let fence = token.map_or(0, |token| token.fence);
            Ok(Credential { key: HoldKey { hold, fence, buyer: nobody }, text: text.unwrap_or_default() })
        }
        EventFound::Ended(end) => Err(Problem::code(ended(end))),
        EventFound::Nothing | EventFound::Holds(_) | EventFound::Place(_) | EventFound::Order(_) => {
            let fence = token.map(|token| token.fence);
            Err(lost::instead(app, event, fence, Problem::code(Code::HoldUnknown)).await)
        }
    }
}

/// The fence that a request's token names, for whoever does not act on the hold: it is not checked.
pub fn fence_in(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get("hold-token").and_then(|value| value.to_str().ok());
    text.and_then(Token::parse).map(|token| token.fence)
}

/// Why a hold is over, as a refusal says it.
pub fn ended(end: End) -> Code {
    match end {
        End::Expired => Code::Expired,
        End::Released | End::Dissolved | End::OverLimit => Code::Released,
        End::Overridden => Code::Overridden,
        End::Confirmed => Code::HoldConfirmed,
    }
}
