//! Renders drawings, documents and text: takes bytes and returns one page of pixels, or a refusal.
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
//! [`Worker::draw`] is for untrusted sources: it draws in a child process with limited time and
//! memory that can open neither files nor connections. [`draw`] does the same work in this process,
//! for hosts with a sandbox of their own.
//!
//! A region is drawn again at its own scale, never cut out and enlarged. [`Page::to_page`] maps its
//! pixels back to the page, and for text to line and column.
//!
//! HTML pages and office documents need other programs: [`Browser`] is Chromium and [`Office`] is
//! `LibreOffice`, if this machine has them. Each is started for one source in a sandbox without
//! network and files, under limits on time and memory. Scripts of HTML pages run there.
//!
//! ```
//! use photic_render::{Kind, Request, draw};
//!
//! let svg = br##"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>"##;
//! let page = draw(&Request::new(svg, Kind::Svg))?;
//! assert_eq!(page.facts.size, (8.0, 8.0));
//! # Ok::<(), photic_render::Refusal>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `request`, `page`, `refusal` | what is requested, what is returned, and refusals |
//! | `kind` | detects the kind of a source |
//! | `frame` | the size of the canvas, and all limits on it |
//! | `svg`, `pdf`, `text` | one kind of source each |
//! | `paper` | Markdown, tables, JSON and notebooks, laid out on pages |
//! | `fonts` | the built-in fonts |
//! | `browser`, `office`, `sandbox`, `program` | Chromium and `LibreOffice`, run by bubblewrap |
//! | `draw` | draws in this process |
//! | `worker` | draws in a confined child process |
//! | `renderer` | all of them behind one function |
//!
//! # What it does not do
//!
//! It fetches nothing and uses no system fonts: the same bytes give the same pixels everywhere. It
//! runs no scripts of drawings and documents, shows one moment of an animation, and reports what it
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
pub use page::{LeftOut, Missing, Page, PageFacts, PageText, TextRow};
pub use refusal::{Refusal, RefusalCode};
pub use renderer::Renderer;
pub use request::{Area, DrawLimits, DrawOptions, Fit, Kind, Request, SourceFile, Theme};
pub use sandbox::ProgramLimits;
pub use worker::{Worker, WorkerLimits, confine, serve};
