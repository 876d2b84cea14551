//! Finds the images, and the cut line, that break a session of an agent, and repairs the session.
//!
//! ```
//! use photic_doctor::{SessionFormat, DiagnosisTarget, diagnose};
//!
//! let lines = br#"{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}
//! {"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}}
//! "#;
//! let file = std::env::temp_dir().join("photic-doctor-example.jsonl");
//! std::fs::write(&file, lines)?;
//! let diagnosis = diagnose(&file, &DiagnosisTarget::default(), &mut |_| {})?;
//! assert_eq!(diagnosis.format, SessionFormat::Pi);
//! assert_eq!(diagnosis.broken().next().unwrap().at.to_string(), "line 2 /message/content/0");
//! # std::fs::remove_file(&file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`diagnose`] reads a session once, record by record, and asks the planner of `photic` which
//! media the endpoint would reject. [`repair`] writes a copy in which only those media are changed.
//! [`externalize`] moves media into a blob store, and [`restore`] puts them back. [`replace`]
//! replaces the original by a written file, and keeps a backup.
//!
//! | module | what it does |
//! |---|---|
//! | `format` | detects the format of a file, and reads its records |
//! | `block`, `media_in_record` | finds media in a record, in a stable order |
//! | `diagnose` | plans each conversation, and explains the problems |
//! | `edit`, `repair` | changes single strings, and writes the copy |
//! | `externalize`, `blob_name`, `replace` | moves media out and back; replaces the original |
//! | `lines`, `sqlite` | records as lines and as rows |
//! | `request`, `truncation` | request bodies; pictures whose end is missing |
//!
//! # What it does not do
//!
//! It knows no limits of endpoints (profiles do), opens no connection, and never writes to the file
//! it reads. It does not decode pictures to find truncated ones; it examines how they end.

mod blob_name;
mod block;
mod diagnose;
mod edit;
mod error;
mod externalize;
mod format;
mod lines;
mod media_in_record;
mod repair;
mod replace;
mod request;
mod sqlite;
mod truncation;

pub use diagnose::{
    CutLine, Diagnosis, DiagnosisTarget, MediaPosition, Medium, Problem, Remedy, diagnose, profile,
};
pub use error::Error;
pub use externalize::{MovedMedia, externalize, restore};
pub use format::{SessionFormat, SessionName, detect};
pub use repair::{RepairReport, repair};
pub use replace::replace;
