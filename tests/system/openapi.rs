//! The API's document, and what it demands of every answer and every accepted request in these tests.

use std::fmt::Display;

use http::HeaderMap;
use jsonschema::{Draft, Validator};

use crate::passes::LAB_RING;
use crate::prelude::*;

/// A header's extension: the codes with which it is always sent, or [`EVERY_PROBLEM`].
const SENT_WITH: &str = "x-sent-with";
/// The same, for problems with a member of this name.
const SENT_WITH_MEMBER: &str = "x-sent-with-member";
const EVERY_PROBLEM: &str = "problem";
const PROBLEM: &str = "application/problem+json";
/// An operation's extension: the function that answers it.
const FUNCTION: &str = "x-function";

/// An error says what does not fit the document.
type Checked = Result<(), String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Function,
    Gateway,
}

pub(crate) struct OpenApi {
    pub(crate) document: Value,
    /// By the schema's text, since many answers share a schema.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

pub(crate) static OPENAPI: LazyLock<OpenApi> = LazyLock::new(|| {
    let text = std::fs::read(local::paths::root().join("target/api/openapi.json")).expect("nextest has written it");
    let document = serde_json::from_slice(&text).expect("JSON");
    OpenApi { document, validators: Mutex::default() }
});

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A header or a parameter as its schema sees it.
fn plain(text: &str, schema: &Value) -> Value {
    match text.parse::<u64>() {
        Ok(number) if schema["type"] == "integer" && number.to_string() == text => json!(number),
        _ => json!(text),
    }
}

impl OpenApi {
    /// Follows a reference. Any other value is returned as it is.
    pub(crate) fn resolve<'a>(&'a self, mut value: &'a Value) -> &'a Value {
        while let Some(pointer) = value["$ref"].as_str() {
            let there = self.document.pointer(&pointer[1..]);
            value = there.unwrap_or_else(|| panic!("there is no {pointer}"));
        }
        value
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = (String, &String, &Value)> {
        members(&self.document["paths"]).flat_map(|(path, item)| {
            members(item).map(move |(method, operation)| (method.to_uppercase(), path, operation))
        })
    }

    pub(crate) fn function_of<'a>(&self, operation: &'a Value) -> &'a str {
        operation[FUNCTION].as_str().unwrap_or_else(|| panic!("{} has no {FUNCTION}", operation["operationId"]))
    }

    /// The function to which the gateway routes a request.
    pub(crate) fn function_for(&self, ask: &Ask) -> Option<&str> {
        self.operation(ask).map(|(operation, _)| self.function_of(operation))
    }

    pub(crate) fn answers<'a>(&'a self, operation: &'a Value) -> impl Iterator<Item = (u16, &'a Value)> {
        let answers = members(&operation["responses"]);
        answers.map(|(status, answer)| (status.parse().expect("a status"), self.resolve(answer)))
    }

    pub(crate) fn misfits(&self, schema: &Value, value: &Value) -> Vec<String> {
        let key = schema.to_string();
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(key).or_insert_with(|| {
            // References point into the document, so the schema is evaluated inside it.
            let inside = json!({ "$ref": "#/it", "it": schema, "components": self.document["components"] });
            let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
            Arc::new(options.build(&inside).unwrap_or_else(|error| panic!("{schema}: {error}")))
        });
        let validator = Arc::clone(validator);
        drop(validators);
        validator.iter_errors(value).map(|error| format!("{}: {error:.300}", error.instance_path())).collect()
    }

    fn fits(&self, what: impl Display, schema: &Value, value: &Value) -> Checked {
        let misfits = self.misfits(schema, value);
        if misfits.is_empty() { Ok(()) } else { Err(format!("{what}: {}", misfits.join("; "))) }
    }

    /// The operation that a request is for, with the values of its path parameters.
    fn operation(&self, ask: &Ask) -> Option<(&Value, Vec<(String, String)>)> {
        let segments: Vec<&str> = ask.path_and_query().0.split('/').collect();
        let matched = self.operations().filter(|(method, ..)| *method == ask.method).filter_map(|(_, path, it)| {
            let template: Vec<&str> = path.split('/').collect();
            if template.len() != segments.len() {
                return None;
            }
            let mut places = Vec::new();
            for (part, segment) in template.iter().zip(&segments) {
                match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                    Some(name) => places.push((name.to_owned(), (*segment).to_owned())),
                    None if part != segment => return None,
                    None => {}
                }
            }
            Some((it, places))
        });
        // Of several matches, the gateway takes the one with the fewest path parameters.
        matched.min_by_key(|(_, places)| places.len())
    }

    pub(crate) fn check(&self, ask: &Ask, by: By, status: u16, headers: &HeaderMap, body: &Value) -> Checked {
        // Passes look alike whichever keys seal them.
        let ask = &ask.sealed(&LAB_RING);
        let media_type = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default();
        let Some((operation, places)) = self.operation(ask) else {
            let unknown = match by {
                By::Gateway => (status, body) == (404, &json!({ "message": "Not Found" })),
                By::Function => (status, &body["code"]) == (404, &json!("unknown_route")),
            };
            return if unknown { Ok(()) } else { Err("there is no such operation".to_owned()) };
        };
        let answer = self.answers(operation).find(|(documented, _)| *documented == status);
        let (_, answer) = answer.ok_or_else(|| format!("no status {status}"))?;
        if by == By::Function && status >= 400 && media_type != PROBLEM {
            return Err("only the gateway may answer like this".to_owned());
        }
        match &answer["content"] {
            Value::Null if media_type.is_empty() && body.is_null() => {}
            Value::Null => return Err(format!("body of {status}: there should be none")),
            content if content[media_type].is_null() => {
                return Err(format!("no content type {media_type:?} at {status}"));
            }
            content => self.fits(format_args!("body of {status}"), &content[media_type]["schema"], body)?,
        }
        self.check_headers(&answer["headers"], by, headers, (media_type == PROBLEM).then_some(body))?;
        if status < 400 { self.check_accepted(operation, &places, ask) } else { Ok(()) }
    }

    fn check_headers(&self, documented: &Value, by: By, headers: &HeaderMap, problem: Option<&Value>) -> Checked {
        for (name, header) in members(documented) {
            let header = self.resolve(header);
            let sent_with = &header[SENT_WITH];
            let with_this_code = problem.is_some_and(|problem| items(sent_with).any(|it| *it == problem["code"]));
            let with_this_member = header[SENT_WITH_MEMBER].as_str();
            let with_this_member =
                with_this_member.is_some_and(|member| problem.is_some_and(|it| it.get(member).is_some()));
            let must_be = header["required"] == true
                || problem.is_some() && (sent_with == EVERY_PROBLEM || with_this_code || with_this_member);
            match headers.get(name).map(|value| value.to_str().unwrap_or_default()) {
                None if must_be => return Err(format!("without {name}")),
                Some(value) if by == By::Function && !sent_with.is_null() && !must_be => {
                    return Err(format!("{name} is {value:?}"));
                }
                Some(value) => self.fits(name, &header["schema"], &plain(value, &header["schema"]))?,
                None => {}
            }
        }
        let known = |name: &str| members(documented).any(|(known, _)| known.eq_ignore_ascii_case(name));
        let unknown = headers.keys().find(|name| *name != "content-type" && !known(name.as_str()));
        match unknown {
            // The gateway adds its own headers.
            Some(name) if by == By::Function => Err(format!("a header {name}")),
            _ => Ok(()),
        }
    }

    /// An accepted request must be a documented one.
    fn check_accepted(&self, operation: &Value, places: &[(String, String)], ask: &Ask) -> Checked {
        let parameters: Vec<&Value> = items(&operation["parameters"]).map(|it| self.resolve(it)).collect();
        for parameter in &parameters {
            let name = parameter["name"].as_str().unwrap_or_default();
            let given = match parameter["in"].as_str() {
                Some("path") => places.iter().find(|place| place.0 == name).map(|place| &*place.1),
                Some("query") => ask.queried(name),
                _ => ask.header_value(name),
            };
            let schema = self.resolve(&parameter["schema"]);
            match given {
                None if parameter["required"] == true => return Err(format!("accepted without {name}")),
                None => {}
                Some(value) => self.fits(format_args!("accepted with {name}"), schema, &plain(value, schema))?,
            }
        }
        let documented = self.resolve(&operation["requestBody"]);
        if ask.body.is_empty() {
            let missing = documented["required"] == true;
            return if missing { Err("accepted without a body".to_owned()) } else { Ok(()) };
        }
        let schema = &documented["content"]["application/json"]["schema"];
        if schema.is_null() {
            // A body of a GET has no meaning (RFC 9110, section 9.3.1).
            let ignored = ask.method == "GET";
            return if ignored { Ok(()) } else { Err("accepted with a body that it does not take".to_owned()) };
        }
        let body: Value = match serde_json::from_slice(&ask.body) {
            Ok(body) => body,
            // Half of a surrogate pair is JSON by its grammar, but no text that a schema could check. A function may
            // pass over it in what it does not read.
            Err(_) if serde_json::from_slice::<serde::de::IgnoredAny>(&ask.body).is_ok() => return Ok(()),
            Err(error) => return Err(format!("accepted: {error}")),
        };
        self.fits("accepted with a body", schema, &body)
    }
}

/// Members that an operator omits take the document's defaults.
#[test]
fn a_created_sale_has_the_defaults_of_the_document() {
    let properties = &OPENAPI.document["components"]["schemas"]["DoorTerms"]["properties"];
    let documented: serde_json::Map<String, Value> =
        members(properties).filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone()))).collect();
    assert_eq!(Value::Object(documented), serde_json::to_value(sale::DoorTerms::default()).unwrap());
}
