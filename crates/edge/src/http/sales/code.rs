//! Checkout codes: the id of a checkout, `cod_…`, its fence, and behind another dot what only its buyer was told. Made and
//! checked here from the house key; never stored, never logged, never in a fact.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use onsale_domain::Question;
use onsale_domain::id::{read_base32, read_inside_of, write_base32};
use onsale_domain::stock::command::CheckoutKey;
use onsale_domain::stock::{CheckoutState, SaleFound, SaleQuery};
use onsale_domain::{BuyerId, CheckoutId, Code, Command, ListingId, ListingKind};
use onsale_engine::Answer;
use subtle::ConstantTimeEq;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::http::credential::ended;
use crate::http::extract::{Origin, look_up, path_params};
use crate::http::problem::{Problem, catalog};
use crate::http::{lost, reply};
use crate::token::{CHECKOUT, Tokens, read_fence};

/// 64 bits in base 32.
const OF_BUYER_CHARS: usize = 13;

/// The code in a path, or only the id; believed after [`CodePath::key`].
#[derive(Debug)]
pub struct CodePath {
    pub sale: ListingId,
    pub checkout: CheckoutId,
    secret: Option<Secret>,
}

/// What stands in a code behind the checkout's id.
#[derive(Clone, Copy, Debug)]
struct Secret {
    /// Of the fact that made the checkout: it tells a lost checkout from one that never was.
    fence: u64,
    /// Which buyer it is for, in 64 bits.
    of_buyer: u64,
    proof: u128,
}

/// The whole code, for its buyer. `id` is the checkout's own text, with which it begins.
pub fn make(tokens: &Tokens, id: &str, sale: &ListingId, state: &CheckoutState) -> String {
    let secret = Secret::new(tokens, sale, state.checkout, state.fence, of_buyer(&state.buyer));
    let (of_buyer, proof) = (write_base32(secret.of_buyer.into()), write_base32(secret.proof));
    let of_buyer = std::str::from_utf8(&of_buyer[of_buyer.len() - OF_BUYER_CHARS..]).unwrap_or_default();
    let proof = std::str::from_utf8(&proof).unwrap_or_default();
    [id, ".", itoa::Buffer::new().format(state.fence), ".", of_buyer, proof].concat()
}

/// A buyer in 64 bits. Two buyers may share them: a code opens one checkout, and that has one buyer.
fn of_buyer(buyer: &BuyerId) -> u64 {
    xxh3_64(buyer.as_str().as_bytes())
}

impl CodePath {
    pub fn parse(text: &str) -> Option<CodePath> {
        let (id, secret) = match text.split_once('.') {
            Some((id, secret)) => (id, Some(Secret::parse(secret)?)),
            None => (text, None),
        };
        let (sale, number) = read_inside_of(ListingKind::Sale, "cod", id)?;
        Some(CodePath { sale, checkout: CheckoutId(number), secret })
    }

    /// Reads a code and makes sure that its sale is known here, if any server knows it.
    pub async fn find(app: &App, text: &str) -> Result<CodePath, Problem> {
        let code = CodePath::parse(text).ok_or_else(|| Problem::code(Code::CheckoutUnknown))?;
        look_up(app, code.sale).await?;
        match app.engine.view(&code.sale) {
            Some(_) => Ok(code),
            None => Err(Problem::code(Code::CheckoutUnknown)),
        }
    }

    /// Whether the house made this code for this buyer; takes the same time either way.
    pub fn is_for(&self, tokens: &Tokens, buyer: &BuyerId) -> bool {
        let is_named = self.secret.is_some_and(|secret| secret.of_buyer == of_buyer(buyer));
        self.is_ours(tokens) && is_named
    }

    /// Submits a command about this code's checkout.
    pub async fn submit(&self, app: &App, command: Command, origin: Origin) -> Result<Answer, Problem> {
        match self.secret {
            Some(secret) => lost::submit(app, self.sale, secret.fence, command, origin, None).await,
            None => reply::submit(app, self.sale, command, origin, None).await,
        }
    }

    /// Of the fact that made the checkout, if this is a whole code.
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
            secret.proof.to_be_bytes().ct_eq(&right.proof.to_be_bytes()).into()
        })
    }

    pub fn has_secret(&self) -> bool {
        self.secret.is_some()
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
        if !self.has_secret() {
            let why = "this is a checkout's id; its code goes on behind a dot, and only its buyer was told";
            return Err(Problem::with(catalog::of(Code::CheckoutUnknown), why));
        }
        if let Some(buyer) = buyer.filter(|buyer| self.is_for(&app.tokens, buyer)) {
            return Ok(key(buyer));
        }
        let owner = match self.ask(app).await? {
            SaleFound::Checkout(state) => state.buyer,
            SaleFound::Purchase(state) => state.buyer,
            SaleFound::Ended(_) | SaleFound::Nothing if !self.is_ours(&app.tokens) => {
                return Err(Problem::code(Code::CheckoutUnknown));
            }
            // It may be forgotten before the key of what ended it is.
            SaleFound::Ended(_) | SaleFound::Nothing if buyer.is_none() && keyed => {
                let nobody = BuyerId::parse("-").ok_or_else(|| Problem::of(catalog::INTERNAL))?;
                return Ok(key(&nobody));
            }
            SaleFound::Ended(end) => return Err(Problem::code(ended(end))),
            SaleFound::Nothing | SaleFound::Checkouts(_) | SaleFound::Purchases(_) => {
                return Err(self.unknown(app).await);
            }
        };
        match self.is_for(&app.tokens, &owner) {
            true => Ok(key(buyer.unwrap_or(&owner))),
            false => Err(Problem::code(Code::CheckoutUnknown)),
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
        let (fence, rest) = text.split_once('.')?;
        let (of_buyer, proof) = rest.split_at_checked(OF_BUYER_CHARS)?;
        let of_buyer = u64::try_from(read_base32(&format!("{of_buyer:0>26}"))?).ok()?;
        Some(Secret { fence: read_fence(fence)?, of_buyer, proof: read_base32(proof)? })
    }
}

impl FromRequestParts<Arc<App>> for CodePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let params = path_params(parts, app).await?;
        let text = params.iter().next().map_or("", |(_, value)| value);
        CodePath::find(app, text).await
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
        let text = make(&tokens, &checkout_text(&sale, CheckoutId(9)), &sale, &state);
        let code = CodePath::parse(&text).expect("reads back");
        assert_eq!((code.sale, code.checkout), (sale, CheckoutId(9)));
        assert!(code.is_for(&tokens, &ann) && !code.is_for(&tokens, &bob));
        assert!(code.is_ours(&tokens) && !code.is_ours(&Tokens::new(b"other house")));
        assert!(!code.is_for(&Tokens::new(b"other house"), &ann));
        let other = CodePath { checkout: CheckoutId(8), ..CodePath::parse(&text).expect("reads back") };
        assert!(!other.is_for(&tokens, &ann) && !other.is_ours(&tokens));
        let is_forged = |secret: Secret| {
            let forged = CodePath { secret: Some(secret), ..CodePath::parse(&text).expect("reads back") };
            !forged.is_ours(&tokens) && !forged.is_for(&tokens, &ann) && !forged.is_for(&tokens, &bob)
        };
        let secret = code.secret.expect("a whole code");
        assert!((0..128).all(|bit| is_forged(Secret { proof: secret.proof ^ 1 << bit, ..secret })));
        assert!((0..64).all(|bit| is_forged(Secret { of_buyer: secret.of_buyer ^ 1 << bit, ..secret })));
        assert!(is_forged(Secret { of_buyer: of_buyer(&bob), ..secret }));
        let later = CodePath::parse(&text.replace(".1099511627781.", ".1099511627782.")).expect("reads back");
        assert!(!later.is_for(&tokens, &ann) && !later.is_ours(&tokens), "another fence is another code");
        let bare = CodePath::parse(text.split('.').next().expect("an id")).expect("an id alone");
        assert!(!bare.is_for(&tokens, &ann) && !bare.has_secret());
        for bad in [
            "",
            ".",
            "cod",
            &text[1..],
            &format!("{text}.x"),
            &format!("{text}0"),
            &text.replace("cod", "hld"),
        ] {
            assert!(CodePath::parse(bad).is_none(), "{bad}");
        }
    }
}
