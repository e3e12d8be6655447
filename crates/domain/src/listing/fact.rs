//! What happened to a listing whatever kind it is. Numbers of variants and fields are the journal's format: they are only ever
//! added.

use minicbor::{Decode, Encode};

use crate::about::About;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum ListingFact {
    /// All that is said of it from now on.
    #[n(0)]
    Described(#[n(0)] Box<About>),
    /// The last fact of a listing: its id stays taken for ever.
    #[n(1)]
    Deleted,
}

fact_names! {
    ListingFact {
        Described = "listing_described",
        Deleted = "listing_deleted",
    }
}
