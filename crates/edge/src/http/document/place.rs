//! The bounds of a number in a body, found in the document by where it stands: a refusal says what the document says.

use serde_json::Value;

use super::document;

/// The least and the most of the number at this JSON pointer in a body of this schema, if it has both.
pub fn number_bounds(schema: &str, pointer: &str) -> Option<(i64, i64)> {
    let mut at = named(schema)?;
    for word in pointer.split('/').skip(1) {
        at = find(at, &|schema| match word.parse::<usize>() {
            Ok(_) => schema.get("items"),
            Err(_) => schema.get("properties")?.get(word),
        })?;
    }
    find(at, &|schema| Some((schema.get("minimum")?.as_i64()?, schema.get("maximum")?.as_i64()?)))
}

fn named(schema: &str) -> Option<&'static Value> {
    document()["components"]["schemas"].get(schema)
}

/// What is said in this schema, in the one that it refers to or in one of its parts.
fn find<T>(schema: &'static Value, look: &impl Fn(&'static Value) -> Option<T>) -> Option<T> {
    let referred = || named(schema.get("$ref")?.as_str()?.rsplit('/').next()?);
    let parts = ["allOf", "oneOf"].into_iter().filter_map(|word| schema.get(word)?.as_array()).flatten();
    look(schema).or_else(|| referred().into_iter().chain(parts).find_map(|part| find(part, look)))
}

#[cfg(test)]
mod tests {
    use onsale_domain::limits::{AREA_CAPACITY_MAX, BUYER_LIMIT_MAX, TIERS_MAX};

    use super::*;

    #[test]
    fn bounds_are_found_through_lists_references_and_choices() {
        let whole = |least: i64, most: i64| Some((least, most));
        assert_eq!(number_bounds("NewEvent", "/buyer_limit"), whole(1, BUYER_LIMIT_MAX.into()));
        assert_eq!(number_bounds("NewHold", "/areas/3/count"), whole(1, AREA_CAPACITY_MAX.into()));
        let seat = "/layout/sections/0/rows/1/seats/2";
        assert_eq!(number_bounds("NewVenue", &format!("{seat}/tier")), whole(0, TIERS_MAX as i64 - 1));
        assert_eq!(number_bounds("NewVenue", &format!("{seat}/x")), None, "it has none");
        assert_eq!(number_bounds("NewVenue", "/nobody/knows/it"), None);
        assert_eq!(number_bounds("Nobody", ""), None);
    }
}
