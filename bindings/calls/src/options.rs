//! The options of calls, as both languages pass them.

use photic::retention::MaxLoad;
use photic::{Policy, Profile, Purpose, Wire};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::CallError;
use crate::format::BodyFormat;

/// The options of a call, read from JSON.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format of the body. Detected if `None`.
    pub from: Option<BodyFormat>,
    /// The wire to write. That of the body if `None`.
    pub to: Option<Wire>,
    /// The model that reads the request. Taken from the body if `None`.
    pub model: Option<String>,
    /// The host that the request is sent to.
    pub host: Option<String>,
    /// The facts about the endpoint and the model. Looked up if `None`.
    pub profile: Option<Profile>,
    /// The choices of the caller.
    pub policy: Policy,
}

/// The options in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Given<'j> {
    #[serde(rename = "from")]
    wire: Option<String>,
    to: Option<String>,
    model: Option<String>,
    host: Option<String>,
    #[serde(borrow)]
    profile: Option<&'j RawValue>,
    policy: Option<PolicyOptions>,
}

/// The choices of a caller. Those that are absent have their defaults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyOptions {
    /// The retention policy: `all`, `priced`, `turns(K)` or `newest(N)`.
    pub retention: Option<String>,
    /// The number of newest tool images that `priced` always keeps.
    pub keep: Option<usize>,
    /// `true` to set prompt cache breakpoints where they pay.
    pub marks: Option<bool>,
    /// The purpose of the request: `converse` or `summarize`.
    pub purpose: Option<Purpose>,
    /// `false` if no picture may be scaled or converted.
    pub pixels: Option<bool>,
    /// The caller's own limits.
    pub limits: Option<MaxLoad>,
}

impl PolicyOptions {
    /// Returns the policy. It makes pictures unless that is switched off.
    pub fn policy(&self) -> Result<Policy, CallError> {
        let mut policy = Policy::default();
        if let Some(name) = &self.retention {
            policy.retention = name
                .parse()
                .map_err(|error: photic::UnknownName| CallError::option(error.to_string()))?;
        }
        policy.floor = self.keep.unwrap_or(policy.floor);
        policy.marks = self.marks.unwrap_or(policy.marks);
        policy.purpose = self.purpose.unwrap_or(policy.purpose);
        policy.room = self.limits.unwrap_or(policy.room);
        policy.pixels = self.pixels.unwrap_or(true);
        Ok(policy)
    }
}

impl Options {
    /// Reads the options. An empty text stands for no options.
    pub fn read(json: &str) -> Result<Self, CallError> {
        let given: Given<'_> = if json.is_empty() {
            Given::default()
        } else {
            serde_json::from_str(json)
                .map_err(|error| CallError::option(format!("cannot read the options: {error}")))?
        };
        let unknown = |error: photic::UnknownName| CallError::option(error.to_string());
        let from = given.wire.as_deref().map(BodyFormat::from_name).transpose().map_err(unknown)?;
        let to = given.to.as_deref().map(str::parse).transpose().map_err(unknown)?;
        let profile = given.profile.map(read_profile).transpose()?;
        let policy = given.policy.unwrap_or_default().policy()?;
        Ok(Self { from, to, model: given.model, host: given.host, profile, policy })
    }
}

/// Reads a profile: the id of a shipped one as a string, or a whole one as an object.
fn read_profile(json: &RawValue) -> Result<Profile, CallError> {
    if let Ok(id) = serde_json::from_str::<String>(json.get()) {
        return Profile::by_id(&id).ok_or_else(|| {
            CallError::new(
                "bad_option",
                format!("unknown profile `{id}`"),
                "pass the id of a shipped profile (`photic profiles` lists them)",
            )
        });
    }
    serde_json::from_str(json.get())
        .map_err(|error| CallError::option(format!("cannot read the profile: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_options_are_the_defaults_with_pixels() {
        let options = Options::read("").unwrap();
        assert!(options.policy.pixels && options.from.is_none());
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (json, says) in [
            (r#"{"from":"openai"}"#, "unknown wire `openai`"),
            (r#"{"form":"openai"}"#, "unknown field `form`"),
            (r#"{"policy":{"retention":"some"}}"#, "unknown retention `some`"),
            (r#"{"profile":"none"}"#, "unknown profile `none`"),
        ] {
            let error = Options::read(json).unwrap_err();
            assert!(error.message.contains(says), "{error}");
        }
    }

    #[test]
    fn a_profile_is_read_as_it_is_written() {
        let generic = Profile::generic(Wire::Anthropic);
        let json = format!(r#"{{"profile":{}}}"#, serde_json::to_string(&generic).unwrap());
        assert_eq!(Options::read(&json).unwrap().profile, Some(generic));
    }
}
