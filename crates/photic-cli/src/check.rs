//! `photic check`: problems in a request, with position, price and advice, and the images that
//! `photic lower` with the same options would leave out.

use std::collections::BTreeMap;
use std::process::ExitCode;

use photic::{Finding, Note, Policy, Reason};
use serde::Serialize;

use crate::arguments::CheckOptions;
use crate::input::Input;
use crate::model::{NamedBy, TargetModel};
use crate::notes::{ExplainedNote, explained_notes, write_notes};
use crate::style::{CYAN, DIM, GREEN, YELLOW, counted, estimated, grouped, left_out};

/// Runs the command.
pub(crate) fn run(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    let wire = input.wire(&options.source)?;
    let (transcript, lifted) = photic::lift(wire, &input.body);
    let target = TargetModel::of(options.source.model.as_deref(), &transcript, wire);
    target.warn()?;
    let profile = &target.profile;
    let as_it_is = photic::plan(photic::survey(&transcript), profile, &Policy::hands_off());
    let findings = photic::check(&transcript, &lifted, &as_it_is);
    let plan = photic::plan(photic::survey(&transcript), profile, &options.policy.policy());
    let notes = photic::notes(&transcript);
    let mut out = anstream::stdout().lock();
    if options.source.json {
        as_json(out, &target, &plan, &findings, &notes)?;
    } else {
        as_text(&mut out, &input.name, &target, &plan, &findings)?;
        write_notes(&mut out, &notes)?;
    }
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'r> {
    wire: photic::Wire,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    model_from: NamedBy,
    profile: &'r str,
    images: usize,
    image_tokens: u64,
    basis: photic::profile::Basis,
    most_image_tokens: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    retired: BTreeMap<Reason, usize>,
    findings: Vec<Explained<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<ExplainedNote<'r>>,
}

/// A finding with its explanation.
#[derive(Serialize)]
struct Explained<'r> {
    #[serde(flatten)]
    finding: &'r Finding,
    says: &'static str,
    hint: &'static str,
}

/// Prints the report as JSON.
fn as_json(
    mut out: impl std::io::Write,
    target: &TargetModel,
    plan: &photic::Plan<'_>,
    findings: &[Finding],
    notes: &[Note],
) -> anyhow::Result<()> {
    let report = Report {
        wire: target.profile.wire,
        model: target.model.as_deref(),
        model_from: target.named_by,
        profile: &target.profile.id,
        images: plan.ledger.images,
        image_tokens: plan.ledger.image_tokens,
        basis: plan.ledger.basis,
        most_image_tokens: plan.ledger.most_image_tokens,
        retired: plan.retired(&[]),
        findings: findings
            .iter()
            .map(|finding| Explained {
                finding,
                says: finding.code.says(),
                hint: finding.code.hint(),
            })
            .collect(),
        notes: explained_notes(notes),
    };
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)?;
    Ok(())
}

/// Prints the report for people.
fn as_text(
    mut out: impl std::io::Write,
    name: &str,
    target: &TargetModel,
    plan: &photic::Plan<'_>,
    findings: &[Finding],
) -> anyhow::Result<()> {
    for finding in findings {
        let code = finding.code;
        writeln!(out, "{YELLOW}{code}{YELLOW:#} {DIM}at{DIM:#} {}", finding.at)?;
        writeln!(out, "  {}", code.says())?;
        if let Some(cost) = finding.cost {
            let (text, image) = (grouped(cost.as_text), grouped(cost.as_image));
            writeln!(out, "  about {text} tokens as text, {image} as an image")?;
        }
        writeln!(out, "  {CYAN}hint:{CYAN:#} {}\n", code.hint())?;
    }
    let subject = format!("{name} ({}, {})", target.profile.wire, target.words());
    let images = match plan.ledger.images {
        0 => "no images".to_owned(),
        count => {
            let ledger = &plan.ledger;
            let tokens = estimated(ledger.image_tokens, ledger.most_image_tokens, ledger.basis);
            format!("{}, {tokens}", counted(count, "image"))
        }
    };
    if findings.is_empty() {
        writeln!(out, "{GREEN}clean{GREEN:#}: {subject}; {images}")?;
    } else {
        writeln!(
            out,
            "{} in {subject}; after repair: {images}",
            counted(findings.len(), "finding")
        )?;
    }
    if let Some(says) = left_out(&plan.retired(&[])) {
        writeln!(out, "{YELLOW}not shown{YELLOW:#}: `photic lower` leaves out {says}")?;
    }
    Ok(())
}
