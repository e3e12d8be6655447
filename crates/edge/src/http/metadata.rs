//! A JSON object that a merchant keeps with a listing: told back as it was written, never read. Only white space between
//! its parts is left out. Numbers of any size, any depth and the order of its fields stay, because it stays a text.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// An object, without white space between its parts.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Metadata(Box<RawValue>);

impl Metadata {
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Metadata, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        let text = raw.get();
        // The parser has read it as JSON: its first byte says what it is.
        let came = match text.as_bytes().first() {
            Some(b'{') => None,
            Some(b'[') => Some(Unexpected::Seq),
            Some(b'n') => Some(Unexpected::Unit),
            Some(b't') => Some(Unexpected::Bool(true)),
            Some(b'f') => Some(Unexpected::Bool(false)),
            Some(b'"') => Some(Unexpected::Other("a text")),
            Some(_) | None => Some(Unexpected::Other("a number")),
        };
        if let Some(came) = came {
            return Err(D::Error::invalid_type(came, &"a map"));
        }
        match compact(text) {
            None => Ok(Metadata(raw)),
            Some(text) => RawValue::from_string(text).map(Metadata).map_err(D::Error::custom),
        }
    }
}

/// JSON as it was kept.
pub fn told(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text).ok()
}

/// The same JSON without white space outside its texts; `None` if there is none.
fn compact(json: &str) -> Option<String> {
    let is_white = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    if !json.bytes().any(is_white) {
        return None;
    }
    let (mut kept, mut in_text, mut escaped) = (String::with_capacity(json.len()), false, false);
    for character in json.chars() {
        if !in_text && character.is_ascii() && is_white(character as u8) {
            continue;
        }
        kept.push(character);
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_text = !in_text,
            _ => {}
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_left_out_between_parts_and_stays_in_texts() {
        for (json, kept) in [
            ("{ }", "{}"),
            ("{\n  \"a\" : [ 1 ,\t2 ]\r\n}", "{\"a\":[1,2]}"),
            (r#"{"a b": "c \" d", "e\\": "f g"}"#, r#"{"a b":"c \" d","e\\":"f g"}"#),
            ("{\"é \": \" 席\u{a0}\u{2028}\"}", "{\"é \":\" 席\u{a0}\u{2028}\"}"),
        ] {
            assert_eq!(compact(json).as_deref(), Some(kept));
            let read: Metadata = serde_json::from_str(json).expect("an object");
            assert_eq!((read.text(), serde_json::to_string(&read).ok().as_deref()), (kept, Some(kept)));
        }
        assert_eq!(compact(r#"{"a":1}"#), None);
    }

    #[test]
    fn what_is_no_object_is_said_to_be_none_whatever_its_depth() {
        let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
        for json in ["1", "-1.5", "true", "false", "null", "\"{}\"", "[{}]", &deep] {
            let told = serde_json::from_str::<Metadata>(json).expect_err(json).to_string();
            assert!(told.contains("expected a map"), "{json}: {told}");
        }
    }
}
