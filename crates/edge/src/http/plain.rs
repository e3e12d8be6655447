//! What a parser says of a body, in words that know nothing of Rust: `an integer`, not `i64`.

/// The sentence for people: what came, and what should have come.
pub fn words(parser: &str) -> String {
    let (told, _) = parser.rsplit_once(" at line ").unwrap_or((parser, ""));
    let Some((came, wanted)) = told.split_once(", expected ") else { return told.to_owned() };
    let came = came.strip_prefix("invalid type: ").or(came.strip_prefix("invalid value: ")).unwrap_or(came);
    let came = came
        .strip_prefix("floating point ")
        .map_or_else(|| came.to_owned(), |number| format!("number {number}"));
    match expected(wanted) {
        Some(plain) => format!("must be {plain}, not {came}"),
        // Names of fields and of values are the interface's own.
        None => format!("{}, expected {wanted}", came.replace("unknown variant", "unknown value")),
    }
}

/// What a type of Rust is in JSON, if the parser named one.
fn expected(wanted: &str) -> Option<String> {
    let whole = |least: &str, most: &str| Some(format!("a whole number from {least} to {most}"));
    match wanted {
        "u8" => whole("0", "255"),
        "u16" => whole("0", "65,535"),
        "u32" => whole("0", "4,294,967,295"),
        "u64" | "u128" | "usize" => Some("a whole number, 0 or more".to_owned()),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => Some("a whole number".to_owned()),
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
            (r#"{"count": "two"}"#, r#"must be a whole number from 0 to 4,294,967,295, not string "two""#),
            (r#"{"count": -1}"#, "must be a whole number from 0 to 4,294,967,295, not integer `-1`"),
            (r#"{"amount": 1.5}"#, "must be a whole number, not number `1.5`"),
            (r#"{"amount": null, "names": "ann"}"#, r#"must be a list, not string "ann""#),
            (r#"{"names": [1]}"#, "must be a text, not integer `1`"),
            (r#"{"inner": 3}"#, "must be an object, not integer `3`"),
            (r#"{"yes": "no"}"#, r#"must be true or false, not string "no""#),
            (r#"{"kind": "gone"}"#, "unknown value `gone`, expected `on_sale` or `draft`"),
            (
                r#"{"cuont": 1}"#,
                "unknown field `cuont`, expected one of `count`, `amount`, `names`, `inner`, `yes`, `kind`",
            ),
        ];
        for (body, told) in table {
            let error = serde_json::from_str::<Probe>(body).expect_err("it is wrong");
            assert_eq!(words(&error.to_string()), told, "{body}");
        }
        assert_eq!(words("missing field `name` at line 1 column 2"), "missing field `name`");
        assert!(serde_json::from_str::<Probe>(r#"{"count": 2, "kind": "draft"}"#).is_ok());
    }
}
