//! What happened, numbered per listing, never changed. Each kind has its own facts, nested: the numbers of kinds, of their
//! variants and fields are the journal's format (`docs/journal-format.md`) and are only ever added to.

use minicbor::{Decode, Encode};

use crate::kind::Kind;
use crate::kinds::each_kind;
use crate::listing::ListingFact;
use crate::order::{GoodsChange, OrderFact};

/// The number of facts that a listing of any kind has, behind those of the kinds.
const LISTING: usize = 14;
/// The number of an order's facts, behind those of the kinds.
const ORDER: usize = 15;

macro_rules! fact {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        #[derive(Clone, Debug, PartialEq, Encode, Decode)]
        pub enum Fact {
            $(#[n($number)] $Kind(#[n(0)] <$State as Kind>::Fact),)*
            /// Of a listing whatever kind it is.
            #[n(14)]
            Listing(#[n(0)] ListingFact),
            /// Of an order, in the log of whatever listing has its goods.
            #[n(15)]
            Order(#[n(0)] OrderFact),
        }

        impl Fact {
            /// The numbers under which the journal has this fact: its kind's, and its own there.
            pub fn wire_numbers(&self) -> (usize, usize) {
                match self {
                    $(Fact::$Kind(fact) => ($number, fact.kind_number()),)*
                    Fact::Listing(fact) => (LISTING, fact.kind_number()),
                    Fact::Order(fact) => (ORDER, fact.kind_number()),
                }
            }

            /// The public name, the same in JSON, streams and metrics.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Fact::$Kind(fact) => fact.kind(),)*
                    Fact::Listing(fact) => fact.kind(),
                    Fact::Order(fact) => fact.kind(),
                }
            }

            /// The public names of all facts, kind by kind.
            pub fn kinds() -> impl Iterator<Item = &'static str> {
                let kinds = [$(<$State as Kind>::Fact::KINDS,)* OrderFact::KINDS, ListingFact::KINDS];
                kinds.into_iter().flatten().copied()
            }

            /// What it means for the order that has taken or bought the goods.
            pub(crate) fn goods_change(&self) -> Option<GoodsChange> {
                match self {
                    $(Fact::$Kind(fact) => <$State as Kind>::goods_change(fact),)*
                    Fact::Listing(_) | Fact::Order(_) => None,
                }
            }
        }

        $(impl From<<$State as Kind>::Fact> for Fact {
            fn from(fact: <$State as Kind>::Fact) -> Fact {
                Fact::$Kind(fact)
            }
        })*
    };
}

each_kind!(fact);

impl From<ListingFact> for Fact {
    fn from(fact: ListingFact) -> Fact {
        Fact::Listing(fact)
    }
}
