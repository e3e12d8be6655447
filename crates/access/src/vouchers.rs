//! Buyer tokens: a merchant's server vouches for one of its buyers, for a browser. Nothing is stored: a token says all that it
//! stands for and is sealed with a key made from the house key. It ends with its time, or with the key of who gave it out.

mod text;

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::{BuyerId, ListingId, Tenant};
use sha2::Sha256;

use crate::keys::KeyRecord;
use crate::principal::{KeyHolder, KeyKind, Principal, Vouched, Who};
use crate::refusal::Refusal;
use crate::scope::{Scope, Scopes};

pub(crate) use text::PREFIX;

/// A browser asks its merchant for another one before that.
pub const LIFETIME_MS_MAX: i64 = 3_600_000;
const LIFETIME_MS_MIN: i64 = 1_000;
/// A page shows one event and little beside it; and a token must fit into a header.
pub const LISTINGS_MAX: usize = 20;
const BUYER_CHARS_MAX: usize = 128;
/// Of accounts, which no merchant vouches for.
const ACCOUNT: &str = "usr_";

/// What a token says. It is believed only as [`Vouchers::read`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voucher {
    pub tenant: Tenant,
    pub buyer: BuyerId,
    /// `key_…` and `fam_…` of who vouches.
    pub key: Arc<str>,
    pub family: Arc<str>,
    pub is_test: bool,
    pub expires_ms: i64,
    /// Of these alone; `None`: of all in the tenant.
    pub listings: Option<Arc<[ListingId]>>,
}

/// What a token takes over from the key of who gives it out.
struct Issuer<'a> {
    tenant: Tenant,
    key: &'a Arc<str>,
    family: &'a Arc<str>,
    is_test: bool,
}

/// Makes and reads tokens.
#[derive(Clone)]
pub struct Vouchers {
    keyed: Hmac<Sha256>,
}

impl std::fmt::Debug for Vouchers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vouchers(…)")
    }
}

impl Vouchers {
    pub fn new(house_key: &[u8]) -> Vouchers {
        let mut derived = keyed(house_key);
        derived.update(b"onsale buyer token 1");
        Vouchers { keyed: keyed(&derived.finalize().into_bytes()) }
    }

    /// For the holder of a key, whom the caller has checked for the right to vouch.
    pub fn issue(
        &self,
        key: &KeyRecord,
        buyer: &BuyerId,
        lifetime_ms: i64,
        listings: Option<&[ListingId]>,
        now_ms: i64,
    ) -> Result<(String, Voucher), Refusal> {
        let issuer = Issuer { tenant: key.tenant, key: &key.id, family: &key.family, is_test: key.is_test };
        self.issue_by(&issuer, buyer, (lifetime_ms, listings), now_ms)
    }

    /// The same for who was let in with the key: its row need not be read once more.
    pub fn issue_for(
        &self,
        principal: &Principal,
        holder: &KeyHolder,
        buyer: &BuyerId,
        (lifetime_ms, listings): (i64, Option<&[ListingId]>),
        now_ms: i64,
    ) -> Result<(String, Voucher), Refusal> {
        let Principal { tenant, family, is_test, .. } = principal;
        let issuer = Issuer { tenant: *tenant, key: &holder.key, family, is_test: *is_test };
        self.issue_by(&issuer, buyer, (lifetime_ms, listings), now_ms)
    }

    fn issue_by(
        &self,
        issuer: &Issuer<'_>,
        buyer: &BuyerId,
        (lifetime_ms, listings): (i64, Option<&[ListingId]>),
        now_ms: i64,
    ) -> Result<(String, Voucher), Refusal> {
        if buyer.as_str().starts_with(ACCOUNT) || buyer.as_str().chars().count() > BUYER_CHARS_MAX {
            return Err(Refusal::BuyerInvalid);
        }
        if !(LIFETIME_MS_MIN..=LIFETIME_MS_MAX).contains(&lifetime_ms) {
            return Err(Refusal::LifetimeInvalid);
        }
        let fits = |named: &[ListingId]| {
            (1..=LISTINGS_MAX).contains(&named.len()) && named.iter().all(|one| one.tenant == issuer.tenant)
        };
        if listings.is_some_and(|named| !fits(named)) {
            return Err(Refusal::ListingsInvalid);
        }
        let voucher = Voucher {
            tenant: issuer.tenant,
            buyer: buyer.clone(),
            key: Arc::clone(issuer.key),
            family: Arc::clone(issuer.family),
            is_test: issuer.is_test,
            expires_ms: now_ms + lifetime_ms,
            listings: listings.map(Into::into),
        };
        Ok((text::write(&voucher, &self.keyed), voucher))
    }

    /// What a token says, if the house has made it; its time and its key are still to be looked at.
    pub fn read(&self, text: &str) -> Option<Voucher> {
        text::read(text, &self.keyed)
    }
}

impl Voucher {
    pub(crate) fn principal(&self) -> Principal {
        Principal {
            tenant: self.tenant,
            who: Who::Vouched(Vouched {
                buyer: self.buyer.clone(),
                key: Arc::clone(&self.key),
                listings: self.listings.clone(),
            }),
            scopes: Scopes::of(&[Scope::Read, Scope::Buy]),
            // Two buyers of one merchant share no idempotency key.
            family: format!("{}/{}", self.family, self.buyer.as_str()).into(),
            is_test: self.is_test,
        }
    }
}

/// A request with a publishable key and a buyer token beside it: the token's buyer, if both are of one tenant and the key may
/// be used for buying.
pub fn beside_key(key: &Principal, voucher: &Principal) -> Option<Principal> {
    let is_public = matches!(&key.who, Who::Key(holder) if holder.kind == KeyKind::Publishable);
    let is_voucher = matches!(&voucher.who, Who::Vouched(_));
    let fits = is_public && is_voucher && key.tenant == voucher.tenant && key.is_test == voucher.is_test;
    (fits && key.may(Scope::Buy)).then(|| voucher.clone())
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"))
}
