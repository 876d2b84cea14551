//! Configuration of the tools: roots, limits, a profile, capabilities.

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
use crate::inspect::VisionModels;
use crate::originals::{MemoryAnswers, Originals};
use crate::refusal::{Refusal, RefusalCode};
use crate::render::Render;

/// The tools. Clones share their state.
#[derive(Clone, Debug)]
pub struct Tools {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) roots: Roots,
    pub(crate) bounds: Bounds,
    pub(crate) profile: Profile,
    pub(crate) originals: Arc<dyn Originals>,
    /// Set if the host gave a storage, so that views have handles.
    has_store: bool,
    pub(crate) renderers: Vec<Arc<dyn Render>>,
    pub(crate) vision_models: Option<VisionModels>,
    pub(crate) net: Option<Fetch>,
    /// One permit per processor: more concurrent decoders would only use more memory.
    workers: Arc<Semaphore>,
}

/// Limits of inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Largest picture in bytes (20 MiB by default).
    pub picture_bytes: u64,
    /// Number of first bytes that decide the kind of a file (256 KiB by default).
    pub sniff_bytes: usize,
    /// Largest text file, or document to draw, in bytes.
    pub text_bytes: u64,
    /// Most bytes of text that `read` returns at once.
    pub reply_bytes: usize,
    /// Most lines that `read` returns at once.
    pub reply_lines: usize,
    /// Limits of decoding.
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

/// A capability of the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Opens files below the roots.
    Read,
    /// Renders sources that are not bitmaps.
    Render,
    /// Fetches URLs.
    Net,
    /// Sends pictures to a model.
    Model,
    /// Keeps originals, so that views have handles.
    Store,
}

/// Builder of [`Tools`].
#[derive(Debug)]
pub struct Builder {
    roots: Vec<PathBuf>,
    cwd: Option<PathBuf>,
    hard_links: HardLinks,
    bounds: Bounds,
    profile: Profile,
    originals: Option<Arc<dyn Originals>>,
    renderers: Vec<Arc<dyn Render>>,
    vision_models: Option<VisionModels>,
    net: Option<Fetch>,
}

impl Tools {
    /// Creates a builder without any capability.
    pub fn builder() -> Builder {
        Builder {
            roots: Vec::new(),
            cwd: None,
            hard_links: HardLinks::default(),
            bounds: Bounds::default(),
            profile: Profile::generic(Wire::Anthropic),
            originals: None,
            renderers: Vec::new(),
            vision_models: None,
            net: None,
        }
    }

    /// Returns the granted capabilities.
    pub fn capabilities(&self) -> Vec<Capability> {
        let given = [
            (Capability::Read, !self.inner.roots.is_empty()),
            (Capability::Render, !self.inner.renderers.is_empty()),
            (Capability::Net, self.inner.net.is_some()),
            (Capability::Model, self.inner.vision_models.is_some()),
            (Capability::Store, self.inner.has_store),
        ];
        given.into_iter().filter_map(|(capability, given)| given.then_some(capability)).collect()
    }
}

impl Builder {
    /// Adds a folder whose files may be read. Relative paths begin in the first one, unless
    /// [`Builder::cwd`] is set.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Sets the folder in which relative paths begin. It must be inside a root.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets the policy for files with several hard links.
    #[must_use]
    pub fn hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// Sets the limits of inputs and outputs.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets the profile of the model that sees the views.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the storage of originals and answers, so that views have handles.
    #[must_use]
    pub fn originals(mut self, originals: Arc<dyn Originals>) -> Self {
        self.originals = Some(originals);
        self
    }

    /// Adds a renderer. Renderers are tried in this order.
    #[must_use]
    pub fn renderer(mut self, renderer: Arc<dyn Render>) -> Self {
        self.renderers.push(renderer);
        self
    }

    /// Sets the models for `inspect`.
    #[must_use]
    pub fn vision_models(mut self, models: VisionModels) -> Self {
        self.vision_models = Some(models);
        self
    }

    /// Grants the capability to fetch URLs within the rules of `net`. The result must be a picture.
    #[must_use]
    pub fn net(mut self, net: Fetch) -> Self {
        self.net = Some(net);
        self
    }

    /// Opens the roots. The error names the root that is not a folder.
    pub fn build(self) -> io::Result<Tools> {
        let roots = Roots::open(&self.roots, self.cwd.as_deref(), self.hard_links)?;
        let inner = Inner {
            has_store: self.originals.is_some(),
            roots,
            bounds: self.bounds,
            profile: self.profile,
            originals: self.originals.unwrap_or_else(|| Arc::new(MemoryAnswers::default())),
            renderers: self.renderers,
            vision_models: self.vision_models,
            net: self.net,
            workers: Arc::new(Semaphore::new(
                std::thread::available_parallelism().map_or(1, NonZero::get),
            )),
        };
        Ok(Tools { inner: Arc::new(inner) })
    }
}

/// Runs blocking work, such as reading files and decoding pixels, on a worker thread.
pub(crate) async fn blocking<T: Send + 'static>(
    inner: &Arc<Inner>,
    work: impl FnOnce(&Inner) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let inner = Arc::clone(inner);
    let permit = Arc::clone(&inner.workers).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        // Held until the work ends, even if the caller is gone.
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
