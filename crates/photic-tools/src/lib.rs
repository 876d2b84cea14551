//! How an agent looks at a source: `read` for text, `view` for pixels, `inspect` for somebody
//! else's word on pixels.
//!
//! ```
//! use photic_tools::{ReadArguments, RefusalCode, Tools};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let tools = Tools::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
//! let asked = ReadArguments { lines: "1-1".parse().ok(), ..ReadArguments::of("src/lib.rs") };
//! let reading = tools.read(&asked).await.unwrap();
//! assert!(reading.text.starts_with("//! How an agent looks"));
//! let asked = ReadArguments::of("../../etc/passwd");
//! assert_eq!(tools.read(&asked).await.unwrap_err().code, RefusalCode::OutsideRoots);
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Three tools, because perception is not free and a text has two of them: the markup of an SVG and
//! its look. `read` never returns pixels and `view` never returns text; only `read` hands out the
//! [`FreshToken`] that an edit asks for. A "no" is a [`Refusal`] with a stable code and the way on.
//!
//! What a tool may touch is what it was given: [`Builder::root`] for paths, [`Builder::net`] for
//! addresses, [`Builder::renderer`] for sources that are no bitmaps, [`Builder::eyes`] for models.
//!
//! # What it does not do
//!
//! It writes no file, ships no renderer, asks no model unless it was given one, and follows no
//! link out of its roots.

mod access;
mod arguments;
mod batch;
mod content;
mod inspect;
mod kept;
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
pub use arguments::{Fidelity, InspectArguments, Lines, ReadArguments, Region, ViewArguments};
pub use batch::{Batch, BatchOptions, Ended, Line, Progress, TokenPrice, Tokens, Told, Why};
pub use content::Content;
pub use inspect::{Answer, Key, Model, Step, UNTRUSTED, VisionModels};
pub use kept::LocalOriginals;
pub use originals::{Gone, Originals};
pub use perception::Perception;
pub use read::{FreshToken, Reading};
pub use refusal::{Refusal, RefusalCode};
pub use render::{Render, RenderRequest, Words, one_page_at_a_time};
pub use tools::{Bounds, Builder, Capability, Tools};
