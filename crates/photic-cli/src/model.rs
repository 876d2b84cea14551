//! The model that a request is for: named by an option, or in its body; and what is known about it.

mod nearest;

use photic::json::Str;
use photic::profile::Capability;
use photic::{Profile, Transcript, Wire};
use schemars::JsonSchema;
use serde::Serialize;

use crate::body_format::BodyFormat;
use crate::style::CYAN;

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
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
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
        let (model, named_by) = Self::name(asked, Some(transcript));
        let profile = photic::profile::resolve(to, model.as_deref(), None);
        Self { profile, model, named_by }
    }

    /// Resolves the model from an option or a body, on the wire where it is described best.
    pub(crate) fn on_any_wire(asked: Option<&str>, transcript: Option<&Transcript<'_>>) -> Self {
        let (model, named_by) = Self::name(asked, transcript);
        let profile = profile_on_any_wire(model.as_deref());
        Self { profile, model, named_by }
    }

    /// The name: that of an option, or else that of the body.
    fn name(asked: Option<&str>, transcript: Option<&Transcript<'_>>) -> (Option<String>, NamedBy) {
        let name = transcript.and_then(|transcript| transcript.settings.model.as_ref());
        let body = name.map(|name| name.decode().into_owned()).filter(|name| !name.is_empty());
        match (asked, body) {
            (Some(asked), _) => (Some(asked.to_owned()), NamedBy::Argument),
            (None, Some(body)) => (Some(body), NamedBy::Body),
            (None, None) => (None, NamedBy::Nothing),
        }
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

    /// Prints on standard error what the user should know about the model.
    pub(crate) fn warn(&self) {
        if let Some(model) = self.model.as_deref() {
            print_notes(model, &self.profile);
        }
    }

    /// Sets the model's name in a request that is translated to another wire.
    pub(crate) fn rename(&self, transcript: &mut Transcript<'_>, from: BodyFormat) {
        let crosses = from != BodyFormat::Wire(self.profile.wire);
        if let Some(model) = self.model.as_ref().filter(|_| crosses) {
            transcript.settings.model = Some(Str::plain(model.clone()));
        }
    }
}

/// Returns a request body in which another model is named. Returns `None` if it names this model
/// already, or if the wire names the model outside of the body.
pub(crate) fn with_model(body: &[u8], wire: Wire, model: &str) -> Option<Vec<u8>> {
    #[derive(serde::Deserialize)]
    struct Named<'b> {
        #[serde(borrow)]
        model: Option<&'b serde_json::value::RawValue>,
    }
    let is_object = body.trim_ascii_start().first() == Some(&b'{');
    if !wire.names_model() || !is_object {
        return None;
    }
    let named: Named<'_> = serde_json::from_slice(body).ok()?;
    let name = serde_json::to_string(model).ok()?;
    let text = std::str::from_utf8(body).ok()?;
    let (before, instead, after) = match named.model.map(serde_json::value::RawValue::get) {
        Some(former) if former == name => return None,
        Some(former) => {
            let start = former.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
            (text.get(..start)?, name, text.get(start + former.len()..)?)
        }
        None => {
            let start = text.find('{')? + 1;
            let rest = text.get(start..)?;
            let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
            (text.get(..start)?, format!("\"model\":{name}{comma}"), rest)
        }
    };
    Some([before, &instead, after].concat().into_bytes())
}

/// The profile of a model on any wire; without a model, one that every endpoint satisfies.
pub(crate) fn profile_on_any_wire(model: Option<&str>) -> Profile {
    // A model is best described on its maker's wire; the others are on Chat Completions.
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, None))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::Anthropic))
}

/// Prints on standard error what the user should know about a model.
pub(crate) fn print_notes(model: &str, profile: &Profile) {
    for note in notes(model, profile) {
        anstream::eprintln!("{CYAN}note:{CYAN:#} {note}");
    }
}

/// Notes about a model: that photic does not know it, with the nearest name that it knows, and that
/// it reads text only. All commands with a model print them.
fn notes(model: &str, profile: &Profile) -> Vec<String> {
    let mut notes = Vec::new();
    let wire = profile.wire;
    let instead = nearest::nearest(model);
    let suggestion =
        instead.as_ref().map(|name| format!(". Did you mean `{name}`?")).unwrap_or_default();
    if profile.id == wire.name() {
        let others: Vec<&str> = wires_that_know(model).map(Wire::name).collect();
        notes.push(match others.split_last() {
            None => format!(
                "unknown model `{model}` on {wire}; using the generic profile of the wire{suggestion}"
            ),
            Some((last, [])) => format!(
                "unknown model `{model}` on {wire}; using the generic profile of the wire. It is \
                 known on {last}"
            ),
            Some((last, rest)) => format!(
                "unknown model `{model}` on {wire}; using the generic profile of the wire. It is \
                 known on {} and {last}",
                rest.join(", ")
            ),
        });
    } else if instead.is_some() {
        let id = &profile.id;
        notes.push(format!(
            "unknown model `{model}`; using the profile of its family, `{id}`{suggestion}"
        ));
    }
    if profile.sight.images == Capability::No {
        notes.push(format!("model `{model}` reads text only; it sees no images"));
    }
    notes
}

/// The wires with a profile for this model.
fn wires_that_know(model: &str) -> impl Iterator<Item = Wire> + '_ {
    Wire::ALL
        .into_iter()
        .filter(move |&wire| photic::profile::resolve(wire, Some(model), None).id != wire.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_renamed_and_nothing_else_changes() {
        let renamed = |body: &str| {
            let body = with_model(body.as_bytes(), Wire::OpenAiChat, "b\"c")?;
            Some(String::from_utf8(body).unwrap())
        };
        assert_eq!(
            renamed(r#" { "x" : 1, "model" : "a" , "y": [ ] }"#).unwrap(),
            r#" { "x" : 1, "model" : "b\"c" , "y": [ ] }"#
        );
        assert_eq!(renamed(r#"{"y":[]}"#).unwrap(), r#"{"model":"b\"c","y":[]}"#);
        assert_eq!(renamed("{ }").unwrap(), r#"{"model":"b\"c" }"#);
        assert_eq!(renamed(r#"{"model":"b\"c"}"#), None);
        assert_eq!(renamed("[1]"), None);
        assert_eq!(with_model(b"{}", Wire::Gemini, "m"), None);
    }

    #[test]
    fn what_is_special_about_a_model_is_said() {
        let said = |model: &str, wire: Wire| {
            notes(model, &photic::profile::resolve(wire, Some(model), None))
        };
        assert!(said("gpt-4o", Wire::OpenAiChat).is_empty());
        let unknown = said("gtp-4o", Wire::OpenAiChat);
        assert!(unknown[0].ends_with("Did you mean `gpt-4o`?"), "{unknown:?}");
        let family = said("claude-sonet-5", Wire::Anthropic);
        assert!(family[0].contains("using the profile of its family"), "{family:?}");
        let elsewhere = said("gpt-4o", Wire::Anthropic);
        assert!(elsewhere[0].contains("It is known on openai-chat"), "{elsewhere:?}");
        let blind = said("gpt-3.5-turbo", Wire::OpenAiChat);
        assert_eq!(blind, ["model `gpt-3.5-turbo` reads text only; it sees no images"]);
    }
}
