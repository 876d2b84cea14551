//! Reads and writes the settings of Chat Completions.

use crate::json::{Out, Str, Value};
use crate::lift::text_of;
use crate::lower::{Because, Writer};
use crate::profile::{AnswerLimit, StreamOptions};
use crate::settings::{Format, Function, SHARED, Settings, Tool, ToolChoice, Word};
use crate::wire::openai::{Around, write_choice, write_schema};

/// Fields of this wire that no other wire can express.
const OWN: &[&str] =
    &["modalities", "audio", "prediction", "web_search_options", "moderation", "image"];

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    SHARED.iter().find(|shared| **shared == name).map_or(Word::Absent, |word| Word::Field(word))
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    for (key, value) in root.entries() {
        match &*key.decode() {
            "messages" => {}
            "model" => settings.model = value.str(),
            "max_completion_tokens" | "max_tokens" => settings.limit_answer(&key, value),
            "stop" => settings.take_stops(value),
            "tools" => {
                for tool in value.items() {
                    read_tool(tool, &mut settings);
                }
            }
            "functions" => {
                for function in value.items() {
                    read_function(function, &mut settings);
                }
            }
            "tool_choice" | "function_call" => read_choice(key, value, &mut settings),
            "parallel_tool_calls" => settings.take_parallel_calls(value),
            "reasoning_effort" => settings.take_effort(value),
            // Routers use this spelling.
            "reasoning" if value.get("effort").is_some_and(|effort| effort.str().is_some()) => {
                if let Some(effort) = value.get("effort") {
                    settings.take_effort(effort);
                }
                settings.lose_others(value, &["effort"]);
            }
            "stream_options" => {
                let asked = value.get("include_usage").and_then(|asked| asked.bool());
                settings.usage_in_stream = asked.unwrap_or(false);
                settings.read_at("stream_options", value);
                settings.lose_others(value, &["include_usage"]);
            }
            "response_format" => read_format(key, value, &mut settings),
            _ => settings.other_field(key, value, OWN),
        }
    }
    settings
}

fn read_tool<'a>(tool: Value<'_, 'a>, settings: &mut Settings<'a>) {
    match (tool.get("function"), tool.get("custom")) {
        (Some(function), _) if function.get("name").is_some() => {
            settings.lose_others(tool, &["type", "function"]);
            read_function(function, settings);
        }
        (_, Some(custom)) if custom.get("name").is_some() => {
            settings.lose_others(tool, &["type", "custom"]);
            let tool = Tool::custom(custom, settings);
            settings.tools.push(tool);
        }
        _ => settings.tools.push(Tool::foreign(tool)),
    }
}

fn read_function<'a>(function: Value<'_, 'a>, settings: &mut Settings<'a>) {
    settings.lose_others(function, &["name", "description", "parameters", "strict"]);
    let schema = function.get("parameters").filter(|schema| !schema.is_null());
    let schema = schema.map(|schema| schema.raw().into());
    settings.tools.push(Tool::Function(Function::read(function, schema)));
}

fn read_choice<'a>(key: Str<'a>, value: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let name = |value: Value<'_, 'a>| value.get("name").and_then(|name| name.str());
    let choice = match value.str().as_ref().map(Str::decode).as_deref() {
        Some("auto") => Some(ToolChoice::Auto),
        Some("none") => Some(ToolChoice::None),
        Some("required" | "any") => Some(ToolChoice::Any),
        Some(_) => None,
        None => match value.get("allowed_tools") {
            Some(allowed) => {
                let tools = allowed.get("tools").into_iter().flat_map(Value::items);
                let named = |tool: Value<'_, 'a>| tool.get("function").and_then(name);
                let forced = allowed.get("mode").is_some_and(|mode| mode.is("required"));
                Some(ToolChoice::Among(tools.filter_map(named).collect(), forced))
            }
            None => value
                .get("function")
                .or_else(|| value.get("custom"))
                .unwrap_or(value)
                .get("name")
                .and_then(|name| name.str())
                .map(ToolChoice::Named),
        },
    };
    settings.take_choice(key, value, choice);
}

fn read_format<'a>(key: Str<'a>, value: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let kind = text_of(value, "type").decode();
    let inner = value.get("json_schema");
    match (&*kind, inner.and_then(|inner| inner.get("schema"))) {
        ("json_object", _) => settings.format = Some(Format::Json),
        ("text", _) => return settings.lose_because(key, value, Because::Implied),
        (_, Some(schema)) => {
            let inner = inner.unwrap_or(value);
            settings.format = Some(Format::Schema(
                inner.get("name").and_then(|name| name.str()),
                schema.raw().into(),
                inner.get("strict").and_then(|strict| strict.bool()),
            ));
            settings.lose_others(inner, &["name", "schema", "strict"]);
        }
        _ => return settings.lose(key, value),
    }
    settings.read_at("format", value);
    settings.lose_others(value, &["type", "json_schema"]);
}

/// The fields of this wire.
const FIELDS: &[&str] = &[
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "stream_options",
];

/// The JSON around names in a choice of tools.
const AROUND: Around = Around {
    function: ("{\"type\":\"function\",\"function\":{\"name\":", "}}"),
    allowed: ("{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":", "]}}"),
};

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let settings = &writer.transcript.settings;
    writer.common_settings(out, FIELDS);
    let quirks = &writer.plan.profile.quirks;
    let streams = settings.shared.iter().any(|(name, raw)| *name == "stream" && *raw == b"true");
    if streams && quirks.stream_options == StreamOptions::Taken {
        // On other wires a stream always ends with its token usage.
        out.comma().key("stream_options").json("{\"include_usage\":true}");
        writer.add("stream_options");
    }
    if let Some(most) = settings.max_tokens {
        // Reasoning models refuse the older name. Most servers ignore the newer one if they do not
        // know it, but some endpoints refuse unknown fields.
        let name = match quirks.answer_limit {
            AnswerLimit::MaxCompletionTokens => "max_completion_tokens",
            AnswerLimit::MaxTokens => "max_tokens",
        };
        out.comma().key(name).raw(most);
    }
    writer.stops(out, "stop");
    tools(writer, out);
    if let Some(effort) = writer.effort() {
        out.comma().key("reasoning_effort").string(&effort);
    }
    match &settings.format {
        Some(Format::Json) => {
            out.comma().key("response_format").json("{\"type\":\"json_object\"}");
        }
        Some(Format::Schema(name, schema, strict)) => {
            out.comma().key("response_format").json("{\"type\":\"json_schema\",\"json_schema\":{");
            let schema = (name.as_ref(), schema.clone(), *strict);
            write_schema(writer, out, "response_format.name", schema);
            out.json("}}");
        }
        None => {}
    }
}

fn tools<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let offers = writer.offers();
    if offers.is_empty() {
        return writer.no_tools();
    }
    out.comma().key("tools").json("[");
    for tool in offers {
        out.comma().json("{\"type\":\"function\",\"function\":{\"name\":").string(&tool.name);
        if let Some(text) = &tool.description {
            out.json(",\"description\":").string(text);
        }
        if let Some(schema) = tool.schema {
            out.json(",\"parameters\":").bytes(schema);
        }
        if let Some(strict) = tool.strict {
            out.json(",\"strict\":").boolean(strict);
        }
        out.json("}}");
    }
    out.json("]");
    write_choice(writer, out, &AROUND);
}
