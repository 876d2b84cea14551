//! Reads and writes the settings of Messages.

use std::borrow::Cow;

use crate::json::{Out, Str, Value};
use crate::lower::{ANY_OBJECT, Writer};
use crate::settings::{Format, Function, Settings, Tool, ToolChoice, Word};

/// The wire requires a number. Every model accepts this one.
const MAX_TOKENS: &str = "4096";

/// Fields of this wire that no other wire can express.
const OWN: &[&str] = &[
    "thinking",
    "container",
    "mcp_servers",
    "context_management",
    "compaction",
    "cache_control",
    "service_tier",
    "inference_geo",
    "speed",
    "fallbacks",
];

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    match name {
        "temperature" => Word::Field("temperature"),
        "top_p" => Word::Field("top_p"),
        "top_k" => Word::Field("top_k"),
        "stream" => Word::Field("stream"),
        "user" => Word::Member("user_id"),
        _ => Word::Absent,
    }
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    for (key, value) in root.entries() {
        match &*key.decode() {
            "messages" | "system" => {}
            "model" => settings.model = value.str(),
            "max_tokens" => settings.limit_answer(&key, value),
            "stop_sequences" => settings.take_stops(value),
            "tools" => {
                for tool in value.items() {
                    read_tool(tool, &mut settings);
                }
            }
            "tool_choice" => {
                let parallel = value.get("disable_parallel_tool_use");
                if let Some(parallel) = parallel.filter(|flag| flag.bool().is_some()) {
                    settings.parallel_calls = parallel.bool().map(|disabled| !disabled);
                    settings.read_at("parallel_tool_calls", parallel);
                }
                settings.take_choice(key, value, read_choice(value));
            }
            "output_config" => {
                if let Some(effort) = value.get("effort").filter(|effort| !effort.is_null()) {
                    settings.take_effort(effort);
                }
                if let Some(format) = value.get("format") {
                    read_format(format, &mut settings);
                }
                settings.lose_others(value, &["effort", "format"]);
            }
            "output_format" => read_format(value, &mut settings),
            "metadata" => {
                if let Some(user) = value.get("user_id") {
                    settings.share("user", user);
                }
                settings.lose_others(value, &["user_id"]);
            }
            // A conversation that the provider keeps, from its first request on.
            "thread" if !value.is_null() => {
                settings.continues_elsewhere =
                    value.get("type").is_none_or(|kind| !kind.is("create"));
                settings.lose(key, value);
            }
            // The name is shared with other wires, but the meaning differs.
            "service_tier" => settings.lose(key, value),
            _ => settings.other_field(key, value, OWN),
        }
    }
    settings
}

fn read_format<'a>(format: Value<'_, 'a>, settings: &mut Settings<'a>) {
    match format.get("schema") {
        Some(schema) => {
            settings.take_format(Format::Schema(None, schema.raw().into(), None), format);
            settings.lose_others(format, &["type", "schema"]);
        }
        None => settings.lose(Str::plain("output_config.format"), format),
    }
}

fn read_tool<'a>(tool: Value<'_, 'a>, settings: &mut Settings<'a>) {
    // A tool with a versioned type of its own is run by the provider.
    let is_function = tool.get("type").is_none_or(|kind| kind.is("custom") || kind.is_null());
    let Some(schema) = tool.get("input_schema").filter(|_| is_function) else {
        settings.tools.push(Tool::foreign(tool));
        return;
    };
    settings.lose_others(tool, &["type", "name", "description", "input_schema", "strict"]);
    settings.tools.push(Tool::Function(Function::read(tool, Some(schema.raw().into()))));
}

fn read_choice<'a>(value: Value<'_, 'a>) -> Option<ToolChoice<'a>> {
    match value.get("type")?.str().as_ref().map(Str::decode).as_deref() {
        Some("auto") => Some(ToolChoice::Auto),
        Some("none") => Some(ToolChoice::None),
        Some("any") => Some(ToolChoice::Any),
        _ => Some(ToolChoice::Named(value.get("name")?.str()?)),
    }
}

/// The fields of this wire.
const FIELDS: &[&str] = &[
    "messages",
    "system",
    "max_tokens",
    "stop_sequences",
    "tools",
    "tool_choice",
    "output_config",
];

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let settings = &writer.transcript.settings;
    let metadata = writer.common_settings(out, FIELDS);
    out.object("metadata", |out| crate::lower::members(out, &metadata));
    out.comma().key("max_tokens");
    if let Some(most) = settings.max_tokens {
        out.raw(most);
    } else {
        out.json(MAX_TOKENS);
        writer.add("max_tokens");
    }
    writer.stops(out, "stop_sequences");
    tools(writer, out);
    out.object("output_config", |output| {
        if let Some(effort) = writer.effort() {
            output.comma().key("effort").string(&effort);
        }
        match &settings.format {
            Some(Format::Schema(_, schema, _)) => {
                writer.bare_format();
                output.comma().key("format").json("{\"type\":\"json_schema\",\"schema\":");
                output.bytes(schema.clone()).json("}");
            }
            Some(Format::Json) => writer.no_word("format"),
            None => {}
        }
    });
}

fn tools<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let offers = writer.offers();
    if offers.is_empty() {
        return writer.no_tools();
    }
    out.comma().key("tools").json("[");
    for tool in offers {
        out.comma().json("{\"name\":").string(&tool.name);
        if let Some(text) = &tool.description {
            out.json(",\"description\":").string(text);
        }
        out.json(",\"input_schema\":").bytes(tool.schema.unwrap_or(Cow::Borrowed(ANY_OBJECT)));
        if let Some(strict) = tool.strict {
            out.json(",\"strict\":").boolean(strict);
        }
        out.json("}");
    }
    out.json("]");
    let choice = writer.tool_choice();
    tool_choice(writer, choice.as_ref(), out);
}

fn tool_choice<'a>(
    writer: &mut Writer<'_, 'a>,
    choice: Option<&ToolChoice<'a>>,
    out: &mut Out<'a>,
) {
    let parallel = writer.transcript.settings.parallel_calls;
    let word = match (choice, parallel) {
        (Some(ToolChoice::None), _) => "none",
        (Some(ToolChoice::Named(_)), _) => "tool",
        (Some(ToolChoice::Any), _) => "any",
        (Some(ToolChoice::Auto | ToolChoice::Among(..)), _) | (None, Some(false)) => "auto",
        (None, _) => return writer.no_parallel(),
    };
    out.comma().key("tool_choice").json("{\"type\":").quoted(word);
    if let Some(ToolChoice::Named(name)) = choice {
        out.json(",\"name\":").string(name);
    }
    if parallel == Some(false) && word != "none" {
        out.json(",\"disable_parallel_tool_use\":true");
    } else {
        writer.no_parallel();
    }
    out.json("}");
}
