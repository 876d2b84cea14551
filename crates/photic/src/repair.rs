//! Repairs a request body in one call: the stages in their order, with options that have defaults.
//!
//! A host that fetches addresses, keeps a record or retries after rejections calls the stages
//! itself.

use std::borrow::Cow;

use crate::check::check;
use crate::finding::{Code, Finding, Position};
use crate::lift::lift;
use crate::lower::{Decision, lower_prepared};
use crate::media::MediaId;
use crate::plan::{Ledger, Plan, Policy, Prepared, plan};
use crate::profile::{Profile, resolve};
use crate::survey::survey;
use crate::transcript::Transcript;
use crate::wire::{Wire, detect};

/// The options of [`repair`]. The default detects the wire of the body, keeps it, and takes the
/// profile of the model that the body names.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// The wire of the body. Detected if `None`.
    pub from: Option<Wire>,
    /// The wire to write. The wire of the body if `None`.
    pub to: Option<Wire>,
    /// The model that will read the request. Taken from the body if `None`.
    pub model: Option<String>,
    /// The host that the request is sent to; some hosts differ from the provider of the model.
    pub host: Option<String>,
    /// The facts about the endpoint and the model. Looked up by wire, model and host if `None`; its
    /// wire is the wire to write, whatever `to` says.
    pub profile: Option<Profile>,
    /// The host's choices: how long images stay, budgets, purpose.
    pub policy: Policy,
}

/// A repaired request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repaired<'a> {
    /// The body to send. It borrows from the body that came in if not a byte had to change.
    pub body: Cow<'a, [u8]>,
    /// The wire of the body that came in; `None` if it is not a request of any wire that photic
    /// knows. Such a body is returned unchanged.
    pub from: Option<Wire>,
    /// The profile that the repair was made for.
    pub profile: Option<Profile>,
    /// The problems of the body that came in.
    pub findings: Vec<Finding>,
    /// The changes that were made, in the order of the conversation.
    pub decisions: Vec<Decision>,
    /// The tokens, bytes and price of the request.
    pub ledger: Ledger,
    /// Media that had to give way because the written body was too large.
    pub retired: Vec<MediaId>,
}

impl Repaired<'_> {
    /// Returns `true` if the body differs from the one that came in.
    pub const fn is_changed(&self) -> bool {
        matches!(self.body, Cow::Owned(_))
    }
}

/// Repairs a request body. Images in places that the model does not look at become images it sees,
/// broken orders of calls and results are corrected, and media that cannot be shown become
/// notices.
///
/// It makes no pixels: an image that is too large becomes a notice. `photic_pixels::repair`
/// shrinks it instead. It cannot fail: a body that cannot be read is returned unchanged, with a
/// finding.
///
/// ```
/// use photic::{RepairOptions, Wire};
///
/// let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Look!"},
///   {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"shot","arguments":"{}"}}]},
///   {"role":"tool","tool_call_id":"c","content":""}]}"#;
/// let repaired = photic::repair(body, &RepairOptions::default());
/// assert_eq!(repaired.from, Some(Wire::OpenAiChat));
/// assert_eq!(repaired.findings[0].code.name(), "empty_tool_content");
/// assert_eq!(repaired.decisions[0].did.says(), "empty result filled");
/// assert!(repaired.is_changed());
/// ```
pub fn repair<'a>(body: &'a [u8], options: &RepairOptions) -> Repaired<'a> {
    repair_with(body, options, |_, _| Prepared::new())
}

/// Repairs a request body as [`repair`] does, with pictures from the host: `prepare` makes the
/// pictures that the recipes of the plan ask for. Plans have recipes if [`Policy::pixels`] is set.
///
/// ```
/// use photic::{Prepared, RepairOptions};
///
/// let mut options = RepairOptions::default();
/// options.policy.pixels = true;
/// let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
/// let repaired = photic::repair_with(body, &options, |_transcript, plan| {
///     assert!(plan.recipes.is_empty(), "there is nothing to make");
///     Prepared::new()
/// });
/// assert!(!repaired.is_changed());
/// ```
pub fn repair_with<'a>(
    body: &'a [u8],
    options: &RepairOptions,
    prepare: impl FnOnce(&Transcript<'_>, &Plan<'_>) -> Prepared,
) -> Repaired<'a> {
    let Some(from) = options.from.or_else(|| detect(body)) else { return unread(body) };
    let (transcript, lifted) = lift(from, body);
    let named = || transcript.settings.model.as_ref().map(|name| name.decode().into_owned());
    let profile = options.profile.clone().unwrap_or_else(|| {
        let model = options.model.clone().or_else(named);
        resolve(options.to.unwrap_or(from), model.as_deref(), options.host.as_deref())
    });
    let mut survey = survey(&transcript);
    if !options.policy.choices.is_empty() || !options.policy.retired.is_empty() {
        survey.identify(&transcript);
    }
    let plan = plan(survey, &profile, &options.policy);
    let prepared = prepare(&transcript, &plan);
    let lowered = lower_prepared(&transcript, &plan, &prepared);
    // The findings that depend on the model are known only for the wire of the body.
    let findings = if profile.wire == from { check(&transcript, &lifted, &plan) } else { lifted };
    let is_same = lowered.body.is(body);
    let ledger = plan.ledger.clone();
    Repaired {
        body: if is_same { Cow::Borrowed(body) } else { Cow::Owned(lowered.body.to_vec()) },
        from: Some(from),
        findings,
        decisions: lowered.decisions,
        ledger,
        retired: lowered.retired,
        profile: Some(profile),
    }
}

/// Returns a body of no known wire unchanged.
fn unread(body: &[u8]) -> Repaired<'_> {
    let at = Position { pointer: String::new(), inner: None };
    Repaired {
        body: Cow::Borrowed(body),
        from: None,
        profile: None,
        findings: vec![Finding { code: Code::NotJson, at, media: None, cost: None }],
        decisions: Vec::new(),
        ledger: Ledger::default(),
        retired: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: &str = r#"{"messages":[{"role":"user","content":"Look!"},
        {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":""}]}"#;

    #[test]
    fn one_call_does_what_the_stages_do() {
        let (transcript, lifted) = lift(Wire::OpenAiChat, BROKEN.as_bytes());
        let profile = resolve(Wire::OpenAiChat, None, None);
        let plan = plan(survey(&transcript), &profile, &Policy::default());
        let lowered = crate::lower(&transcript, &plan);
        let repaired = repair(BROKEN.as_bytes(), &RepairOptions::default());
        assert_eq!(*repaired.body, lowered.body.to_vec());
        assert_eq!(repaired.decisions, lowered.decisions);
        assert_eq!(repaired.findings, check(&transcript, &lifted, &plan));
    }

    #[test]
    fn a_body_without_problems_is_borrowed() {
        let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
        let repaired = repair(body, &RepairOptions::default());
        assert!(!repaired.is_changed() && repaired.decisions.is_empty());
    }

    #[test]
    fn what_cannot_be_read_comes_back_with_a_finding() {
        let repaired = repair(b"words", &RepairOptions::default());
        assert_eq!((&*repaired.body, repaired.from), (&b"words"[..], None));
        assert_eq!(repaired.findings[0].code, Code::NotJson);
    }

    #[test]
    fn another_wire_is_written_on_request() {
        let options = RepairOptions { to: Some(Wire::Anthropic), ..RepairOptions::default() };
        let repaired = repair(BROKEN.as_bytes(), &options);
        assert_eq!(detect(&repaired.body), Some(Wire::Anthropic));
    }
}
