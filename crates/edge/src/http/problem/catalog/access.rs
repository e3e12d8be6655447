//! How refusals of keys, tenants and buyer tokens are answered over HTTP.

use onsale_access::refusal::Refusal;

use super::{Entry, entry};

/// Every one of them.
pub fn all() -> impl Iterator<Item = Entry> {
    Refusal::ALL.into_iter().map(of)
}

/// No wildcard: a new refusal must be given its place here.
pub fn of(refusal: Refusal) -> Entry {
    let (status, title, next) = match refusal {
        Refusal::NameInvalid => (
            422,
            "The name cannot be used",
            "The name must have 1 to 100 characters, no control characters, and no blanks around it.",
        ),
        Refusal::TenantUnknown => (404, "No such tenant", "GET /v1/tenants for all of them."),
        Refusal::TenantNameTaken => (409, "Another tenant has this name", "Choose another name."),
        Refusal::TenantIsDefault => {
            (409, "The default tenant stays", "Disable another tenant, or revoke the keys of this one.")
        }
        Refusal::TooManyTenants => (409, "No more tenants can be made", "Start another deployment."),
        Refusal::HostInvalid => (
            422,
            "The host name cannot be used",
            "The host must be a name of letters, digits, `-` and `.`, at most 253 characters, without a port.",
        ),
        Refusal::HostUnknown => {
            (404, "The tenant does not have this host", "GET the tenant for the hosts that it has.")
        }
        Refusal::KeyUnknown => (404, "No such key", "GET /v1/keys for all of them."),
        Refusal::KeyOver => (409, "The key is revoked or has expired", "Make another key."),
        Refusal::KeyRotated => {
            (409, "The key was rotated before", "Rotate the key that took over: `replaced_by` names it.")
        }
        Refusal::ScopesInvalid => (
            422,
            "A key of this kind cannot have these scopes",
            "Name at least one scope. A publishable key has `read` and `buy` at most, and only a restricted one `operate`.",
        ),
        Refusal::ScopeNotYours => {
            (403, "You do not have a scope that you give", "Leave it out, or ask someone who has it.")
        }
        Refusal::OperateAlone => (
            422,
            "An operator has no other scope",
            "Whoever operates sees no personal data: `operate` goes with `read` alone.",
        ),
        Refusal::ExpiryInvalid => (422, "The end of the key is past", "The end must be in the future."),
        Refusal::OverlapInvalid => {
            (422, "Two keys overlap for seven days at most", "The overlap must be 0 to 604,800 seconds.")
        }
        Refusal::TooManyKeys => (409, "Too many keys", "Revoke some of the 1,000 keys of this tenant first."),
        Refusal::LifetimeInvalid => {
            (422, "A buyer token lives 60 minutes at most", "The lifetime must be 1 to 3,600 seconds.")
        }
        Refusal::ListingsInvalid => (
            422,
            "A listing in the buyer token is not yours",
            "The listings must be 1 to 20 ids of your own; without `listings` it is for all of them.",
        ),
        Refusal::BuyerInvalid => (
            422,
            "The buyer's name cannot be used",
            "The buyer must be your own id of 1 to 128 characters that does not begin with `usr_`.",
        ),
    };
    entry(refusal.code(), status, title, next)
}
