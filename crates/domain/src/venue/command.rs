//! What somebody asks of a venue.

use std::sync::Arc;

use crate::layout::Layout;
use crate::verb::commands;

commands! {
    pub enum VenueCommand {
        CreateVenue(Box<CreateVenue>) = creates "create_venue",
        PublishLayout(Arc<Layout>) = sealed "publish_layout",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateVenue {
    pub name: String,
    pub place: String,
    pub layout: Arc<Layout>,
}
