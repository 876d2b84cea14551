//! A minimal JSON Schema validator for the protocol: types, required and forbidden fields,
//! enumerations, minima, unique lists. An unknown keyword fails the test.

use serde_json::Value;

/// Returns what is wrong with a value.
pub(crate) fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        let fine = match word.as_str() {
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64() || value.is_i64(),
                other => panic!("unknown type {other}"),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_i64().is_none_or(|value| value >= rule.as_i64().unwrap()),
            "minLength" => value.as_str().is_none_or(|text| !text.is_empty()),
            "uniqueItems" => {
                let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
                list.iter().enumerate().all(|(at, one)| !list[..at].contains(one))
            }
            "items" => {
                for (index, one) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, one, &format!("{at}/{index}"), found);
                }
                true
            }
            "required" => {
                let mut names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                names.all(|name| value.get(name).is_some())
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        check(rule, inner, &format!("{at}/{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => match rule {
                Value::Bool(false) => {
                    let known = schema["properties"].as_object().unwrap();
                    value.as_object().is_none_or(|own| own.keys().all(|k| known.contains_key(k)))
                }
                other => {
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        check(other, inner, &format!("{at}/{name}"), found);
                    }
                    true
                }
            },
            other => panic!("unknown word {other}"),
        };
        if !fine {
            found.push(format!("{at}: {word}"));
        }
    }
}
