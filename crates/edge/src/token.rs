//! Secrets that open what an id names: `Hold-Token`, `Checkout-Code`, `Order-Key`. Made and checked at the edge from the
//! house key; never stored, never logged, never in a fact. They travel in headers, and do not repeat the id.

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::id::{read_base32, read_digits, write_base32, write_digits};
use onsale_domain::{BuyerId, HoldId, ListingId};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// What a sealed number stands for; no credential opens what another is for.
const HOLD: u8 = 1;
pub const CHECKOUT: u8 = 2;
pub const ORDER: u8 = 3;
/// No credential: what strangers see instead of a name.
pub const ALIAS: u8 = 4;

const HOLD_PREFIX: &str = "ht_";

/// Characters of a fence, which is below 2^53, and of 128 bits.
pub const FENCE_CHARS: usize = 11;
pub const PROOF_CHARS: usize = 26;

/// Makes and checks tokens. Holds the keyed state, so that each token costs two compressions, not four.
#[derive(Clone)]
pub struct Tokens {
    keyed: Hmac<Sha256>,
}

/// A token as it was read from a header; believed only after [`Tokens::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub fence: u64,
    proof: u128,
}

impl Tokens {
    pub fn new(house_key: &[u8]) -> Tokens {
        let keyed = Hmac::<Sha256>::new_from_slice(house_key).unwrap_or_else(|_| {
            unreachable!("HMAC takes a key of any length");
        });
        Tokens { keyed }
    }

    pub fn make(&self, listing: &ListingId, hold: HoldId, fence: u64, buyer: &BuyerId) -> String {
        let proof = self.seal(HOLD, listing, hold.0, fence, buyer);
        let mut text = String::with_capacity(HOLD_PREFIX.len() + FENCE_CHARS + PROOF_CHARS);
        text.push_str(HOLD_PREFIX);
        push_fence(&mut text, fence);
        push_proof(&mut text, proof);
        text
    }

    /// Whether the house made this token for this hold and buyer; takes the same time either way.
    pub fn check(&self, token: &Token, listing: &ListingId, hold: HoldId, buyer: &BuyerId) -> bool {
        same(token.proof, self.seal(HOLD, listing, hold.0, token.fence, buyer))
    }

    /// 128 bits over everything a credential stands for; the buyer comes last, so no two inputs run together.
    pub fn seal(&self, purpose: u8, listing: &ListingId, number: u64, fence: u64, buyer: &BuyerId) -> u128 {
        self.seal_of(purpose, listing, number, fence, buyer.as_str())
    }

    /// The same where a credential stands for nobody in particular: `buyer` is empty then, as no buyer's name is.
    pub fn seal_of(&self, purpose: u8, listing: &ListingId, number: u64, fence: u64, buyer: &str) -> u128 {
        let mut mac = self.keyed.clone();
        let mut head = [0u8; 1 + 4 + 1 + 8 + 8 + 8];
        head[0] = purpose;
        head[1..5].copy_from_slice(&listing.tenant.number().to_be_bytes());
        head[5] = listing.kind.letter();
        head[6..14].copy_from_slice(&listing.number.to_be_bytes());
        head[14..22].copy_from_slice(&number.to_be_bytes());
        head[22..].copy_from_slice(&fence.to_be_bytes());
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
        let (fence, proof) = text.strip_prefix(HOLD_PREFIX)?.split_at_checked(FENCE_CHARS)?;
        Some(Token { fence: read_fence(fence)?, proof: read_base32(proof)? })
    }
}

/// Whether two proofs are the same; takes the same time either way.
pub fn same(given: u128, right: u128) -> bool {
    given.to_be_bytes().ct_eq(&right.to_be_bytes()).into()
}

/// Writes a fence as credentials carry it.
pub fn push_fence(text: &mut String, fence: u64) {
    let mut digits = [0; FENCE_CHARS];
    write_digits(fence, &mut digits);
    text.push_str(std::str::from_utf8(&digits).unwrap_or_default());
}

pub fn push_proof(text: &mut String, proof: u128) {
    text.push_str(std::str::from_utf8(&write_base32(proof)).unwrap_or_default());
}

/// Reads what [`push_fence`] wrote; anything else is `None`.
pub fn read_fence(text: &str) -> Option<u64> {
    (text.len() == FENCE_CHARS).then(|| read_digits(text.as_bytes()))?
}

#[cfg(test)]
mod tests {
    use onsale_domain::{ListingKind, Tenant};

    use super::*;

    #[test]
    fn a_token_opens_its_own_hold_to_its_own_buyer_only() {
        let tokens = Tokens::new(b"house");
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let ann = BuyerId::parse("ann").expect("a buyer");
        let bob = BuyerId::parse("bob").expect("a buyer");
        let fence = 8191 << 40 | 5;
        let text = tokens.make(&listing, HoldId(9), fence, &ann);
        assert!(text.len() <= 44, "{text}");
        let token = Token::parse(&text).expect("reads back");
        assert_eq!(token.fence, fence);
        let opens = |token: &Token| tokens.check(token, &listing, HoldId(9), &ann);
        assert!(opens(&token));
        assert!(!tokens.check(&token, &listing, HoldId(9), &bob));
        assert!(!tokens.check(&token, &listing, HoldId(8), &ann));
        let others = [
            ListingId { number: 8, ..listing },
            ListingId { kind: ListingKind::Sale, ..listing },
            ListingId { tenant: Tenant::new(1).expect("a tenant"), ..listing },
        ];
        assert!(others.iter().all(|other| !tokens.check(&token, other, HoldId(9), &ann)));
        assert!(!opens(&Token { fence: fence + 1, ..token }));
        assert!((0..128).all(|bit| !opens(&Token { proof: token.proof ^ 1 << bit, ..token })));
        assert!(!Tokens::new(b"other house").check(&token, &listing, HoldId(9), &ann));
        for bad in ["", "ht_", &text[1..], &format!("{text}0"), &text.replace("ht_", "cc_"), "ht_é"] {
            assert_eq!(Token::parse(bad), None, "{bad}");
        }
    }
}
