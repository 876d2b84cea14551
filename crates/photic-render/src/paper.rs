//! Prose, tables, values and notebooks as a reader would see them.

use crate::page::Page;
use crate::refusal::{Refusal, RefusalCode};
use crate::request::Request;

/// Draws a page.
pub(crate) fn draw(request: &Request<'_>) -> Result<Page, Refusal> {
    let says = format!("no {} is drawn yet", request.wanted.kind.name());
    Err(Refusal::new(RefusalCode::Unavailable, says, "call `read` for its text"))
}
