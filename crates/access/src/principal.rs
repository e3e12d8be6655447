//! Who asks: one value, made once for each request from what it carries; every handler is given it.

use std::sync::Arc;

use onsale_domain::by::Actor;
use onsale_domain::{BuyerId, By, ListingId, Tenant};

use crate::role::Roles;
use crate::scope::{Scope, Scopes};

/// Whoever asks, as the edge knows them.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Whose listings, people and keys are seen. Nothing of another tenant exists for this caller.
    pub tenant: Tenant,
    pub who: Who,
    pub scopes: Scopes,
    /// Under which name idempotency keys are remembered: it outlives the rotation of a key and of a session.
    pub family: Arc<str>,
    /// Of a test key: its limits of speed are its own.
    pub is_test: bool,
}

#[derive(Clone, Debug)]
pub enum Who {
    /// Carries nothing.
    Nobody,
    Key(KeyHolder),
    Person(Person),
    /// A browser for which a merchant's server vouches.
    Vouched(Vouched),
}

/// What a key of this kind may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// On a merchant's server: everything in its tenant, for any of its buyers.
    Secret,
    /// On a server, for chosen things.
    Restricted,
    /// May stand in a page: what everybody may see.
    Publishable,
}

#[derive(Clone, Debug)]
pub struct KeyHolder {
    /// `key_…`
    pub key: Arc<str>,
    pub kind: KeyKind,
}

#[derive(Clone, Debug)]
pub struct Person {
    /// `usr_…`, which is also the name they buy under.
    pub user: BuyerId,
    /// `ses_…`
    pub session: Arc<str>,
    pub roles: Roles,
    /// Has no account yet.
    pub is_guest: bool,
}

#[derive(Clone, Debug)]
pub struct Vouched {
    pub buyer: BuyerId,
    /// The key whose holder vouches.
    pub key: Arc<str>,
    /// Of these alone; `None`: of all in the tenant.
    pub listings: Option<Arc<[ListingId]>>,
}

impl Principal {
    /// Who carries nothing sees what everybody may see.
    pub fn nobody(tenant: Tenant) -> Principal {
        Principal {
            tenant,
            who: Who::Nobody,
            scopes: Scopes::of(&[Scope::Read]),
            family: "nobody".into(),
            is_test: false,
        }
    }

    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(scope)
    }

    /// Whether this caller sees more of a listing than everybody: who holds, who bought.
    pub fn is_staff(&self) -> bool {
        self.may(Scope::Listings) || self.may(Scope::BoxOffice)
    }

    /// Whom the credential itself names as the buyer.
    pub fn own_buyer(&self) -> Option<&BuyerId> {
        match &self.who {
            Who::Person(person) => Some(&person.user),
            Who::Vouched(vouched) => Some(&vouched.buyer),
            Who::Nobody | Who::Key(_) => None,
        }
    }

    /// Whether a header may name the buyer: a merchant's server vouches for its own buyers.
    pub fn may_name_buyer(&self) -> bool {
        matches!(&self.who, Who::Key(holder) if holder.kind != KeyKind::Publishable)
    }

    /// Whether what this buyer has is shown to this caller: one's own, a merchant's server's own buyers, and to staff everybody's.
    pub fn knows(&self, buyer: &BuyerId) -> bool {
        self.own_buyer() == Some(buyer) || self.asks_for_everybody()
    }

    /// Whether everybody's in the tenant is shown: to a merchant's server, and to staff.
    pub fn asks_for_everybody(&self) -> bool {
        self.may_name_buyer() || self.is_staff()
    }

    /// This caller as the staff of a step; `None` for who is never staff.
    pub fn as_staff(&self) -> Option<By> {
        let id = match &self.who {
            Who::Key(holder) => &*holder.key,
            Who::Person(person) => person.user.as_str(),
            Who::Nobody | Who::Vouched(_) => return None,
        };
        Actor::parse(id).map(By::Staff)
    }

    /// The one check of tenant and listing, for every id in a path or a body.
    pub fn sees(&self, listing: &ListingId) -> bool {
        let vouched_for = match &self.who {
            Who::Vouched(Vouched { listings: Some(listings), .. }) => listings.contains(listing),
            Who::Nobody | Who::Key(_) | Who::Person(_) | Who::Vouched(_) => true,
        };
        listing.tenant == self.tenant && vouched_for
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::ListingKind;

    use super::*;
    use crate::role::Role;

    const SHOP: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };

    fn buyer(name: &str) -> BuyerId {
        BuyerId::parse(name).expect("a buyer")
    }

    fn with(who: Who, scopes: Scopes) -> Principal {
        Principal { who, scopes, ..Principal::nobody(Tenant::DEFAULT) }
    }

    fn key(kind: KeyKind) -> Principal {
        with(Who::Key(KeyHolder { key: "key_1".into(), kind }), Scopes::of(&[Scope::Read, Scope::Buy]))
    }

    fn person(roles: Roles) -> Principal {
        let person = Person { user: buyer("usr_ann"), session: "ses_1".into(), roles, is_guest: false };
        with(Who::Person(person), roles.scopes())
    }

    fn vouched(listings: Option<&[ListingId]>) -> Principal {
        let listings = listings.map(Into::into);
        let vouched = Vouched { buyer: buyer("ann"), key: "key_1".into(), listings };
        with(Who::Vouched(vouched), Scopes::of(&[Scope::Read, Scope::Buy]))
    }

    #[test]
    fn nobody_sees_a_listing_of_another_tenant() {
        let other = ListingId { tenant: Tenant::new(1).expect("a tenant"), ..SHOP };
        let all = [
            Principal::nobody(Tenant::DEFAULT),
            key(KeyKind::Secret),
            person(Roles::BUYER.with(Role::Admin)),
        ];
        for one in all.into_iter().chain([vouched(None)]) {
            assert!(one.sees(&SHOP) && !one.sees(&other), "{one:?}");
        }
    }

    #[test]
    fn a_buyer_token_is_for_its_listings_alone() {
        let next = ListingId { number: 8, ..SHOP };
        let one = vouched(Some(&[SHOP]));
        assert!(one.sees(&SHOP) && !one.sees(&next));
    }

    #[test]
    fn only_a_merchants_server_names_its_buyers() {
        assert!(key(KeyKind::Secret).may_name_buyer() && key(KeyKind::Restricted).may_name_buyer());
        let others = [key(KeyKind::Publishable), person(Roles::BUYER.with(Role::Admin)), vouched(None)];
        assert!(others.iter().all(|one| !one.may_name_buyer()));
        assert!(!Principal::nobody(Tenant::DEFAULT).may_name_buyer());
    }

    #[test]
    fn what_is_a_buyers_is_known_to_the_buyer_to_the_server_and_to_staff() {
        let (ann, bob) = (buyer("usr_ann"), buyer("usr_bob"));
        let buyer = person(Roles::BUYER);
        assert!(buyer.knows(&ann) && !buyer.knows(&bob));
        assert!(key(KeyKind::Secret).knows(&bob) && !key(KeyKind::Publishable).knows(&bob));
        for (role, knows) in [(Role::Seller, true), (Role::BoxOffice, true), (Role::Operator, false)] {
            assert_eq!(person(Roles::BUYER.with(role)).knows(&bob), knows, "{role:?}");
        }
        assert!(!Principal::nobody(Tenant::DEFAULT).knows(&ann));
    }

    #[test]
    fn a_step_by_staff_says_who_it_was() {
        assert_eq!(key(KeyKind::Secret).as_staff().map(|by| by.to_string()).as_deref(), Some("staff:key_1"));
        assert_eq!(
            person(Roles::BUYER).as_staff().map(|by| by.to_string()).as_deref(),
            Some("staff:usr_ann")
        );
        assert!(
            vouched(None).as_staff().is_none() && Principal::nobody(Tenant::DEFAULT).as_staff().is_none()
        );
    }
}
