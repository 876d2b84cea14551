//! What the tools were given, and nothing else: roots, bounds, a profile, capabilities.

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use photic::{Profile, Wire};
use photic_net::fetch::Fetch;
use photic_pixels::DecodeLimits;
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::access::{HardLinks, Roots};
use crate::inspect::{Remembered, VisionModels};
use crate::originals::Originals;
use crate::refusal::{Refusal, RefusalCode};
use crate::render::Render;

/// The tools. Clones share everything.
#[derive(Clone, Debug)]
pub struct Tools {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) roots: Roots,
    pub(crate) bounds: Bounds,
    pub(crate) profile: Profile,
    pub(crate) originals: Option<Arc<dyn Originals>>,
    pub(crate) renderers: Vec<Arc<dyn Render>>,
    pub(crate) eyes: Option<VisionModels>,
    pub(crate) net: Option<Fetch>,
    pub(crate) remembered: Remembered,
    /// One for each processor: more decoders at once would only hold more memory.
    workers: Arc<Semaphore>,
}

/// How much a tool may take in and give out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of a picture (seed 003: 20 MiB).
    pub picture_bytes: u64,
    /// Most bytes from the beginning of a file that decide what it is (seed 003: 256 KiB).
    pub sniff_bytes: usize,
    /// Most bytes of a text file, or of a document that is drawn.
    pub text_bytes: u64,
    /// Most bytes of text that `read` returns at once.
    pub reply_bytes: usize,
    /// Most lines that `read` returns at once.
    pub reply_lines: usize,
    /// What decoding may use.
    pub pixels: DecodeLimits<'static>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            picture_bytes: 20 << 20,
            sniff_bytes: 256 << 10,
            text_bytes: 64 << 20,
            reply_bytes: 128 << 10,
            reply_lines: 2000,
            pixels: DecodeLimits::default(),
        }
    }
}

/// What a tool needs to do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// To open files below the roots.
    Read,
    /// To turn sources that are no bitmaps into pixels.
    Render,
    /// To fetch addresses.
    Net,
    /// To send a picture to a model.
    Model,
}

/// Gathers what the tools are given.
#[derive(Debug)]
pub struct Builder {
    roots: Vec<PathBuf>,
    cwd: Option<PathBuf>,
    hard_links: HardLinks,
    bounds: Bounds,
    profile: Profile,
    originals: Option<Arc<dyn Originals>>,
    renderers: Vec<Arc<dyn Render>>,
    eyes: Option<VisionModels>,
    net: Option<Fetch>,
}

impl Tools {
    /// Tools that may touch nothing yet.
    pub fn builder() -> Builder {
        Builder {
            roots: Vec::new(),
            cwd: None,
            hard_links: HardLinks::default(),
            bounds: Bounds::default(),
            profile: Profile::generic(Wire::Anthropic),
            originals: None,
            renderers: Vec::new(),
            eyes: None,
            net: None,
        }
    }

    /// What these tools were given.
    pub fn capabilities(&self) -> Vec<Capability> {
        let given = [
            (Capability::Read, !self.inner.roots.is_empty()),
            (Capability::Render, !self.inner.renderers.is_empty()),
            (Capability::Net, self.inner.net.is_some()),
            (Capability::Model, self.inner.eyes.is_some()),
        ];
        given.into_iter().filter_map(|(capability, given)| given.then_some(capability)).collect()
    }
}

impl Builder {
    /// A folder whose files may be read. The first is where relative paths begin, unless
    /// [`Builder::cwd`] says otherwise.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Where relative paths begin; must lie in a root.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Whether files with several names may be read.
    #[must_use]
    pub fn hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// How much goes in and out.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// The model that will look at views.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Where originals are kept, so that views carry handles.
    #[must_use]
    pub fn originals(mut self, originals: Arc<dyn Originals>) -> Self {
        self.originals = Some(originals);
        self
    }

    /// The capability to render: asked in the order given.
    #[must_use]
    pub fn renderer(mut self, renderer: Arc<dyn Render>) -> Self {
        self.renderers.push(renderer);
        self
    }

    /// The models that `inspect` may ask.
    #[must_use]
    pub fn eyes(mut self, eyes: VisionModels) -> Self {
        self.eyes = Some(eyes);
        self
    }

    /// The capability to fetch addresses. What it may fetch is in its rules; that what comes is a
    /// picture is checked here.
    #[must_use]
    pub fn net(mut self, net: Fetch) -> Self {
        self.net = Some(net);
        self
    }

    /// Opens the roots. An error says which of them is no folder.
    pub fn build(self) -> io::Result<Tools> {
        let roots = Roots::open(&self.roots, self.cwd.as_deref(), self.hard_links)?;
        let inner = Inner {
            roots,
            bounds: self.bounds,
            profile: self.profile,
            originals: self.originals,
            renderers: self.renderers,
            eyes: self.eyes,
            net: self.net,
            remembered: Remembered::default(),
            workers: Arc::new(Semaphore::new(
                std::thread::available_parallelism().map_or(1, NonZero::get),
            )),
        };
        Ok(Tools { inner: Arc::new(inner) })
    }
}

/// Runs what reads files or decodes pixels where it may take its time.
pub(crate) async fn blocking<T: Send + 'static>(
    inner: &Arc<Inner>,
    work: impl FnOnce(&Inner) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let inner = Arc::clone(inner);
    let permit = Arc::clone(&inner.workers).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        // Until the work ends, which it does not with whoever asked for it.
        let _permit = permit;
        work(&inner)
    });
    let done = done.await;
    done.unwrap_or_else(|_| {
        Err(Refusal::new(
            RefusalCode::Unreadable,
            "this file made the decoder stop",
            "convert it with another program, and look at that",
        ))
    })
}
