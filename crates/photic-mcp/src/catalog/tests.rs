//! Tests of the tool descriptions.

use super::*;

/// Schema keywords that all hosts and their providers support.
const KEYWORDS: [&str; 9] = [
    "additionalProperties",
    "description",
    "enum",
    "items",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
];
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

fn check(schema: &Value, at: &str) {
    let words = schema.as_object().unwrap_or_else(|| panic!("{at} is no schema: {schema}"));
    for word in words.keys() {
        assert!(KEYWORDS.contains(&word.as_str()), "{at} says `{word}`");
    }
    let kind = schema["type"].as_str().unwrap_or_default();
    assert!(TYPES.contains(&kind), "{at} is of type {}", schema["type"]);
    assert_eq!(kind == "array", schema.get("items").is_some(), "{at}");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check(property, &format!("{at}/{name}"));
    }
    if let Some(items) = schema.get("items") {
        check(items, &format!("{at}/items"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let known = schema["properties"].get(name.as_str().unwrap_or_default());
        assert!(known.is_some(), "{at} requires {name}, which it does not describe");
    }
}

const NOTHING: Offer = Offer { inspect: false, handles: false, addresses: false };
const EVERYTHING: Offer = Offer { inspect: true, handles: true, addresses: true };

fn names(offer: Offer) -> Vec<String> {
    tools(offer, true).iter().map(|tool| tool.name.to_string()).collect()
}

fn property(offer: Offer, tool: &str, name: &str) -> Option<Value> {
    let tool = tools(offer, true).into_iter().find(|one| one.name == tool)?;
    tool.input_schema["properties"].get(name).cloned()
}

#[test]
fn schemas_use_only_what_every_host_understands() {
    for tool in tools(EVERYTHING, true) {
        check(&Value::Object((*tool.input_schema).clone()), &format!("input of {}", tool.name));
        if let Some(output) = tool.output_schema {
            check(&Value::Object((*output).clone()), &format!("output of {}", tool.name));
        }
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
    }
}

#[test]
fn every_argument_is_described() {
    for tool in tools(EVERYTHING, true) {
        for (name, property) in tool.input_schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{} of {}", name, tool.name);
        }
    }
}

#[test]
fn the_order_and_the_hints_never_change() {
    assert_eq!(names(EVERYTHING), ["list", "view", "read", "inspect", "probe"]);
    assert_eq!(names(NOTHING), ["list", "view", "read", "probe"]);
    for tool in &tools(EVERYTHING, true) {
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!((hints.read_only_hint, hints.destructive_hint), (Some(true), Some(false)));
        assert_eq!(hints.open_world_hint, Some(tool.name == "inspect"), "{}", tool.name);
    }
}

#[test]
fn what_a_model_pays_for_in_every_request_is_short() {
    for (offer, most) in [(NOTHING, 4000), (EVERYTHING, 5000)] {
        let listed = serde_json::to_string(&tools(offer, false)).unwrap();
        assert!(listed.len() < most, "{} characters", listed.len());
    }
    for tool in tools(EVERYTHING, false) {
        assert!(tool.description.unwrap().len() < 320, "{}", tool.name);
        assert_eq!(tool.output_schema, None);
    }
}

/// No description and no schema names a thing that cannot work here: a model that reads of it tries it.
#[test]
fn only_what_can_work_is_offered() {
    let listed = serde_json::to_string(&tools(NOTHING, false)).unwrap();
    for word in ["https", "img_", "handle", "inspect", "fresh"] {
        assert!(!listed.contains(word), "`{word}` is offered and cannot work");
    }
    assert_eq!(property(NOTHING, "view", "return"), None);
    let source = |offer| property(offer, "view", "source").unwrap()["description"].clone();
    let only_handles = source(Offer { handles: true, ..NOTHING });
    assert!(only_handles.as_str().unwrap().ends_with("or a handle (`img_…`) from an earlier view"));
    let everything = source(EVERYTHING);
    assert!(everything.as_str().unwrap().contains("`https` address"), "{everything}");
    assert!(property(EVERYTHING, "view", "return").is_some());
}

/// Text is sent once. The data of the others does not repeat their words.
#[test]
fn tools_that_return_text_have_no_output_schema() {
    for tool in tools(EVERYTHING, true) {
        let has_schema = tool.output_schema.is_some();
        assert_eq!(has_schema, has_structured_content(&tool.name), "{}", tool.name);
    }
}

#[test]
fn the_choice_of_return_is_taken_out() {
    let arguments = |value: Value| match json!({"source": "a", "return": value}) {
        Value::Object(arguments) => arguments,
        _ => JsonObject::new(),
    };
    let (rest, returns) = take_return(arguments(json!("ref"))).unwrap();
    assert_eq!((rest.len(), returns), (1, ReturnMode::Ref));
    assert_eq!(take_return(arguments(Value::Null)).unwrap().1, ReturnMode::Inline);
    assert!(take_return(arguments(json!(7))).is_err());
}

/// The documentation is generated from the descriptions that models read.
#[test]
fn the_documentation_is_what_hosts_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- tools -->\n").unwrap();
    let (written, after) = rest.split_once("<!-- /tools -->").unwrap();
    let wanted = format!("\n{}", reference());
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        let page = format!("{before}<!-- tools -->\n{wanted}<!-- /tools -->{after}");
        return std::fs::write(path, page).unwrap();
    }
    assert_eq!(written, wanted, "PHOTIC_BLESS=1 rewrites docs/mcp.md");
}
