//! What is wrong with the OpenAPI document: two linters with their recommended rules, and a rule of ours, that every
//! body is shown by an example.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::npm_program;
use crate::process;

/// Spectral's severity of an error; what is less is advice.
const ERROR: u64 = 0;
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// One line for each error of either linter.
pub(super) fn errors(document: &Path) -> Result<Vec<String>> {
    let file = document.display().to_string();
    let redocly = npm_program("redocly")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
        .args(["lint", "--config", "redocly.yaml", "--format", "json", "--max-problems", "100000"])
        .arg(&file);
    let mut errors = redocly_errors(&report(&redocly)?).context("Redocly's report")?;
    let spectral =
        npm_program("spectral").args(["lint", "--quiet", "--ruleset", ".spectral.yaml", "--format", "json"]);
    errors.extend(spectral_errors(&report(&spectral.arg(&file))?).context("Spectral's report")?);
    Ok(errors)
}

/// A linter fails when it has found something, so that only its report counts.
fn report(linter: &crate::step::Program) -> Result<Value> {
    let heard = process::heard(linter)?;
    let told = || format!("`{linter}` told no report: {}{}", heard.stdout, heard.stderr);
    serde_json::from_str(&heard.stdout).with_context(told)
}

fn redocly_errors(report: &Value) -> Result<Vec<String>> {
    let problems = report["problems"].as_array().context("no list of problems")?;
    let line = |problem: &Value| {
        let at = problem["location"][0]["pointer"].as_str().unwrap_or_default();
        format!("redocly {}: {} {at}", text(&problem["ruleId"]), text(&problem["message"]))
    };
    Ok(problems.iter().filter(|problem| problem["severity"] == "error").map(line).collect())
}

fn spectral_errors(report: &Value) -> Result<Vec<String>> {
    let problems = report.as_array().context("no list of problems")?;
    let line = |problem: &Value| {
        let path: Vec<String> = problem["path"].as_array().into_iter().flatten().map(text).collect();
        let at = path.join(" ");
        format!("spectral {}: {} {at}", text(&problem["code"]), text(&problem["message"]))
    };
    Ok(problems.iter().filter(|problem| problem["severity"] == ERROR).map(line).collect())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Operations of which a body, asked for or answered as a yes, is shown by no example.
pub(super) fn without_example(document: &Value) -> Vec<String> {
    let mut bare = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            let operation = &item[method];
            let asked = bodies(document, &operation["requestBody"]);
            let answers = operation["responses"].as_object().into_iter().flatten();
            let said_yes = answers.filter(|(status, _)| status.starts_with('2'));
            let told = said_yes.flat_map(|(_, answer)| bodies(document, answer));
            if asked.into_iter().chain(told).any(|body| !has_example(document, body)) {
                bare.push(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    bare
}

/// What a request or an answer may contain, by its media types. Bytes that are no text have no example.
fn bodies<'a>(document: &'a Value, part: &'a Value) -> Vec<&'a Value> {
    let content = followed(document, part)["content"].as_object();
    let text = content.into_iter().flatten().filter(|(kind, _)| *kind != "application/octet-stream");
    text.map(|(_, body)| body).collect()
}

/// An example stands beside the body, or beside the schema that the body refers to.
fn has_example(document: &Value, body: &Value) -> bool {
    let schema = followed(document, &body["schema"]);
    let shown = |place: &Value| !(place["example"].is_null() && place["examples"].is_null());
    shown(body) || shown(schema)
}

/// What a part is, or refers to.
fn followed<'a>(document: &'a Value, part: &'a Value) -> &'a Value {
    let pointer = part["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_count_and_advice_does_not() {
        let redocly = json!({"problems": [
            {"severity": "error", "ruleId": "struct", "message": "No description.",
             "location": [{"pointer": "#/paths/~1livez"}]},
            {"severity": "warn", "ruleId": "tag-description", "message": "No description."},
        ]});
        let found = redocly_errors(&redocly).expect("a report");
        assert_eq!(found, ["redocly struct: No description. #/paths/~1livez"]);
        let spectral = json!([
            {"severity": 0, "code": "oas3-schema", "message": "Wrong.", "path": ["paths", "/livez", 0]},
            {"severity": 1, "code": "info-contact", "message": "Nobody.", "path": []},
        ]);
        assert_eq!(
            spectral_errors(&spectral).expect("a report"),
            ["spectral oas3-schema: Wrong. paths /livez 0"]
        );
        assert!(redocly_errors(&json!({})).is_err() && spectral_errors(&json!({})).is_err());
    }

    fn document(request: &Value, answer: &Value) -> Value {
        let body = |content: &Value| json!({"content": {"application/json": content}});
        json!({
            "paths": {"/holds": {"post": {
                "requestBody": body(request),
                "responses": {"201": {"$ref": "#/components/responses/Held"}, "204": {}, "409": body(&json!({}))},
            }}},
            "components": {
                "responses": {"Held": body(answer)},
                "schemas": {"Shown": {"example": {"id": "hld_1"}}, "Bare": {"type": "object"}},
            },
        })
    }

    #[test]
    fn every_body_that_may_be_sent_is_shown() {
        let (shown, bare) = (json!({"example": {"seats": ["A-1"]}}), json!({"schema": {"type": "object"}}));
        let referred = json!({"schema": {"$ref": "#/components/schemas/Shown"}});
        assert!(without_example(&document(&shown, &shown)).is_empty());
        assert!(without_example(&document(&shown, &referred)).is_empty());
        for (request, answer) in [(&bare, &shown), (&shown, &bare)] {
            assert_eq!(without_example(&document(request, answer)), ["POST /holds"]);
        }
        let mut bytes = document(&shown, &shown);
        bytes["paths"]["/holds"]["post"]["responses"]["200"] =
            json!({"content": {"application/octet-stream": {"schema": {}}}});
        assert!(without_example(&bytes).is_empty());
        let other = json!({"schema": {"$ref": "#/components/schemas/Bare"}});
        assert_eq!(without_example(&document(&shown, &other)), ["POST /holds"]);
    }
}
