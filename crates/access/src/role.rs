//! What people are in a tenant, and what each may do. The table in `docs/roles.md` is made from this and from the routes.

use crate::scope::{Scope, Scopes};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    /// Everybody with an account, and guests.
    Buyer,
    /// Puts things on sale.
    Seller,
    /// Helps buyers: blocks, refunds, takes payment at the counter.
    BoxOffice,
    /// Keeps the deployment running, and sees no personal data.
    Operator,
    /// May do everything in the tenant.
    Admin,
}

impl Role {
    pub const ALL: [Role; 5] = [Role::Buyer, Role::Seller, Role::BoxOffice, Role::Operator, Role::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Buyer => "buyer",
            Role::Seller => "seller",
            Role::BoxOffice => "box_office",
            Role::Operator => "operator",
            Role::Admin => "admin",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }

    pub fn scopes(self) -> Scopes {
        match self {
            Role::Buyer => Scopes::of(&[Scope::Read, Scope::Buy]),
            Role::Seller => Scopes::of(&[Scope::Read, Scope::Buy, Scope::Listings]),
            Role::BoxOffice => Scopes::of(&[Scope::Read, Scope::Buy, Scope::BoxOffice, Scope::Settle]),
            Role::Operator => Scopes::of(&[Scope::Read, Scope::Operate]),
            Role::Admin => Scopes::of(&[
                Scope::Read,
                Scope::Buy,
                Scope::Listings,
                Scope::BoxOffice,
                Scope::Settle,
                Scope::Access,
            ]),
        }
    }
}

/// The roles of one person; a buyer is everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Roles(u8);

impl Roles {
    pub const BUYER: Roles = Roles(1 << Role::Buyer as u8);

    pub fn contains(self, role: Role) -> bool {
        self.0 & 1 << role as u8 != 0
    }

    #[must_use]
    pub fn with(self, role: Role) -> Roles {
        Roles(self.0 | 1 << role as u8)
    }

    #[must_use]
    pub fn without(self, role: Role) -> Roles {
        Roles(self.0 & !(1 << role as u8) | Roles::BUYER.0)
    }

    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |role| self.contains(*role))
    }

    pub fn scopes(self) -> Scopes {
        self.iter().fold(Scopes::NONE, |all, role| all.and(role.scopes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_but_an_operator_operates_and_an_operator_sees_nobody() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
            assert_eq!(role.scopes().contains(Scope::Operate), role == Role::Operator);
        }
        let operator = Role::Operator.scopes();
        assert!(![Scope::Listings, Scope::BoxOffice, Scope::Access].iter().any(|scope| operator.contains(*scope)));
    }

    #[test]
    fn a_role_is_given_and_taken_and_a_buyer_remains() {
        let seller = Roles::BUYER.with(Role::Seller);
        assert!(seller.scopes().contains(Scope::Listings));
        assert_eq!(seller.without(Role::Seller).without(Role::Buyer), Roles::BUYER);
    }
}
