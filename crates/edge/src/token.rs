//! `Hold-Token`: the only credential of extend, drop, release and confirm. Made and checked at the edge from the
//! house key; never stored, never logged, never in a fact.

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::id::{read_base32, write_base32};
use onsale_domain::{BuyerId, HoldId, ListingId};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// What a sealed number stands for; no credential opens what another is for.
const HOLD: u8 = 1;
pub const CHECKOUT: u8 = 2;
pub const ORDER: u8 = 3;

/// Makes and checks tokens. Holds the keyed state, so that each token costs two compressions, not four.
#[derive(Clone)]
pub struct Tokens {
    keyed: Hmac<Sha256>,
}

/// A token as it was read from a header; believed only after [`Tokens::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub listing: ListingId,
    pub hold: HoldId,
    pub fence: u64,
    code: u128,
}

impl Tokens {
    pub fn new(house_key: &[u8]) -> Tokens {
        let keyed = Hmac::<Sha256>::new_from_slice(house_key).unwrap_or_else(|_| {
            unreachable!("HMAC takes a key of any length");
        });
        Tokens { keyed }
    }

    /// `id` is the hold's own text, with which its token begins.
    pub fn make(&self, id: &str, listing: &ListingId, hold: HoldId, fence: u64, buyer: &BuyerId) -> String {
        let code = write_base32(self.code(listing, hold, fence, buyer));
        let code = std::str::from_utf8(&code).unwrap_or_default();
        [id, ".", itoa::Buffer::new().format(fence), ".", code].concat()
    }

    /// Whether the house made this token for this buyer; takes the same time either way.
    pub fn check(&self, token: &Token, buyer: &BuyerId) -> bool {
        let right = self.code(&token.listing, token.hold, token.fence, buyer);
        right.to_be_bytes().ct_eq(&token.code.to_be_bytes()).into()
    }

    fn code(&self, listing: &ListingId, hold: HoldId, fence: u64, buyer: &BuyerId) -> u128 {
        self.seal(HOLD, listing, hold.0, fence, buyer)
    }

    /// 128 bits over everything a credential stands for; the buyer comes last, so no two inputs run together.
    pub fn seal(&self, purpose: u8, listing: &ListingId, number: u128, fence: u64, buyer: &BuyerId) -> u128 {
        self.seal_of(purpose, listing, number, fence, buyer.as_str())
    }

    /// The same where a credential stands for nobody in particular: `buyer` is empty then, as no buyer's name is.
    pub fn seal_of(&self, purpose: u8, listing: &ListingId, number: u128, fence: u64, buyer: &str) -> u128 {
        let mut mac = self.keyed.clone();
        let mut head = [0u8; 1 + 20 + 1 + 16 + 16 + 8];
        let tenant = listing.tenant.as_str().as_bytes();
        head[0] = purpose;
        head[1..1 + tenant.len()].copy_from_slice(tenant);
        head[21] = listing.kind.prefix().as_bytes()[0];
        head[22..38].copy_from_slice(&listing.number.to_be_bytes());
        head[38..54].copy_from_slice(&number.to_be_bytes());
        head[54..].copy_from_slice(&fence.to_be_bytes());
        mac.update(&head);
        mac.update(buyer.as_bytes());
        let bytes = mac.finalize().into_bytes();
        let mut first = [0; 16];
        first.copy_from_slice(&bytes[..16]);
        u128::from_be_bytes(first)
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

impl Token {
    pub fn parse(text: &str) -> Option<Token> {
        let mut parts = text.split('.');
        let (listing, hold) = onsale_domain::id::read_inside("hld", parts.next()?)?;
        let fence = read_fence(parts.next()?)?;
        let code = read_base32(parts.next()?)?;
        parts.next().is_none().then_some(Token { listing, hold: HoldId(hold), fence, code })
    }
}

/// A fence as credentials write it; anything else is `None`.
pub fn read_fence(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= 16 && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use onsale_domain::id::write_inside;
    use onsale_domain::{ListingKind, Tenant};

    use super::*;

    #[test]
    fn a_token_opens_its_own_hold_to_its_own_buyer_only() {
        let tokens = Tokens::new(b"house");
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let ann = BuyerId::parse("ext:default:ann").expect("a buyer");
        let bob = BuyerId::parse("ext:default:bob").expect("a buyer");
        let id = write_inside("hld", &listing, 9);
        let text = tokens.make(&id, &listing, HoldId(9), 1 << 40 | 5, &ann);
        let token = Token::parse(&text).expect("reads back");
        assert_eq!((token.listing, token.hold, token.fence), (listing, HoldId(9), 1 << 40 | 5));
        assert!(tokens.check(&token, &ann));
        assert!(!tokens.check(&token, &bob));
        assert!(!tokens.check(&Token { fence: token.fence + 1, ..token }, &ann));
        assert!(!tokens.check(&Token { hold: HoldId(8), ..token }, &ann));
        assert!(!Tokens::new(b"other house").check(&token, &ann));
        for bad in ["", ".", "..", &text[1..], &format!("{text}.x"), &text.replace('.', "-")] {
            assert_eq!(Token::parse(bad), None, "{bad}");
        }
    }
}
