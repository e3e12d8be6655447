//! Holds a value against a schema of the document: JSON Schema as far as the document uses it. A word it does not know is
//! an error, so that nothing passes unread. Stricter than a client should be: a field that no schema names is refused.

use std::collections::BTreeSet;

use onsale_edge::http::time::Time;
use serde_json::{Map, Value};

/// Words that say something to readers alone.
const SPOKEN: [&str; 8] = [
    "title",
    "description",
    "example",
    "examples",
    "default",
    "deprecated",
    "discriminator",
    "propertyNames",
];

/// What is wrong with a value, at which place in it.
pub(crate) type Checked<T> = Result<T, String>;

/// Whether a value is what a schema says, and says nothing else.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value) -> Checked<()> {
    Reader { document }.whole(schema, value, "")
}

struct Reader<'a> {
    document: &'a Value,
}

/// The fields of an object that some schema has named; `None` if any are allowed.
type Named = Option<BTreeSet<String>>;

impl Reader<'_> {
    /// One value with all that is said of it: no field of it may be left over.
    fn whole(&self, schema: &Value, value: &Value, at: &str) -> Checked<()> {
        let named = self.part(schema, value, at)?;
        let (Some(named), Some(fields)) = (named, value.as_object()) else { return Ok(()) };
        match fields.keys().find(|field| !named.contains(*field)) {
            Some(field) => Err(format!("{at}/{field} is in no schema: {value}")),
            None => Ok(()),
        }
    }

    fn part(&self, schema: &Value, value: &Value, at: &str) -> Checked<Named> {
        let Some(words) = schema.as_object() else { return Err(format!("{at}: no schema: {schema}")) };
        // Where no field is named at all, any may come.
        let names_fields = ["properties", "$ref", "allOf", "oneOf", "anyOf"];
        let names_any = names_fields.iter().any(|word| words.contains_key(*word));
        let mut named = names_any.then(BTreeSet::new);
        for (word, said) in words {
            let wrong = |what: &str| Err(format!("{at}: {value} {what} {said}"));
            match word.as_str() {
                "$ref" => join(&mut named, self.part(self.referred(said)?, value, at)?),
                "allOf" => {
                    for part in list(said) {
                        join(&mut named, self.part(part, value, at)?);
                    }
                }
                "oneOf" | "anyOf" => join(&mut named, self.one_of(word, schema, value, at)?),
                "type" if !is_of_type(said, value) => return wrong("is not of type"),
                "enum" if !list(said).contains(value) => return wrong("is none of"),
                "const" if said != value => return wrong("is not"),
                "format" if !has_format(said, value) => return wrong("has not the format"),
                "pattern" if !has_pattern(said, value) => return wrong("does not match"),
                "required" => {
                    let missing = |name: &&Value| {
                        name.as_str().is_some_and(|name| value.is_object() && value.get(name).is_none())
                    };
                    if let Some(name) = list(said).iter().find(missing) {
                        return Err(format!("{at} has no {name}: {value}"));
                    }
                }
                "properties" => join(&mut named, self.fields(said, value, at)?),
                "additionalProperties" => {
                    let own = schema["properties"].as_object();
                    self.others(said, own, value, at)?;
                    named = None;
                }
                "items" => {
                    for (n, item) in list(value).iter().enumerate() {
                        self.whole(said, item, &format!("{at}/{n}"))?;
                    }
                }
                "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems"
                | "minProperties" | "maxProperties" => {
                    if !is_within(word, said, value) {
                        return wrong(word);
                    }
                }
                "type" | "enum" | "const" | "format" | "pattern" => {}
                word if SPOKEN.contains(&word) || word.starts_with("x-") || word.starts_with("content") => {}
                word => return Err(format!("{at}: nobody here reads {word:?} in {schema}")),
            }
        }
        Ok(named)
    }

    /// By the discriminator where there is one, so that an error speaks of the one that is meant.
    fn one_of(&self, word: &str, schema: &Value, value: &Value, at: &str) -> Checked<Named> {
        if let Some(name) = schema["discriminator"]["propertyName"].as_str() {
            let kind = value[name].as_str().unwrap_or_default();
            let meant = &schema["discriminator"]["mapping"][kind];
            let listed = list(&schema[word]).iter().any(|one| &one["$ref"] == meant);
            if !listed {
                return Err(format!("{at}: no schema for {name} {kind:?}"));
            }
            return self.part(self.referred(meant)?, value, at);
        }
        let tried: Vec<Checked<Named>> = list(&schema[word])
            .iter()
            .map(|one| self.whole(one, value, at).and_then(|()| self.part(one, value, at)))
            .collect();
        let fitting = tried.iter().filter(|one| one.is_ok()).count();
        if fitting == 0 || word == "oneOf" && fitting > 1 {
            let why: Vec<&String> = tried.iter().filter_map(|one| one.as_ref().err()).collect();
            return Err(format!("{at}: {fitting} of {word} fit {value}: {why:?}"));
        }
        tried.into_iter().flatten().next().ok_or_else(|| format!("{at}: none"))
    }

    fn fields(&self, properties: &Value, value: &Value, at: &str) -> Checked<Named> {
        let properties = properties.as_object().ok_or("properties are an object")?;
        for (name, schema) in properties {
            if let Some(field) = value.get(name) {
                self.whole(schema, field, &format!("{at}/{name}"))?;
            }
        }
        Ok(Some(properties.keys().cloned().collect()))
    }

    /// The fields that are not named one by one.
    fn others(&self, said: &Value, own: Option<&Map<String, Value>>, value: &Value, at: &str) -> Checked<()> {
        let others = value.as_object().into_iter().flatten();
        for (name, field) in others.filter(|(name, _)| own.is_none_or(|own| !own.contains_key(*name))) {
            if said.is_object() {
                self.whole(said, field, &format!("{at}/{name}"))?;
            } else if said != true {
                return Err(format!("{at}/{name} is not allowed: {value}"));
            }
        }
        Ok(())
    }

    fn referred(&self, name: &Value) -> Checked<&Value> {
        let pointer = name.as_str().and_then(|name| name.strip_prefix('#'));
        let found = pointer.and_then(|pointer| self.document.pointer(pointer));
        found.ok_or_else(|| format!("{name} is not in the document"))
    }
}

fn join(all: &mut Named, more: Named) {
    match (all.as_mut(), more) {
        (Some(all), Some(more)) => all.extend(more),
        (_, None) | (None, _) => *all = None,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_of_type(said: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(_) | None => false,
    };
    if said.is_array() { list(said).iter().any(is) } else { is(said) }
}

/// Of times exactly the form that answers have.
fn has_format(said: &Value, value: &Value) -> bool {
    let number = value.as_i64();
    match (said.as_str(), value) {
        (_, Value::Null) => true,
        (Some("date-time"), Value::String(text)) => {
            Time::parse(text).is_some_and(|time| time.to_string() == *text)
        }
        (Some("int32"), _) => {
            number.is_some_and(|number| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number))
        }
        (Some("int64"), _) => value.is_i64() || value.is_u64(),
        (Some("double"), _) => value.is_number(),
        (Some("binary"), _) => true,
        _ => false,
    }
}

/// The patterns there are: some capital letters, so that no machine for patterns is needed.
fn has_pattern(said: &Value, value: &Value) -> bool {
    let letters = match said.as_str() {
        Some("^[A-Z]{3}$") => 3,
        Some("^[A-Z]{2}$") => 2,
        _ => return false,
    };
    let text = value.as_str().unwrap_or_default();
    text.len() == letters && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_within(word: &str, said: &Value, value: &Value) -> bool {
    let size = match (word, value) {
        ("minimum", Value::Number(number)) => {
            number.as_i64().or_else(|| number.as_f64().map(|number| number.floor() as i64))
        }
        ("maximum", Value::Number(number)) => {
            number.as_i64().or_else(|| number.as_f64().map(|number| number.ceil() as i64))
        }
        ("minLength" | "maxLength", Value::String(text)) => Some(text.chars().count() as i64),
        ("minItems" | "maxItems", Value::Array(items)) => Some(items.len() as i64),
        ("minProperties" | "maxProperties", Value::Object(fields)) => Some(fields.len() as i64),
        _ => None,
    };
    let (Some(size), Some(bound)) = (size, said.as_i64()) else { return true };
    if word.starts_with("min") { size >= bound } else { size <= bound }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check;

    #[test]
    fn what_a_schema_does_not_say_is_refused() {
        let document = json!({"components": {"schemas": {
            "Base": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
            "Whole": {"allOf": [
                {"$ref": "#/components/schemas/Base"},
                {"type": "object", "properties": {"count": {"type": ["integer", "null"], "minimum": 0, "maximum": 9}}},
            ]},
            "Kind": {"oneOf": [{"$ref": "#/components/schemas/Base"}],
                     "discriminator": {"propertyName": "id", "mapping": {"a": "#/components/schemas/Base"}}},
        }}});
        let fits = |name: &str, value: serde_json::Value| {
            check(&document, &json!({"$ref": format!("#/components/schemas/{name}")}), &value).is_ok()
        };
        assert!(fits("Whole", json!({"id": "a", "count": 3})));
        assert!(fits("Whole", json!({"id": "a", "count": null})));
        for wrong in [
            json!({"count": 3}),
            json!({"id": 1}),
            json!({"id": "a", "count": 10}),
            json!({"id": "a", "count": "3"}),
            json!({"id": "a", "more": 1}),
            json!([]),
        ] {
            assert!(!fits("Whole", wrong.clone()), "{wrong}");
        }
        assert!(fits("Kind", json!({"id": "a"})));
        assert!(!fits("Kind", json!({"id": "b"})));
        assert!(check(&document, &json!({"multipleOf": 2}), &json!(4)).is_err(), "a word nobody reads");
    }
}
