//! Checkout codes: what a checkout's buyer was told besides its id, `cc_…`: its fence, whose it is and a proof. Made and
//! checked here from the house key; never stored, never logged, never in a fact.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use onsale_access::principal::Principal;
use onsale_domain::Question;
use onsale_domain::id::{read_base32, read_digits, read_inside_of, write_digits};
use onsale_domain::stock::command::CheckoutKey;
use onsale_domain::stock::{CheckoutState, SaleFound, SaleQuery};
use onsale_domain::{BuyerId, CheckoutId, Code, Command, ListingId, ListingKind, OrderId};
use onsale_engine::Answer;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::http::credential::ended;
use crate::http::extract::{Origin, find_listing, path_params};
use crate::http::gate;
use crate::http::problem::{Problem, catalog};
use crate::http::{lost, reply};
use crate::token::{CHECKOUT, FENCE_CHARS, PROOF_CHARS, Tokens, push_fence, push_proof, read_fence, same};

pub const CHECKOUT_CODE: HeaderName = HeaderName::from_static("checkout-code");
const PREFIX: &str = "cc_";

/// 20 bits in base 32.
const OF_BUYER_CHARS: usize = 4;
const OF_BUYER_BITS: u32 = 20;

/// The checkout in a path, and the code of the request if it has one; believed after [`CheckoutPath::key`].
#[derive(Debug)]
pub struct CheckoutPath {
    pub sale: ListingId,
    pub checkout: CheckoutId,
    code: Option<String>,
    /// What the code says, if it is one of ours by its form.
    secret: Option<Secret>,
}

/// What a code says.
#[derive(Clone, Copy, Debug)]
struct Secret {
    /// Of the fact that made the checkout: it tells a lost checkout from one that never was.
    fence: u64,
    /// Which buyer it is for, in 20 bits.
    of_buyer: u64,
    proof: u128,
}

/// The code of a checkout, for its buyer.
pub fn make(tokens: &Tokens, sale: &ListingId, state: &CheckoutState) -> String {
    let secret = Secret::new(tokens, sale, state.checkout, state.fence, of_buyer(&state.buyer));
    let mut of_buyer = [0; OF_BUYER_CHARS];
    write_digits(secret.of_buyer, &mut of_buyer);
    let mut text = String::with_capacity(PREFIX.len() + FENCE_CHARS + OF_BUYER_CHARS + PROOF_CHARS);
    text.push_str(PREFIX);
    push_fence(&mut text, secret.fence);
    text.push_str(std::str::from_utf8(&of_buyer).unwrap_or_default());
    push_proof(&mut text, secret.proof);
    text
}

/// A buyer in 20 bits. Two buyers may share them: a code opens one checkout, and the rules know whose that is.
fn of_buyer(buyer: &BuyerId) -> u64 {
    xxh3_64(buyer.as_str().as_bytes()) >> (u64::BITS - OF_BUYER_BITS)
}

impl CheckoutPath {
    fn read(id: &str, code: Option<&str>) -> Option<CheckoutPath> {
        let (sale, number) = read_inside_of(ListingKind::Sale, "cod", id)?;
        let secret = code.and_then(Secret::parse);
        Some(CheckoutPath { sale, checkout: CheckoutId(number), code: code.map(str::to_owned), secret })
    }

    /// Reads the id and the request's code, and makes sure that the sale is known here, if any server knows it.
    pub async fn find(
        app: &App,
        principal: &Principal,
        id: &str,
        headers: &HeaderMap,
    ) -> Result<CheckoutPath, Problem> {
        let code = headers.get(CHECKOUT_CODE).map(|value| value.to_str().unwrap_or_default());
        CheckoutPath::known(app, principal, CheckoutPath::read(id, code)).await
    }

    /// The same from one text, id and code joined by a dot: only the two calls of the seeds' own clients know no header.
    pub async fn find_joined(app: &App, principal: &Principal, text: &str) -> Result<CheckoutPath, Problem> {
        let joined = text.split_once('.');
        CheckoutPath::known(app, principal, joined.and_then(|(id, code)| CheckoutPath::read(id, Some(code))))
            .await
    }

    async fn known(
        app: &App,
        principal: &Principal,
        read: Option<CheckoutPath>,
    ) -> Result<CheckoutPath, Problem> {
        let path = read.ok_or_else(|| Problem::code(Code::CheckoutUnknown))?;
        match find_listing(app, principal, path.sale).await? {
            true => Ok(path),
            false => Err(Problem::code(Code::CheckoutUnknown)),
        }
    }

    /// Whether the house made this code for this buyer; takes the same time either way.
    pub fn is_for(&self, tokens: &Tokens, buyer: &BuyerId) -> bool {
        let is_named = self.secret.is_some_and(|secret| secret.of_buyer == of_buyer(buyer));
        self.is_ours(tokens) && is_named
    }

    /// Submits a command about this checkout.
    pub async fn submit(&self, app: &App, command: Command, origin: Origin) -> Result<Answer, Problem> {
        let answer = reply::submit(app, self.sale, command, origin, None).await;
        let Err(problem) = answer else { return answer };
        let problem = lost::instead(app, self.sale, self.fence(), problem).await;
        Err(lost::bought(app, self.sale, self.checkout.0, problem).await)
    }

    /// Submits what makes an order of this checkout.
    pub async fn submit_order(
        &self,
        app: &App,
        origin: Origin,
        command: impl Fn(OrderId) -> Command,
    ) -> Result<Answer, Problem> {
        match reply::submit_order(app, self.sale, origin, self.checkout.0, command).await {
            Ok(answer) => Ok(answer),
            Err(problem) => Err(lost::instead(app, self.sale, self.fence(), problem).await),
        }
    }

    /// Of the fact that made the checkout, if the request has its code.
    pub fn fence(&self) -> Option<u64> {
        self.secret.map(|secret| secret.fence)
    }

    /// Why the sale does not know the checkout.
    pub async fn unknown(&self, app: &App) -> Problem {
        lost::instead(app, self.sale, self.fence(), Problem::code(Code::CheckoutUnknown)).await
    }

    /// Whether the house made this code, for whomever it was: that can be told when the checkout has ended and its buyer is
    /// forgotten.
    pub fn is_ours(&self, tokens: &Tokens) -> bool {
        self.secret.is_some_and(|secret| {
            let right = Secret::new(tokens, &self.sale, self.checkout, secret.fence, secret.of_buyer);
            same(secret.proof, right.proof)
        })
    }

    /// The code as the request says it.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The problem of a request with a wrong code, or with none.
    pub fn wrong(&self) -> Problem {
        match self.code {
            Some(_) => Problem::wrong_token("Checkout-Code"),
            None => Problem::token_missing("Checkout-Code"),
        }
    }

    pub async fn ask(&self, app: &App) -> Result<SaleFound, Problem> {
        let found = app.engine.ask(self.sale, SaleQuery::Checkout(self.checkout).into()).await?;
        Ok(SaleQuery::answer(found).unwrap_or(SaleFound::Nothing))
    }

    /// The key that the rules take. With the right buyer's header nothing is looked up; without a header whoever has
    /// the code acts for its buyer. A true code in another's hands is left to the rules to refuse, so that it counts as
    /// an attempt. `keyed`: the request may be the replay of one that ended the checkout, as with holds.
    pub async fn key(&self, app: &App, buyer: Option<&BuyerId>, keyed: bool) -> Result<CheckoutKey, Problem> {
        let key = |buyer: &BuyerId| CheckoutKey { checkout: self.checkout, buyer: buyer.clone() };
        if let Some(buyer) = buyer.filter(|buyer| self.is_for(&app.tokens, buyer)) {
            return Ok(key(buyer));
        }
        let owner = match self.ask(app).await? {
            SaleFound::Checkout(state) => state.buyer,
            SaleFound::Purchase(state) => state.buyer,
            SaleFound::Ended(_) if !self.is_ours(&app.tokens) => return Err(self.wrong()),
            // It may be forgotten before the key of what ended it is.
            SaleFound::Ended(_) | SaleFound::Nothing
                if buyer.is_none() && keyed && self.is_ours(&app.tokens) =>
            {
                let nobody = BuyerId::parse("-").ok_or_else(|| Problem::of(catalog::INTERNAL))?;
                return Ok(key(&nobody));
            }
            SaleFound::Ended(end) => return Err(Problem::code(ended(end))),
            SaleFound::Nothing if !self.is_ours(&app.tokens) => {
                return Err(Problem::code(Code::CheckoutUnknown));
            }
            SaleFound::Nothing | SaleFound::Checkouts(_) | SaleFound::Purchases(_) => {
                return Err(self.unknown(app).await);
            }
        };
        match self.is_for(&app.tokens, &owner) {
            true => Ok(key(buyer.unwrap_or(&owner))),
            false => Err(self.wrong()),
        }
    }
}

impl Secret {
    fn new(tokens: &Tokens, sale: &ListingId, checkout: CheckoutId, fence: u64, of_buyer: u64) -> Secret {
        let mut text = itoa::Buffer::new();
        let proof = tokens.seal_of(CHECKOUT, sale, checkout.0, fence, text.format(of_buyer));
        Secret { fence, of_buyer, proof }
    }

    fn parse(text: &str) -> Option<Secret> {
        let (fence, rest) = text.strip_prefix(PREFIX)?.split_at_checked(FENCE_CHARS)?;
        let (of_buyer, proof) = rest.split_at_checked(OF_BUYER_CHARS)?;
        let of_buyer = read_digits(of_buyer.as_bytes())?;
        Some(Secret { fence: read_fence(fence)?, of_buyer, proof: read_base32(proof)? })
    }
}

impl FromRequestParts<Arc<App>> for CheckoutPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let principal = gate::principal(parts)?;
        let params = path_params(parts, app).await?;
        let text = params.iter().next().map_or("", |(_, value)| value);
        CheckoutPath::find(app, &principal, text, &parts.headers).await
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::Tenant;

    use super::super::wire::checkout_text;
    use super::*;

    #[test]
    fn a_code_is_its_own_buyers_only() {
        let tokens = Tokens::new(b"house");
        let sale = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: 7 };
        let (ann, bob) = (BuyerId::parse("ann").expect("a buyer"), BuyerId::parse("bob").expect("a buyer"));
        let state = CheckoutState {
            checkout: CheckoutId(9),
            fence: 1 << 40 | 5,
            buyer: ann.clone(),
            placed_at: 0,
            until: 1,
            order: None,
            lines: Vec::new(),
            total_minor: 0,
        };
        let text = make(&tokens, &sale, &state);
        assert!(text.len() <= 44, "{text}");
        let id = checkout_text(&sale, CheckoutId(9));
        let read = |code: &str| CheckoutPath::read(&id, Some(code)).expect("an id");
        let code = read(&text);
        assert_eq!((code.sale, code.checkout, code.fence()), (sale, CheckoutId(9), Some(1 << 40 | 5)));
        assert!(code.is_for(&tokens, &ann) && !code.is_for(&tokens, &bob));
        assert!(code.is_ours(&tokens) && !code.is_ours(&Tokens::new(b"other house")));
        assert!(!code.is_for(&Tokens::new(b"other house"), &ann));
        let other = CheckoutPath { checkout: CheckoutId(8), ..read(&text) };
        assert!(!other.is_for(&tokens, &ann) && !other.is_ours(&tokens));
        let is_forged = |secret: Secret| {
            let forged = CheckoutPath { secret: Some(secret), ..read(&text) };
            !forged.is_ours(&tokens) && !forged.is_for(&tokens, &ann) && !forged.is_for(&tokens, &bob)
        };
        let secret = code.secret.expect("a whole code");
        assert!((0..128).all(|bit| is_forged(Secret { proof: secret.proof ^ 1 << bit, ..secret })));
        assert!((0..20).all(|bit| is_forged(Secret { of_buyer: secret.of_buyer ^ 1 << bit, ..secret })));
        assert!(is_forged(Secret { of_buyer: of_buyer(&bob), ..secret }));
        assert!(is_forged(Secret { fence: secret.fence + 1, ..secret }), "another fence is another code");
        let bare = CheckoutPath::read(&id, None).expect("an id alone");
        assert!(!bare.is_for(&tokens, &ann) && !bare.is_ours(&tokens) && bare.code().is_none());
        for bad in
            ["", "cc_", &text[1..], &format!("{text}0"), &text.replace("cc_", "ht_"), &format!("{id}.{text}")]
        {
            assert!(read(bad).secret.is_none(), "{bad}");
        }
        for id in ["", "cod", &id[1..], &format!("{id}.{text}"), &id.replace("cod", "hld")] {
            assert!(CheckoutPath::read(id, Some(&text)).is_none(), "{id}");
        }
    }
}
