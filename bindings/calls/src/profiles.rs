//! Profiles: the facts about an endpoint and a model, as JSON.

use photic::Profile;

use crate::CallError;
use crate::options::Options;

/// Returns the profile for a wire, a model and a host, as JSON. The wire is `to`, or else `from`.
pub fn profile(options: &Options) -> Result<String, CallError> {
    let from = match options.from {
        Some(crate::BodyFormat::Wire(wire)) => Some(wire),
        Some(crate::BodyFormat::Dump(_)) | None => None,
    };
    let wire = options.to.or(from).ok_or_else(|| {
        CallError::new(
            "bad_option",
            "no wire was named",
            "pass the wire that the request is sent on, such as `openai-chat`",
        )
    })?;
    let profile = options.profile.clone().unwrap_or_else(|| {
        photic::profile::resolve(wire, options.model.as_deref(), options.host.as_deref())
    });
    json(&profile)
}

/// Writes a profile as JSON.
fn json(profile: &Profile) -> Result<String, CallError> {
    serde_json::to_string(profile)
        .map_err(|error| CallError::new("internal", error.to_string(), "please report this"))
}
