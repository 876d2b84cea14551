//! Lays out Jupyter notebooks, formats 3 and 4: cells and their outputs.
//!
//! HTML and scripts in outputs are not run; their plain text is shown instead. Values of an
//! unexpected type are skipped; only a source without cells is refused.

use std::borrow::Cow;

use serde_json::Value;

use super::ansi;
use super::flow::Flow;
use super::markdown::{self, Origin};
use super::page_style::PageStyle;
use super::pictures;
use super::span::Span;
use super::strip::{Align, Code, Keep};
use crate::page::{LeftOut, Missing, clean};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::Request;
use crate::text::canvas::{Face, TextStyle};
use crate::text::colors::Rgb;

/// Largest number of lines of one output.
const MAX_LINES: usize = 200;
/// Largest size of one output in bytes.
const MAX_BYTES: usize = 100 << 10;
/// Largest number of outputs of one cell.
const MAX_OUTPUTS: usize = 100;
/// Largest size of one cell in bytes.
const MAX_CELL: usize = 1 << 20;

/// Lays out a notebook.
pub(super) fn flow<'a>(source: &str, request: &Request<'a>) -> Result<Flow<'a>, Refusal> {
    let notebook: Value = serde_json::from_str(source).map_err(|error| {
        let says = clean(&format!("the notebook cannot be read: {error}"));
        Refusal::new(RefusalCode::Corrupt, says, "view it as JSON, and repair it there")
    })?;
    let cells = cells(&notebook).ok_or_else(|| {
        let says = "it has no cells, and so is no notebook";
        Refusal::new(RefusalCode::Corrupt, says, "view it as JSON")
    })?;
    let language = language(&notebook);
    let mut flow = Flow::new(request);
    for cell in cells {
        add(cell, &language, &mut flow);
        flow.gap(22.0);
        if flow.is_full() {
            break;
        }
    }
    if flow.strips.is_empty() {
        let letters = PageStyle::colored(flow.style.body(), flow.style.faint);
        let says = Span::new("a notebook without cells", letters);
        flow.paragraph(&[says], Align::Left, Keep::Free);
    }
    Ok(flow)
}

/// The cells, in either format.
fn cells(notebook: &Value) -> Option<Vec<&Value>> {
    if let Some(cells) = notebook.get("cells").and_then(Value::as_array) {
        return Some(cells.iter().collect());
    }
    let sheets = notebook.get("worksheets")?.as_array()?;
    let cells = sheets.iter().filter_map(|sheet| sheet.get("cells")?.as_array());
    Some(cells.flatten().collect())
}

/// The language of the code.
fn language(notebook: &Value) -> String {
    let metadata = &notebook["metadata"];
    let names = [
        &metadata["kernelspec"]["language"],
        &metadata["language_info"]["name"],
        &metadata["kernelspec"]["name"],
    ];
    let name = names.into_iter().find_map(Value::as_str).unwrap_or("python").to_ascii_lowercase();
    match name.as_str() {
        "ir" => "r".to_owned(),
        name if name.starts_with("ipython") || name.starts_with("python") => "python".to_owned(),
        name => name.to_owned(),
    }
}

/// Adds a cell.
fn add(cell: &Value, language: &str, flow: &mut Flow<'_>) {
    let source = lines(cell.get("source").or(cell.get("input")));
    let source = bounded(source, MAX_CELL, flow);
    match cell["cell_type"].as_str() {
        Some("markdown") => {
            flow.attachments = attachments(cell);
            markdown::add(&source, flow, Origin::Elsewhere);
            flow.attachments.clear();
        }
        Some("heading") => {
            let level = cell["level"].as_u64().unwrap_or(1).clamp(1, 6) as usize;
            let text = format!("{} {}", "#".repeat(level), source.replace('\n', " "));
            markdown::add(&text, flow, Origin::Elsewhere);
        }
        Some("code") => {
            let language = cell["language"].as_str().unwrap_or(language);
            let count = cell.get("execution_count").or(cell.get("prompt_number"));
            let color = flow.style.hues[3];
            label("In", count, color, flow);
            code(source, language, flow);
            let outputs = cell["outputs"].as_array().map_or(&[][..], Vec::as_slice);
            for output in outputs.iter().take(MAX_OUTPUTS) {
                flow.gap(8.0);
                add_output(output, count, flow);
            }
            if outputs.len() > MAX_OUTPUTS {
                let says = format!("{} outputs of a cell", outputs.len() - MAX_OUTPUTS);
                flow.left_out.push(LeftOut::new(Missing::Rest, &says));
            }
        }
        _ if !source.trim().is_empty() => code(source, "", flow),
        _ => {}
    }
}

/// The named pictures of a cell.
fn attachments(cell: &Value) -> Vec<(String, Vec<u8>)> {
    let attached = cell["attachments"].as_object().into_iter().flatten();
    let decoded = attached.filter_map(|(name, forms)| {
        let data = forms.as_object()?.values().next()?;
        Some((name.clone(), pictures::base64(&lines(Some(data)))?))
    });
    decoded.take(MAX_OUTPUTS).collect()
}

/// Adds the label of an input or output.
fn label(words: &str, count: Option<&Value>, color: Rgb, flow: &mut Flow<'_>) {
    let count = count.and_then(Value::as_u64).map_or(" ".to_owned(), |count| count.to_string());
    let letters = TextStyle { face: Face::Mono, size: 16.0, ..flow.style.body() };
    let says = Span::new(format!("{words} [{count}]:"), PageStyle::colored(letters, color));
    flow.paragraph(&[says], Align::Left, Keep::WithNext);
    flow.gap(2.0);
}

/// Adds code.
fn code(text: String, language: &str, flow: &mut Flow<'_>) {
    // A cell may name another language in its first line.
    let magic = text.lines().next().and_then(|line| line.strip_prefix("%%")).unwrap_or_default();
    let language = match magic.split_whitespace().next() {
        Some("bash" | "sh" | "script") => "bash",
        Some("html" | "HTML") => "html",
        Some("javascript" | "js") => "js",
        Some("sql") => "sql",
        Some("latex") => "tex",
        _ => language,
    };
    let text = if text.is_empty() { " ".to_owned() } else { text };
    flow.code(Code { text, language: Some(language.to_owned()), places: Vec::new() });
}

/// Adds an output.
fn add_output(output: &Value, count: Option<&Value>, flow: &mut Flow<'_>) {
    let plain = plain(flow);
    match output["output_type"].as_str() {
        Some("stream") => {
            let name = output["name"].as_str().or(output["stream"].as_str());
            let color = if name == Some("stderr") { flow.style.hues[0] } else { plain.pen.color };
            text(lines(output.get("text")), PageStyle::colored(plain, color), flow);
        }
        Some("error" | "pyerr") => {
            let traceback = lines_by(output.get("traceback"), "\n");
            let name = output["ename"].as_str().unwrap_or("error");
            let value = output["evalue"].as_str().unwrap_or_default();
            let brief = format!("{name}: {value}");
            let color = flow.style.hues[0];
            let shown = if traceback.is_empty() { brief } else { traceback };
            flow.quote(color);
            text(shown, plain, flow);
            flow.end_quote();
        }
        Some("execute_result" | "pyout") => {
            let count = output.get("execution_count").or(count);
            label("Out", count, flow.style.hues[0], flow);
            data(output, flow);
        }
        _ => data(output, flow),
    }
}

/// Adds the best form of an output: a picture, Markdown, or text.
fn data(output: &Value, flow: &mut Flow<'_>) {
    let bundle = output.get("data").unwrap_or(output);
    let form = |names: [&str; 2]| names.into_iter().find_map(|name| bundle.get(name));
    let pictures = [
        ["image/png", "png"],
        ["image/jpeg", "jpeg"],
        ["image/gif", "gif"],
        ["image/webp", "webp"],
    ];
    let encoded = pictures.into_iter().find_map(form).map(|data| lines(Some(data)));
    let drawing = || form(["image/svg+xml", "svg"]).map(|data| lines(Some(data)).into_bytes());
    let bytes = encoded.map(|text| pictures::base64(&text).unwrap_or_default()).or_else(drawing);
    if let Some(bytes) = bytes {
        let request = flow.request().clone();
        if let Some(picture) = flow.admit(|| pictures::of(Cow::Owned(bytes), &request)) {
            flow.picture(picture, Keep::Free);
            return;
        }
    }
    if let Some(html) = form(["text/html", "html"]) {
        let html = lines(Some(html));
        let what = if html.contains("<script") { Missing::Script } else { Missing::Foreign };
        flow.left_out.push(LeftOut::new(what, "HTML of an output"));
    }
    if let Some(markdown) = form(["text/markdown", "text/markdown"]) {
        let text = bounded(lines(Some(markdown)), MAX_BYTES, flow);
        markdown::add(&text, flow, Origin::Elsewhere);
        return;
    }
    if let Some(tex) = form(["text/latex", "latex"]) {
        let tex = bounded(lines(Some(tex)), 4 << 10, flow);
        let text = if tex.contains('$') { tex } else { format!("$${tex}$$") };
        markdown::add(&text, flow, Origin::Elsewhere);
        return;
    }
    let plain = plain(flow);
    if let Some(found) = form(["text/plain", "text"]) {
        text(lines(Some(found)), plain, flow);
    } else {
        let named = bundle.as_object().and_then(|bundle| bundle.keys().next());
        let says = format!("an output of type {}", named.map_or("none", String::as_str));
        flow.left_out.push(LeftOut::new(Missing::Foreign, &says));
    }
}

/// The style of outputs.
fn plain(flow: &Flow<'_>) -> TextStyle {
    TextStyle { face: Face::Mono, size: 18.0, ..flow.style.body() }
}

/// Adds text of a program, with its colors.
fn text(text: String, plain: TextStyle, flow: &mut Flow<'_>) {
    let text = bounded(text, MAX_BYTES, flow);
    let mut now = plain;
    for (number, line) in text.trim_end().split('\n').enumerate() {
        if number == MAX_LINES {
            flow.left_out.push(LeftOut::new(Missing::Rest, "the end of a long output"));
            let faint = PageStyle::colored(plain, flow.style.faint);
            flow.paragraph(&[Span::new("…", faint)], Align::Left, Keep::Free);
            break;
        }
        let (spans, after) = ansi::spans(line, plain, now, &flow.style);
        now = after;
        let blank = [Span::new(" ", plain)];
        let shown = if spans.is_empty() { &blank[..] } else { &spans };
        flow.paragraph(shown, Align::Left, Keep::Free);
    }
}

/// Cuts a text, and lists it if it was too long.
fn bounded(mut text: String, most: usize, flow: &mut Flow<'_>) -> String {
    if text.len() > most {
        let mut end = most;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        flow.left_out.push(LeftOut::new(Missing::Rest, "the end of a long cell or output"));
    }
    text
}

/// A text, or a list of its lines, as one string.
fn lines(value: Option<&Value>) -> String {
    lines_by(value, "")
}

/// Joins lines with a separator.
fn lines_by(value: Option<&Value>, between: &str) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => {
            lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between)
        }
        _ => String::new(),
    }
}
