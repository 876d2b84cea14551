//! Reads and writes the settings of `generateContent`.

use super::schema::as_json_schema;
use super::spelling::{either, level_of};
use crate::json::{Kind, Out, Str, Value};
use crate::lift::text_of;
use crate::lower::{Because, Members, Writer, list_of_strings};
use crate::settings::{Format, Function, Settings, Tool, ToolChoice, Word, strings};

/// The shared settings and their names on this wire.
const WORDS: [(&str, &str, &str); 8] = [
    ("temperature", "temperature", "temperature"),
    ("top_p", "topP", "top_p"),
    ("top_k", "topK", "top_k"),
    ("seed", "seed", "seed"),
    ("frequency_penalty", "frequencyPenalty", "frequency_penalty"),
    ("presence_penalty", "presencePenalty", "presence_penalty"),
    ("logprobs", "responseLogprobs", "response_logprobs"),
    ("top_logprobs", "logprobs", "logprobs"),
];

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    match WORDS.iter().find(|(neutral, ..)| *neutral == name) {
        Some((_, word, _)) => Word::Member(word),
        None if name == "stream" => Word::Elsewhere,
        None => Word::Absent,
    }
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    for (key, value) in root.entries() {
        match &*key.decode() {
            "contents" | "systemInstruction" | "system_instruction" => {}
            "model" => settings.model = value.str(),
            "tools" => {
                for tool in value.items() {
                    read_tools(tool, &mut settings);
                }
            }
            "toolConfig" | "tool_config" => {
                let config = either(value, "functionCallingConfig", "function_calling_config");
                if let Some(config) = config {
                    read_choice(config, &mut settings);
                }
                let read = ["functionCallingConfig", "function_calling_config"];
                settings.lose_others(value, &read);
            }
            "generationConfig" | "generation_config" => generation(value, &mut settings),
            "safetySettings" | "safety_settings" | "cachedContent" | "cached_content"
            | "labels" => {
                settings.lose(key, value);
            }
            _ if value.is_null() => {}
            _ => settings.unknown.push((key, (value.raw(), value.id()))),
        }
    }
    settings
}

fn generation<'a>(config: Value<'_, 'a>, settings: &mut Settings<'a>) {
    for (key, value) in config.entries().filter(|(_, value)| !value.is_null()) {
        let name = key.decode();
        let shared = WORDS.iter().find(|(_, camel, snake)| [*camel, *snake].contains(&&*name));
        if let Some((neutral, ..)) = shared {
            settings.share(neutral, value);
            continue;
        }
        match &*name {
            "maxOutputTokens" | "max_output_tokens" => settings.limit_answer(&key, value),
            "stopSequences" | "stop_sequences" => settings.take_stops(value),
            "responseMimeType" | "response_mime_type" => {
                if value.is("application/json") {
                    // A schema implies it.
                    let schemas = [
                        either(config, "responseSchema", "response_schema"),
                        either(config, "responseJsonSchema", "response_json_schema"),
                    ];
                    if schemas.iter().any(Option::is_some) {
                        settings.lose_because(key, value, Because::Implied);
                    } else {
                        settings.take_format(Format::Json, value);
                    }
                } else if value.is("text/plain") {
                    settings.lose_because(key, value, Because::Implied);
                } else {
                    settings.lose(key, value);
                }
            }
            "responseSchema"
            | "response_schema"
            | "responseJsonSchema"
            | "response_json_schema" => {
                settings.take_format(Format::Schema(None, as_json_schema(value), None), value);
            }
            "thinkingConfig" | "thinking_config" => {
                let level = either(value, "thinkingLevel", "thinking_level");
                if let Some(level) = level.filter(|level| level.kind() == Kind::String) {
                    let word = level.str().map(|word| word.decode().to_ascii_lowercase());
                    settings.effort = word.map(Str::plain);
                    settings.read_at("effort", level);
                }
                settings.lose_others(value, &["thinkingLevel", "thinking_level"]);
            }
            other => {
                if matches!(other, "mediaResolution" | "media_resolution") {
                    settings.detail = value.str().and_then(|level| level_of(&level));
                }
                settings.lose(Str::plain(format!("generationConfig.{other}")), value);
            }
        }
    }
}

fn read_tools<'a>(tool: Value<'_, 'a>, settings: &mut Settings<'a>) {
    const FUNCTIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];
    let Some(functions) = either(tool, FUNCTIONS[0], FUNCTIONS[1]) else {
        settings.tools.push(Tool::foreign(tool));
        return;
    };
    settings.lose_others(tool, &FUNCTIONS);
    for function in functions.items() {
        let schema = either(function, "parametersJsonSchema", "parameters_json_schema")
            .or_else(|| function.get("parameters"))
            .filter(|schema| schema.kind() == Kind::Object);
        let read =
            ["name", "description", "parametersJsonSchema", "parameters_json_schema", "parameters"];
        settings.lose_others(function, &read);
        let function = Function::read(function, schema.map(as_json_schema));
        settings.tools.push(Tool::Function(Function { strict: None, ..function }));
    }
}

fn read_choice<'a>(config: Value<'_, 'a>, settings: &mut Settings<'a>) {
    let names = either(config, "allowedFunctionNames", "allowed_function_names");
    let mut allowed = names.map(strings).unwrap_or_default();
    let mode = text_of(config, "mode").decode();
    let field = || Str::plain("toolConfig.functionCallingConfig");
    settings.tool_choice = Some(match (&*mode, allowed.len()) {
        ("AUTO" | "MODE_UNSPECIFIED" | "", _) => ToolChoice::Auto,
        ("NONE", _) => ToolChoice::None,
        ("ANY", 0) => ToolChoice::Any,
        ("ANY", 1) => ToolChoice::Named(allowed.remove(0)),
        ("ANY", _) => ToolChoice::Among(allowed, true),
        // Calls or text, and calls that match their schemas.
        ("VALIDATED", names) => {
            settings.lose_because(field(), config, Because::Widened);
            if names == 0 { ToolChoice::Auto } else { ToolChoice::Among(allowed, false) }
        }
        _ => return settings.lose(field(), config),
    });
    settings.read_at("tool_choice", config);
    let known = ["mode", "allowedFunctionNames", "allowed_function_names"];
    settings.lose_others(config, &known);
}

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    let members = writer.common_settings(out, &[]);
    write_generation(writer, out, &members);
    writer.no_parallel();
    let offers = writer.offers();
    if offers.is_empty() {
        return writer.no_tools();
    }
    out.comma().key("tools").json("[{\"functionDeclarations\":[");
    for tool in offers {
        out.comma().json("{\"name\":").string(&tool.name);
        if let Some(text) = &tool.description {
            out.json(",\"description\":").string(text);
        }
        if let Some(schema) = tool.schema {
            out.json(",\"parametersJsonSchema\":").bytes(schema);
        }
        out.json("}");
    }
    out.json("]}]");
    let Some(choice) = writer.tool_choice() else { return };
    out.comma().key("toolConfig").json("{\"functionCallingConfig\":{\"mode\":");
    let mut among = |names: &[Str<'a>]| {
        out.json("\"ANY\",\"allowedFunctionNames\":");
        list_of_strings(out, names);
    };
    match choice {
        ToolChoice::Named(name) => among(&[name]),
        ToolChoice::Among(names, _) => among(&names),
        ToolChoice::Auto => {
            out.json("\"AUTO\"");
        }
        ToolChoice::None => {
            out.json("\"NONE\"");
        }
        ToolChoice::Any => {
            out.json("\"ANY\"");
        }
    }
    out.json("}}");
}

fn write_generation<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>, members: &Members<'a>) {
    let settings = &writer.transcript.settings;
    out.object("generationConfig", |config| {
        crate::lower::members(config, members);
        if let Some(most) = settings.max_tokens {
            config.comma().key("maxOutputTokens").raw(most);
        }
        writer.stops(config, "stopSequences");
        if let Some(effort) = writer.effort() {
            config.comma().key("thinkingConfig").json("{\"thinkingLevel\":").string(&effort);
            config.json("}");
        }
        if let Some(format) = &settings.format {
            config.comma().key("responseMimeType").json("\"application/json\"");
            if let Format::Schema(_, schema, _) = format {
                writer.bare_format();
                config.json(",\"responseJsonSchema\":").bytes(schema.clone());
            }
        }
    });
}
