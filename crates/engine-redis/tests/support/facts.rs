//! All steps of a listing, read from its stream.

use std::sync::Arc;

use onsale_domain::{ListingId, Step};
use onsale_engine_redis::facts::{self, Fields};
use onsale_engine_redis::{Keys, Link};
use redis::FromRedisValue;

type Entry = (String, Vec<Vec<u8>>);

pub(crate) async fn all(link: &Link, prefix: &str, listing: ListingId) -> Vec<Arc<Step>> {
    let keys = Keys::new(prefix, &listing);
    let range = redis::cmd("XRANGE").arg(keys.facts()).arg("-").arg("+").to_owned();
    let told = link.at(keys.facts(), &range).await.expect("a stream");
    let entries: Vec<Entry> = FromRedisValue::from_redis_value(told).expect("entries");
    let mut entries = entries.into_iter();
    let mut steps = Vec::new();
    while let Some((id, flat)) = entries.next() {
        let (epoch, first) = id.split_once('-').expect("an id has two parts");
        let mut step = vec![Fields::from_flat(flat).expect("fields")];
        let count = facts::length(&step[0]).expect("a first fact counts its step");
        step.extend(
            entries.by_ref().take(count - 1).map(|(_, flat)| Fields::from_flat(flat).expect("fields")),
        );
        assert_eq!(step.len(), count, "a step in the stream is whole");
        let (epoch, first) = (epoch.parse().expect("a number"), first.parse().expect("a number"));
        steps.push(Arc::new(facts::decode_step(listing, epoch, first, &step).expect("a step")));
    }
    steps
}
