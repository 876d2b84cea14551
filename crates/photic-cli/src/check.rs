//! `photic check`: problems in a request, with position, price and advice, and the images that
//! `photic lower` with the same options would leave out.

use std::process::ExitCode;

use photic::Finding;

use crate::arguments::CheckOptions;
use crate::input::Input;
use crate::model::TargetModel;
use crate::notes::write_notes;
use crate::report::{CheckReport, print_report};
use crate::style::{CYAN, DIM, GREEN, YELLOW, counted, estimated, grouped, left_out};

/// Runs the command.
pub(crate) fn run(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    input.refuse_other_formats(&options.source)?;
    let wire = input.wire(&options.source)?;
    let policy = options.policy.policy()?;
    let (transcript, lifted) = photic::lift(wire, &input.body);
    let target = TargetModel::of(options.source.model.as_deref(), &transcript, wire);
    target.warn();
    let profile = &target.profile;
    let as_it_is = photic::plan(photic::survey(&transcript), profile, &photic::Policy::hands_off());
    let findings = photic::check(&transcript, &lifted, &as_it_is);
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
    let notes = photic::notes(&transcript);
    if options.source.json {
        print_report(&CheckReport::of(&target, &plan, &findings, &notes))?;
    } else {
        let mut out = anstream::stdout().lock();
        as_text(&mut out, &input.name, &target, &plan, &findings)?;
        write_notes(&mut out, &notes)?;
    }
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

/// Findings of one kind at positions that differ only in their numbers.
struct Group<'f> {
    shape: String,
    findings: Vec<&'f Finding>,
}

/// Groups findings that repeat. Groups and findings stay in the order of the request.
fn groups(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in findings {
        let shape = shape(finding);
        match groups.iter_mut().find(|group| group.shape == shape) {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group { shape, findings: vec![finding] }),
        }
    }
    groups
}

/// The kind and position of a finding, without the numbers.
fn shape(finding: &Finding) -> String {
    let at = finding.at.to_string();
    let is_number = |key: &&str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    let keys: Vec<&str> =
        at.split('/').map(|key| if is_number(&key) { "*" } else { key }).collect();
    format!("{} {}", finding.code.name(), keys.join("/"))
}

/// Prints the report for people.
fn as_text(
    mut out: impl std::io::Write,
    name: &str,
    target: &TargetModel,
    plan: &photic::Plan<'_>,
    findings: &[Finding],
) -> anyhow::Result<()> {
    for group in groups(findings) {
        write_group(&mut out, &group)?;
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

/// Prints one finding, or several that are alike.
fn write_group(out: &mut impl std::io::Write, group: &Group<'_>) -> anyhow::Result<()> {
    let Some((first, others)) = group.findings.split_first() else { return Ok(()) };
    let code = first.code;
    match others.last() {
        None => writeln!(out, "{YELLOW}{code}{YELLOW:#} {DIM}at{DIM:#} {}", first.at)?,
        Some(last) => writeln!(
            out,
            "{YELLOW}{code}{YELLOW:#} {} like this: {} … {}",
            grouped(group.findings.len() as u64),
            first.at,
            last.at
        )?,
    }
    writeln!(out, "  {}", code.says())?;
    let costs = || group.findings.iter().filter_map(|finding| finding.cost);
    if costs().next().is_some() {
        let text: u64 = costs().map(|cost| cost.as_text).sum();
        let image: u64 = costs().map(|cost| cost.as_image).sum();
        let what = if others.is_empty() { "an image" } else { "images" };
        writeln!(out, "  about {} tokens as text, {} as {what}", grouped(text), grouped(image))?;
    }
    writeln!(out, "  {CYAN}hint:{CYAN:#} {}\n", code.hint())?;
    Ok(())
}
