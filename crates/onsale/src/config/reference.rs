//! Every setting with its type, default and meaning, as a page and as a commented file. Both are made from the structs
//! that are read, so that a setting is declared once.

use std::fmt::Write as _;

use serde_json::Value;

use super::Config;

/// One setting, or the beginning of a section.
#[derive(Clone, Debug)]
struct Setting {
    /// `limits.body_bytes`
    path: String,
    meaning: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Section,
    Value {
        words: String,
        /// What a value may be, if it is one of a few, and what each means.
        choices: Vec<(String, String)>,
        default: Option<Value>,
        /// What a file might say where there is no default.
        example: Option<Value>,
    },
}

/// All settings, each section behind what stands before every section.
fn settings() -> Vec<Setting> {
    let schema = schemars::schema_for!(Config).to_value();
    let mut found = Vec::new();
    walk(&schema, &schema, "", &mut found);
    // In TOML whatever follows a section's head belongs to it.
    found.sort_by_key(|setting| section_of(setting).map(str::to_owned));
    found
}

fn section_of(setting: &Setting) -> Option<&str> {
    match &setting.kind {
        Kind::Section => Some(&setting.path),
        Kind::Value { .. } => setting.path.rsplit_once('.').map(|(section, _)| section),
    }
}

fn walk(root: &Value, object: &Value, above: &str, found: &mut Vec<Setting>) {
    for (name, property) in object["properties"].as_object().into_iter().flatten() {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let target = followed(root, property);
        let meaning = text(&property["description"]).or_else(|| text(&target["description"]));
        let meaning = meaning.unwrap_or_default().replace('\n', " ");
        if target["properties"].is_object() {
            found.push(Setting { path: path.clone(), meaning, kind: Kind::Section });
            walk(root, target, &path, found);
            continue;
        }
        let choices = choices(target);
        let words = if choices.is_empty() { words(target) } else { "one of several words".to_owned() };
        let kind = Kind::Value {
            words,
            choices,
            default: Some(&property["default"]).filter(|value| !value.is_null()).cloned(),
            example: property["examples"].get(0).cloned(),
        };
        found.push(Setting { path, meaning, kind });
    }
}

/// What a schema refers to, also if that may be absent.
fn followed<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let either = schema["anyOf"].as_array().into_iter().flatten();
    let schema = either.clone().find(|one| one["type"] != "null").unwrap_or(schema);
    let pointer = text(&schema["$ref"]).and_then(|name| root.pointer(name.strip_prefix('#')?));
    pointer.unwrap_or(schema)
}

fn text(value: &Value) -> Option<&'_ str> {
    value.as_str()
}

fn choices(schema: &Value) -> Vec<(String, String)> {
    let each = schema["oneOf"].as_array().into_iter().flatten();
    each.filter_map(|one| {
        let meaning = text(&one["description"]).unwrap_or_default().replace('\n', " ");
        Some((text(&one["const"])?.to_owned(), meaning))
    })
    .collect()
}

fn words(schema: &Value) -> String {
    let kind = schema["type"].as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null"));
    match text(kind.unwrap_or(&schema["type"])) {
        Some("integer" | "number") => "number",
        Some("boolean") => "true or false",
        Some("array") => "text, or a list of texts",
        Some(_) | None => "text",
    }
    .to_owned()
}

fn toml_of(value: &Value) -> String {
    match value {
        Value::Array(several) => format!("[{}]", several.iter().map(toml_of).collect::<Vec<_>>().join(", ")),
        // JSON escapes what TOML's basic strings escape, in the same way.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

const PAGE: &str = "# Configuration

Made from the code by `onsale config --reference`; not written by hand. [deploy/onsale.toml](../deploy/onsale.toml) has the same as a
file to start from.

A setting is looked for in four places, and the last one that has it wins: the default, the file (`--config`, `ONSALE_CONFIG`, or
`onsale.toml` in the working folder), the environment, the command line. In the environment `limits.body_bytes` is
`ONSALE_LIMITS__BODY_BYTES`. A name that is not on this page is refused, in the file as in the environment. `onsale config` shows
what is in force.
";

/// The page `docs/configuration.md`.
pub fn page() -> String {
    let mut page = PAGE.to_owned();
    let head = "\n| setting | type | default | meaning |\n|---|---|---|---|\n";
    page += head;
    for Setting { path, meaning, kind } in settings() {
        // Writing to a `String` cannot fail.
        let _ = match kind {
            Kind::Section => write!(page, "\n## `[{path}]`\n\n{meaning}\n{head}"),
            Kind::Value { words, choices, default, .. } => {
                let default =
                    default.map_or_else(|| "none".to_owned(), |value| format!("`{}`", toml_of(&value)));
                let choices: String =
                    choices.iter().map(|(name, means)| format!(" `{name}`: {means}")).collect();
                writeln!(page, "| `{path}` | {words} | {default} | {meaning}{choices} |")
            }
        };
    }
    page
}

const FILE: &str = "# Onsale's configuration. Every setting is here with its default, and every line is a comment: remove the `#` in front of a
# name to change it, and the one in front of its section. What has no default shows an example.
# Made from the code by `onsale config --sample`; docs/configuration.md says which place wins over which.
";
/// The longest line of a comment, its mark apart.
const WIDTH: usize = 110;

/// The file `deploy/onsale.toml`.
pub fn sample() -> String {
    let mut file = FILE.to_owned();
    for Setting { path, meaning, kind } in settings() {
        file.push('\n');
        comment(&mut file, &meaning);
        // Writing to a `String` cannot fail.
        let _ = match kind {
            Kind::Section => writeln!(file, "#[{path}]"),
            Kind::Value { choices, default, example, .. } => {
                choices.iter().for_each(|(name, means)| comment(&mut file, &format!("\"{name}\": {means}")));
                let name = path.rsplit('.').next().unwrap_or(&path);
                let value = default.or(example).unwrap_or_default();
                writeln!(file, "#{name} = {}", toml_of(&value))
            }
        };
    }
    file
}

fn comment(file: &mut String, text: &str) {
    let mut length = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if length == 0 || length + word.len() > WIDTH {
            file.push_str(if length == 0 { "#" } else { "\n#" });
            length = 0;
        }
        file.push(' ');
        file.push_str(word);
        length += word.len() + 1;
    }
    if length > 0 {
        file.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_says_what_it_means_and_shows_a_value() {
        let all = settings();
        assert!(all.len() > 50, "{}", all.len());
        for setting in &all {
            assert!(!setting.meaning.is_empty(), "{} has no comment", setting.path);
            let Kind::Value { default, example, choices, .. } = &setting.kind else { continue };
            assert!(default.is_some() || example.is_some(), "{} has no value to show", setting.path);
            assert!(choices.iter().all(|(_, means)| !means.is_empty()), "{} has a word alone", setting.path);
        }
    }

    #[test]
    fn the_sample_without_its_marks_is_a_configuration() {
        let uncommented: String = sample()
            .lines()
            .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
            .collect::<Vec<_>>()
            .join("\n");
        let config: Config = toml::from_str(&uncommented).unwrap_or_else(|error| panic!("{error}"));
        let told = serde_json::to_value(&config).expect("JSON");
        let default = serde_json::to_value(Config::default()).expect("JSON");
        for section in ["limits", "log", "payments"] {
            assert_eq!(told[section], default[section], "{section} shows its defaults");
        }
        assert_eq!(
            (&told["listen"], &told["engine"]["kind"]),
            (&default["listen"], &default["engine"]["kind"])
        );
        // Whatever can be said is said: a setting that the structs have and the sample has not would be missing.
        for path in ["redis.sentinel.user", "stripe.return_url", "tls.key", "engine.queue", "house_key"] {
            let pointer = format!("/{}", path.replace('.', "/"));
            assert!(told.pointer(&pointer).is_some_and(|value| !value.is_null()), "{path} in {told}");
        }
    }

    #[test]
    fn page_and_sample_are_what_the_code_says() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        for (file, made, how) in
            [("docs/configuration.md", page(), "--reference"), ("deploy/onsale.toml", sample(), "--sample")]
        {
            let written = std::fs::read_to_string(format!("{root}{file}")).unwrap_or_default();
            assert!(written == made, "write it anew: cargo run -- config {how} > {file}");
        }
    }
}
