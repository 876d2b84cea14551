//! The calls for request bodies: check, lower, explain and repair.

use photic::json::{Segments, Str};
use photic::{Plan, Policy, Profile, ReadRequest, Transcript, Wire};

use crate::CallError;
use crate::format::BodyFormat;
use crate::heal::{self, Rejected};
use crate::options::Options;
use crate::report::{
    FindingRow, LedgerRow, Load, MediaRow, NamedBy, Report, Rest, decisions, findings, notes,
};

/// The result of a call that writes a body.
#[derive(Clone, Debug)]
pub struct Lowered<T> {
    /// The caller's copy of the body, or `None` if it is the body that came in.
    pub body: Option<T>,
    /// The report, as JSON.
    pub report: String,
}

/// Finds the problems of a request. Returns a report as JSON.
pub fn check(body: &[u8], options: &Options) -> Result<String, CallError> {
    let wire = match format(body, options)? {
        BodyFormat::Wire(wire) => wire,
        BodyFormat::Dump(dump) => {
            return Err(CallError::new(
                "not_a_request",
                format!("the body is a conversation stored by {dump}, not a request"),
                "convert it to a request first: lower it to a wire",
            ));
        }
    };
    let (transcript, lifted) = photic::lift(wire, body);
    let target = Target::of(options, &transcript, wire);
    let as_it_is = photic::plan(photic::survey(&transcript), &target.profile, &Policy::hands_off());
    let found = photic::check(&transcript, &lifted, &as_it_is);
    let plan = photic::plan(photic::survey(&transcript), &target.profile, &options.policy);
    Report {
        wire: Some(wire.name()),
        load: Some(Load::of(&plan.ledger)),
        findings: findings(&found),
        retired: plan.retired(&[]),
        notes: notes(&photic::notes(&transcript)),
        ..target.report(options)
    }
    .json()
}

/// Lists every image of a request with its fate. Returns a report as JSON.
pub fn explain(body: &[u8], options: &Options) -> Result<String, CallError> {
    let from = format(body, options)?;
    let (transcript, lifted) = from.lift(body);
    if !transcript.is_readable() {
        return Err(unknown(body));
    }
    let to = target_wire(from, options)?;
    let target = Target::of(options, &transcript, to);
    let plan = photic::plan(photic::survey(&transcript), &target.profile, &options.policy);
    let sightings = plan.survey.sightings.iter();
    let media: Vec<MediaRow> = sightings.map(|one| MediaRow::of(one, &transcript, &plan)).collect();
    let ledger = LedgerRow::of(&plan.ledger, &target.profile);
    Report {
        from: Some(from.name()),
        to: Some(to.name()),
        policy: Some(options.policy.retention.to_string()),
        findings: findings(&lifted),
        rest: Some(Rest::of(&media, &ledger)),
        media: Some(media),
        ledger: Some(ledger),
        notes: notes(&photic::notes(&transcript)),
        ..target.report(options)
    }
    .json()
}

/// Writes a request, a stored conversation or a reply for a wire, as `photic lower` does. `write`
/// copies the body; it is not called if the body is the one that came in.
pub fn lower<T>(
    body: &[u8],
    options: &Options,
    write: impl FnOnce(&Segments<'_>) -> T,
) -> Result<Lowered<T>, CallError> {
    let detected = options.from.or_else(|| BodyFormat::detect(body));
    let from = match (detected, photic::wire::detect_reply(body)) {
        (Some(format @ BodyFormat::Dump(_)), _) | (Some(format), None) => format,
        // A reply has no messages to send; a named wire alone cannot tell the two apart.
        (Some(BodyFormat::Wire(wire)), Some(_)) | (None, Some(wire)) => {
            let reply = photic::lift_reply(wire, body);
            let to = options.to.unwrap_or(wire);
            let lowered = photic::lower_reply(&reply, to);
            let (from, to) = (Some(wire.name()), Some(to.name()));
            let report = Report { from, to, ..Report::default() };
            return written(&lowered, body, write, &report);
        }
        (None, None) => return Err(unknown(body)),
    };
    let (mut transcript, lifted) = from.lift(body);
    if !transcript.is_readable() {
        return Err(unknown(body));
    }
    let to = target_wire(from, options)?;
    let target = Target::of(options, &transcript, to);
    if let Some(model) = target.model.as_ref().filter(|_| from != BodyFormat::Wire(to)) {
        transcript.settings.model = Some(Str::plain(model.clone()));
    }
    let plan = planned(&transcript, &target.profile, &options.policy);
    let prepared = photic_pixels::prepare(&transcript, &plan);
    let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
    let report = target.report_of(options, from, &plan, &lowered, findings(&lifted));
    written(&lowered.body, body, write, &report)
}

/// Repairs a request for the endpoint that it is sent to. It cannot fail: a body that cannot be
/// read is sent as it is, and the report says so. After rejections the request is repaired under
/// what they say.
pub fn repair<T>(
    body: &[u8],
    options: &Options,
    rejections: &[Rejected],
    write: impl FnOnce(&Segments<'_>) -> T,
) -> Result<Lowered<T>, CallError> {
    repair_and_see(body, options, rejections, write, |_| ())
}

/// Repairs a request, and shows `see` how it was read.
pub(crate) fn repair_and_see<T>(
    body: &[u8],
    options: &Options,
    rejections: &[Rejected],
    write: impl FnOnce(&Segments<'_>) -> T,
    see: impl FnOnce(&ReadRequest<'_>),
) -> Result<Lowered<T>, CallError> {
    let Some(wire) = wire_of(body, options) else {
        let findings = vec![FindingRow::unread()];
        let report = Report { findings, decisions: Some(Vec::new()), ..Report::default() };
        return Ok(Lowered { body: None, report: report.json()? });
    };
    let (transcript, lifted) = photic::lift(wire, body);
    let mut target = Target::of(options, &transcript, wire);
    let mut policy = options.policy.clone();
    for (tries, rejected) in rejections.iter().enumerate() {
        let plan = planned(&transcript, &target.profile, &policy);
        let prepared = photic_pixels::prepare(&transcript, &plan);
        let sent = photic::lower_prepared(&transcript, &plan, &prepared).body.to_vec();
        heal::tighten(&mut target.profile, &mut policy, &sent, rejected, tries);
    }
    let plan = planned(&transcript, &target.profile, &policy);
    let prepared = photic_pixels::prepare(&transcript, &plan);
    let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
    let found = photic::check(&transcript, &lifted, &plan);
    see(&ReadRequest {
        transcript: &transcript,
        findings: &found,
        policy: &policy,
        plan: &plan,
        lowered: &lowered,
    });
    let from = BodyFormat::Wire(wire);
    let report = target.report_of(options, from, &plan, &lowered, findings(&found));
    written(&lowered.body, body, write, &report)
}

/// Returns the wire of a request: that of the options, or else the detected one.
pub(crate) fn wire_of(body: &[u8], options: &Options) -> Option<Wire> {
    match options.from {
        Some(BodyFormat::Wire(wire)) => Some(wire),
        Some(BodyFormat::Dump(_)) | None => photic::detect(body),
    }
}

/// Plans a request under a profile and a policy.
pub(crate) fn planned<'p>(
    transcript: &Transcript<'_>,
    profile: &'p Profile,
    policy: &Policy,
) -> Plan<'p> {
    let mut survey = photic::survey(transcript);
    if !policy.choices.is_empty() || !policy.retired.is_empty() {
        survey.identify(transcript);
    }
    photic::plan(survey, profile, policy)
}

/// Hands a body and its report out.
fn written<T>(
    lowered: &Segments<'_>,
    body: &[u8],
    write: impl FnOnce(&Segments<'_>) -> T,
    report: &Report<'_>,
) -> Result<Lowered<T>, CallError> {
    let report = report.json()?;
    let body = (!lowered.is(body)).then(|| write(lowered));
    Ok(Lowered { body, report })
}

/// The model that a request is planned for.
pub(crate) struct Target {
    pub(crate) profile: Profile,
    model: Option<String>,
}

impl Target {
    /// Resolves the model of the options or of the body, for the wire that the request is sent on.
    pub(crate) fn of(options: &Options, transcript: &Transcript<'_>, to: Wire) -> Self {
        let body = || transcript.settings.model.as_ref().map(|name| name.decode().into_owned());
        let model = options.model.clone().or_else(|| body().filter(|name| !name.is_empty()));
        let profile = options.profile.clone().unwrap_or_else(|| {
            photic::profile::resolve(to, model.as_deref(), options.host.as_deref())
        });
        Self { profile, model }
    }

    /// Returns a report that names the model.
    fn report<'r>(&'r self, options: &Options) -> Report<'r> {
        Report {
            model: self.model.as_deref(),
            model_from: Some(NamedBy::of(options, self.model.as_ref())),
            profile: Some(&self.profile.id),
            ..Report::default()
        }
    }

    /// Returns the report about a request that was written.
    pub(crate) fn report_of<'r>(
        &'r self,
        options: &Options,
        from: BodyFormat,
        plan: &Plan<'_>,
        lowered: &photic::Lowered<'_>,
        findings: Vec<FindingRow>,
    ) -> Report<'r> {
        Report {
            from: Some(from.name()),
            to: Some(self.profile.wire.name()),
            findings,
            decisions: Some(decisions(&lowered.decisions)),
            ledger: Some(LedgerRow::of(&plan.ledger, &self.profile)),
            retired: plan.retired(&lowered.retired),
            ..self.report(options)
        }
    }
}

/// Returns the format of a body.
fn format(body: &[u8], options: &Options) -> Result<BodyFormat, CallError> {
    options.from.or_else(|| BodyFormat::detect(body)).ok_or_else(|| unknown(body))
}

/// Returns the wire to write.
fn target_wire(from: BodyFormat, options: &Options) -> Result<Wire, CallError> {
    match (options.to, from) {
        (Some(to), _) => Ok(to),
        (None, BodyFormat::Wire(wire)) => Ok(wire),
        (None, BodyFormat::Dump(dump)) => Err(CallError::new(
            "not_a_request",
            format!("the body is a conversation stored by {dump}, not a request"),
            "name the wire to write it for with `to`, such as `openai-chat`",
        )),
    }
}

/// The error for a body in no known format.
fn unknown(body: &[u8]) -> CallError {
    if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err() {
        return CallError::new(
            "not_json",
            "the body is not JSON",
            "pass the body of one request, as it is sent to the API",
        );
    }
    CallError::new(
        "unknown_format",
        "the body is not a request in a known format",
        "name its format, such as `openai-chat`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Look!"},
        {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":""}]}"#;

    fn copied(body: &Segments<'_>) -> Vec<u8> {
        body.to_vec()
    }

    fn options(json: &str) -> Options {
        Options::read(json).unwrap()
    }

    #[test]
    fn repair_writes_the_bytes_of_the_library() {
        let done = repair(BROKEN.as_bytes(), &options(""), &[], copied).unwrap();
        let direct = photic_pixels::repair(BROKEN.as_bytes(), &photic::RepairOptions::default());
        assert_eq!(done.body.as_deref(), Some(&*direct.body));
        assert!(done.report.contains("empty_tool_content"), "{}", done.report);
    }

    #[test]
    fn what_needs_no_repair_is_not_written() {
        let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
        let done = repair(body, &options(""), &[], |_| ()).unwrap();
        assert_eq!(done.body, None);
    }

    #[test]
    fn a_body_of_no_api_is_returned_with_a_finding() {
        let done = repair(b"words", &options(""), &[], |_| ()).unwrap();
        assert_eq!(done.body, None);
        assert!(done.report.contains("not_json"));
        let error = check(b"words", &options("")).unwrap_err();
        assert_eq!(error.code, "not_json");
    }

    #[test]
    fn a_rejection_changes_what_is_sent() {
        let file = photic_pixels::chart::Chart::of(7).png().unwrap();
        let picture = photic::media::Payload::encode(&file);
        let url = format!("data:image/png;base64,{}", String::from_utf8_lossy(picture.base64()));
        let body = serde_json::json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": url}}]}]})
        .to_string();
        let rejected = Rejected {
            status: 400,
            text: r#"{"error":{"message":"This model does not support image inputs."}}"#.to_owned(),
        };
        let none = options("");
        let first = repair(body.as_bytes(), &none, &[], copied).unwrap();
        assert_eq!(first.body, None);
        let next = repair(body.as_bytes(), &none, &[rejected], copied).unwrap();
        assert!(!String::from_utf8_lossy(&next.body.unwrap()).contains("image_url"));
        let unrelated = Rejected { status: 400, text: "Unknown parameter".to_owned() };
        let same = repair(body.as_bytes(), &none, &[unrelated], copied).unwrap();
        assert_eq!(same.body, None);
    }
}
