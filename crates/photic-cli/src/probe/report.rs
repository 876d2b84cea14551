//! Prints the results of a probe for people.

use std::io::Write as _;

use photic_gateway::learned::Entry;
use photic_probe::{Billed, Estimate, Notice, PictureFormat, ProbeFinding, ProbeReport, Verdict};

use crate::arguments::ProbeOptions;
use crate::style::{CYAN, DIM, GREEN, RED, YELLOW, counted, grouped};

/// Prints the estimate on standard error.
pub(super) fn announce(estimate: &Estimate, options: &ProbeOptions) -> anyhow::Result<()> {
    let requests = counted(estimate.requests as usize, "request");
    let tokens = grouped(estimate.tokens);
    let price = match estimate.usd {
        None => "price unknown".to_owned(),
        Some(usd) if options.spend.yes => format!("{usd:.2} dollars of input"),
        Some(usd) => format!("{usd:.2} dollars of input, cap {:.2}", options.spend.cap),
    };
    let mut out = anstream::stderr();
    writeln!(out, "photic: at most {requests}, about {tokens} tokens, {price}")?;
    Ok(())
}

/// Prints the results on standard output.
pub(super) fn print(report: &ProbeReport, learned: &[Entry]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let ProbeReport { model, host, wire, as_of, .. } = report;
    writeln!(out, "{GREEN}{model}{GREEN:#} at {host} on {wire}, {as_of}\n")?;
    let header = row("picture in", "verdict", "named", "by luck", "control", "billed", "ms");
    writeln!(out, "{DIM}{header}{DIM:#}")?;
    for finding in &report.findings {
        let style = match finding.verdict {
            Verdict::Sees => GREEN,
            Verdict::Weak | Verdict::CannotTell => YELLOW,
            Verdict::Blind | Verdict::Rejects => RED,
        };
        // The verdict is colored after padding, so that columns stay aligned.
        let line = line(finding);
        let (before, after) = line.split_at(PLACE + 3);
        let (verdict, after) = after.split_at(VERDICT.min(after.len()));
        writeln!(out, "{before}{style}{verdict}{style:#}{after}")?;
        if let Some(why) = &finding.why {
            writeln!(out, "    {DIM}{why}{DIM:#}")?;
        }
    }
    if report.is_late() {
        writeln!(out, "\npictures are seen one turn late")?;
    }
    for honesty in &report.honesty {
        let told = match honesty.notice {
            Notice::Elided => "an older picture is no longer shown",
            Notice::Refused => "a picture is not shown",
        };
        let (claims, answers) = (honesty.claims, honesty.answers);
        writeln!(out, "notice that {told}: {claims} of {answers} answers claim to see it")?;
    }
    for entry in learned {
        writeln!(out, "{CYAN}learned:{CYAN:#} {} on {wire}", entry.lesson)?;
    }
    writeln!(out)?;
    Ok(())
}

/// Width of the column of positions.
const PLACE: usize = 18;
/// Width of the column of verdicts.
const VERDICT: usize = 11;

/// Formats a row of the table.
fn row(
    place: &str,
    verdict: &str,
    named: &str,
    luck: &str,
    control: &str,
    billed: &str,
    ms: &str,
) -> String {
    format!("  {place:<PLACE$} {verdict:<VERDICT$} {named:>9} {luck:>8} {control:>9}  {billed:<18} {ms:>6}")
        .trim_end()
        .to_owned()
}

/// Formats a finding as a row.
fn line(finding: &ProbeFinding) -> String {
    let ProbeFinding { hits, cells, control_hits, control_cells, .. } = finding;
    let place = match (finding.format, finding.side) {
        (PictureFormat::Png, 512) => finding.place.says().to_owned(),
        (PictureFormat::Png, side) => format!("{side} px"),
        (format, _) => format.name().to_owned(),
    };
    let of = |hits: &u32, cells: &u32| {
        if *cells == 0 { String::new() } else { format!("{hits} of {cells}") }
    };
    let luck = if *cells == 0 { String::new() } else { finding.likely() };
    let billed = match (finding.billed, finding.billed_tokens) {
        (Billed::Unknown, None) => String::new(),
        (billed, None) => billed.says().to_owned(),
        (Billed::Nothing, Some(_)) => Billed::Nothing.says().to_owned(),
        (billed, Some(tokens)) => format!("{}, {}", billed.says(), grouped(tokens)),
    };
    let millis = finding.millis.map(grouped).unwrap_or_default();
    let control = if *cells == 0 { String::new() } else { of(control_hits, control_cells) };
    row(&place, finding.verdict.says(), &of(hits, cells), &luck, &control, &billed, &millis)
}
