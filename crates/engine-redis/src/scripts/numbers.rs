//! What scripts take from the domain, put into their texts when they are made, so that a script reads no table for it:
//! `NO.seat_held` is the number of a refusal, `BOUND.OFFER_MS` a bound under its name in the domain, `HOW.expired` an end,
//! `WHY.STOCK_MAX` a sentence, `FIELD.areas_n_count` the name of the field `areas[].count`. `HEAD.NAMES` is what the kind calls the last
//! fields of its head, `HEAD.LINE` writes them; `FIRST_2`, `LINE_2`: the first two. Between quotes a number is its text.

use std::borrow::Cow;

use onsale_domain::ended::End;
use onsale_domain::field::Field;
use onsale_domain::{Code, ListingKind, auction, limits, listing, money, order, venue};

use crate::kinds::{self, OWN_HEAD, UNUSED};

/// What joins the fields of a head into its line.
const BETWEEN: &str = r#" .. "|" .. "#;

const WORDS: [&str; 6] = ["NO", "BOUND", "HOW", "WHY", "FIELD", "HEAD"];

/// The text with everything put in. A name that the domain does not know is our mistake, and no script is made.
pub(super) fn put_in(text: &str, kind: Option<ListingKind>) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, word, name, behind)) = next(rest) {
        made.push_str(before);
        match value(word, name, kind) {
            Some(value) => made.push_str(&value),
            None => panic!("the domain has no {word}.{name}"),
        }
        rest = behind;
    }
    made.push_str(rest);
    made
}

/// What stands before the next name, its two parts, and what stands behind it.
fn next(text: &str) -> Option<(&str, &str, &str, &str)> {
    let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let found = text.match_indices('.').find_map(|(dot, _)| {
        let before = text[..dot].rsplit(|one| !is_part(one)).next()?;
        let word = WORDS.into_iter().find(|word| *word == before)?;
        Some((dot - word.len(), word, dot + 1))
    });
    let (from, word, name) = found?;
    let end = text[name..].find(|one| !is_part(one)).map_or(text.len(), |at| name + at);
    Some((&text[..from], word, &text[name..end], &text[end..]))
}

fn value(word: &str, name: &str, kind: Option<ListingKind>) -> Option<Cow<'static, str>> {
    let number = |number: i64| Cow::Owned(number.to_string());
    match word {
        "NO" => Code::ALL.iter().find(|code| code.as_str() == name).map(|code| number(*code as i64)),
        "HOW" => End::ALL.iter().find(|end| end.as_str() == name).map(|end| number(*end as i64)),
        "BOUND" => bound(name).map(number),
        "WHY" => sentence(name).map(|why| Cow::Owned(format!("\"{why}\""))),
        "FIELD" => field(name).map(|field| Cow::Owned(format!("\"{field}\""))),
        _ => {
            let names = kind.map_or([UNUSED; OWN_HEAD], kinds::head);
            match name {
                "NAMES" => Some(Cow::Owned(names.join(", "))),
                "LINE" => Some(Cow::Owned(names.join(BETWEEN))),
                "FIRST_2" => Some(Cow::Owned(names[..2].join(", "))),
                "LINE_2" => Some(Cow::Owned(names[..2].join(BETWEEN))),
                _ => None,
            }
        }
    }
}

/// A number of the domain by its name there.
fn bound(name: &str) -> Option<i64> {
    let others = [
        ("MINOR_MAX", money::MINOR_MAX),
        ("LAYOUTS_KEPT", venue::LAYOUTS_KEPT as i64),
        ("WHOLE", order::fees::WHOLE),
        ("FENCE_EPOCH", 1 << listing::FENCE_EPOCH_SHIFT),
        ("END_STEP", End::STEP),
    ];
    let all = limits::ALL.iter().chain(auction::limits::ALL).chain(&others);
    all.into_iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// A field of the domain by its name, with `_` for every dot and `_n` for every place in a list.
fn field(name: &str) -> Option<&'static str> {
    let mut texts = Field::ALL.iter().map(|field| field.as_str());
    texts.find(|text| text.replace("[]", "_n").replace('.', "_") == name)
}

fn sentence(name: &str) -> Option<&'static str> {
    let all = [
        ("STOCK_MAX", limits::STOCK_MAX_WHY),
        ("TOTAL_MAX", limits::TOTAL_MAX_WHY),
        ("ORDER_MAX", limits::ORDER_MAX_WHY),
        ("HOLD_PLACES_MAX", limits::HOLD_PLACES_MAX_WHY),
    ];
    all.into_iter().find(|(known, _)| *known == name).map(|(_, why)| why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_the_domains_own_numbers() {
        let text = "if n > BOUND.BIDS_MAX then return NO.bids_full, \"NO.seat_held\", HOW.released end";
        let made = put_in(text, None);
        assert_eq!(made, "if n > 10000 then return 80, \"22\", 1 end");
        assert_eq!(put_in("refuse(FIELD.areas_n_count)", None), "refuse(\"areas[].count\")");
        assert_eq!(put_in("KNOW.z + BOUNDS.a", None), "KNOW.z + BOUNDS.a", "another word is left alone");
    }

    #[test]
    fn a_head_has_the_names_of_its_kind() {
        let made = put_in("local HEAD.NAMES = 1", Some(ListingKind::Event));
        assert_eq!(made, "local queued, mark, seats_len, details_version, chart_version, buckets = 1");
        let made = put_in("local HEAD.FIRST_2 = 1, HEAD.LINE_2", Some(ListingKind::Sale));
        assert_eq!(made, "local buyer_limit, mark = 1, buyer_limit .. \"|\" .. mark");
    }

    #[test]
    #[should_panic(expected = "the domain has no BOUND.OFFER_DAYS")]
    fn a_name_that_the_domain_does_not_know_makes_no_script() {
        put_in("return BOUND.OFFER_DAYS", None);
    }
}
