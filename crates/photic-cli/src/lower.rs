//! `photic lower`: writes the body for a wire to standard output; messages go to standard error.

use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use photic::json::Segments;
use photic::{Decision, Did, Ledger, Transcript, Wire};
use serde_json::value::RawValue;

use crate::arguments::LowerOptions;
use crate::body_format::BodyFormat;
use crate::input::Input;
use crate::model::{TargetModel, with_model};
use crate::output::named_file;
use crate::report::{DecisionReport, FindingReport, LedgerReport, LowerReport, by_reason};
use crate::style::{DIM, GREEN, Hint, YELLOW, counted, estimated, grouped, left_out};

/// Largest body that is written to a terminal, in bytes.
const MAX_TERMINAL_BYTES: usize = 64 << 10;

/// Runs the command.
pub(crate) fn run(options: &LowerOptions) -> anyhow::Result<ExitCode> {
    let mut input = Input::read(&options.source)?;
    if photic::wire::detect_reply(&input.body).is_none() {
        input.refuse_other_formats(&options.source)?;
    }
    // On its own wire a body is sent as it came, so the model is replaced before it is read.
    if let (Some(model), Some(BodyFormat::Wire(wire))) =
        (&options.source.model, input.format(&options.source))
        && options.to.is_none_or(|to| to == wire)
        && let Some(renamed) = with_model(&input.body, wire, model)
    {
        input.body = renamed;
    }
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
    let policy = options.policy.policy()?;
    let target = TargetModel::of(options.source.model.as_deref(), &transcript, to);
    target.warn();
    target.rename(&mut transcript, from);
    let profile = &target.profile;
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
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
        let body = String::from_utf8(lowered.body.to_vec()).context("the body is not UTF-8")?;
        let report = LowerReport {
            from: from.name().to_owned(),
            to: to.name().to_owned(),
            model: target.model.clone(),
            model_from: target.named_by,
            profile: profile.id.clone(),
            findings: findings.iter().map(FindingReport::of).collect(),
            decisions: lowered.decisions.iter().map(DecisionReport::of).collect(),
            ledger: LedgerReport::of(&plan.ledger, profile),
            retired: by_reason(&retired),
            body: RawValue::from_string(body).context("cannot read the lowered body back")?,
        };
        let report = format!("{}\n", serde_json::to_string_pretty(&report)?);
        return write(&Segments::whole(report.as_bytes()), options.output.as_deref());
    }
    write(&lowered.body, options.output.as_deref())
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
    let reply = photic::lift_reply(from, &input.body);
    let lowered = photic::lower_reply(&reply, options.to.unwrap_or(from));
    write(&lowered, options.output.as_deref())
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

/// Writes a body to a file or to standard output, but not a large one to a terminal.
fn write(body: &Segments<'_>, file: Option<&Path>) -> anyhow::Result<ExitCode> {
    if let Some(path) = named_file(file) {
        let shown = path.display();
        let written = std::fs::File::create(path).and_then(|mut file| segments(&mut file, body));
        written.with_context(|| format!("cannot write `{shown}`"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let out = std::io::stdout();
    if out.is_terminal() && body.len() > MAX_TERMINAL_BYTES {
        let says =
            format!("the body has {} bytes, too many for a terminal", grouped(body.len() as u64));
        let hint = Hint("write it to a file with `-o repaired.json`, or pipe it into a command");
        bail!(anyhow::anyhow!(says).context(hint));
    }
    segments(&mut out.lock(), body).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a body segment by segment, without copying long ones.
fn segments(out: &mut impl Write, body: &Segments<'_>) -> std::io::Result<()> {
    for segment in body.iter() {
        out.write_all(segment)?;
    }
    out.flush()
}
