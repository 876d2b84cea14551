//! Finds the images that brick a session of an agent, and repairs the session.
//!
//! ```
//! use photic_doctor::{Format, Question, diagnose};
//!
//! let lines = br#"{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}
//! {"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}}
//! "#;
//! let file = std::env::temp_dir().join("photic-doctor-example.jsonl");
//! std::fs::write(&file, lines)?;
//! let diagnosis = diagnose(&file, &Question::default(), &mut |_| {})?;
//! assert_eq!(diagnosis.format, Format::Pi);
//! assert_eq!(diagnosis.sick().next().unwrap().at.to_string(), "line 2 /message/content/0");
//! # std::fs::remove_file(&file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`diagnose`] reads a session once, record by record, and asks the planner of `photic` what the
//! endpoint would say to the media in it. [`repair`] writes the same session again with nothing
//! changed but those media. [`externalize`] moves media into a blob store, [`restore`] puts them back.
//! [`replace`] puts what was written in the place of the original, and keeps that.
//!
//! # What it does not do
//!
//! It knows no limit of any endpoint (profiles do), opens no connection, and never writes to the
//! file it reads. It decodes no picture to find out whether it is whole; it looks at how it ends.

mod diagnose;
mod edit;
mod error;
mod externalize;
mod format;
mod measure;
mod repair;
mod replace;
mod request;
mod spelling;
mod table;
mod text;
mod truncation;

pub use diagnose::{Ailment, At, Diagnosis, Medium, Question, Remedy, diagnose, profile};
pub use error::Error;
pub use externalize::{Moved, externalize, restore};
pub use format::{Format, detect};
pub use repair::{Repaired, repair};
pub use replace::replace;
