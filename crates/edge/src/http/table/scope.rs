//! Whom a route is for, and what a caller must be allowed to do there.

use onsale_access::scope::Scope as Permission;

/// Whom a route is for. `docs/roles.md` is made from this and from what each role may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Nobody is asked who they are: health, documents, pictures.
    Open,
    /// What everybody may see; staff sees names, too.
    Read,
    /// Signing up and in: whoever comes, also with a credential that opens nothing any more.
    Anybody,
    /// Somebody who is signed in, or a guest: a person of this server, not a merchant's server.
    Person,
    /// Hold, reserve, bid, order, pay, and look at one's own.
    Buy,
    /// Look at everybody's: whoever puts things on sale or helps buyers.
    Staff,
    /// Make and change listings.
    Listings,
    /// Override, refund.
    BoxOffice,
    /// Vouch for a buyer: a merchant's server with a secret or restricted key.
    Vouch,
    /// Keys, people and their roles, the audit trail of the tenant.
    Access,
    /// The deployment: its tenants and their hosts.
    Operate,
    /// A payment provider, which signs what it sends.
    Provider,
    /// As `Buy`, or open if the configuration says so; its handler looks.
    Compat,
}

impl Scope {
    /// What a caller must be allowed to do: any one of these.
    pub fn needed(self) -> &'static [Permission] {
        match self {
            Scope::Open | Scope::Anybody | Scope::Provider | Scope::Compat => &[],
            Scope::Read => &[Permission::Read],
            Scope::Buy | Scope::Person | Scope::Vouch => &[Permission::Buy],
            Scope::Staff => &[Permission::Listings, Permission::BoxOffice],
            Scope::Listings => &[Permission::Listings],
            Scope::BoxOffice => &[Permission::BoxOffice],
            Scope::Access => &[Permission::Access],
            Scope::Operate => &[Permission::Operate],
        }
    }

    /// Whether what is done here is done by staff, and says so.
    pub fn is_staffs(self) -> bool {
        match self {
            Scope::Staff | Scope::Listings | Scope::BoxOffice | Scope::Access | Scope::Operate => true,
            Scope::Open
            | Scope::Anybody
            | Scope::Read
            | Scope::Person
            | Scope::Buy
            | Scope::Vouch
            | Scope::Provider
            | Scope::Compat => false,
        }
    }

    /// As documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Open => "open",
            Scope::Anybody => "anybody",
            Scope::Read => "read",
            Scope::Person => "person",
            Scope::Buy => "buy",
            Scope::Staff => "staff",
            Scope::Listings => "listings",
            Scope::BoxOffice => "box_office",
            Scope::Vouch => "vouch",
            Scope::Access => "access",
            Scope::Operate => "operate",
            Scope::Provider => "provider",
            Scope::Compat => "compat",
        }
    }
}
