//! `photic session images`.

use std::io::Write as _;
use std::process::ExitCode;

use photic::{Choice, Fate};
use photic_store::{Image, LocalStore, SessionId, wait};
use serde_json::{Value, json};

use crate::output::print_json;
use crate::style::{CYAN, DIM, GREEN, YELLOW, byte_size, grouped};

/// Runs the command.
pub(super) fn run(store: &LocalStore, id: &SessionId, json: bool) -> anyhow::Result<ExitCode> {
    let images = wait(store.images(id))?;
    let turns = wait(store.session(id))?.turns;
    if json {
        let images: Vec<Value> = images.iter().map(as_json).collect();
        return print_json(&json!({"session": id, "turn": turns, "images": images}));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{DIM}{id}, turn {turns}{DIM:#}")?;
    if images.is_empty() {
        writeln!(out, "{GREEN}no images{GREEN:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = |image: &Image| image.position.as_ref().map_or(String::new(), ToString::to_string);
    let wide = images.iter().map(|image| place(image).chars().count()).max().unwrap_or(0).max(5);
    writeln!(
        out,
        "{DIM}{:>4}  {:<20}  {:>11}  {:>9}  {:>7}  {:>9}  {:<7}  {:<wide$}  why{DIM:#}",
        "#", "image", "pixels", "size", "tokens", "dollars", "fate", "where"
    )?;
    for image in &images {
        let style = match image.fate {
            Fate::Keep(_) | Fate::Hoist(_) => GREEN,
            Fate::Elide(_) => CYAN,
            Fate::Refuse(_) => YELLOW,
        };
        let handle = image.handle.as_ref().map_or("-", |handle| handle.as_str());
        writeln!(
            out,
            "{:>4}  {handle:<20}  {:>11}  {:>9}  {:>7}  {:>9}  {style}{:<7}{style:#}  {:<wide$}  {}",
            image.media.index() + 1,
            image.size.map_or("?".to_owned(), |(w, h)| format!("{w}x{h}")),
            byte_size(image.bytes),
            image.tokens.map_or("?".to_owned(), grouped),
            image.usd.map_or(String::new(), |usd| format!("{usd:.5}")),
            fate(image),
            place(image),
            why(image),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The fate of an image, in one word.
pub(super) fn fate(image: &Image) -> &'static str {
    match image.fate {
        Fate::Keep(_) | Fate::Hoist(_) if image.sent != image.size => "shrink",
        Fate::Keep(_) => "keep",
        Fate::Hoist(_) => "hoist",
        Fate::Elide(_) => "elide",
        Fate::Refuse(_) => "refuse",
    }
}

/// The reason for the fate.
fn why(image: &Image) -> String {
    let reason = image.fate.reason().says();
    match image.choice {
        Some(Choice::Pin) => format!("{reason}; pinned by you"),
        Some(Choice::Shrink { max_edge }) => format!("{reason}; limited by you to {max_edge} px"),
        Some(Choice::Drop) | None => reason.to_owned(),
    }
}

/// An image as JSON.
fn as_json(image: &Image) -> Value {
    let mut value = json!({
        "index": image.media.index() + 1,
        "kind": image.kind,
        "message_index": image.message + 1,
        "bytes": image.bytes,
        "fate": fate(image),
        "reason": image.fate.reason(),
        "why": image.fate.reason().says(),
    });
    let handle = image.handle.as_ref().map(ToString::to_string);
    // What is not known is left out.
    for (name, known) in [
        ("handle", handle.map(|handle| json!(handle))),
        ("at", image.position.as_ref().map(|at| json!(at))),
        ("tool", image.tool.as_ref().map(|tool| json!(tool))),
        ("media_type", image.media_type.as_ref().map(|name| json!(name))),
        ("source_size", image.size.map(|size| json!(size))),
        ("size", image.sent.map(|size| json!(size))),
        ("tokens", image.tokens.map(|tokens| json!(tokens))),
        ("usd", image.usd.map(|usd| json!(usd))),
        ("choice", image.choice.map(|choice| json!(choice))),
    ] {
        if let Some(known) = known {
            value[name] = known;
        }
    }
    value
}
