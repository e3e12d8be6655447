//! Names, as one reader may see them. Who bought or bid is shown to themselves, to the merchant's server and to staff; everybody
//! else sees an alias, which is the same wherever one listing names that buyer and another in the next listing.

use std::sync::Arc;

use onsale_access::principal::Principal;
use onsale_domain::{BuyerId, ListingId};

use crate::token::{ALIAS, Tokens};

/// What every alias begins with; no buyer of a merchant need be called so, and nothing is decided by it.
const PREFIX: &str = "alias_";
/// 40 bits: two buyers of one listing hardly ever share them.
const CHARS: usize = 8;

/// For whom something is written.
#[derive(Clone, Debug)]
pub struct Audience {
    /// `None`: staff, or whoever holds the data itself.
    reader: Option<(Arc<Principal>, Tokens)>,
}

impl Audience {
    pub fn of(principal: &Arc<Principal>, tokens: &Tokens) -> Audience {
        Audience { reader: Some((principal.clone(), tokens.clone())) }
    }

    /// Staff sees everything, and so does whoever holds the data folder.
    pub fn staff() -> Audience {
        Audience { reader: None }
    }

    /// Whether everything is shown, names, reasons and money too.
    pub fn is_staff(&self) -> bool {
        self.reader.as_ref().is_none_or(|(principal, _)| principal.is_staff())
    }

    /// The buyer as this reader sees them.
    pub fn name(&self, listing: &ListingId, buyer: &BuyerId) -> String {
        match &self.reader {
            Some((principal, tokens)) if !principal.knows(buyer) => alias(tokens, listing, buyer),
            Some(_) | None => buyer.as_str().to_owned(),
        }
    }
}

/// Keyed, so that nobody can try names until one fits.
fn alias(tokens: &Tokens, listing: &ListingId, buyer: &BuyerId) -> String {
    let proof = onsale_domain::id::write_base32(tokens.seal(ALIAS, listing, 0, 0, buyer));
    let digits = std::str::from_utf8(&proof).unwrap_or_default();
    [PREFIX, &digits[digits.len() - CHARS..]].concat()
}

#[cfg(test)]
mod tests {
    use onsale_access::principal::{KeyHolder, KeyKind, Person, Who};
    use onsale_access::role::{Role, Roles};
    use onsale_domain::{ListingKind, Tenant};

    use super::*;

    fn buyer(name: &str) -> BuyerId {
        BuyerId::parse(name).expect("a buyer")
    }

    fn person(name: &str, roles: Roles) -> Principal {
        let who = Who::Person(Person { user: buyer(name), session: "ses_1".into(), roles, is_guest: false });
        Principal { who, scopes: roles.scopes(), ..Principal::nobody(Tenant::DEFAULT) }
    }

    #[test]
    fn a_name_is_shown_to_its_own_buyer_to_servers_and_to_staff_and_an_alias_to_all_others() {
        let event = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let tokens = Tokens::new(b"house");
        let (ann, bob) = (buyer("usr_ann"), buyer("usr_bob"));
        let seen_by =
            |principal: Principal, of: &BuyerId| Audience::of(&Arc::new(principal), &tokens).name(&event, of);
        let nobody = || Principal::nobody(Tenant::DEFAULT);
        let key = |kind| Principal { who: Who::Key(KeyHolder { key: "key_1".into(), kind }), ..nobody() };
        assert_eq!(seen_by(person("usr_ann", Roles::BUYER), &ann), "usr_ann");
        assert_eq!(seen_by(person("usr_eve", Roles::BUYER.with(Role::BoxOffice)), &ann), "usr_ann");
        assert_eq!(seen_by(key(KeyKind::Secret), &ann), "usr_ann");
        let shown = seen_by(nobody(), &ann);
        assert!(shown.starts_with(PREFIX) && !shown.contains("ann"), "{shown}");
        for other in [person("usr_bob", Roles::BUYER), person("usr_op", Roles::BUYER.with(Role::Operator))] {
            assert_eq!(seen_by(other, &ann), shown, "the same for every stranger");
        }
        assert_eq!(seen_by(key(KeyKind::Publishable), &ann), shown);
        assert_ne!(seen_by(nobody(), &bob), shown);
        let next = Audience::of(&Arc::new(nobody()), &tokens).name(&ListingId { number: 8, ..event }, &ann);
        assert_ne!(next, shown, "nobody is followed from one listing to the next");
    }
}
