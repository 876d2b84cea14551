//! Shows recorded sessions of AI agents as the model saw them, in a browser: pictures after the
//! provider's resize, the changes of each request with their reasons, tokens, cost, and what the
//! prompt cache lost.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use photic_inspector::{Inspector, ServedBy, UiServer};
//! use photic_store::LocalStore;
//!
//! # async fn show() -> Result<(), Box<dyn std::error::Error>> {
//! let store = LocalStore::open("/var/lib/photic")?;
//! let inspector = Inspector::new(Arc::new(store), ServedBy::Command);
//! let server = UiServer::bind("127.0.0.1:0".parse()?, inspector).await?;
//! println!("{}", server.url());
//! server.serve(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | `api` | the views as JSON; their shapes are in `viewer/api.ts` |
//! | `images` | pictures for the page, decoded before they are served |
//! | `pixels` | memory for decoded pixels, shared by all requests |
//! | `diff` | differences of bodies by JSON tokens |
//! | `serve` | HTTP: access, files of the viewer, events |
//! | `export` | a session as one HTML file, with redaction |
//! | `cache` | computed values, bounded by bytes |
//!
//! # What it does not do
//!
//! It writes nothing but the user's choices for pictures. It opens no connection to anywhere, keeps
//! no text of a conversation on disk, and logs nothing that it shows.

mod api;
mod assets;
mod cache;
mod diff;
mod export;
mod failure;
mod images;
mod inspector;
mod pixels;
mod request;
mod serve;

pub use export::{Export, ExportOptions, ExportedPictures, ExportedText};
pub use failure::Failure;
pub use inspector::{Inspector, ServedBy};
pub use serve::{Access, ResponseBody, Service, StartError, Token, UiServer, WeakToken};
