//! What this room answers with a no, by a stable public code; and the one error of its functions.

use onsale_sql::SqlError;
use thiserror::Error;

/// An expected answer. Its text is read by strangers: what is wrong, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    #[error("a name has 1 to 100 characters, none of them a control character")]
    NameInvalid,
    #[error("there is no such tenant")]
    TenantUnknown,
    #[error("a tenant has this name already; choose another")]
    TenantNameTaken,
    #[error("the default tenant cannot be disabled")]
    TenantIsDefault,
    #[error("no more tenants can be made")]
    TooManyTenants,
    #[error("a host name has letters, digits, `-` and `.`, at most 253 characters, and no port")]
    HostInvalid,
    #[error("there is no such host")]
    HostUnknown,
    #[error("there is no such key")]
    KeyUnknown,
    #[error("the key is revoked or has expired; make a new one")]
    KeyOver,
    #[error("the key was rotated already; rotate the one that took over")]
    KeyRotated,
    #[error("a key of this kind cannot have these scopes")]
    ScopesInvalid,
    #[error("you cannot give away a scope that you do not have")]
    ScopeNotYours,
    #[error("`operate` goes with no other scope than `read`")]
    OperateAlone,
    #[error("the end of a key lies in the future")]
    ExpiryInvalid,
    #[error("two keys overlap for 7 days at most")]
    OverlapInvalid,
    #[error("the tenant has 1,000 keys; revoke some first")]
    TooManyKeys,
    #[error("a buyer token lives 1 second to 60 minutes")]
    LifetimeInvalid,
    #[error("a buyer token names at most 20 listings, all of the key's tenant")]
    ListingsInvalid,
    #[error("the buyer's name is your own, at most 128 characters, and does not begin with `usr_`")]
    BuyerInvalid,
}

impl Refusal {
    pub const ALL: [Refusal; 19] = [
        Refusal::NameInvalid,
        Refusal::TenantUnknown,
        Refusal::TenantNameTaken,
        Refusal::TenantIsDefault,
        Refusal::TooManyTenants,
        Refusal::HostInvalid,
        Refusal::HostUnknown,
        Refusal::KeyUnknown,
        Refusal::KeyOver,
        Refusal::KeyRotated,
        Refusal::ScopesInvalid,
        Refusal::ScopeNotYours,
        Refusal::OperateAlone,
        Refusal::ExpiryInvalid,
        Refusal::OverlapInvalid,
        Refusal::TooManyKeys,
        Refusal::LifetimeInvalid,
        Refusal::ListingsInvalid,
        Refusal::BuyerInvalid,
    ];

    /// Never changed, and never used again for something else.
    pub fn code(self) -> &'static str {
        match self {
            Refusal::NameInvalid => "name_invalid",
            Refusal::TenantUnknown => "tenant_unknown",
            Refusal::TenantNameTaken => "tenant_name_taken",
            Refusal::TenantIsDefault => "tenant_is_default",
            Refusal::TooManyTenants => "too_many_tenants",
            Refusal::HostInvalid => "host_invalid",
            Refusal::HostUnknown => "host_unknown",
            Refusal::KeyUnknown => "key_unknown",
            Refusal::KeyOver => "key_over",
            Refusal::KeyRotated => "key_rotated",
            Refusal::ScopesInvalid => "scopes_invalid",
            Refusal::ScopeNotYours => "scope_not_yours",
            Refusal::OperateAlone => "operate_alone",
            Refusal::ExpiryInvalid => "expiry_invalid",
            Refusal::OverlapInvalid => "overlap_invalid",
            Refusal::TooManyKeys => "too_many_keys",
            Refusal::LifetimeInvalid => "lifetime_invalid",
            Refusal::ListingsInvalid => "listings_invalid",
            Refusal::BuyerInvalid => "buyer_invalid",
        }
    }
}

/// A no, or a database that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AccessError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Sql(#[from] SqlError),
}

/// The longest name of a tenant or a key.
pub const NAME_CHARS_MAX: usize = 100;

/// What people call a tenant or a key: shown, never a secret, never an id.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    let fits = (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits && name.trim() == name { Ok(()) } else { Err(Refusal::NameInvalid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_code_of_its_own() {
        let codes: std::collections::HashSet<_> = Refusal::ALL.map(Refusal::code).into();
        assert_eq!(codes.len(), Refusal::ALL.len());
    }

    #[test]
    fn a_name_is_short_and_has_no_control_characters() {
        for right in ["x", "Städtische Bühnen", &"ü".repeat(100)] {
            assert_eq!(check_name(right), Ok(()));
        }
        for wrong in ["", " ", " x", "x\n", "a\0b", &"x".repeat(101)] {
            assert_eq!(check_name(wrong), Err(Refusal::NameInvalid), "{wrong:?}");
        }
    }
}
