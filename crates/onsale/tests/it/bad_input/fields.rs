//! Every field that a body may have, found from the document, each with bodies in which it stands: one that is asked as in
//! the examples, and one with hardly anything else in it.

use onsale_edge::http::document::document;
use serde_json::{Map, Value, json};

/// A field of a body.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Where it stands.
    pub pointer: String,
    pub schema: Schema,
    /// Whether its object cannot be without it.
    pub required: bool,
    /// The example with this field, and then what is needed with this field.
    pub bodies: [Value; 2],
}

/// What is said of a value, wherever in the document.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    pub words: Map<String, Value>,
    /// Whether it may be `null`.
    pub nullable: bool,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Schema {
    /// All that is said, references followed and parts put together.
    pub(super) fn of(schema: &Value) -> Schema {
        let mut all = Schema::default();
        all.add(schema);
        all
    }

    fn add(&mut self, schema: &Value) {
        if let Some(name) = schema["$ref"].as_str() {
            let named = name.strip_prefix('#').and_then(|name| document().pointer(name));
            self.add(named.unwrap_or_else(|| panic!("{name} is not in the document")));
        }
        for (word, said) in schema.as_object().into_iter().flatten() {
            match (word.as_str(), said) {
                ("allOf", Value::Array(parts)) => parts.iter().for_each(|part| self.add(part)),
                ("oneOf", Value::Array(parts)) => self.choose(parts),
                ("properties", Value::Object(fields)) => {
                    self.properties.extend(fields.iter().map(|(name, field)| (name.clone(), field.clone())));
                }
                ("required", Value::Array(names)) => self.required.extend(names.iter().cloned()),
                ("type", Value::Array(kinds)) => {
                    self.nullable = kinds.contains(&json!("null"));
                    let kind = kinds.iter().find(|kind| **kind != "null");
                    self.words.insert("type".to_owned(), kind.cloned().unwrap_or_default());
                }
                ("$ref", _) => {}
                (word, said) => {
                    self.words.insert(word.to_owned(), said.clone());
                }
            }
        }
    }

    /// One of several shapes; that it may be missing is none.
    fn choose(&mut self, parts: &[Value]) {
        let shapes: Vec<&Value> = parts.iter().filter(|part| part["type"] != "null").collect();
        self.nullable |= shapes.len() < parts.len();
        match shapes[..] {
            [only] => self.add(only),
            _ => {
                self.words.insert("choices".to_owned(), json!(shapes));
            }
        }
    }

    /// The shapes of which it is one, where there are several.
    pub(super) fn choices(&self) -> Vec<Schema> {
        let all = self.words.get("choices").and_then(Value::as_array);
        all.into_iter().flatten().map(Schema::of).collect()
    }

    pub(super) fn kind(&self) -> &str {
        self.words.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, word: &str) -> Option<i64> {
        self.words.get(word).and_then(Value::as_i64)
    }

    pub(super) fn is_time(&self) -> bool {
        self.words.get("format").is_some_and(|format| format == "date-time")
    }

    /// Whether a field that the schema does not name is refused.
    fn is_closed(&self) -> bool {
        !self.properties.is_empty() && self.words.get("additionalProperties").is_none_or(|more| more == false)
    }

    /// A value that a body may have here, where the example has none.
    pub(super) fn sample(&self) -> Value {
        if let Some(example) = self.words.get("example") {
            return example.clone();
        }
        if let Some(first) = self.words.get("enum").and_then(|all| all.get(0)) {
            return first.clone();
        }
        match self.kind() {
            "object" => {
                let needed = self.required.iter().filter_map(Value::as_str);
                let needed = needed.filter_map(|name| Some((name, self.properties.get(name)?)));
                needed.map(|(name, field)| (name.to_owned(), Schema::of(field).sample())).collect()
            }
            "array" => json!([self.items().sample()]),
            "integer" => json!(self.number("minimum").unwrap_or(1).max(1)),
            "boolean" => json!(true),
            _ if self.is_time() => json!("2030-01-01T00:00:00Z"),
            _ => json!("one"),
        }
    }

    fn items(&self) -> Schema {
        self.words.get("items").map(Schema::of).unwrap_or_default()
    }
}

/// Every field of a body, and the place of every object in which no other field may stand, with a body that has it.
pub(super) fn of_body(schema: &Value, example: &Value) -> (Vec<Field>, Vec<(String, Value)>) {
    let schema = Schema::of(schema);
    let needed = example.as_object().into_iter().flatten();
    let needed = needed.filter(|(name, _)| schema.required.contains(&json!(name)));
    let needed: Value = needed.map(|(name, value)| (name.clone(), value.clone())).collect();
    let (mut fields, mut objects) = (Vec::new(), Vec::new());
    visit(&schema, "", &[example.clone(), needed], &mut fields, &mut objects);
    (fields, objects)
}

fn visit(
    schema: &Schema,
    at: &str,
    bodies: &[Value; 2],
    fields: &mut Vec<Field>,
    objects: &mut Vec<(String, Value)>,
) {
    if schema.is_closed() {
        objects.push((at.to_owned(), bodies[0].clone()));
    }
    for (name, said) in &schema.properties {
        let (pointer, inner) = (format!("{at}/{name}"), Schema::of(said));
        let required = schema.required.contains(&json!(name));
        let known = bodies[0].pointer(&pointer).filter(|known| !is_nothing(known));
        let sample = known.cloned().unwrap_or_else(|| inner.sample());
        let bodies = bodies.each_ref().map(|body| with(body, &pointer, sample.clone()));
        fields.push(Field {
            pointer: pointer.clone(),
            schema: inner.clone(),
            required,
            bodies: bodies.clone(),
        });
        if inner.kind() == "array" {
            let (pointer, inner) = (format!("{pointer}/0"), inner.items());
            let bodies = bodies.clone();
            fields.push(Field {
                pointer: pointer.clone(),
                schema: inner.clone(),
                required: false,
                bodies: bodies.clone(),
            });
            visit(&inner, &pointer, &bodies, fields, objects);
        } else {
            visit(&inner, &pointer, &bodies, fields, objects);
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The same body with another value at this place.
pub(super) fn with(body: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = body.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("the place of a field");
    match changed.pointer_mut(parent) {
        Some(Value::Array(items)) => {
            let place: usize = name.parse().expect("a place in a list");
            if place < items.len() { items[place] = value } else { items.push(value) }
        }
        Some(Value::Object(fields)) => {
            fields.insert(name.to_owned(), value);
        }
        _ => panic!("{pointer} is nowhere in {body}"),
    }
    changed
}

/// The same body without what stands there.
pub(super) fn without(body: &Value, pointer: &str) -> Value {
    let mut changed = body.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("the place of a field");
    let parent = changed.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    parent.remove(name);
    changed
}
