//! The model that a request is for: the one that was named, else the one that its body names.

use photic::json::Str;
use photic::{Profile, Transcript, Wire};
use serde::Serialize;

use crate::input::Shape;

/// Whom a request is planned for.
pub(crate) struct Target {
    /// What is known about it.
    pub(crate) profile: Profile,
    /// The name of the model, if there is one.
    pub(crate) model: Option<String>,
    /// Who named it.
    pub(crate) named_by: NamedBy,
}

/// Who named a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamedBy {
    /// The argument `--for`.
    Argument,
    /// The body.
    Body,
    /// It was not named.
    Nothing,
}

impl Target {
    /// The model of an argument, or else of the body, on the wire that the request is sent on.
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

    /// Whether anything is known about the model itself. One that was not named is not asked about.
    fn is_known(&self) -> bool {
        self.model.is_none() || self.profile.id != self.profile.wire.name()
    }

    /// The model and the profile, in words.
    pub(crate) fn words(&self) -> String {
        let id = &self.profile.id;
        match (&self.model, self.named_by) {
            (Some(model), NamedBy::Body) => format!("model `{model}` of the body, profile `{id}`"),
            (Some(model), _) => format!("model `{model}`, profile `{id}`"),
            (None, _) => format!("no model named, profile `{id}`"),
        }
    }

    /// What to say about a model that nothing is known about.
    pub(crate) fn note(&self) -> Option<String> {
        let model = self.model.as_deref().filter(|_| !self.is_known())?;
        let wire = self.profile.wire;
        Some(format!(
            "nothing is known about `{model}` on {wire}; the generic profile of the wire holds"
        ))
    }

    /// Says on standard error that nothing is known about the model, if that is so.
    pub(crate) fn warn(&self) -> anyhow::Result<()> {
        use std::io::Write as _;
        if let Some(note) = self.note() {
            writeln!(anstream::stderr(), "{0}note:{0:#} {note}", crate::style::CYAN)?;
        }
        Ok(())
    }

    /// Writes the name of the model into a request that goes to another wire, where it was asked for.
    pub(crate) fn rename(&self, transcript: &mut Transcript<'_>, from: Shape) {
        let crosses = from != Shape::Wire(self.profile.wire);
        if let Some(model) = self.model.as_ref().filter(|_| crosses) {
            transcript.settings.model = Some(Str::plain(model.clone()));
        }
    }
}
