//! What the model would do next: call a tool, or answer from what it sees.
//!
//! Owns the script. The pixels are read by `chart`; which of them the model may see was decided
//! before.

use photic::Wire;
use photic_pixels::geometry::Rect;
use photic_testkit::oracle::{Image, Seen, Slot, Source};
use serde_json::{Map, Value, json};

use crate::chart::{Chart, ChartReading, Code, read_chart};
use crate::reply::{Call, Said};
use crate::screen::{Glimpse, glimpse};
use crate::service::service;

/// A tool whose name holds one of these can show something.
const SHOWING: [&str; 3] = ["screenshot", "view", "look"];
/// A user who says one of these words asks for it. They stand in no notice of `photic` or of other
/// gateways that is put into the user role: a hoisted image must not look like a new question.
const ASKING: [&str; 4] = ["look", "screenshot", "show", "view"];
/// A user who says one of these asks for two calls at once.
const TWICE: [&str; 2] = ["both", "twice"];

/// What stands between the name of a tool and its arguments where the user says what to call.
const WITH: &str = " with {";

/// How the description of a frame begins; where it is follows.
const FRAMED: &str = "a frame around something too small to read, at ";

/// What is in an image, as the journal and the answer put it.
pub(crate) enum Described {
    /// These words.
    Words(String),
    /// It cannot be decoded: the request is turned down.
    Unreadable,
}

/// Decodes an image.
pub(crate) fn describe(image: &Image) -> Described {
    let bytes = match &image.source {
        Source::Inline(bytes) => bytes,
        // This provider connects to nobody.
        Source::Remote(_) | Source::File(_) => return Described::Words("not fetched".to_owned()),
    };
    match read_chart(bytes) {
        Ok(ChartReading::Chart(chart)) => Described::Words(chart.words()),
        Ok(ChartReading::Code(code)) => Described::Words(format!("the code {}", code.text())),
        Ok(ChartReading::Other) => Described::Words(match glimpse(bytes) {
            Ok(Glimpse::Number(number)) => format!("the number {number}"),
            Ok(Glimpse::Frame(Rect { x, y, width, height })) => {
                format!("{FRAMED}{x},{y},{width},{height}")
            }
            Ok(Glimpse::Nothing) | Err(_) => "not a chart".to_owned(),
        }),
        Err(_) => Described::Unreadable,
    }
}

/// The call that looks closer, if the last picture holds a frame around something too small and
/// the words before it tell where in which original it stands: `page.png: 3840x2160 px, …, scale
/// 0.408`.
pub(crate) fn closer(
    wire: Wire,
    body: &Value,
    seen: &Seen,
    said: &str,
    number: u64,
) -> Option<Said> {
    let framed = four(said.strip_prefix(FRAMED)?)?;
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
    Some(Said::Calls(vec![Call { id, name, arguments }]))
}

/// Four numbers at the beginning of a text.
fn four(text: &str) -> Option<[u32; 4]> {
    let numbers = text.split(',').take(4);
    let number = |text: &str| {
        let digits = text.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    let numbers: Option<Vec<u32>> = numbers.map(number).collect();
    numbers?.try_into().ok()
}

fn id(wire: Wire, number: u64, index: usize) -> String {
    let prefix = service(wire).facts().call_prefix;
    format!("{prefix}_mock{number:08}_{index}")
}

/// An answer that would fit what the user asks for, and has nothing to do with any picture.
pub(crate) fn made_up(seen: &Seen, number: u64) -> String {
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

/// `image 1: red, blue / green, yellow; image 2: …`
pub(crate) fn answer(descriptions: &[String]) -> String {
    if descriptions.is_empty() {
        return "I see no image.".to_owned();
    }
    let one = |(index, words): (usize, &String)| format!("image {}: {words}", index + 1);
    descriptions.iter().enumerate().map(one).collect::<Vec<_>>().join("; ")
}

/// The calls to make first, if the user asks to look, a tool can, and none has yet; or those that
/// the user spells out.
pub(crate) fn calls(wire: Wire, body: &Value, seen: &Seen, number: u64) -> Option<Said> {
    let users = seen.texts.iter().filter(|text| text.slot == Slot::User);
    let questions = users.filter_map(|text| {
        let spelled = spelled_out(&text.text, body);
        let asks = !spelled.is_empty() || says(&text.text, &ASKING);
        asks.then_some((text, spelled))
    });
    // The last; and of the texts of one message the one that is clearest.
    let (question, spelled) =
        questions.max_by_key(|(text, spelled)| (unit(&text.pointer), spelled.len()))?;
    let asked_at = unit(&question.pointer);
    if seen.results.iter().any(|result| unit(&result.pointer) > asked_at) {
        return None;
    }
    let id = |index| id(wire, number, index);
    if !spelled.is_empty() {
        let call = |((name, arguments), index)| Call { id: id(index), name, arguments };
        return Some(Said::Calls(spelled.into_iter().zip(1..).map(call).collect()));
    }
    let (name, schema) = tool(body)?;
    let one_only = body["parallel_tool_calls"] == false
        || body["tool_choice"]["disable_parallel_tool_use"] == true;
    let count = if says(&question.text, &TWICE) && !one_only { 2 } else { 1 };
    let call =
        |index| Call { id: id(index), name: name.clone(), arguments: arguments(&schema, index) };
    Some(Said::Calls((1..=count).map(call).collect()))
}

/// The tools on offer, whatever they are wrapped in.
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

/// The position in the list of messages or items that a pointer leads into; none before the list.
pub(crate) fn unit(pointer: &str) -> Option<usize> {
    let mut steps = pointer.split('/').skip(1);
    match (steps.next()?, steps.next()) {
        ("messages" | "input" | "contents", Some(index)) => index.parse().ok(),
        // An input that is one string.
        ("input", None) => Some(0),
        _ => None,
    }
}

/// The offered tools that a user names with arguments: `call Read with {"file": "a.png"}`.
fn spelled_out(text: &str, body: &Value) -> Vec<(String, Value)> {
    let offered = |name: &str| offered(body).iter().any(|tool| tool["name"] == name);
    let call = |(at, _): (usize, &str)| {
        let name = text[..at].rsplit(char::is_whitespace).next()?;
        let rest = &text[at + WITH.len() - 1..];
        let arguments =
            serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        offered(name).then(|| (name.to_owned(), arguments))
    };
    text.match_indices(WITH).filter_map(call).collect()
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
        let shows = SHOWING.iter().any(|word| lower.contains(word));
        shows.then(|| (name.to_owned(), schema.cloned().unwrap_or_default()))
    })
}

/// Arguments that fit a schema, and depend on nothing but the number of the call.
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

/// Whether one of the words stands in a text, other than in a name: where a client tells which tool
/// an image came from, nobody asks for another.
fn says(text: &str, words: &[&str]) -> bool {
    let mut said = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    said.any(|word| words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
}
