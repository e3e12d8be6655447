//! What a parser says of a body or a query, in words that know nothing of Rust: `a whole number`, not `i64`.

use serde_path_to_error::{Path, Segment};

/// So many characters of what came are told again: enough to know it by, and never a whole body.
const SHOWN_CHARS: usize = 60;

/// The sentence for people: what should have come, and what came.
pub fn words(parser: &str) -> String {
    words_within(parser, None)
}

/// The same of a number that must be within these bounds.
pub fn words_within(parser: &str, bounds: Option<(i64, i64)>) -> String {
    let (told, _) = parser.rsplit_once(" at line ").unwrap_or((parser, ""));
    if let Some(name) = quoted(told, "missing field ") {
        return format!("`{name}` is missing");
    }
    if let Some(name) = quoted(told, "duplicate field ") {
        return format!("`{name}` is there twice");
    }
    let (came, wanted) = told.split_once(", expected ").unwrap_or((told, ""));
    if let Some(name) = quoted(told, "unknown field ") {
        let name = short(name);
        return match wanted {
            "" => format!("nothing here is called `{name}`"),
            known => format!("nothing here is called `{name}`; what there is: {}", listed(known)),
        };
    }
    if let Some(name) = quoted(told, "unknown variant ") {
        return format!("`{}` is none of the values that are known: {}", short(name), listed(wanted));
    }
    if wanted.is_empty() {
        return bare(told).unwrap_or(told).to_owned();
    }
    let known = whole_number(wanted, came, bounds).or_else(|| expected(wanted));
    format!("must be {}, not {}", known.as_deref().unwrap_or(wanted), given(came))
}

/// What a parser says of lists in lists in lists.
const TOO_DEEP: &str = "recursion limit exceeded";
/// So many steps lead to a place that is nested too deeply: enough to find it, and never all of them.
const DEEP_STEPS: usize = 3;

/// What is wrong with a text that is no JSON, and where.
pub fn unreadable(error: &serde_json::Error) -> String {
    let what = if error.is_eof() { "the body ends too early" } else { "not valid JSON" };
    format!("{what}, at line {}, column {}", error.line(), error.column())
}

/// The place that an error speaks of: as people write it, and as a JSON pointer. A field that is missing has one as well.
pub fn place(path: &Path, parser: &str) -> (String, String) {
    let mut place = (String::new(), String::new());
    let steps = if parser.starts_with(TOO_DEEP) { DEEP_STEPS } else { usize::MAX };
    for segment in path.iter().take(steps) {
        match segment {
            Segment::Seq { index } => {
                place.0.push_str(&format!("[{index}]"));
                place.1.push_str(&format!("/{index}"));
            }
            Segment::Map { key } => go_into(&mut place, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    // Both are said of the object as a whole.
    if let Some(name) = quoted(parser, "missing field ").or(quoted(parser, "duplicate field ")) {
        go_into(&mut place, name);
    }
    if place.0.is_empty() {
        place.0 = "body".to_owned();
    }
    place
}

fn go_into((field, pointer): &mut (String, String), name: &str) {
    field.push_str(if field.is_empty() { "" } else { "." });
    field.push_str(name);
    pointer.push_str(&format!("/{}", name.replace('~', "~0").replace('/', "~1")));
}

/// The name between backquotes behind these words.
fn quoted<'a>(told: &'a str, before: &str) -> Option<&'a str> {
    let rest = told.strip_prefix(before)?.strip_prefix('`')?;
    // A name that came from outside may have such quotes itself; what follows it is ours.
    let end = rest.rfind("`, expected ").or(rest.rfind("`, there are no ")).or(rest.find('`'))?;
    Some(&rest[..end])
}

/// "one of `a`, `b`" and "`a` or `b`" without the parser's own words.
fn listed(wanted: &str) -> String {
    wanted.strip_prefix("one of ").unwrap_or(wanted).replace("` or `", "`, `")
}

/// What came, in JSON's words.
fn given(came: &str) -> String {
    let came = came.strip_prefix("invalid type: ").or(came.strip_prefix("invalid value: ")).unwrap_or(came);
    let number = came.strip_prefix("integer ").or(came.strip_prefix("floating point "));
    let unquoted = |text: &str| text.trim_matches('`').to_owned();
    match (number, came) {
        (Some(number), _) => format!("the number {}", unquoted(number)),
        (None, "map") => "an object".to_owned(),
        (None, "sequence") => "a list".to_owned(),
        (None, "unit value" | "Option value") => "null".to_owned(),
        (None, came) => match (came.strip_prefix("string "), came.strip_prefix("boolean ")) {
            (Some(text), _) => format!("the text {}", short(text)),
            (None, Some(flag)) => unquoted(flag),
            (None, None) => short(came),
        },
    }
}

/// So much of what came as is told again.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What the parsers say without a word on what came.
fn bare(told: &str) -> Option<&'static str> {
    match told {
        // Of a word from a set, if something else came than a text.
        "expected value" => Some("must be one of the values in the reference"),
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            Some("must be a whole number")
        }
        "number too large to fit in target type" => Some("is too large a number"),
        // The body can be read, so that only half of a pair is there.
        "unexpected end of hex escape" | "lone leading surrogate in hex escape" => {
            Some("has half a character, such as \\ud800")
        }
        TOO_DEEP => Some("is nested too deeply"),
        "number too small to fit in target type" => Some("is too small a number"),
        _ => None,
    }
}

/// A whole number within the bounds of the rules. Those of a type are none of theirs: where the rules have none, only what came
/// says on which side of them it is.
fn whole_number(wanted: &str, came: &str, bounds: Option<(i64, i64)>) -> Option<String> {
    let may_be_below_0 = match wanted {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => false,
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => true,
        _ => return None,
    };
    if let Some((least, most)) = bounds {
        return Some(format!("a whole number from {} to {}", grouped(least), grouped(most)));
    }
    let told = match whole(came) {
        Some(came) if came >= 0.0 => "a smaller whole number",
        Some(_) if may_be_below_0 => "a larger whole number",
        Some(_) | None if may_be_below_0 => "a whole number",
        Some(_) | None => "a whole number, 0 or more",
    };
    Some(told.to_owned())
}

/// From here on every number of the parser's is a whole one, and larger than any integer of its.
const LARGE: f64 = 9_223_372_036_854_775_808.0;

/// The whole number that came, more or less.
fn whole(came: &str) -> Option<f64> {
    let (_, came) = came.split_once(": ")?;
    let number = |kind: &str| came.strip_prefix(kind)?.trim_matches('`').parse::<f64>().ok();
    number("integer ").or_else(|| number("floating point ").filter(|number| number.abs() >= LARGE))
}

/// As people write it: 1,000,000.
fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What a type of Rust is in JSON, if the parser named one.
fn expected(wanted: &str) -> Option<String> {
    match wanted {
        "f32" | "f64" => Some("a number".to_owned()),
        "a boolean" => Some("true or false".to_owned()),
        "a string" | "a borrowed string" | "a character" => Some("a text".to_owned()),
        "a sequence" => Some("a list".to_owned()),
        "a map" => Some("an object".to_owned()),
        "unit" => Some("null".to_owned()),
        _ if wanted.starts_with("struct ") || wanted.contains("tagged enum") => Some("an object".to_owned()),
        _ if wanted.starts_with("tuple ") || wanted.starts_with("an array of length ") => {
            Some("a list".to_owned())
        }
        _ if wanted.starts_with("enum ") || wanted.starts_with("variant ") => {
            Some("one of the values in the reference".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Probe {
        #[serde(rename = "count")]
        _count: Option<u32>,
        #[serde(rename = "amount")]
        _amount: Option<i64>,
        #[serde(rename = "names")]
        _names: Option<Vec<String>>,
        #[serde(rename = "inner")]
        _inner: Option<Box<Probe>>,
        #[serde(rename = "yes")]
        _yes: Option<bool>,
        #[serde(rename = "kind")]
        _kind: Option<Kind>,
        #[serde(rename = "needs")]
        _needs: Option<Needs>,
    }

    #[derive(Debug, Deserialize)]
    struct Needs {
        #[serde(rename = "this")]
        _this: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        OnSale,
        Draft,
    }

    #[test]
    fn what_is_wrong_is_told_without_a_word_of_rust() {
        let table = [
            (r#"{"count": "two"}"#, r#"must be a whole number, 0 or more, not the text "two""#),
            (r#"{"count": -1}"#, "must be a whole number, 0 or more, not the number -1"),
            (r#"{"count": 4294967296}"#, "must be a smaller whole number, not the number 4294967296"),
            (r#"{"amount": 1e25}"#, "must be a smaller whole number, not the number 1e+25"),
            (r#"{"amount": -1e25}"#, "must be a larger whole number, not the number -1e+25"),
            (r#"{"amount": 100.0}"#, "must be a whole number, not the number 100.0"),
            (r#"{"amount": 1.5}"#, "must be a whole number, not the number 1.5"),
            (r#"{"amount": null, "names": "ann"}"#, r#"must be a list, not the text "ann""#),
            (r#"{"names": [1]}"#, "must be a text, not the number 1"),
            (r#"{"names": [{}]}"#, "must be a text, not an object"),
            (r#"{"names": [[]]}"#, "must be a text, not a list"),
            (r#"{"names": [null]}"#, "must be a text, not null"),
            (r#"{"inner": 3}"#, "must be an object, not the number 3"),
            (r#"{"yes": "no"}"#, r#"must be true or false, not the text "no""#),
            (r#"{"count": true}"#, "must be a whole number, 0 or more, not true"),
            (r#"{"kind": "gone"}"#, "`gone` is none of the values that are known: `on_sale`, `draft`"),
            (r#"{"kind": 7}"#, "must be one of the values in the reference"),
            (r#"{"count": 1, "count": 2}"#, "`count` is there twice"),
            (
                r#"{"cuont": 1}"#,
                "nothing here is called `cuont`; what there is: `count`, `amount`, `names`, `inner`, `yes`, `kind`, `needs`",
            ),
        ];
        for (body, told) in table {
            let error = serde_json::from_str::<Probe>(body).expect_err("it is wrong");
            assert_eq!(words(&error.to_string()), told, "{body}");
        }
        let bounded =
            |least, most| words_within("invalid value: integer `-1`, expected u32", Some((least, most)));
        assert_eq!(bounded(1, 20), "must be a whole number from 1 to 20, not the number -1");
        assert_eq!(
            bounded(-90, 1_234_567),
            "must be a whole number from -90 to 1,234,567, not the number -1"
        );
        assert_eq!(words("missing field `name` at line 1 column 2"), "`name` is missing");
        assert_eq!(words("invalid digit found in string"), "must be a whole number");
        assert_eq!(words("recursion limit exceeded at line 1 column 128"), "is nested too deeply");
        let long = format!(r#"{{"count": "{}"}}"#, "x".repeat(10_000));
        let error = serde_json::from_str::<Probe>(&long).expect_err("it is wrong");
        assert!(words(&error.to_string()).len() < 200, "what came is not told back whole");
        assert!(serde_json::from_str::<Probe>(r#"{"count": 2, "kind": "draft"}"#).is_ok());
    }

    #[test]
    fn a_place_is_told_to_people_and_to_programs() {
        let at = |body: &str| {
            let mut reader = serde_json::Deserializer::from_str(body);
            let error = serde_path_to_error::deserialize::<_, Probe>(&mut reader).expect_err("it is wrong");
            place(error.path(), &error.inner().to_string())
        };
        let told = |field: &str, pointer: &str| (field.to_owned(), pointer.to_owned());
        assert_eq!(at(r#"{"names": ["ann", 1]}"#), told("names[1]", "/names/1"));
        assert_eq!(at(r#"{"inner": {"count": "x"}}"#), told("inner.count", "/inner/count"));
        assert_eq!(at(r#"{"inner": {"a.b/c~d`, e": 1}}"#), told("inner.a.b/c~d`, e", "/inner/a.b~1c~0d`, e"));
        assert_eq!(at(r#"{"inner": {"needs": {}}}"#), told("inner.needs.this", "/inner/needs/this"));
        assert_eq!(at(r#"{"inner": {"yes": true, "yes": true}}"#), told("inner.yes", "/inner/yes"));
        assert_eq!(at("3"), told("body", ""));
        let deep = format!("{}{}", r#"{"inner": "#.repeat(200), "}".repeat(200));
        assert_eq!(at(&deep), told("inner.inner.inner", "/inner/inner/inner"), "enough to find it");
    }
}
