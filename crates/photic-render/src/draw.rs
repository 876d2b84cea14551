//! Draws in this process: chooses the renderer, and refuses bad requests before any runs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::page::{Page, PageText};
use crate::refusal::{Refusal, RefusalCode};
use crate::request::{Kind, Request};
use crate::{paper, pdf, svg, text};

/// Draws a page in this process.
///
/// Time and memory are not limited: a few hundred bytes can take minutes. For untrusted sources,
/// use a [`Worker`](crate::Worker).
pub fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    check_size(request)?;
    let draw = || match request.wanted.kind {
        Kind::Svg => svg::draw(request),
        Kind::Pdf => pdf::draw(request),
        Kind::Text => text::draw(request),
        Kind::Markdown | Kind::Csv | Kind::Json | Kind::Notebook => paper::draw(request),
        Kind::Html | Kind::Office => Err(needs_program(request.wanted.kind)),
    };
    catching_panics(request.wanted.kind, draw)
}

/// Extracts the text layer of a page in this process; only for PDF documents, since other kinds are
/// text.
pub fn words(request: &Request<'_>) -> Result<PageText, Refusal> {
    check_size(request)?;
    match request.wanted.kind {
        Kind::Pdf => catching_panics(Kind::Pdf, || pdf::words(request)),
        kind => Err(Refusal::new(
            RefusalCode::Unavailable,
            format!("no text is taken out of this {}", kind.name()),
            "view it, or read its source",
        )),
    }
}

/// Turns a panic of a library into a refusal.
fn catching_panics<T>(kind: Kind, work: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Refusal::new(
            RefusalCode::Crashed,
            format!("the renderer broke on this {}", kind.name()),
            "render it to PNG with another program, and view that",
        ))
    })
}

/// The refusal for kinds that need another program.
fn needs_program(kind: Kind) -> Refusal {
    let says = format!("this {} takes another program to draw", kind.name());
    Refusal::new(RefusalCode::Unavailable, says, "render it to PNG, and view that")
}

/// Refuses empty and oversized sources.
pub(crate) fn check_size(request: &Request<'_>) -> Result<(), Refusal> {
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
