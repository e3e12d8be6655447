//! What is wrong with a setting, for the operator who wrote it: the setting's name, what it must be, and what it is.
//! The library that reads the configuration names types of Rust instead.

use figment2::Error;
use figment2::error::{Actual, Kind};
use onsale_edge::http::plain;

/// Every error in one line, each with the name under which its setting was given.
pub(super) fn words(error: &Error) -> String {
    let each = error.clone().into_iter().map(|error| one(&error));
    each.collect::<Vec<_>>().join("; ")
}

fn one(error: &Error) -> String {
    let said = said(&error.kind);
    let section: Vec<&str> =
        error.path.iter().map(String::as_str).skip_while(|part| *part == "default").collect();
    let setting = section.join(".");
    let source = error.metadata.as_ref();
    let file = source.and_then(|source| source.source.as_ref()?.file_path());
    let in_file = file.map_or(String::new(), |file| format!(" (in {})", file.display()));
    if setting.is_empty() {
        // Of the text as a whole, which is TOML no more.
        return format!("{said}{in_file}");
    }
    // What is missing was given nowhere.
    if error.missing() || file.is_some() {
        return format!("{setting}: {said}{in_file}");
    }
    let variable = format!("ONSALE_{}", section.join("__").to_ascii_uppercase());
    // An empty one is taken in as a value of its own, which no longer knows where it came from.
    let is_empty = std::env::var_os(&variable).is_some_and(|value| value.is_empty());
    match is_empty || source.is_some_and(|source| source.name.contains("environment")) {
        true => format!("{variable}: {said}"),
        false => format!("--{setting}: {said}"),
    }
}

fn said(kind: &Kind) -> String {
    match kind {
        Kind::InvalidType(came, wanted) | Kind::InvalidValue(came, wanted) => mismatch(came, wanted),
        Kind::UnknownVariant(name, known) => {
            plain::words(&format!("unknown variant `{name}`, expected {}", listed(known)))
        }
        Kind::UnknownField(name, known) => {
            plain::words(&format!("unknown field `{name}`, expected {}", listed(known)))
        }
        Kind::MissingField(name) => format!("`{name}` is missing"),
        Kind::DuplicateField(name) => format!("`{name}` is there twice"),
        Kind::InvalidLength(length, wanted) => format!("must be {wanted}, not {length} of them"),
        Kind::ISizeOutOfRange(number) => format!("{number} is out of range"),
        Kind::USizeOutOfRange(number) => format!("{number} is out of range"),
        Kind::Message(text) => message(text.trim_end()),
        Kind::Unsupported(_) | Kind::UnsupportedKey(..) => {
            "is none of the things that a setting can be".to_owned()
        }
    }
}

fn listed(known: &[&str]) -> String {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// What should have come, and what came.
fn mismatch(came: &Actual, wanted: &str) -> String {
    let came = came.to_string();
    if ["a string", "a borrowed string"].contains(&wanted) && came != "unit" {
        // It may be a key that is made of digits only: it is not shown.
        return "must be a text; in double quotes it is one".to_owned();
    }
    let wanted = match wanted {
        "path string" => "a path",
        section if section.starts_with("struct ") => "a section",
        choice if choice.starts_with("enum ") => "one of the words in `onsale config --sample`",
        other => other,
    };
    let words = [
        ("signed int ", "integer "),
        ("unsigned int ", "integer "),
        ("float ", "floating point "),
        ("bool ", "boolean "),
        ("map", "a section"),
        // An empty variable has this value.
        ("unit", "empty"),
    ];
    let known =
        words.iter().find_map(|(theirs, plain)| Some(format!("{plain}{}", came.strip_prefix(theirs)?)));
    plain::words(&format!("invalid type: {}, expected {wanted}", known.unwrap_or(came)))
}

/// What the types say that read a text on their own.
fn message(text: &str) -> String {
    match text {
        "invalid socket address syntax" => "must be an address and a port, like 127.0.0.1:7070".to_owned(),
        _ if text.ends_with("untagged enum Urls") => "must be a text or a list of texts".to_owned(),
        other => other.to_owned(),
    }
}
