//! What a session may do, in the words that people and other services read. Sessions are given nothing of their own: it
//! all comes from the roles of their person, so that a role that is taken is taken everywhere at once.

use crate::scope::{Scope, Scopes};

/// In the order of the scopes.
pub fn permissions(scopes: Scopes) -> Vec<&'static str> {
    scopes.iter().flat_map(|scope| of(scope).iter().copied()).collect()
}

fn of(scope: Scope) -> &'static [&'static str] {
    match scope {
        Scope::Read => &["view_listings"],
        Scope::Buy => &["book_tickets", "view_orders"],
        Scope::Listings => &["manage_listings"],
        Scope::BoxOffice => &["manage_orders"],
        Scope::Settle => &["settle_payments"],
        Scope::Access => &["manage_people"],
        Scope::Operate => &["operate"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::{Role, Roles};

    #[test]
    fn a_buyer_books_tickets_and_views_orders() {
        assert_eq!(permissions(Roles::BUYER.scopes()), ["view_listings", "book_tickets", "view_orders"]);
        assert!(permissions(Roles::BUYER.with(Role::Seller).scopes()).contains(&"manage_listings"));
        assert!(permissions(Scopes::NONE).is_empty());
    }
}
