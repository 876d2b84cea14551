//! The durable record of sessions, and the blobs that their media are.
//!
//! ```
//! use photic_store::{FileBlobs, Facts, Sqlite, Tenant};
//!
//! # let directory = std::env::temp_dir().join(format!("photic-store-doc-{}", std::process::id()));
//! let blobs = FileBlobs::open(directory.join("blobs"))?;
//! let record = Sqlite::open(&directory)?;
//! let blob = blobs.put(b"the bytes of a picture")?;
//! let facts = Facts { media_type: Some("image/png".into()), ..Facts::default() };
//! let handle = record.issue(&Tenant::local(), &blob, &facts)?;
//! assert!(handle.as_str().starts_with("img_"));
//! let issued = record.resolve(&Tenant::local(), &handle)?.ok_or("known")?;
//! assert_eq!(blobs.get(&issued.blob)?, b"the bytes of a picture");
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! It decodes no pixels, serves nothing and connects to nothing. It keeps no keys and no headers of
//! requests. A blob's content address is a name inside the store and never a right to read it: who
//! asks from outside has a [`Handle`], which means something to one tenant only.

mod blobs;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod handle;
pub mod media;
pub mod private;
pub mod record;
mod sqlite;
mod store;
mod wait;
pub mod work;

pub use blobs::{BlobId, Blobs, FileBlobs, Listed};
pub use error::{BlobError, Error};
pub use handle::{Facts, Handle, Handles, Issued, Secret, Tenant};
pub use media::{Media, MediaRecord, MediaRef, NewMedia};
pub use record::{Record, Session, SessionId};
pub use sqlite::Sqlite;
pub use store::{
    Collected, Done, Grace, Image, LocalStore, Look, Past, Sent, Store, View, conversation_keys,
    title,
};
pub use wait::wait;
pub use work::{Usd, Work};
