//! `photic check`: what is wrong, where, what it costs, and what to do.

use std::process::ExitCode;

use photic::{Finding, Policy, Profile};
use serde::Serialize;

use crate::arguments::CheckOptions;
use crate::input::Input;
use crate::style::{CYAN, DIM, GREEN, YELLOW, counted, estimated, grouped};

pub(crate) fn run(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    let wire = input.wire(&options.source)?;
    let profile = photic::profile::resolve(wire, options.source.model.as_deref(), None);
    let (transcript, lifted) = photic::lift(wire, &input.body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::hands_off());
    let findings = photic::check(&transcript, &lifted, &plan);
    let out = anstream::stdout().lock();
    if options.source.json {
        as_json(out, &profile, &plan, &findings)?;
    } else {
        as_text(out, &input.name, &profile, &plan, &findings)?;
    }
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

#[derive(Serialize)]
struct Report<'r> {
    wire: photic::Wire,
    profile: &'r str,
    images: usize,
    image_tokens: u64,
    basis: photic::profile::Basis,
    most_image_tokens: u64,
    findings: Vec<Explained<'r>>,
}

#[derive(Serialize)]
struct Explained<'r> {
    #[serde(flatten)]
    finding: &'r Finding,
    says: &'static str,
    hint: &'static str,
}

fn as_json(
    mut out: impl std::io::Write,
    profile: &Profile,
    plan: &photic::Plan<'_>,
    findings: &[Finding],
) -> anyhow::Result<()> {
    let report = Report {
        wire: profile.wire,
        profile: &profile.id,
        images: plan.ledger.images,
        image_tokens: plan.ledger.image_tokens,
        basis: plan.ledger.basis,
        most_image_tokens: plan.ledger.most_image_tokens,
        findings: findings
            .iter()
            .map(|finding| Explained {
                finding,
                says: finding.code.says(),
                hint: finding.code.hint(),
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)?;
    Ok(())
}

fn as_text(
    mut out: impl std::io::Write,
    name: &str,
    profile: &Profile,
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
    let subject = format!("{name} ({}, profile `{}`)", profile.wire, profile.id);
    let images = match plan.ledger.images {
        0 => "no image in it".to_owned(),
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
            "{} in {subject}; once repaired: {images}",
            counted(findings.len(), "finding")
        )?;
    }
    Ok(())
}
