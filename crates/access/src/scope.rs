//! What a caller may be allowed to do. Routes name the one that they need, keys are given some, roles stand for several.

use std::fmt;

/// One permission. Names are public: they stand in keys, in the role table and in the OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Scope {
    /// Look at what is on sale, as everybody may see it.
    Read,
    /// Hold, reserve, bid, order and pay; and look at one's own. Also needed by who acts for a buyer.
    Buy,
    /// Make and change listings, and look at all that happened to them, names included.
    Listings,
    /// Block, override, refund, and look at everybody's holds and orders.
    BoxOffice,
    /// Confirm what was paid elsewhere.
    Settle,
    /// Keys, people and their roles, the audit trail.
    Access,
    /// The deployment: tenants, metrics. No personal data.
    Operate,
}

impl Scope {
    pub const ALL: [Scope; 7] = [
        Scope::Read,
        Scope::Buy,
        Scope::Listings,
        Scope::BoxOffice,
        Scope::Settle,
        Scope::Access,
        Scope::Operate,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Buy => "buy",
            Scope::Listings => "listings",
            Scope::BoxOffice => "box_office",
            Scope::Settle => "settle",
            Scope::Access => "access",
            Scope::Operate => "operate",
        }
    }

    pub fn parse(text: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// Some of them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    pub const NONE: Scopes = Scopes(0);

    pub const fn of(all: &[Scope]) -> Scopes {
        let (mut bits, mut at) = (0, 0);
        while at < all.len() {
            bits |= 1 << all[at] as u8;
            at += 1;
        }
        Scopes(bits)
    }

    pub fn contains(self, scope: Scope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }

    #[must_use]
    pub fn and(self, others: Scopes) -> Scopes {
        Scopes(self.0 | others.0)
    }

    /// Whether all of these are among those.
    pub fn within(self, others: Scopes) -> bool {
        self.0 & !others.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    /// Names with spaces between, as they are stored and shown.
    pub fn parse(text: &str) -> Option<Scopes> {
        text.split_ascii_whitespace().try_fold(Scopes::NONE, |all, name| Some(all.and(Scopes::of(&[Scope::parse(name)?]))))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, scope) in self.iter().enumerate() {
            f.write_str(if n == 0 { "" } else { " " })?;
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scopes({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_read_back_as_they_are_written() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(scope));
            assert!(Scopes::of(&Scope::ALL).contains(scope) && !Scopes::NONE.contains(scope));
        }
        let some = Scopes::of(&[Scope::Settle, Scope::Read]);
        assert_eq!(some.to_string(), "read settle");
        assert_eq!(Scopes::parse("settle  read"), Some(some));
        assert_eq!(Scopes::parse("read everything"), None);
        assert!(some.within(Scopes::of(&Scope::ALL)) && !Scopes::of(&Scope::ALL).within(some));
    }
}
