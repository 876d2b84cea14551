//! The model that a request is for: named by an option, or in its body.

use photic::json::Str;
use photic::{Profile, Transcript, Wire};
use serde::Serialize;

use crate::body_format::BodyFormat;

/// The model that a request is planned for.
pub(crate) struct TargetModel {
    /// Its profile.
    pub(crate) profile: Profile,
    /// Its name, if it is known.
    pub(crate) model: Option<String>,
    /// The origin of the name.
    pub(crate) named_by: NamedBy,
}

/// The origin of a model's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamedBy {
    /// The option `--for`.
    Argument,
    /// The request body.
    Body,
    /// No name was given.
    Nothing,
}

impl TargetModel {
    /// Resolves the model from an option or the body, for the wire that the request is sent on.
    pub(crate) fn of(asked: Option<&str>, transcript: &Transcript<'_>, to: Wire) -> Self {
        let body = || transcript.settings.model.as_ref().map(|name| name.decode().into_owned());
        let (model, named_by) = match (asked, body().filter(|name| !name.is_empty())) {
            (Some(asked), _) => (Some(asked.to_owned()), NamedBy::Argument),
            (None, Some(body)) => (Some(body), NamedBy::Body),
            (None, None) => (None, NamedBy::Nothing),
        };
        let profile = photic::profile::resolve(to, model.as_deref(), None);
        Self { profile, model, named_by }
    }

    /// Returns `true` if the model has a profile of its own, or was not named.
    fn is_known(&self) -> bool {
        self.model.is_none() || self.profile.id != self.profile.wire.name()
    }

    /// Describes the model and its profile.
    pub(crate) fn words(&self) -> String {
        let id = &self.profile.id;
        match (&self.model, self.named_by) {
            (Some(model), NamedBy::Body) => {
                format!("model `{model}` from the body, profile `{id}`")
            }
            (Some(model), _) => format!("model `{model}`, profile `{id}`"),
            (None, _) => format!("no model named, profile `{id}`"),
        }
    }

    /// A note if the model is unknown.
    pub(crate) fn note(&self) -> Option<String> {
        let model = self.model.as_deref().filter(|_| !self.is_known())?;
        let wire = self.profile.wire;
        Some(format!("unknown model `{model}` on {wire}; using the generic profile of the wire"))
    }

    /// Prints the note, if there is one, on standard error.
    pub(crate) fn warn(&self) -> anyhow::Result<()> {
        use std::io::Write as _;
        if let Some(note) = self.note() {
            writeln!(anstream::stderr(), "{0}note:{0:#} {note}", crate::style::CYAN)?;
        }
        Ok(())
    }

    /// Sets the model's name in a request that is translated to another wire.
    pub(crate) fn rename(&self, transcript: &mut Transcript<'_>, from: BodyFormat) {
        let crosses = from != BodyFormat::Wire(self.profile.wire);
        if let Some(model) = self.model.as_ref().filter(|_| crosses) {
            transcript.settings.model = Some(Str::plain(model.clone()));
        }
    }
}
