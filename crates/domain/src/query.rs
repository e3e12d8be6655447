//! Questions about one buyer's things, and what was found. Each kind has its own, nested; a caller asks with its kind's
//! question and gets its kind's answer, whatever other kinds there are.

use crate::attempts::AttemptsFound;
use crate::id::BuyerId;
use crate::kind::Kind;
use crate::kinds::each_kind;
use crate::order::{OrdersFound, OrdersQuery};

/// A question whose answer has a type of its own.
pub trait Question: Into<Query> {
    type Found;

    /// The answer, if the listing is of the kind that was asked.
    fn answer(found: Found) -> Option<Self::Found>;
}

/// Refused attempts from a number on, at most so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptsQuery {
    pub from: u64,
    pub limit: usize,
}

macro_rules! query {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        #[derive(Clone, Debug, PartialEq)]
        pub enum Query {
            $($Kind(<$State as Kind>::Query),)*
            /// Of any listing that has orders.
            Orders(OrdersQuery),
            /// Of any listing.
            Attempts(AttemptsQuery),
        }

        #[derive(Clone, Debug, PartialEq)]
        pub enum Found {
            /// There is no such listing, or it is of another kind.
            Nothing,
            $($Kind(<$State as Kind>::Found),)*
            Orders(OrdersFound),
            Attempts(Box<AttemptsFound>),
        }

        impl Query {
            /// Whom it is about, if it is about one buyer.
            pub fn about(&self) -> Option<&BuyerId> {
                match self {
                    $(Query::$Kind(query) => <$State as Kind>::asks_about(query),)*
                    Query::Orders(OrdersQuery::OrdersOf { buyer, .. }) => Some(buyer),
                    Query::Orders(
                        OrdersQuery::Order(_)
                        | OrdersQuery::OfGoods(_)
                        | OrdersQuery::All { .. }
                        | OrdersQuery::WorkAfter { .. },
                    ) => None,
                    Query::Attempts(_) => None,
                }
            }
        }

        impl Found {
            /// Whether whoever was asked about has nothing to do with the listing.
            pub fn is_nothing(&self) -> bool {
                match self {
                    Found::Nothing => true,
                    $(Found::$Kind(found) => <$State as Kind>::is_nothing(found),)*
                    Found::Orders(found) => found.is_nothing(),
                    Found::Attempts(_) => false,
                }
            }
        }

        $(question!($Kind, <$State as Kind>::Query, <$State as Kind>::Found);)*
    };
}

macro_rules! question {
    ($Variant:ident, $Query:ty, $Found:ty) => {
        impl From<$Query> for Query {
            fn from(query: $Query) -> Query {
                Query::$Variant(query)
            }
        }

        impl Question for $Query {
            type Found = $Found;

            fn answer(found: Found) -> Option<$Found> {
                if let Found::$Variant(found) = found { Some(found) } else { None }
            }
        }
    };
}

each_kind!(query);
question!(Orders, OrdersQuery, OrdersFound);
question!(Attempts, AttemptsQuery, Box<AttemptsFound>);
