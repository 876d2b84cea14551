//! `photic lower`: writes the body for a wire to standard output; messages go to standard error.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use photic::json::Segments;
use photic::{Decision, Did, Finding, Ledger, Reason, Transcript, Wire};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::arguments::LowerOptions;
use crate::body_format::BodyFormat;
use crate::input::Input;
use crate::model::{NamedBy, TargetModel};
use crate::style::{DIM, GREEN, YELLOW, counted, estimated, left_out};

/// Runs the command.
pub(crate) fn run(options: &LowerOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    match (input.format(&options.source), photic::wire::detect_reply(&input.body)) {
        (Some(format @ BodyFormat::Dump(_)), _) | (Some(format), None) => {
            request_body(options, &input, format)
        }
        // A reply has no messages to send; `--from` alone cannot tell the two apart.
        (Some(BodyFormat::Wire(wire)), Some(_)) | (None, Some(wire)) => {
            reply_body(options, &input, wire)
        }
        (None, None) => input.unknown(),
    }
}

/// Repairs a request.
fn request_body(
    options: &LowerOptions,
    input: &Input,
    from: BodyFormat,
) -> anyhow::Result<ExitCode> {
    let (mut transcript, findings) = from.lift(&input.body);
    if !transcript.is_readable() {
        return input.unknown();
    }
    let to = match options.to {
        Some(to) => to,
        None => input.wire(&options.source)?,
    };
    let target = TargetModel::of(options.source.model.as_deref(), &transcript, to);
    target.warn()?;
    target.rename(&mut transcript, from);
    let profile = &target.profile;
    let plan = photic::plan(photic::survey(&transcript), profile, &options.policy.policy());
    let prepared = photic_pixels::prepare(&transcript, &plan);
    let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
    let retired = plan.retired(&lowered.retired);
    if let Some(says) = left_out(&retired) {
        writeln!(anstream::stderr(), "{YELLOW}not shown{YELLOW:#}: {says}")?;
    }
    warn_of_losses(&transcript, to, &lowered.decisions, options.explain)?;
    if options.explain {
        let is_same = lowered.body.is(transcript.body());
        explain(from, &target, &plan.ledger, &lowered.decisions, is_same)?;
    }
    if options.source.json {
        let body = lowered.body.to_vec();
        let report = Report {
            from,
            to,
            model: target.model.as_deref(),
            model_from: target.named_by,
            profile: &profile.id,
            findings: &findings,
            decisions: &lowered.decisions,
            ledger: &plan.ledger,
            retired,
            body: serde_json::from_slice(&body).context("cannot read the lowered body back")?,
        };
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    write(&lowered.body)
}

/// Warns of a request that is only half of its conversation, and of values that the other wire does
/// not carry.
fn warn_of_losses(
    transcript: &Transcript<'_>,
    to: Wire,
    decisions: &[Decision],
    explains: bool,
) -> anyhow::Result<()> {
    let mut words = anstream::stderr().lock();
    let half = photic::notes(transcript).into_iter().find(|note| note.is_half);
    if let Some(note) = half.filter(|_| transcript.wire != to) {
        writeln!(
            words,
            "{YELLOW}warning{YELLOW:#}: `{}` continues a conversation that the provider keeps; \
             this body for {to} lacks it. Send the whole history instead.",
            note.field
        )?;
    }
    let is_loss = |one: &&Decision| matches!(one.did, Did::LeftOutField(_) | Did::LeftOutPart(_));
    let losses = decisions.iter().filter(is_loss).count();
    if losses > 0 && !explains {
        let values = counted(losses, "value");
        writeln!(
            words,
            "{YELLOW}left out{YELLOW:#}: {values} that {to} has no field for; `--explain` lists them"
        )?;
    }
    Ok(())
}

/// Translates a reply.
fn reply_body(options: &LowerOptions, input: &Input, from: Wire) -> anyhow::Result<ExitCode> {
    write(&photic::lower_reply(&photic::lift_reply(from, &input.body), options.to.unwrap_or(from)))
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'r> {
    from: BodyFormat,
    to: Wire,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    model_from: NamedBy,
    profile: &'r str,
    findings: &'r [Finding],
    decisions: &'r [Decision],
    ledger: &'r Ledger,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    retired: BTreeMap<Reason, usize>,
    body: &'r RawValue,
}

/// Prints the changes and their reasons.
fn explain(
    from: BodyFormat,
    target: &TargetModel,
    ledger: &Ledger,
    decisions: &[Decision],
    is_same: bool,
) -> anyhow::Result<()> {
    let mut words = anstream::stderr().lock();
    for decision in decisions {
        let says = decision.did.says();
        match &decision.at {
            Some(at) => writeln!(words, "{YELLOW}{at}{YELLOW:#} {says}")?,
            None => writeln!(words, "{YELLOW}request{YELLOW:#} {says}")?,
        }
    }
    // Printed only for a body that is sent byte for byte.
    if is_same {
        writeln!(words, "{GREEN}nothing to do{GREEN:#}")?;
    } else if decisions.is_empty() {
        writeln!(words, "{GREEN}written for {}, nothing left out{GREEN:#}", target.profile.wire)?;
    }
    let images = counted(ledger.images, "image");
    let tokens = estimated(ledger.image_tokens, ledger.most_image_tokens, ledger.basis);
    let (from, wire, who) = (from.name(), target.profile.wire, target.words());
    writeln!(words, "{DIM}{from} → {wire}, {who}; {images} seen, {tokens}{DIM:#}")?;
    Ok(())
}

/// Writes a body segment by segment, without copying long ones.
fn write(body: &Segments<'_>) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for segment in body.iter() {
        out.write_all(segment).context("cannot write to standard output")?;
    }
    out.flush().context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}
