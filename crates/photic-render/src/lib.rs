//! Drawings, documents and text become pixels: bytes in, one page out, or a refusal.
//!
//! ```no_run
//! use photic_render::{Kind, Request, Worker};
//!
//! // A program that calls `photic_render::serve` with its last arguments.
//! let worker = Worker::new("/usr/bin/photic", vec!["render-worker".into()]);
//! let bytes = std::fs::read("diagram.svg").unwrap_or_default();
//! match worker.draw(&Request::new(&bytes, Kind::Svg)) {
//!     Ok(page) => println!("{:?}, left out: {:?}", page.raster, page.facts.left_out),
//!     Err(refusal) => println!("{refusal}; {}", refusal.hint),
//! }
//! ```
//!
//! [`Worker::draw`] is for sources of unknown origin: it draws in a child process with bounded time
//! and memory, which can open neither a file nor a connection. [`draw`] does the same work in this
//! process, for hosts that bring a sandbox of their own.
//!
//! A region is drawn anew at the scale it asks for, never cut out and enlarged; [`Page::to_page`]
//! leads from its pixels back to the page, and for text to line and column.
//!
//! HTML pages and office documents take the programs that everybody uses for them: [`Browser`] is
//! Chromium and [`Office`] is `LibreOffice`, where this machine has them, each started anew for one
//! source in a sandbox without network, files or time to waste. Scripts of a page do run there.
//!
//! # What it does not do
//!
//! It fetches nothing and looks for no fonts: the same bytes give the same pixels everywhere. It
//! runs no scripts of drawings and documents, shows one moment of an animation, and says what it
//! left out. Indic scripts need fonts that the host hands over.

mod browser;
mod draw;
mod encoding;
mod fonts;
mod frame;
mod kind;
mod office;
mod page;
mod paper;
mod pdf;
mod program;
mod refusal;
mod renderer;
mod request;
mod sandbox;
mod svg;
mod text;
mod worker;

pub use browser::Browser;
pub use draw::{draw, words};
pub use office::Office;
pub use page::{Facts, LeftOut, Missing, Page, TextRow, Words};
pub use refusal::{Refusal, RefusalCode};
pub use renderer::Renderer;
pub use request::{Area, Bounds, File, Fit, Kind, Request, Theme, Wanted};
pub use sandbox::ProgramLimits;
pub use worker::{Worker, WorkerLimits, confine, serve};
