//! A session as one HTML file: the viewer with its data inside, no connections, redacted before it
//! is written. The same session and options give the same bytes.

mod collect;
mod html;
mod redact;

use std::collections::BTreeMap;

use photic_store::SessionId;
use serde_json::{Value, json};

use crate::api::object::Object;
use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::request::{Answer, ApiRequest, ServedFile};
use collect::Collector;
use redact::{Redactor, blank};

/// The pictures of an exported file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportedPictures {
    /// As they were sent.
    #[default]
    Sent,
    /// Also the originals.
    All,
    /// Thumbnails only.
    Small,
    /// None: sizes and digests only.
    None,
}

/// The texts of an exported file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportedText {
    /// As they are.
    Full,
    /// Without keys, mail addresses, card and phone numbers, and paths of the machine.
    #[default]
    Redacted,
    /// None: roles and lengths only.
    None,
}

/// Options of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The first and the last turn; all if `None`.
    pub turns: Option<(u64, u64)>,
    /// The pictures.
    pub pictures: ExportedPictures,
    /// The texts.
    pub text: ExportedText,
}

/// An exported session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Export {
    /// The file.
    pub html: Vec<u8>,
    /// Number of places that were redacted, by kind.
    pub redacted: BTreeMap<String, u64>,
    /// Number of pictures in it.
    pub pictures: usize,
}

impl ExportedPictures {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("sent", Self::Sent), ("all", Self::All), ("small", Self::Small), ("none", Self::None)];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

impl ExportedText {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("full", Self::Full), ("redacted", Self::Redacted), ("none", Self::None)];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

impl ExportOptions {
    /// Reads the options from the parameters of an address.
    fn of(ask: &ApiRequest) -> Result<Self, Failure> {
        let pictures = match ask.parameter("pictures") {
            None => ExportedPictures::default(),
            Some(name) => named(&ExportedPictures::ALL, name)?,
        };
        let text = match ask.parameter("text") {
            None => ExportedText::default(),
            Some(name) => named(&ExportedText::ALL, name)?,
        };
        let turns = ask.parameter("turns").map(Self::turns).transpose()?;
        Ok(Self { turns, pictures, text })
    }

    /// Parses a range of turns: `7` or `6-7`.
    pub fn turns(text: &str) -> Result<(u64, u64), Failure> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        match (from.parse(), to.parse()) {
            (Ok(from), Ok(to)) if 1 <= from && from <= to => Ok((from, to)),
            _ => Err(Failure::bad_request("`turns` must be a number or a range, such as 6-7")),
        }
    }

    fn value(&self) -> Value {
        Object::new()
            .maybe("turns", self.turns)
            .with("pictures", self.pictures.name())
            .with("text", self.text.name())
            .value()
    }
}

fn named<T: Copy>(all: &[(&str, T)], name: &str) -> Result<T, Failure> {
    let found = all.iter().find(|(one, _)| *one == name).map(|(_, value)| *value);
    found.ok_or_else(|| Failure::bad_request(format!("`{name}` is not one of the choices")))
}

impl Inspector {
    /// Writes a session as one HTML file.
    pub async fn export(&self, id: &SessionId, options: &ExportOptions) -> Result<Export, Failure> {
        let (data, redacted, pictures) = self.export_data(id, options).await?;
        let head = format!(
            "photic {}, session {id}, pictures {}, text {}",
            env!("CARGO_PKG_VERSION"),
            options.pictures.name(),
            options.text.name()
        );
        let html = html::page(&data, &head).ok_or_else(|| {
            Failure::away("the page of the viewer has no place for data".to_owned())
        })?;
        Ok(Export { html, redacted, pictures })
    }

    /// Collects the data of a session for a page without a server.
    async fn export_data(
        &self,
        id: &SessionId,
        options: &ExportOptions,
    ) -> Result<(Value, BTreeMap<String, u64>, usize), Failure> {
        let mut collector = Collector::new(self, id, *options).await?;
        collector.collect().await?;
        let mut redactor = Redactor::new();
        let Collector { mut answers, mut pool, blobs, images, pictures, .. } = collector;
        for value in answers.iter_mut().map(|(_, value)| value).chain(&mut pool) {
            match options.text {
                ExportedText::Full => {}
                ExportedText::Redacted => redactor.value(value),
                ExportedText::None => blank(value),
            }
        }
        let answers: serde_json::Map<String, Value> = answers.into_iter().collect();
        let data = Object::new()
            .with("format", 1)
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("session", id.as_str())
            .with("options", options.value())
            .with("redacted", redactor.counts())
            .with("answers", answers)
            .with("pool", pool)
            .with("blobs", blobs)
            .with("images", images);
        Ok((data.value(), redactor.counts().clone(), pictures))
    }

    /// Answers with the exported file.
    pub(crate) async fn export_file(
        &self,
        id: &SessionId,
        ask: &ApiRequest,
    ) -> Result<Answer, Failure> {
        let export = self.export(id, &ExportOptions::of(ask)?).await?;
        Ok(Answer::File(ServedFile {
            media_type: "text/html; charset=utf-8",
            bytes: export.html,
            is_immutable: false,
            attachment: Some(format!("{id}.html")),
        }))
    }

    /// Returns the size of an exported file, and what would be redacted.
    pub(crate) async fn export_forecast(
        &self,
        id: &SessionId,
        ask: &ApiRequest,
    ) -> Result<Value, Failure> {
        let options = ExportOptions::of(ask)?;
        let export = self.export(id, &options).await?;
        let turns =
            options.turns.map_or(String::new(), |(from, to)| format!(" --turns {from}-{to}"));
        let command = format!(
            "photic session export {id} --html{turns} --pictures {} --text {} > session.html",
            options.pictures.name(),
            options.text.name()
        );
        Ok(json!({"bytes": export.html.len(), "redacted": export.redacted,
            "pictures": export.pictures, "command": command}))
    }
}
