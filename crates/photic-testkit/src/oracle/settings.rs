//! Checks settings as the owner of a wire does: by the model, with names, ranges and schemas.
//!
//! This module owns the settings that are refused (November 2026). It is used only if
//! [`Rules::settings`] is set. It must never read a profile of `photic`.

use serde_json::{Map, Value};

use super::witness::Witness;

/// Checks the settings of a body.
pub(super) fn judge(w: &mut Witness<'_>, wire: &str, body: &Map<String, Value>) {
    let model = body.get("model").and_then(Value::as_str).or(w.rules.model).unwrap_or_default();
    let model = model.rsplit('/').next().unwrap_or_default();
    match wire {
        "openai-chat" => openai(w, body, model, true),
        "openai-responses" => openai(w, body, model, false),
        "anthropic" => anthropic(w, body, model),
        "gemini" => gemini(w, body, model),
        "bedrock-converse" => converse(w, body, model),
        _ => {}
    }
}

/// Returns `true` if a model of OpenAI reasons.
fn reasons(model: &str) -> bool {
    let family = ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|name| model.starts_with(name));
    family && !model.starts_with("gpt-5-chat")
}

/// Returns the generation of a Claude model, as in `(4, 5)`.
fn claude(model: &str) -> Option<(u32, u32)> {
    let name = &model[model.find("claude-")? + "claude-".len()..];
    let mut numbers = name
        .split(['-', '.', ':', '@'])
        .skip_while(|word| word.parse::<u32>().is_err())
        .map_while(|word| word.parse::<u32>().ok());
    let major = numbers.next()?;
    // A date is not a generation.
    let minor = numbers.next().filter(|minor| *minor < 100).unwrap_or(0);
    (major < 100).then_some((major, minor))
}

fn refuse(w: &mut Witness<'_>, body: &Map<String, Value>, at: &str, names: &[&str], text: &str) {
    for name in names.iter().filter(|name| body.get(**name).is_some_and(|v| !v.is_null())) {
        w.violate("setting_refused", &format!("{at}/{name}"), format!("{name}: {text}"));
    }
}

fn range(w: &mut Witness<'_>, body: &Map<String, Value>, at: &str, name: &str, most: f64) {
    if let Some(number) = body.get(name).and_then(Value::as_f64)
        && !(0.0..=most).contains(&number)
    {
        let text = format!("{name}: must be between 0 and {most}");
        w.violate("setting_range", &format!("{at}/{name}"), text);
    }
}

/// Checks the name of a tool, on wires that restrict its characters.
fn name(w: &mut Witness<'_>, name: Option<&Value>, at: &str, others: &str, most: usize) {
    let Some(name) = name.and_then(Value::as_str) else {
        return w.violate("field_missing", at, "name: Field required");
    };
    let fits = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    if name.is_empty() || name.len() > most || !name.chars().all(fits) {
        let text = format!("'{name}' does not match '^[a-zA-Z0-9{others}]{{1,{most}}}$'");
        w.violate("tool_name", at, text);
    }
}

/// Checks that the schema of a tool has an object at its root.
fn schema(w: &mut Witness<'_>, schema: Option<&Value>, at: &str, alternatives: bool) {
    let Some(schema) = schema else { return };
    if schema["type"] != "object" {
        let text = format!("schema must be of type \"object\", got {}", schema["type"]);
        w.violate("tool_schema", at, text);
    }
    for name in ["oneOf", "anyOf", "allOf"] {
        if !alternatives && schema.get(name).is_some() {
            let text = "input_schema does not support oneOf, allOf, or anyOf at the top level";
            w.violate("tool_schema", &format!("{at}/{name}"), text);
        }
    }
}

/// Checks that a strict schema closes every object and requires every property.
fn strict(w: &mut Witness<'_>, schema: &Value, at: &str) {
    if let Some(list) = schema.as_array() {
        for one in list {
            strict(w, one, at);
        }
    }
    let Some(object) = schema.as_object() else { return };
    if schema["type"] == "object" {
        let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
        let properties = schema["properties"].as_object();
        let mut names = properties.into_iter().flat_map(Map::keys);
        let all = names.all(|name| required.iter().any(|one| one.as_str() == Some(name)));
        if schema["additionalProperties"] != false || !all {
            let text = "Invalid schema for a strict tool: 'additionalProperties' must be false and 'required' must hold every property";
            w.violate("tool_schema", at, text);
        }
    }
    for inner in object.values() {
        strict(w, inner, at);
    }
}

fn offered(tools: &[&Map<String, Value>]) -> Vec<String> {
    tools.iter().filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect()
}

fn objects(list: Option<&Value>) -> Vec<&Map<String, Value>> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect()
}

const SAMPLING: [&str; 2] = ["temperature", "top_p"];

fn openai(w: &mut Witness<'_>, body: &Map<String, Value>, model: &str, chat: bool) {
    range(w, body, "", "temperature", 2.0);
    range(w, body, "", "top_p", 1.0);
    if reasons(model) {
        let text = "Unsupported parameter: not supported with this model.";
        refuse(w, body, "", &SAMPLING, text);
        let others = [
            "stop",
            "frequency_penalty",
            "presence_penalty",
            "logit_bias",
            "logprobs",
            "top_logprobs",
            "max_tokens",
        ];
        refuse(w, body, "", &others, text);
    }
    let plain = model.starts_with("gpt-4") || model.starts_with("gpt-3.5");
    let effort = body.get("reasoning_effort").or_else(|| body.get("reasoning")?.get("effort"));
    if let Some(effort) = effort.filter(|effort| !effort.is_null()) {
        let words = ["none", "minimal", "low", "medium", "high", "xhigh"];
        if plain || !words.iter().any(|word| effort == word) {
            let text = format!("Unsupported value: 'reasoning_effort' does not support {effort}");
            w.violate("setting_refused", "/reasoning_effort", text);
        }
    }
    if model.starts_with("gpt-6") {
        refuse(w, body, "", &["prompt_cache_retention"], "use prompt_cache_options");
    }
    if body.get("stop").and_then(Value::as_array).is_some_and(|stops| stops.len() > 4) {
        w.violate("setting_range", "/stop", "Invalid 'stop': array too long, maximum length 4.");
    }
    let tools = objects(body.get("tools"));
    let functions: Vec<&Map<String, Value>> = tools
        .iter()
        .filter(|tool| tool.get("type").is_some_and(|kind| kind == "function"))
        .filter_map(|tool| if chat { tool.get("function")?.as_object() } else { Some(*tool) })
        .collect();
    for (index, tool) in functions.iter().enumerate() {
        let at = format!("/tools/{index}");
        let known = ["type", "name", "description", "parameters", "strict"];
        w.fields(tool, &at, &known);
        name(w, tool.get("name"), &at, "_-", 64);
        let parameters = tool.get("parameters").filter(|schema| !schema.is_null());
        schema(w, parameters, &at, true);
        if let (Some(true), Some(parameters)) =
            (tool.get("strict").and_then(Value::as_bool), parameters)
        {
            strict(w, parameters, &at);
        }
    }
    let names = offered(&functions);
    let choice = body.get("tool_choice");
    if choice.is_some_and(|choice| !choice.is_null() && choice != "none") && tools.is_empty() {
        let text = "'tool_choice' is only allowed when 'tools' are specified.";
        w.violate("setting_refused", "/tool_choice", text);
    }
    let wanted = choice.filter(|choice| choice["type"] == "function");
    let wanted = wanted.and_then(|choice| {
        if chat { choice["function"]["name"].as_str() } else { choice["name"].as_str() }
    });
    if wanted.is_some_and(|wanted| !names.iter().any(|name| name == wanted)) {
        w.violate("value_unknown", "/tool_choice", "Tool choice not found in 'tools'.");
    }
    if tools.is_empty() {
        let text = "'parallel_tool_calls' is only allowed when 'tools' are specified.";
        refuse(w, body, "", &["parallel_tool_calls"], text);
    }
}

fn anthropic(w: &mut Witness<'_>, body: &Map<String, Value>, model: &str) {
    const ALL: [&str; 3] = ["temperature", "top_p", "top_k"];
    let version = claude(model);
    range(w, body, "", "temperature", 1.0);
    range(w, body, "", "top_p", 1.0);
    if w.rules.version.is_some_and(|version| version >= "2026-10-21") {
        refuse(w, body, "", &ALL, "sampling parameters are not accepted by this API version");
    }
    // Sonnet 5 and every model from 4.7 on.
    let newest = version.is_some_and(|version| version >= (4, 7));
    if newest {
        refuse(w, body, "", &ALL, "is deprecated for this model.");
    }
    let both = SAMPLING.iter().all(|name| body.get(*name).is_some_and(|v| !v.is_null()));
    if both && version.is_some_and(|version| version >= (4, 1)) {
        let text = "`temperature` and `top_p` cannot both be specified for this model.";
        w.violate("setting_refused", "/top_p", text);
    }
    stops(w, body.get("stop_sequences"), "/stop_sequences");
    let tools = objects(body.get("tools"));
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("/tools/{index}");
        name(w, tool.get("name"), &at, "_-", 128);
        if tool.get("type").is_none_or(|kind| kind == "custom") {
            if tool.get("input_schema").is_none() {
                w.violate("field_missing", &at, "input_schema: Field required");
            }
            schema(w, tool.get("input_schema"), &format!("{at}/input_schema"), false);
            let known = [
                "type",
                "name",
                "description",
                "input_schema",
                "cache_control",
                "strict",
                "input_examples",
                "defer_loading",
                "allowed_callers",
                "eager_input_streaming",
            ];
            w.fields(tool, &at, &known);
        }
    }
    if let Some(choice) = body.get("tool_choice").and_then(Value::as_object) {
        w.fields(choice, "/tool_choice", &["type", "name", "disable_parallel_tool_use"]);
        let kind = choice.get("type").and_then(Value::as_str).unwrap_or_default();
        let forced = matches!(kind, "any" | "tool");
        let fable = model.contains("fable") && version.is_some_and(|version| version >= (5, 1));
        let latest = version.is_some_and(|version| version >= (5, 5)) && !model.contains("haiku");
        if forced && (fable || latest) {
            let text = "tool_choice forces tool use, which is not supported for this model";
            w.violate("setting_refused", "/tool_choice", text);
        }
        let names = offered(&tools);
        if kind == "tool" && !names.iter().any(|name| choice["name"] == name.as_str()) {
            w.violate("value_unknown", "/tool_choice", "Tool not found in provided tools");
        }
    }
    if let Some(config) = body.get("output_config").and_then(Value::as_object) {
        w.fields(config, "/output_config", &["effort", "format", "task_budget"]);
        if let Some(effort) = config.get("effort").and_then(Value::as_str) {
            let words: &[&str] = match version {
                Some(version) if version >= (4, 7) => &["low", "medium", "high", "xhigh", "max"],
                Some((4, 5 | 6)) if model.contains("opus") => &["low", "medium", "high", "max"],
                Some((4, 6)) => &["low", "medium", "high", "max"],
                Some(_) => &[],
                None => &["low", "medium", "high", "xhigh", "max"],
            };
            if !words.contains(&effort) {
                let text = format!("effort '{effort}' is not supported by this model");
                w.violate("setting_refused", "/output_config/effort", text);
            }
        }
    }
    if let Some(metadata) = body.get("metadata").and_then(Value::as_object) {
        w.fields(metadata, "/metadata", &["user_id"]);
    }
}

/// Checks for stops that are only white space, which are refused.
fn stops(w: &mut Witness<'_>, stops: Option<&Value>, at: &str) {
    for (index, stop) in stops.and_then(Value::as_array).into_iter().flatten().enumerate() {
        if stop.as_str().is_none_or(|stop| stop.trim().is_empty()) {
            let text = "each stop sequence must contain non-whitespace";
            w.violate("setting_refused", &format!("{at}/{index}"), text);
        }
    }
}

const GENERATION: [&str; 24] = [
    "temperature",
    "topP",
    "topK",
    "seed",
    "candidateCount",
    "maxOutputTokens",
    "stopSequences",
    "frequencyPenalty",
    "presencePenalty",
    "responseLogprobs",
    "logprobs",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "_responseJsonSchema",
    "thinkingConfig",
    "mediaResolution",
    "responseModalities",
    "speechConfig",
    "imageConfig",
    "routingConfig",
    "audioTimestamp",
    "enableEnhancedCivicAnswers",
    "modelSelectionConfig",
];

/// Returns an object with its own names in camel case: the service takes both spellings.
fn in_camel_case(object: &Map<String, Value>) -> Map<String, Value> {
    let camel = |name: &String| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |camel, word| {
            let (head, tail) = word.split_at(word.len().min(1));
            camel + &head.to_ascii_uppercase() + tail
        })
    };
    object.iter().map(|(name, value)| (camel(name), value.clone())).collect()
}

fn gemini(w: &mut Witness<'_>, body: &Map<String, Value>, model: &str) {
    let body = in_camel_case(body);
    let object = |value: Option<&Value>| value.and_then(Value::as_object).map(in_camel_case);
    if let Some(config) = object(body.get("generationConfig")) {
        w.fields(&config, "/generationConfig", &GENERATION);
        range(w, &config, "/generationConfig", "temperature", 2.0);
        if let Some(thinking) = object(config.get("thinkingConfig")) {
            let at = "/generationConfig/thinkingConfig";
            w.fields(&thinking, at, &["thinkingLevel", "thinkingBudget", "includeThoughts"]);
            let level = thinking.get("thinkingLevel").and_then(Value::as_str);
            let words = ["minimal", "low", "medium", "high"];
            let known = |level: &str| words.contains(&level.to_ascii_lowercase().as_str());
            let old = model.starts_with("gemini-1") || model.starts_with("gemini-2");
            if level.is_some_and(|level| old || !known(level)) {
                w.violate("setting_refused", at, "Thinking level is not supported for this model.");
            }
        }
    }
    for (index, tool) in objects(body.get("tools")).iter().enumerate() {
        for function in objects(in_camel_case(tool).get("functionDeclarations")) {
            let function = in_camel_case(function);
            let at = format!("/tools/{index}/functionDeclarations");
            let known = [
                "name",
                "description",
                "parameters",
                "parametersJsonSchema",
                "response",
                "responseJsonSchema",
                "behavior",
            ];
            w.fields(&function, &at, &known);
            name(w, function.get("name"), &at, "_.:-", 128);
            let starts = |name: &str| {
                name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            };
            if !function.get("name").and_then(Value::as_str).is_some_and(starts) {
                w.violate("tool_name", &at, "must start with a letter or an underscore");
            }
        }
    }
}

fn converse(w: &mut Witness<'_>, body: &Map<String, Value>, model: &str) {
    let version = claude(model);
    if let Some(config) = body.get("inferenceConfig").and_then(Value::as_object) {
        let at = "/inferenceConfig";
        w.fields(config, at, &["maxTokens", "temperature", "topP", "stopSequences"]);
        range(w, config, at, "temperature", 1.0);
        range(w, config, at, "topP", 1.0);
        if version.is_some_and(|version| version >= (4, 7)) {
            refuse(w, config, at, &["temperature", "topP"], "is deprecated for this model.");
        }
        let both = config.contains_key("temperature") && config.contains_key("topP");
        if both && version.is_some_and(|version| version >= (4, 1)) {
            let text = "`temperature` and `top_p` cannot both be specified for this model.";
            w.violate("setting_refused", "/inferenceConfig/topP", text);
        }
        if version.is_some() {
            stops(w, config.get("stopSequences"), "/inferenceConfig/stopSequences");
        }
    }
    let config = body.get("toolConfig").and_then(Value::as_object);
    let Some(config) = config else { return };
    w.fields(config, "/toolConfig", &["tools", "toolChoice"]);
    for (index, tool) in objects(config.get("tools")).iter().enumerate() {
        let at = format!("/toolConfig/tools/{index}");
        w.fields(tool, &at, &["toolSpec", "systemTool", "cachePoint"]);
        let Some(spec) = tool.get("toolSpec").and_then(Value::as_object) else { continue };
        w.fields(spec, &at, &["name", "description", "inputSchema", "strict"]);
        name(w, spec.get("name"), &at, "_-", 64);
        let json = spec.get("inputSchema").and_then(|schema| schema.get("json"));
        schema(w, json, &at, version.is_none());
    }
    let choice = config.get("toolChoice");
    let forced = |choice: &Value| choice.get("any").or_else(|| choice.get("tool")).is_some();
    let latest = version.is_some_and(|version| version >= (5, 5)) && !model.contains("haiku");
    if latest && choice.is_some_and(forced) {
        let text = "tool_choice forces tool use, which is not supported for this model";
        w.violate("setting_refused", "/toolConfig/toolChoice", text);
    }
}

#[cfg(test)]
mod tests {
    use super::{claude, reasons};

    #[test]
    fn models_are_told_apart() {
        for (model, generation) in [
            ("claude-sonnet-4-5", Some((4, 5))),
            ("claude-opus-4-1-20250805", Some((4, 1))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-3-5-haiku-latest", Some((3, 5))),
            ("claude-opus-5", Some((5, 0))),
            ("anthropic.claude-opus-5-5-v1:0", Some((5, 5))),
            ("us.anthropic.claude-fable-5.1", Some((5, 1))),
            ("gpt-4o", None),
        ] {
            assert_eq!(claude(model), generation, "{model}");
        }
        for (model, does) in
            [("gpt-5.4", true), ("o3-mini", true), ("gpt-5-chat-latest", false), ("gpt-4o", false)]
        {
            assert_eq!(reasons(model), does, "{model}");
        }
    }
}
