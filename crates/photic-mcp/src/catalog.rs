//! The tools as hosts list them: names, descriptions, schemas and hints, in a fixed order.
//!
//! Descriptions are short, because they are part of every request of every conversation.

use std::fmt::Write as _;
use std::sync::Arc;

use photic_tools::{
    InspectArguments, Perception, ReadArguments, Refusal, RefusalCode, ViewArguments,
};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::facts::{InspectOutput, ProbeOutput, ReadOutput, ViewOutput};
use crate::schema::{plain, with_property};

const VIEW: &str = "\
See a picture, or a page of a drawing, document, notebook or text, as pixels. The words before it \
tell the scale and warn of letters too small to read: then view again with `region`, which is read \
or drawn anew. For the words of a text file, `read`.";
const READ: &str = "\
Read a text file, or some of its lines. Never returns pixels: pictures are for `view`.";
const INSPECT: &str = "\
Ask another model about a picture and get words. Cheaper than `view`, but second-hand: look \
yourself where it matters.";
const PROBE: &str = "\
Prove whether pictures that tools return reach you. Call it without arguments, then again with \
what you saw.";

/// Arguments of `probe`: none for a new chart, then all three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeArguments {
    /// The name of the challenge that is answered; nothing to begin
    pub(crate) challenge: Option<String>,
    /// The colors seen, row by row; or that no image arrived
    pub(crate) answer: Option<String>,
    /// Colors guessed for the hidden chart, row by row
    pub(crate) control: Option<String>,
}

/// Form of a view in the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReturnMode {
    /// As a picture.
    #[default]
    Inline,
    /// As facts only, with the handle for looking later.
    Ref,
}

/// Returns the tools in their fixed order.
pub(crate) fn tools(structured: bool) -> Vec<Tool> {
    let view = with_property(
        plain::<ViewArguments>(),
        "return",
        json!({
            "type": "string",
            "enum": ["inline", "ref"],
            "description": "`inline`: the picture; `ref`: its facts only, to look later",
        }),
    );
    let closed = |title: &str| {
        ToolAnnotations::with_title(title).read_only(true).idempotent(true).open_world(false)
    };
    let tools = [
        ("view", VIEW, view, plain::<ViewOutput>(), closed("Look at a picture")),
        ("read", READ, plain::<ReadArguments>(), plain::<ReadOutput>(), closed("Read a text file")),
        (
            "inspect",
            INSPECT,
            plain::<InspectArguments>(),
            plain::<InspectOutput>(),
            closed("Ask a model about a picture").open_world(true),
        ),
        (
            "probe",
            PROBE,
            plain::<ProbeArguments>(),
            plain::<ProbeOutput>(),
            closed("Prove that pictures arrive").idempotent(false),
        ),
    ];
    let tool = |(name, words, input, output, hints): (_, _, _, _, ToolAnnotations)| {
        let title = hints.title.clone().unwrap_or_default();
        let tool = Tool::new::<&str, &str, _>(name, words, Arc::new(input))
            .with_title(title)
            .with_annotations(hints.destructive(false));
        if structured { tool.with_raw_output_schema(Arc::new(output)) } else { tool }
    };
    tools.into_iter().map(tool).collect()
}

/// Removes `return` from the arguments of `view`. It belongs to the protocol, not to the view.
pub(crate) fn take_return(mut arguments: JsonObject) -> Result<(JsonObject, ReturnMode), Refusal> {
    let returns = match arguments.shift_remove("return") {
        None | Some(Value::Null) => ReturnMode::default(),
        Some(Value::String(name)) if name == "inline" => ReturnMode::Inline,
        Some(Value::String(name)) if name == "ref" => ReturnMode::Ref,
        Some(_) => {
            return Err(Refusal::new(
                RefusalCode::BadArguments,
                "`return` is neither `inline` nor `ref`",
                "leave it out to see the picture",
            ));
        }
    };
    Ok((arguments, returns))
}

/// Returns the text that replaces a picture that was not requested.
pub(crate) fn not_shown(seen: &Perception) -> String {
    format!("{}\nnot shown; you have not seen it", seen.label)
}

/// Returns the documentation of the tools.
pub fn reference() -> String {
    let mut page = String::new();
    for tool in tools(true) {
        let description = tool.description.unwrap_or_default();
        let _ = write!(page, "### `{}`\n\n{description}\n\n", tool.name);
        page += "| argument | type | |\n|---|---|---|\n";
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let must = required.is_some_and(|names| names.iter().any(|one| one == name));
            let must = if must { "**required** " } else { "" };
            let kind = property["type"].as_str().unwrap_or_default();
            let told = property["description"].as_str().unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {kind} | {must}{told} |");
        }
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests;
