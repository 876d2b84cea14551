//! The tools as hosts list them: names, descriptions, schemas and hints, in a fixed order.
//!
//! Descriptions are short, because they are part of every request of every conversation.

use std::fmt::Write as _;
use std::sync::Arc;

use photic_tools::{
    Capability, InspectArguments, ListArguments, Perception, ReadArguments, Refusal, RefusalCode,
    Tools, ViewArguments,
};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::facts::{ProbeOutput, ViewOutput};
use crate::schema::{described, plain, with_property};

const LIST: &str = "\
List files and folders, with their type and size, and the width and height of pictures. A listed \
path is what the other tools take.";
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

/// The capabilities that decide what is offered. A model is not told of what cannot work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Set if `inspect` has a model, and its key.
    pub(crate) inspect: bool,
    /// Set if views carry handles.
    pub(crate) handles: bool,
    /// Set if addresses are fetched.
    pub(crate) addresses: bool,
}

impl Offer {
    /// Everything that `photic mcp` can offer, for its documentation. It fetches no addresses.
    const DOCUMENTED: Self = Self { inspect: true, handles: true, addresses: false };

    /// Returns what these tools can do.
    pub(crate) fn of(tools: &Tools) -> Self {
        let given = tools.capabilities();
        Self {
            inspect: tools.asked().is_ok(),
            handles: given.contains(&Capability::Store),
            addresses: given.contains(&Capability::Net),
        }
    }

    /// Adds the sources that can be opened here to the description of `source`.
    fn sources(self, schema: JsonObject) -> JsonObject {
        let mut more = String::new();
        if self.handles {
            more += ", or a handle (`img_…`) from an earlier view";
        }
        if self.addresses {
            more += ", or an `https` address";
        }
        described(schema, "source", &more)
    }
}

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

/// A tool before it is listed: name, description, input and output schema, hints.
type DescribedTool = (&'static str, &'static str, JsonObject, Option<JsonObject>, ToolAnnotations);

/// Returns the tools in their fixed order.
///
/// Output schemas are only for tools whose data is not their text: the text of `list`, `read` and
/// `inspect` is sent once, as text.
pub(crate) fn tools(offer: Offer, structured: bool) -> Vec<Tool> {
    let mut view = offer.sources(plain::<ViewArguments>());
    if offer.handles {
        let choice = json!({
            "type": "string",
            "enum": ["inline", "ref"],
            "description": "`inline`: the picture; `ref`: its facts only, to look later",
        });
        view = with_property(view, "return", choice);
    }
    let closed = |title: &str| {
        ToolAnnotations::with_title(title).read_only(true).idempotent(true).open_world(false)
    };
    let tools = [
        ("list", LIST, plain::<ListArguments>(), None, closed("List files")),
        ("view", VIEW, view, Some(plain::<ViewOutput>()), closed("Look at a picture")),
        ("read", READ, plain::<ReadArguments>(), None, closed("Read a text file")),
        (
            "inspect",
            INSPECT,
            offer.sources(plain::<InspectArguments>()),
            None,
            closed("Ask a model about a picture").open_world(true),
        ),
        (
            "probe",
            PROBE,
            plain::<ProbeArguments>(),
            Some(plain::<ProbeOutput>()),
            closed("Prove that pictures arrive").idempotent(false),
        ),
    ];
    let tool = |(name, words, input, output, hints): DescribedTool| {
        let title = hints.title.clone().unwrap_or_default();
        let tool = Tool::new::<&str, &str, _>(name, words, Arc::new(input))
            .with_title(title)
            .with_annotations(hints.destructive(false));
        match output.filter(|_| structured) {
            Some(output) => tool.with_raw_output_schema(Arc::new(output)),
            None => tool,
        }
    };
    let offered = |(name, ..): &DescribedTool| offer.inspect || *name != "inspect";
    tools.into_iter().filter(offered).map(tool).collect()
}

/// Returns whether the data of a tool may be sent as structured content.
///
/// Hosts show structured content instead of the text, or beside it. A text that stands in both costs
/// its tokens twice, and without the text in it, a host that shows nothing else would lose it. So
/// tools whose result is a text send text alone, and what is known about it in `_meta`.
pub(crate) fn has_structured_content(tool: &str) -> bool {
    matches!(tool, "view" | "probe")
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
    for tool in tools(Offer::DOCUMENTED, true) {
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
