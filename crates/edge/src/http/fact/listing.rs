//! Facts of a listing whatever kind it is, as JSON.

use onsale_domain::listing::ListingFact;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::http::about::CardBody;
use crate::http::metadata;

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ListingFactBody<'a> {
    /// All that is said of it from now on.
    ListingDescribed {
        #[serde(skip_serializing_if = "Option::is_none")]
        external_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        metadata: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        card: Option<Box<CardBody>>,
    },
    ListingDeleted {},
}

impl<'a> From<&'a ListingFact> for ListingFactBody<'a> {
    fn from(fact: &'a ListingFact) -> ListingFactBody<'a> {
        match fact {
            ListingFact::Described(about) => ListingFactBody::ListingDescribed {
                external_id: about.external_id.as_deref(),
                metadata: about.metadata.as_deref().and_then(metadata::told),
                card: about.card.clone().map(CardBody::from).map(Box::new),
            },
            ListingFact::Deleted => ListingFactBody::ListingDeleted {},
        }
    }
}
