//! Reads and writes the settings of `/api/chat`.

use crate::json::{Kind, Out, Str, Value};
use crate::lower::{Because, Members, Writer};
use crate::settings::{Format, Function, Settings, Tool, ToolChoice, Word};

/// The shared settings among the options, and their names there.
const OPTIONS: [(&str, &str); 8] = [
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("min_p", "min_p"),
    ("seed", "seed"),
    ("frequency_penalty", "frequency_penalty"),
    ("presence_penalty", "presence_penalty"),
    ("repetition_penalty", "repeat_penalty"),
];

/// Fields of this wire that no other wire can express.
const OWN: &[&str] = &["keep_alive", "truncate", "shift", "template"];

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    match OPTIONS.iter().find(|(neutral, _)| *neutral == name) {
        Some((_, word)) => Word::Member(word),
        None => match name {
            "logprobs" => Word::Field("logprobs"),
            "top_logprobs" => Word::Field("top_logprobs"),
            "stream" => Word::Elsewhere,
            _ => Word::Absent,
        },
    }
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    // Unlike other wires, this one streams by default.
    if root.get("stream").is_none() {
        settings.shared.push(("stream", b"true"));
    }
    for (key, value) in root.entries() {
        match &*key.decode() {
            "model" => settings.model = value.str(),
            "tools" => {
                for tool in value.items() {
                    read_tool(tool, &mut settings);
                }
            }
            "options" => options(value, &mut settings),
            "format" if value.is("json") => settings.take_format(Format::Json, value),
            "format" if value.kind() == Kind::Object => {
                settings.take_format(Format::Schema(None, value.raw().into(), None), value);
            }
            "format" if value.is("") => settings.lose_because(key, value, Because::Implied),
            "think" if value.kind() == Kind::String => settings.take_effort(value),
            "format" | "think" => settings.lose(key, value),
            "messages" => {}
            _ => settings.other_field(key, value, OWN),
        }
    }
    settings
}

fn options<'a>(options: Value<'_, 'a>, settings: &mut Settings<'a>) {
    for (key, value) in options.entries().filter(|(_, value)| !value.is_null()) {
        let name = key.decode();
        if let Some((neutral, _)) = OPTIONS.iter().find(|(_, word)| *word == name) {
            settings.share(neutral, value);
            continue;
        }
        match &*name {
            // A negative number means no limit.
            "num_predict" if value.u64().is_some() => settings.limit_answer(&key, value),
            "stop" => settings.take_stops(value),
            other => settings.lose(Str::plain(format!("options.{other}")), value),
        }
    }
}

fn read_tool<'a>(tool: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let Some(function) = tool.get("function").filter(|function| function.get("name").is_some())
    else {
        settings.tools.push(Tool::foreign(tool));
        return;
    };
    settings.lose_others(tool, &["type", "function"]);
    settings.lose_others(function, &["name", "description", "parameters"]);
    let schema = function.get("parameters").map(|schema| schema.raw().into());
    let function = Function::read(function, schema);
    settings.tools.push(Tool::Function(Function { strict: None, ..function }));
}

/// The fields of this wire.
const FIELDS: &[&str] = &["messages", "tools", "format", "options", "think", "keep_alive"];

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let members = writer.common_settings(out, FIELDS);
    let settings = &writer.transcript.settings;
    // The default would be a stream.
    out.comma().key("stream").raw(settings.shared("stream").unwrap_or(b"false"));
    write_options(writer, out, &members);
    match &settings.format {
        Some(Format::Json) => {
            out.comma().key("format").json("\"json\"");
        }
        Some(Format::Schema(_, schema, _)) => {
            writer.bare_format();
            out.comma().key("format").bytes(schema.clone());
        }
        None => {}
    }
    if let Some(effort) = writer.effort() {
        out.comma().key("think").string(&effort);
    }
    writer.no_parallel();
    tools(writer, out);
}

fn tools<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    if writer.transcript.settings.functions().next().is_none() {
        return writer.no_tools();
    }
    // Tools that must not be called are not offered. The wire cannot express other choices.
    match writer.tool_choice() {
        Some(ToolChoice::None) => return writer.withhold_tools(),
        Some(ToolChoice::Auto) => writer.omit_setting("tool_choice", Because::Implied),
        Some(ToolChoice::Any | ToolChoice::Named(_) | ToolChoice::Among(..)) => {
            writer.no_word("tool_choice");
        }
        None => {}
    }
    out.comma().key("tools").json("[");
    for tool in writer.offers() {
        out.comma().json("{\"type\":\"function\",\"function\":{\"name\":").string(&tool.name);
        if let Some(text) = &tool.description {
            out.json(",\"description\":").string(text);
        }
        if let Some(schema) = tool.schema {
            out.json(",\"parameters\":").bytes(schema);
        }
        out.json("}}");
    }
    out.json("]");
}

fn write_options<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>, members: &Members<'a>) {
    let settings = &writer.transcript.settings;
    out.object("options", |options| {
        crate::lower::members(options, members);
        if let Some(most) = settings.max_tokens {
            options.comma().key("num_predict").raw(most);
        }
        writer.stops(options, "stop");
    });
}
