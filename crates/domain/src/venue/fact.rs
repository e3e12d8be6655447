//! What happened to a venue. Numbers of variants and fields are the journal's format: they are only ever added.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::layout::Layout;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum VenueFact {
    #[n(0)]
    VenueCreated(#[n(0)] Box<VenueCreated>),
    #[n(1)]
    LayoutPublished(#[n(0)] Box<LayoutPublished>),
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct VenueCreated {
    #[n(0)]
    pub name: String,
    /// City and street, as people would write it.
    #[n(1)]
    pub place: String,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct LayoutPublished {
    #[n(0)]
    pub version: u32,
    #[cbor(n(1), with = "crate::layout::shared")]
    pub layout: Arc<Layout>,
}

fact_names! {
    VenueFact {
        VenueCreated = "venue_created",
        LayoutPublished = "layout_published",
    }
}
