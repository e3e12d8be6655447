//! What somebody asks of one listing. Everything a decision needs is in here or in the listing's state:
//! ids come in as data, secrets have been checked at the edge and never arrive.

use crate::id::{BuyerId, ListingKind};
use crate::kind::Kind;
use crate::kinds::each_kind;
use crate::listing::{Creation, ListingCommand};
use crate::order::OrderCommand;
use crate::verb::Verb;

/// The sweep; its verb is no kind's own.
const EXPIRE_DUE: Verb = Verb::unsealed("expire_due");

macro_rules! command {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        #[derive(Clone, Debug, PartialEq)]
        pub enum Command {
            $($(#[$doc])* $Kind(<$State as Kind>::Command),)*
            /// Makes a listing with what is said of it.
            Create(Box<Creation>),
            /// Of a listing whatever kind it is.
            Listing(ListingCommand),
            /// Of an order, for whatever listing has its goods.
            Order(OrderCommand),
            /// For every kind of listing that has deadlines.
            ExpireDue { limit: u32 },
        }

        impl Command {
            pub fn verb(&self) -> &'static Verb {
                match self {
                    $(Command::$Kind(command) => command.verb(),)*
                    Command::Create(creation) => creation.command.verb(),
                    Command::Listing(command) => command.verb(),
                    Command::Order(command) => command.verb(),
                    Command::ExpireDue { .. } => &EXPIRE_DUE,
                }
            }

            /// The kind of listing whose command this is; none for those of several kinds.
            pub fn kind(&self) -> Option<ListingKind> {
                match self {
                    $(Command::$Kind(_) => Some(ListingKind::$Kind),)*
                    Command::Create(creation) => creation.command.kind(),
                    Command::Listing(_) | Command::Order(_) | Command::ExpireDue { .. } => None,
                }
            }

            /// Every verb there is.
            pub fn verbs() -> impl Iterator<Item = &'static Verb> {
                let kinds = [$(<$State as Kind>::Command::VERBS,)* OrderCommand::VERBS, ListingCommand::VERBS];
                kinds.into_iter().flatten().chain([&EXPIRE_DUE])
            }

            /// The buyer whose attempt this is, where refused attempts are kept: see [`crate::attempts`].
            pub fn attempt_by(&self) -> Option<&BuyerId> {
                match self {
                    $(Command::$Kind(command) => <$State as Kind>::attempt_by(command),)*
                    Command::Create(_) | Command::Listing(_) => None,
                    Command::Order(_) | Command::ExpireDue { .. } => None,
                }
            }

            /// Refuses what no state could make sense of.
            pub fn check(&self) -> Result<(), crate::Refusal> {
                match self {
                    $(Command::$Kind(command) => <$State as Kind>::check(command),)*
                    Command::Create(creation) => creation.about.check().and_then(|()| creation.command.check()),
                    Command::Listing(command) => crate::listing::check(command),
                    Command::Order(command) => crate::order::check(command),
                    Command::ExpireDue { .. } => Ok(()),
                }
            }
        }
    };
}

each_kind!(command);

impl Command {
    /// Whether a yes to this may never be lost, whatever store forgets.
    pub fn is_sealed(&self) -> bool {
        self.verb().sealed
    }

    /// Whether this may be the first command of a listing.
    pub fn creates(&self) -> bool {
        self.verb().creates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_verbs_share_a_name() {
        let mut names: Vec<_> = Command::verbs().map(|verb| verb.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.contains(&Command::ExpireDue { limit: 1 }.verb().name));
    }
}
