//! Reads and writes the settings of Responses.

use std::borrow::Cow;

use crate::json::{Out, Str, Value};
use crate::lift::text_of;
use crate::lower::{Because, NO_ARGUMENTS, SEPARATOR, Writer};
use crate::settings::{Format, Function, Settings, Tool, ToolChoice, Word};
use crate::wire::openai::{Around, write_choice, write_schema};

/// Fields of this wire that no other wire can express.
const OWN: &[&str] = &[
    "include",
    "previous_response_id",
    "conversation",
    "truncation",
    "background",
    "max_tool_calls",
    "prompt",
    "context_management",
    "image",
    "stream_options",
];

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    const FIELDS: [&str; 12] = [
        "temperature",
        "top_p",
        "stream",
        "metadata",
        "store",
        "service_tier",
        "user",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "prompt_cache_options",
        "top_logprobs",
    ];
    match FIELDS.iter().find(|field| **field == name) {
        Some(field) => Word::Field(field),
        None if name == "verbosity" => Word::Member("verbosity"),
        None => Word::Absent,
    }
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    for (key, value) in root.entries() {
        match &*key.decode() {
            "instructions" => {}
            "input" => {
                // Tools that were added after the first turn.
                let is_offer = |item: &Value<'_, 'a>| {
                    item.get("type").is_some_and(|name| name.is("additional_tools"))
                };
                for item in value.items().filter(is_offer) {
                    for tool in item.get("tools").into_iter().flat_map(Value::items) {
                        read_tool(tool, None, &mut settings);
                    }
                }
            }
            "model" => settings.model = value.str(),
            "max_output_tokens" => settings.limit_answer(&key, value),
            "tools" => {
                for tool in value.items() {
                    read_tool(tool, None, &mut settings);
                }
            }
            "tool_choice" => settings.take_choice(key, value, read_choice(value)),
            "parallel_tool_calls" => settings.take_parallel_calls(value),
            "reasoning" => {
                if let Some(effort) = value.get("effort").filter(|effort| !effort.is_null()) {
                    settings.take_effort(effort);
                }
                settings.lose_others(value, &["effort"]);
            }
            "text" => {
                if let Some(format) = value.get("format").filter(|format| !format.is_null()) {
                    read_format(format, &mut settings);
                }
                if let Some(verbosity) = value.get("verbosity") {
                    settings.share("verbosity", verbosity);
                }
                settings.lose_others(value, &["format", "verbosity"]);
            }
            "previous_response_id" | "conversation" if !value.is_null() => {
                settings.continues_elsewhere = true;
                settings.lose(key, value);
            }
            _ => settings.other_field(key, value, OWN),
        }
    }
    settings
}

/// Reads a tool, or the tools of a group. A group within a group is a tool of this wire only.
fn read_tool<'a>(tool: Value<'_, 'a>, namespace: Option<&Str<'a>>, settings: &mut Settings<'a>) {
    let mut read = match &*text_of(tool, "type").decode() {
        "function" => {
            settings.lose_others(tool, &["type", "name", "description", "parameters", "strict"]);
            let schema = tool.get("parameters").filter(|schema| !schema.is_null());
            Tool::Function(Function::read(tool, schema.map(|schema| schema.raw().into())))
        }
        "custom" => Tool::custom(tool, settings),
        "namespace" if namespace.is_none() && tool.get("tools").is_some_and(Value::is_list) => {
            return read_namespace(tool, settings);
        }
        _ => Tool::foreign(tool),
    };
    if let Tool::Function(function) = &mut read {
        function.namespace = namespace.cloned();
    }
    settings.tools.push(read);
}

/// Reads a group of tools. On other wires its name is the beginning of the names of its tools.
fn read_namespace<'a>(group: Value<'_, 'a>, settings: &mut Settings<'a>) {
    settings.lose_others(group, &["type", "name", "tools"]);
    let namespace = text_of(group, "name");
    if let Some(name) = group.get("name") {
        let because = Because::Renamed(format!("{}{SEPARATOR}*", namespace.decode()));
        settings.lose_because(Str::plain("namespace"), name, because);
    }
    for tool in group.get("tools").into_iter().flat_map(Value::items) {
        read_tool(tool, Some(&namespace), settings);
    }
}

fn read_choice<'a>(value: Value<'_, 'a>) -> Option<ToolChoice<'a>> {
    let name = |value: Value<'_, 'a>| value.get("name").and_then(|name| name.str());
    match value.str().as_ref().map(Str::decode).as_deref() {
        Some("auto") => Some(ToolChoice::Auto),
        Some("none") => Some(ToolChoice::None),
        Some("required") => Some(ToolChoice::Any),
        Some(_) => None,
        None if value.get("type").is_some_and(|kind| kind.is("allowed_tools")) => {
            let tools = value.get("tools").into_iter().flat_map(Value::items);
            let forced = value.get("mode").is_some_and(|mode| mode.is("required"));
            Some(ToolChoice::Among(tools.filter_map(name).collect(), forced))
        }
        None => Some(ToolChoice::Named(name(value)?)),
    }
}

fn read_format<'a>(value: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let field = Str::plain("text.format");
    match (&*text_of(value, "type").decode(), value.get("schema")) {
        ("json_object", _) => settings.format = Some(Format::Json),
        ("text", _) => return settings.lose_because(field, value, Because::Implied),
        (_, Some(schema)) => {
            settings.format = Some(Format::Schema(
                value.get("name").and_then(|name| name.str()),
                schema.raw().into(),
                value.get("strict").and_then(|strict| strict.bool()),
            ));
        }
        _ => return settings.lose(field, value),
    }
    settings.read_at("format", value);
    settings.lose_others(value, &["type", "name", "schema", "strict"]);
}

/// The fields of this wire.
const FIELDS: &[&str] = &[
    "input",
    "instructions",
    "max_output_tokens",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
];

/// The JSON around names in a choice of tools.
const AROUND: Around = Around {
    function: ("{\"type\":\"function\",\"name\":", "}"),
    allowed: ("{\"type\":\"allowed_tools\",\"mode\":", "]}"),
};

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let settings = &writer.transcript.settings;
    let members = writer.common_settings(out, FIELDS);
    if let Some(most) = settings.max_tokens {
        out.comma().key("max_output_tokens").raw(most);
    }
    if !settings.stop.is_empty() {
        writer.no_word("stop");
    }
    tools(writer, out);
    if let Some(effort) = writer.effort() {
        out.comma().key("reasoning").json("{\"effort\":").string(&effort).json("}");
    }
    out.object("text", |text| {
        crate::lower::members(text, &members);
        match &settings.format {
            Some(Format::Json) => {
                text.comma().key("format").json("{\"type\":\"json_object\"}");
            }
            Some(Format::Schema(name, schema, strict)) => {
                text.comma().key("format").json("{\"type\":\"json_schema\",");
                let schema = (name.as_ref(), schema.clone(), *strict);
                write_schema(writer, text, "text.format.name", schema);
                text.json("}");
            }
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
        out.comma().json("{\"type\":\"function\",\"name\":").string(&tool.name);
        if let Some(text) = &tool.description {
            out.json(",\"description\":").string(text);
        }
        out.json(",\"parameters\":").bytes(tool.schema.unwrap_or(Cow::Borrowed(NO_ARGUMENTS)));
        // The default is strict here, but not on other wires.
        out.json(",\"strict\":").boolean(tool.strict == Some(true)).json("}");
    }
    out.json("]");
    write_choice(writer, out, &AROUND);
}
