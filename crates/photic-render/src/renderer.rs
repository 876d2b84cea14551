//! Draws sources of all kinds behind one function.
//!
//! Chooses between the renderers in a child process and programs in a sandbox. Files that a source
//! refers to are handed over by the caller, in a second pass.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::browser::Browser;
use crate::office::Office;
use crate::page::{Missing, Page, PageText};
use crate::refusal::Refusal;
use crate::request::{Kind, Request, SourceFile};
use crate::worker::Worker;

/// Largest number of files that are handed over.
const MAX_FILES: usize = 64;
/// Largest size of all of them in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Draws sources of every kind. Programs are looked for when they are first needed.
#[derive(Debug)]
pub struct Renderer {
    worker: Worker,
    browser: OnceLock<Result<Browser, Refusal>>,
    office: OnceLock<Result<Office, Refusal>>,
    /// The last converted document, since its pages are requested one after the other.
    converted: Mutex<Option<Arc<Converted>>>,
}

/// An office document and its PDF.
struct Converted {
    source: Vec<u8>,
    pdf: Vec<u8>,
}

impl std::fmt::Debug for Converted {
    /// Omits the bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes, {} as PDF>", self.source.len(), self.pdf.len())
    }
}

impl Renderer {
    /// Creates a renderer with a worker for the built-in kinds.
    pub fn new(worker: Worker) -> Self {
        Self {
            worker,
            browser: OnceLock::new(),
            office: OnceLock::new(),
            converted: Mutex::default(),
        }
    }

    /// Draws a page or region of a source. `beside` is called with each reference of the source,
    /// and decides which files may be shown.
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

    /// The text layer of a page of a PDF or office document.
    pub fn words(&self, request: &Request<'_>) -> Result<PageText, Refusal> {
        self.as_pdf(request, |request| self.worker.words(request))
    }

    /// Draws once, without further files.
    fn once(&self, request: &Request<'_>) -> Result<Page, Refusal> {
        match request.wanted.kind {
            Kind::Html => self.browser()?.draw(request),
            _ => self.as_pdf(request, |request| self.worker.draw(request)),
        }
    }

    /// Runs some work on the request, after converting an office document to PDF.
    fn as_pdf<T>(
        &self,
        request: &Request<'_>,
        work: impl FnOnce(&Request<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if request.wanted.kind != Kind::Office {
            return work(request);
        }
        let converted = self.converted(request)?;
        let mut wanted = request.wanted.clone();
        wanted.kind = Kind::Pdf;
        work(&Request { bytes: &converted.pdf, wanted, ..request.clone() })
    }

    /// The browser, which is looked for once.
    fn browser(&self) -> Result<&Browser, Refusal> {
        self.browser.get_or_init(Browser::find).as_ref().map_err(Clone::clone)
    }

    /// The document as PDF; repeated requests convert it once.
    fn converted(&self, request: &Request<'_>) -> Result<Arc<Converted>, Refusal> {
        let office = self.office.get_or_init(Office::find).as_ref().map_err(Clone::clone)?;
        let last = self.converted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(last) = last.filter(|last| last.source == request.bytes) {
            return Ok(last);
        }
        let name = request.wanted.name.as_deref().unwrap_or_default();
        let pdf = office.to_pdf(request.bytes, name)?;
        let converted = Arc::new(Converted { source: request.bytes.to_vec(), pdf });
        let kept = Some(Arc::clone(&converted));
        *self.converted.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(converted)
    }
}

/// The files that were missing from a page and are available.
fn handed(page: &Page, beside: &dyn Fn(&str) -> Option<Vec<u8>>) -> Vec<SourceFile> {
    let outside = page.facts.left_out.iter().filter(|left_out| left_out.what == Missing::External);
    let mut room = MAX_BYTES;
    let files = outside.take(MAX_FILES).filter_map(|left_out| {
        let bytes = beside(&left_out.detail)?;
        room = room.checked_sub(bytes.len())?;
        Some(SourceFile { reference: left_out.detail.clone(), bytes })
    });
    files.collect()
}
