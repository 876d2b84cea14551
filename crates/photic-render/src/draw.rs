//! Drawing in this very process: which renderer, and what is refused before any of them runs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::page::{Page, Words};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::{Kind, Request};
use crate::{paper, pdf, svg, text};

/// Draws a page here and now.
///
/// Neither time nor memory is bounded: a few hundred bytes can keep it busy for minutes. For sources
/// that are not the host's own, use a [`Worker`](crate::Worker).
pub fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    acceptable(request)?;
    let draw = || match request.wanted.kind {
        Kind::Svg => svg::draw(request),
        Kind::Pdf => pdf::draw(request),
        Kind::Text => text::draw(request),
        Kind::Markdown | Kind::Csv | Kind::Json | Kind::Notebook => paper::draw(request),
        Kind::Html | Kind::Office => Err(elsewhere(request.wanted.kind)),
    };
    unbroken(request.wanted.kind, draw)
}

/// The text layer of a page, here and now; of PDF documents only, for everything else is text.
pub fn words(request: &Request<'_>) -> Result<Words, Refusal> {
    acceptable(request)?;
    match request.wanted.kind {
        Kind::Pdf => unbroken(Kind::Pdf, || pdf::words(request)),
        kind => Err(Refusal::new(
            RefusalCode::Unavailable,
            format!("no text is taken out of this {}", kind.name()),
            "view it, or read its source",
        )),
    }
}

/// A panic of a library is a refusal.
fn unbroken<T>(kind: Kind, work: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Refusal::new(
            RefusalCode::Crashed,
            format!("the renderer broke on this {}", kind.name()),
            "render it to PNG with another program, and view that",
        ))
    })
}

/// What no renderer of our own draws.
fn elsewhere(kind: Kind) -> Refusal {
    let says = format!("this {} takes another program to draw", kind.name());
    Refusal::new(RefusalCode::Unavailable, says, "render it to PNG, and view that")
}

/// What is refused without looking.
pub(crate) fn acceptable(request: &Request<'_>) -> Result<(), Refusal> {
    let (length, most) = (request.bytes.len(), request.wanted.bounds.bytes);
    if length == 0 {
        return Err(Refusal::new(RefusalCode::Empty, "there is nothing in it", "check the source"));
    }
    if length > most {
        let says = format!("it has {length} bytes; {most} are allowed");
        return Err(Refusal::new(RefusalCode::TooLarge, says, "use a smaller source"));
    }
    Ok(())
}
