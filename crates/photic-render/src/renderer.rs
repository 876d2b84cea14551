//! Everything that can be drawn on this machine, behind one function.
//!
//! Owns who draws what: our own renderers in a child process, other people's programs in a sandbox.
//! Files that a source refers to are handed over by whoever called, in a second round.

use crate::page::{Missing, Page};
use crate::refusal::Refusal;
use crate::request::{File, Request};
use crate::worker::Worker;

/// Most files that are handed over, and most bytes of all of them.
const MOST_FILES: usize = 64;
const MOST_BYTES: usize = 64 << 20;

/// Draws sources of every kind.
#[derive(Debug)]
pub struct Renderer {
    worker: Worker,
}

impl Renderer {
    /// With this worker for what we draw ourselves.
    pub fn new(worker: Worker) -> Self {
        Self { worker }
    }

    /// A page or region of a source. `beside` is asked for what the source refers to, by the words
    /// it uses for it, and decides what may be shown.
    pub fn draw(
        &self,
        request: &Request<'_>,
        beside: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Page, Refusal> {
        let page = self.once(request)?;
        let files = handed(&page, beside);
        if files.is_empty() {
            Ok(page)
        } else {
            self.once(&Request { files: &files, ..request.clone() })
        }
    }

    fn once(&self, request: &Request<'_>) -> Result<Page, Refusal> {
        self.worker.draw(request)
    }
}

/// What was missing from a page and is there after all.
fn handed(page: &Page, beside: &dyn Fn(&str) -> Option<Vec<u8>>) -> Vec<File> {
    let outside = page.facts.left_out.iter().filter(|left_out| left_out.what == Missing::External);
    let mut room = MOST_BYTES;
    let files = outside.take(MOST_FILES).filter_map(|left_out| {
        let bytes = beside(&left_out.detail)?;
        room = room.checked_sub(bytes.len())?;
        Some(File { reference: left_out.detail.clone(), bytes })
    });
    files.collect()
}
