//! A venue's state read back.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::venue::{LayoutVersion, Venue};

use crate::facts::{Malformed, read_packed};
use crate::state::State;

pub(super) fn image(state: &State) -> Result<Venue, Malformed> {
    let mut layouts = BTreeMap::new();
    for (version, layout) in state.orders.iter() {
        let version: u32 = version.parse().map_err(|_| Malformed::of("version"))?;
        let layout = read_packed("layout", layout)?;
        layouts.insert(version, LayoutVersion { version, layout: Arc::new(layout) });
    }
    let (name, place) = (state.meta.text("name")?.to_owned(), state.meta.text("place")?.to_owned());
    Ok(Venue { name, place, layouts: layouts.into_values().collect() })
}
