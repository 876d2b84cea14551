//! Tools with which an agent looks at files, pictures and documents. `list` shows the files that may
//! be read, `read` returns text, `view` returns pixels, and `inspect` asks a vision model a question
//! about a picture. They open only what the host granted: folders, a network fetch, renderers,
//! models.
//!
//! ```
//! use photic_tools::{ReadArguments, RefusalCode, Tools};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let tools = Tools::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
//! let first_line = ReadArguments { lines: "1-1".parse().ok(), ..ReadArguments::of("src/lib.rs") };
//! let reading = tools.read(&first_line).await.unwrap();
//! assert!(reading.text.starts_with("//! Tools with which an agent looks"));
//! let outside = ReadArguments::of("../../etc/passwd");
//! assert_eq!(tools.read(&outside).await.unwrap_err().code, RefusalCode::OutsideRoots);
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Reading and viewing are separate, because a text file such as an SVG has both: its markup and
//! its appearance. `read` never returns pixels, and `view` never returns text. Only `read` returns
//! the [`FreshToken`] that an edit requires. A request that cannot be served is a [`Refusal`] with
//! a stable code and the next step.
//!
//! The host grants capabilities: [`Builder::root`] for paths, [`Builder::net`] for URLs,
//! [`Builder::renderer`] for sources that are not bitmaps, [`Builder::vision_models`] for models.
//!
//! | module | purpose |
//! |---|---|
//! | `access` | opens files beneath the roots and nowhere else |
//! | `arguments` | arguments of the tools, with their JSON schema |
//! | `batch` | `inspect` over a list, with many workers and a cost limit |
//! | `content` | detects the kind of a file from its bytes |
//! | `inspect` | asks a vision model about a picture |
//! | `list` | entries of the folders that may be read |
//! | `load` | loads files, handles and URLs |
//! | `originals` | the [`Originals`] trait and its backends |
//! | `perception` | the result of `view` |
//! | `read` | text in lines, and freshness tokens |
//! | `refusal` | refusals and their stable codes |
//! | `render` | the [`Render`] trait for sources that are not bitmaps |
//! | `source` | parses paths, handles and URLs |
//! | `tools` | [`Tools`], its builder and limits |
//! | `view` | pixels of a source |
//!
//! # What it does not do
//!
//! It writes no files, contains no renderer, asks no model that it was not given, and follows no
//! link out of its roots.

mod access;
mod arguments;
mod batch;
mod content;
mod inspect;
mod list;
mod load;
mod originals;
mod perception;
mod read;
mod refusal;
mod render;
mod source;
mod tools;
mod view;

pub use access::HardLinks;
pub use arguments::{
    Fidelity, InspectArguments, Lines, ListArguments, ReadArguments, Region, ViewArguments,
};
pub use batch::{
    Batch, BatchAnswer, BatchEnd, BatchOptions, LineOutcome, Progress, StoredRefusal, TokenPrice,
    Tokens,
};
pub use content::Content;
pub use inspect::{Answer, Key, Model, Step, UNTRUSTED, VisionModels};
pub use list::{FolderEntry, Listing};
pub use originals::{LocalOriginals, LookupError, Originals};
pub use perception::Perception;
pub use read::{FreshToken, Reading};
pub use refusal::{Refusal, RefusalCode};
pub use render::{PageText, Render, RenderRequest, one_page_at_a_time};
pub use tools::{Bounds, Builder, Capability, Tools};
