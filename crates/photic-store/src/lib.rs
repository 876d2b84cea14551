//! The session record of photic and the blobs it refers to. Every request that passes through a
//! host can be stored as a turn of a session; its pictures are stored once, as content-addressed
//! blobs. Any turn can be reproduced later: what the client sent, and what the model saw, byte for
//! byte.
//!
//! ```
//! use photic_store::{Facts, FileBlobs, Sqlite, Tenant};
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
//! | module | purpose |
//! |---|---|
//! | `blobs` | content-addressed blobs: the [`Blobs`] trait, files in a directory |
//! | [`events`] | news of a record, for programs that show it |
//! | `handle` | handles: stable names of blobs, one per tenant |
//! | `history` | the [`History`] trait: reads recorded sessions for programs that show them |
//! | `letters` | the letters of names |
//! | `random` | random bytes for identifiers and secrets |
//! | `session_id` | identifiers of sessions |
//! | [`media`] | references to uploaded media, with an expiry |
//! | [`record`] | the [`Record`] trait: sessions, messages, turns, choices |
//! | `sqlite` | the record in one `SQLite` file |
//! | `store` | [`Store`]: writes turns, reproduces them, collects garbage |
//! | [`work`] | work lists and answers for batches of questions |
//! | [`private`] | files and directories that only their owner can read |
//! | `wait` | runs a future without an async runtime |
//! | `contract` | test suite for backends (feature `contract`) |
//!
//! # What it does not do
//!
//! It decodes no pixels, serves nothing and opens no connections. It stores no API keys and no
//! headers of requests besides the name of the client's software. A content address grants no access: outside the store a blob is named by a
//! [`Handle`], which is valid for one tenant only.

mod blobs;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
pub mod events;
mod handle;
mod history;
mod letters;
pub mod media;
pub mod private;
mod random;
pub mod record;
mod session_id;
mod sqlite;
mod store;
mod wait;
pub mod work;

pub use blobs::{BlobId, Blobs, FileBlobs, Listed};
pub use error::{BlobError, Error};
pub use events::Events;
pub use handle::{Facts, Handle, Handles, IssuedHandle, Secret, Tenant};
pub use history::{BoxFuture, History};
pub use media::{Media, MediaRecord, MediaRef, NewMedia};
pub use random::NoRandomNumbers;
pub use record::{Record, Session, SessionId};
pub use sqlite::{KeptBlobs, SessionTotals, Sqlite};
pub use store::{
    BodySide, CollectReport, ConversationKeys, FinishedTurn, GracePeriods, Image, LeftOutMessages,
    LocalStore, MessagePage, MessageText, PlannedMedia, PlannedTurn, PreviousTurn, SentBody,
    SentHashes, SentPrefix, Store, TurnDetails, View, WrittenMessages, conversation_keys,
    numbered_media, numbered_source, title,
};
pub use wait::wait;
pub use work::{Usd, WorkStore};
