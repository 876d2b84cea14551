//! Prints the comparison as a table or JSON.

use std::io::Write;

use super::{Comparison, Line, PolicyGroup};
use crate::report::{PolicyReport, SimulateReport};
use crate::style::{DIM, GREEN, YELLOW, counted, grouped};

/// Prints the table.
pub(super) fn as_text(mut out: impl Write, comparison: &Comparison) -> anyhow::Result<()> {
    let session = &comparison.setting.session;
    let (width, height) = comparison.image;
    writeln!(
        out,
        "{GREEN}{}{GREEN:#}, {} {DIM}(profile `{}`){DIM:#}: {} tokens of prompt; {} of text per step; {} per image of {width}x{height}, {}\n",
        comparison.model(),
        counted(session.steps, "step"),
        comparison.target.profile.id,
        grouped(session.system),
        grouped(session.text),
        grouped(session.image),
        match session.every {
            1 => "one per step".to_owned(),
            every => format!("one in {every} steps"),
        },
    )?;
    writeln!(
        out,
        "  {DIM}{:<18} {:>9} {:>8} {:>9} {:>6} {:>12}{DIM:#}",
        "", "k tokens", "of all", "dollars", "edits", "longest"
    )?;
    let mut whose = None;
    for line in &comparison.lines {
        if whose != Some(line.whose) {
            writeln!(out, "{DIM}{}{DIM:#}", heading(line.whose))?;
            whose = Some(line.whose);
        }
        row(&mut out, comparison, line)?;
    }
    if let Some(most) = comparison.target.profile.limits.context_tokens
        && comparison.lines.iter().any(|line| comparison.is_over(line))
    {
        writeln!(
            out,
            "\n{YELLOW}!{YELLOW:#} exceeds the model's context of {} tokens",
            grouped(most)
        )?;
    }
    Ok(())
}

/// The heading of a group.
const fn heading(whose: PolicyGroup) -> &'static str {
    match whose {
        PolicyGroup::InForce => "photic, by your settings and options",
        PolicyGroup::Default => "photic, with the client's own cache breakpoints",
        PolicyGroup::Photic => "photic, with planned cache breakpoints (`--marks`)",
        PolicyGroup::Others => "clients without photic, with common cache breakpoints",
        PolicyGroup::Nobody => "optimum, which knows when the session ends",
    }
}

/// Prints one row.
fn row(out: &mut impl Write, comparison: &Comparison, line: &Line) -> anyhow::Result<()> {
    let cost = line.outcome.cost();
    let money = comparison.usd(cost).map_or_else(|| "?".to_owned(), dollars);
    let over = if comparison.is_over(line) { "!" } else { "" };
    let in_force = if line.in_force { "  in force" } else { "" };
    writeln!(
        out,
        "  {:<18} {:>9} {:>6.1} % {money:>9} {:>6} {:>12}{YELLOW}{over}{YELLOW:#}{GREEN}{in_force}{GREEN:#}",
        line.name,
        grouped((cost / 1000.0).round() as u64),
        100.0 * cost / comparison.all(),
        line.outcome.edits.len(),
        grouped(line.outcome.peak),
    )?;
    Ok(())
}

/// Formats dollars with two digits, or four below ten cents.
fn dollars(usd: f64) -> String {
    if usd < 0.1 { format!("{usd:.4}") } else { format!("{usd:.2}") }
}

/// Prints the comparison as JSON.
pub(super) fn as_json(mut out: impl Write, comparison: &Comparison) -> anyhow::Result<()> {
    let session = &comparison.setting.session;
    let target = &comparison.target;
    let policies = comparison.lines.iter().map(|line| PolicyReport {
        name: line.name.clone(),
        whose: match line.whose {
            PolicyGroup::InForce => "in_force",
            PolicyGroup::Default => "photic_without_marks",
            PolicyGroup::Photic => "photic",
            PolicyGroup::Others => "others",
            PolicyGroup::Nobody => "optimum",
        }
        .to_owned(),
        in_force: line.in_force,
        cost: line.outcome.cost(),
        of_all: line.outcome.cost() / comparison.all(),
        usd: comparison.usd(line.outcome.cost()),
        read_tokens: line.outcome.charge.read,
        written_tokens: line.outcome.charge.written,
        plain_tokens: line.outcome.charge.plain,
        longest_tokens: line.outcome.peak,
        edits: line.outcome.edits.iter().map(|&step| step as u64).collect(),
    });
    let report = SimulateReport {
        model: target.model.clone(),
        model_from: target.named_by,
        profile: target.profile.id.clone(),
        steps: session.steps as u64,
        system_tokens: session.system,
        text_tokens: session.text,
        size: comparison.image,
        image_tokens: session.image,
        image_every: session.every as u64,
        keep: comparison.setting.floor as u64,
        context_tokens: target.profile.limits.context_tokens,
        policies: policies.collect(),
    };
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn small_money_keeps_its_digits() {
        assert_eq!([12.3, 0.104, 0.0042].map(dollars), ["12.30", "0.10", "0.0042"]);
    }
}
