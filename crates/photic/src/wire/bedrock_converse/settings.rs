//! Reads and writes the settings of `Converse`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::json::{Out, Str, Value};
use crate::lower::{ANY_OBJECT, Members, Step, Writer};
use crate::settings::{Function, Settings, Tool, ToolChoice, Word};

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    match name {
        "temperature" => Word::Member("temperature"),
        "top_p" => Word::Member("topP"),
        "stream" => Word::Elsewhere,
        _ => Word::Absent,
    }
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    for (key, value) in root.entries() {
        match &*key.decode() {
            "messages" | "system" => {}
            "modelId" => settings.model = value.str(),
            "inferenceConfig" => inference(value, &mut settings),
            "toolConfig" => {
                for tool in value.get("tools").into_iter().flat_map(Value::items) {
                    read_tool(tool, &mut settings);
                }
                if let Some(choice) = value.get("toolChoice") {
                    read_choice(choice, &mut settings);
                }
                settings.lose_others(value, &["tools", "toolChoice"]);
            }
            "additionalModelRequestFields" => {
                // Sent there because this wire has no field for it.
                if let Some(top_k) = value.get("top_k") {
                    settings.share("top_k", top_k);
                }
                settings.lose_others(value, &["top_k"]);
            }
            "additionalModelResponseFieldPaths"
            | "guardrailConfig"
            | "outputConfig"
            | "performanceConfig"
            | "promptVariables"
            | "requestMetadata"
            | "serviceTier" => settings.lose(key, value),
            _ if value.is_null() => {}
            _ => settings.unknown.push((key, (value.raw(), value.id()))),
        }
    }
    settings
}

fn inference<'a>(config: Value<'_, 'a>, settings: &mut Settings<'a>) {
    for (key, value) in config.entries().filter(|(_, value)| !value.is_null()) {
        match &*key.decode() {
            "temperature" => settings.share("temperature", value),
            "topP" => settings.share("top_p", value),
            "maxTokens" => settings.limit_answer(&key, value),
            "stopSequences" => settings.take_stops(value),
            other => settings.lose(Str::plain(format!("inferenceConfig.{other}")), value),
        }
    }
}

/// Reads a tool. Cache breakpoints in the list of tools are not tools.
fn read_tool<'a>(tool: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let Some(spec) = tool.get("toolSpec") else {
        settings.tools.push(Tool::foreign(tool));
        return;
    };
    settings.lose_others(tool, &["toolSpec"]);
    settings.lose_others(spec, &["name", "description", "inputSchema", "strict"]);
    let schema = spec.get("inputSchema").and_then(|schema| schema.get("json"));
    let schema = schema.map(|schema| schema.raw().into());
    settings.tools.push(Tool::Function(Function::read(spec, schema)));
}

fn read_choice<'a>(choice: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let name = choice.get("tool").and_then(|tool| tool.get("name")?.str());
    let read = if choice.get("auto").is_some() {
        Some(ToolChoice::Auto)
    } else if choice.get("any").is_some() {
        Some(ToolChoice::Any)
    } else {
        name.map(ToolChoice::Named)
    };
    settings.take_choice(Str::plain("toolConfig.toolChoice"), choice, read);
}

/// The fields of this wire.
const FIELDS: &[&str] = &["messages", "system", "inferenceConfig", "toolConfig", "modelId"];

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>, steps: &[Step<'a>]) {
    let members = writer.common_settings(out, FIELDS);
    write_inference(writer, out, &members);
    tools(writer, out, steps);
    writer.effort();
    if writer.transcript.settings.format.is_some() {
        writer.no_word("format");
    }
    writer.no_parallel();
}

fn write_inference<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>, members: &Members<'a>) {
    let settings = &writer.transcript.settings;
    out.object("inferenceConfig", |config| {
        if let Some(most) = settings.max_tokens {
            config.comma().key("maxTokens").raw(most);
        }
        crate::lower::members(config, members);
        writer.stops(config, "stopSequences");
    });
}

fn tools<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>, steps: &[Step<'a>]) {
    let offers = writer.offers();
    // A history with calls is refused unless tools are declared. Then the called tools are
    // declared.
    let called: BTreeSet<String> = steps
        .iter()
        .flat_map(|step| step.message.calls())
        .map(|call| call.name.decode().into_owned())
        .collect();
    if offers.is_empty() && called.is_empty() {
        return writer.no_tools();
    }
    out.comma().key("toolConfig").json("{\"tools\":[");
    let is_bare = offers.is_empty();
    for tool in offers {
        out.comma().json("{\"toolSpec\":{\"name\":").string(&tool.name);
        // An empty description is refused.
        if let Some(text) = tool.description.as_ref().filter(|text| !text.is_empty()) {
            out.json(",\"description\":").string(text);
        }
        let schema = tool.schema.unwrap_or(Cow::Borrowed(ANY_OBJECT));
        out.json(",\"inputSchema\":{\"json\":").bytes(schema).json("}");
        if let Some(strict) = tool.strict {
            out.json(",\"strict\":").boolean(strict);
        }
        out.json("}}");
    }
    for name in called.iter().filter(|_| is_bare) {
        out.comma().json("{\"toolSpec\":{\"name\":").quoted(name);
        out.json(",\"inputSchema\":{\"json\":").raw(ANY_OBJECT).json("}}}");
    }
    if is_bare {
        writer.add("toolConfig.tools");
        writer.no_tools();
    }
    out.json("]");
    let choice = if is_bare { None } else { writer.tool_choice() };
    match choice {
        Some(ToolChoice::Auto | ToolChoice::Among(..)) => {
            out.json(",\"toolChoice\":{\"auto\":{}}");
        }
        Some(ToolChoice::Any) => {
            out.json(",\"toolChoice\":{\"any\":{}}");
        }
        Some(ToolChoice::Named(name)) => {
            out.json(",\"toolChoice\":{\"tool\":{\"name\":").string(&name).json("}}");
        }
        // This wire has no choice for "no tool".
        Some(ToolChoice::None) => writer.no_word("tool_choice"),
        None => {}
    }
    out.json("}");
}
