//! The endpoint that a session goes to, and its profile.

use photic::{Profile, Wire};

use crate::format::kind::SessionFormat;

/// The endpoint that a session is diagnosed for.
#[derive(Clone, Debug, Default)]
pub struct DiagnosisTarget {
    /// The model that the session will continue with; the one it names if `None`.
    pub model: Option<String>,
    /// The wire; that of the agent or of the model's maker if `None`.
    pub wire: Option<Wire>,
}

/// The profile of the endpoint that a session goes to.
pub fn profile(format: SessionFormat, question: &DiagnosisTarget, named: Option<&str>) -> Profile {
    let model = question.model.as_deref().or(named);
    let is_asked = question.model.is_some() && question.wire.is_none();
    let mut profile = match question.wire.or(format.wire()) {
        Some(wire) => photic::profile::resolve(wire, model, None),
        None => profile_of_maker(model),
    };
    // A model of another maker is judged as its maker's endpoint does. A request stays on its wire.
    let is_generic = profile.id == Profile::generic(profile.wire).id;
    if is_asked && is_generic && !matches!(format, SessionFormat::Request(_)) {
        let own = profile_of_maker(model);
        if own.id != Profile::generic(own.wire).id {
            profile = own;
        }
    }
    // Agents compact what grows too long; that is not a fault of pictures.
    profile.limits.context_tokens = None;
    profile
}

/// The profile of a model on its maker's wire, or on Chat Completions.
fn profile_of_maker(model: Option<&str>) -> Profile {
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::Gemini, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, None))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::OpenAiChat))
}
