//! Decides what the model does: call a tool, or answer from what it sees.
//!
//! Which images the model sees was decided before.

use photic::Wire;
use photic_pixels::geometry::Rect;
use photic_testkit::oracle::{Image, Seen, Slot, Source};
use serde_json::{Map, Value, json};

use crate::reply::{Call, ReplyContent};
use crate::screen::{ScreenContent, read_screen};
use crate::service::service;
use photic_pixels::chart::{Chart, ChartReading, Code, read_chart};

/// Tools whose name contains one of these can show something.
const SHOWING_TOOLS: [&str; 3] = ["screenshot", "view", "look"];
/// Words with which a user asks to look. No notice of `photic` or other gateways in the user
/// role contains them: a hoisted image must not look like a new question.
const ASKING_WORDS: [&str; 4] = ["look", "screenshot", "show", "view"];
/// Words with which a user asks for two parallel calls.
const TWICE_WORDS: [&str; 2] = ["both", "twice"];

/// Separates the name of a tool from its arguments if the user spells out a call.
const CALL_SEPARATOR: &str = " with {";

/// Prefix of the description of a frame; its position follows.
const FRAME_PREFIX: &str = "a frame around something too small to read, at ";

/// The description of an image.
pub(crate) enum ImageDescription {
    /// This text.
    Words(String),
    /// It cannot be decoded: the request is rejected.
    Unreadable,
}

/// Decodes and describes an image.
pub(crate) fn describe(image: &Image) -> ImageDescription {
    let bytes = match &image.source {
        Source::Inline(bytes) => bytes,
        // This provider opens no connections.
        Source::Remote(_) | Source::File(_) => {
            return ImageDescription::Words("not fetched".to_owned());
        }
    };
    match read_chart(bytes) {
        Ok(ChartReading::Chart(chart)) => ImageDescription::Words(chart.words()),
        Ok(ChartReading::Code(code)) => {
            ImageDescription::Words(format!("the code {}", code.text()))
        }
        Ok(ChartReading::Other) => ImageDescription::Words(match read_screen(bytes) {
            Ok(ScreenContent::Number(number)) => format!("the number {number}"),
            Ok(ScreenContent::Frame(Rect { x, y, width, height })) => {
                format!("{FRAME_PREFIX}{x},{y},{width},{height}")
            }
            Ok(ScreenContent::Nothing) | Err(_) => "not a chart".to_owned(),
        }),
        Err(_) => ImageDescription::Unreadable,
    }
}

/// The call that zooms in, if the last picture contains a frame around something too small and the
/// text before it names the original and the scale: `page.png: 3840x2160 px, …, scale 0.408`.
pub(crate) fn closer(
    wire: Wire,
    body: &Value,
    seen: &Seen,
    said: &str,
    number: u64,
) -> Option<ReplyContent> {
    let framed = four(said.strip_prefix(FRAME_PREFIX)?)?;
    let mut results = seen.texts.iter().filter(|text| text.slot == Slot::ToolResult);
    let label = results.rfind(|text| text.text.contains(", scale "))?;
    let label = label.text.lines().find(|line| line.contains(", scale "))?;
    let source = label.split_once(": ")?.0;
    let after = |words: &str| label.split_once(words).map(|(_, rest)| rest);
    let scale: f64 = after(", scale ")?.split([':', ';', ' ']).next()?.parse().ok()?;
    let corner = after(", region ").and_then(four).unwrap_or_default();
    let there = |at: u32, from: u32| from + (f64::from(at) / scale).round() as u32;
    let [x, y, width, height] = framed;
    let (x, y) = (there(x, corner[0]), there(y, corner[1]));
    let region = format!("{x},{y},{},{}", there(width, 0), there(height, 0));
    let (name, schema) = tool(body)?;
    schema["properties"].get("region")?;
    let id = id(wire, number, 1);
    let arguments = json!({"source": source, "region": region});
    Some(ReplyContent::Calls(vec![Call { id, name, arguments }]))
}

/// The four numbers at the start of a text.
fn four(text: &str) -> Option<[u32; 4]> {
    let numbers = text.split(',').take(4);
    let number = |text: &str| {
        let digits = text.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    let numbers: Option<Vec<u32>> = numbers.map(number).collect();
    numbers?.try_into().ok()
}

/// The ID of a call.
fn id(wire: Wire, number: u64, index: usize) -> String {
    let prefix = service(wire).facts().call_prefix;
    format!("{prefix}_mock{number:08}_{index}")
}

/// An invented answer that fits the question, but no picture.
pub(crate) fn invented(seen: &Seen, number: u64) -> String {
    let users = seen.texts.iter().filter(|text| text.slot == Slot::User);
    let numbers = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_digit());
        words.filter_map(|word| word.parse::<usize>().ok()).collect::<Vec<_>>()
    };
    let fitting = |text: &str| match numbers(text)[..] {
        [rows, columns] if text.contains(" rows and ") => {
            Some(Chart::grid(number, rows, columns).words())
        }
        [length] if text.contains(" characters ") => {
            Some(Code::of(number, length).text().to_owned())
        }
        _ => None,
    };
    let fitting = users.rev().find_map(|text| fitting(&text.text));
    fitting.unwrap_or_else(|| Chart::of(number).words())
}

/// The answer: `image 1: red, blue / green, yellow; image 2: …`.
pub(crate) fn answer(descriptions: &[String]) -> String {
    if descriptions.is_empty() {
        return "I see no image.".to_owned();
    }
    let one = |(index, words): (usize, &String)| format!("image {}: {words}", index + 1);
    descriptions.iter().enumerate().map(one).collect::<Vec<_>>().join("; ")
}

/// The calls to make first: if the user asks to look, a tool can, and none was called yet; or those
/// that the user spells out.
pub(crate) fn calls(wire: Wire, body: &Value, seen: &Seen, number: u64) -> Option<ReplyContent> {
    let users = seen.texts.iter().filter(|text| text.slot == Slot::User);
    let questions = users.filter_map(|text| {
        let spelled = spelled_out(&text.text, body);
        let asks = !spelled.is_empty() || says(&text.text, &ASKING_WORDS);
        asks.then_some((text, spelled))
    });
    // The last question; of several texts in one message, the clearest one.
    let (question, spelled) =
        questions.max_by_key(|(text, spelled)| (unit(&text.pointer), spelled.len()))?;
    let asked_at = unit(&question.pointer);
    if seen.results.iter().any(|result| unit(&result.pointer) > asked_at) {
        return None;
    }
    let id = |index| id(wire, number, index);
    if !spelled.is_empty() {
        let call = |((name, arguments), index)| Call { id: id(index), name, arguments };
        return Some(ReplyContent::Calls(spelled.into_iter().zip(1..).map(call).collect()));
    }
    let (name, schema) = tool(body)?;
    let one_only = body["parallel_tool_calls"] == false
        || body["tool_choice"]["disable_parallel_tool_use"] == true;
    let count = if says(&question.text, &TWICE_WORDS) && !one_only { 2 } else { 1 };
    let call =
        |index| Call { id: id(index), name: name.clone(), arguments: arguments(&schema, index) };
    Some(ReplyContent::Calls((1..=count).map(call).collect()))
}

/// The offered tools, in the form of any wire.
fn offered(body: &Value) -> Vec<&Value> {
    let lists = [&body["tools"], &body["toolConfig"]["tools"]];
    let tools = lists.into_iter().filter_map(Value::as_array).flatten();
    tools
        .flat_map(|tool| match tool["functionDeclarations"].as_array() {
            Some(functions) => functions.iter().collect(),
            None => vec![tool.get("function").or_else(|| tool.get("toolSpec")).unwrap_or(tool)],
        })
        .collect()
}

/// The index of the message or item that a pointer leads into; `None` before the list.
pub(crate) fn unit(pointer: &str) -> Option<usize> {
    let mut steps = pointer.split('/').skip(1);
    match (steps.next()?, steps.next()) {
        ("messages" | "input" | "contents", Some(index)) => index.parse().ok(),
        // The input is one string.
        ("input", None) => Some(0),
        _ => None,
    }
}

/// The calls that a user spells out: `call Read with {"file": "a.png"}`.
fn spelled_out(text: &str, body: &Value) -> Vec<(String, Value)> {
    let offered = |name: &str| offered(body).iter().any(|tool| tool["name"] == name);
    let call = |(at, _): (usize, &str)| {
        let name = text[..at].rsplit(char::is_whitespace).next()?;
        let rest = &text[at + CALL_SEPARATOR.len() - 1..];
        let arguments =
            serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        offered(name).then(|| (name.to_owned(), arguments))
    };
    text.match_indices(CALL_SEPARATOR).filter_map(call).collect()
}

/// The offered tool that can show something, with the schema of its arguments.
fn tool(body: &Value) -> Option<(String, Value)> {
    if body["tool_choice"] == "none" || body["tool_choice"]["type"] == "none" {
        return None;
    }
    offered(body).into_iter().find_map(|tool| {
        let name = tool["name"].as_str()?;
        let lower = name.to_ascii_lowercase();
        let spellings =
            ["parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"];
        let schema = spellings.iter().find_map(|name| tool.get(*name));
        let schema = schema.or_else(|| tool["inputSchema"].get("json"));
        let shows = SHOWING_TOOLS.iter().any(|word| lower.contains(word));
        shows.then(|| (name.to_owned(), schema.cloned().unwrap_or_default()))
    })
}

/// Arguments that match a schema; they depend only on the number of the call.
fn arguments(schema: &Value, index: usize) -> Value {
    let Some(properties) = schema["properties"].as_object() else { return json!({}) };
    let required = schema["required"].as_array();
    let wanted = |name: &&String| {
        required.is_none_or(|required| required.iter().any(|one| one == name.as_str()))
    };
    let value = |name: &String| {
        let property = &properties[name];
        let value = match (&property["enum"][0], property["type"].as_str()) {
            (Value::Null, Some("integer" | "number")) => json!(index),
            (Value::Null, Some("boolean")) => json!(true),
            (Value::Null, Some("array")) => json!([]),
            (Value::Null, Some("object")) => json!({}),
            (Value::Null, _) => json!(format!("item {index}")),
            (first, _) => first.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(properties.keys().filter(wanted).map(value).collect::<Map<_, _>>())
}

/// Returns `true` if a text contains one of the words outside of names: naming the tool of an image
/// is not a question.
fn says(text: &str, words: &[&str]) -> bool {
    let mut said = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    said.any(|word| words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
}
