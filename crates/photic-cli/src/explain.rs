//! `photic explain`: every image with its fate, the reason, and its price.

use std::io::Write as _;
use std::process::ExitCode;

use photic::{Plan, Sighting, Slot, Transcript};

use crate::arguments::ExplainOptions;
use crate::input::Input;
use crate::model::TargetModel;
use crate::notes::write_notes;
use crate::report::{
    ExplainReport, ImageReport, LedgerReport, NoteReport, RecipeReport, RestReport, print_report,
};
use crate::style::{CYAN, DIM, GREEN, YELLOW, counted, estimated, grouped, left_out};

/// Runs the command.
pub(crate) fn run(options: &ExplainOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    input.refuse_other_formats(&options.source)?;
    let Some(from) = input.format(&options.source) else { return input.unknown() };
    let (transcript, _) = from.lift(&input.body);
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
    let plan = photic::plan(photic::survey(&transcript), &target.profile, &policy);
    let notes = photic::notes(&transcript);
    let media: Vec<ImageReport> =
        plan.survey.sightings.iter().map(|one| image(one, &transcript, &plan)).collect();
    let ledger = LedgerReport::of(&plan.ledger, &target.profile);
    let report = ExplainReport {
        from: from.name().to_owned(),
        to: to.name().to_owned(),
        model: target.model.clone(),
        model_from: target.named_by,
        profile: target.profile.id.clone(),
        policy: policy.retention.to_string(),
        rest: rest(&media, &ledger),
        media,
        ledger,
        notes: notes.iter().map(NoteReport::of).collect(),
    };
    if options.source.json {
        print_report(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = anstream::stdout().lock();
    table(&mut out, &report)?;
    let (who, requests) = (target.words(), counted(plan.survey.requests.len(), "request"));
    let marks = if policy.marks { ", marks" } else { "" };
    writeln!(
        out,
        "{DIM}{} ({to}, {who}, policy {}{marks}, {requests} so far){DIM:#}",
        input.name, policy.retention
    )?;
    totals(&mut out, &plan)?;
    write_notes(&mut out, &notes)?;
    Ok(ExitCode::SUCCESS)
}

/// The facts about one image or document.
fn image(sighting: &Sighting, transcript: &Transcript<'_>, plan: &Plan<'_>) -> ImageReport {
    let id = sighting.media;
    let (fate, recipe) = (plan.fates[id], plan.recipes.get(&id));
    let is_shown = fate.is_shown();
    let original = sighting.header.size;
    let sent = original.map(|size| recipe.map_or(size, |recipe| recipe.fit().size(size)));
    let tokens = if is_shown { plan.tokens(id) } else { 0 };
    let ratio = plan.ledger.token_price(plan.profile, sighting.message);
    let price = plan.profile.price.filter(|_| is_shown);
    let (tool, role) = match sighting.slot {
        Slot::Result { .. } => {
            (Some(sighting.tool.clone().unwrap_or_else(|| "a tool".to_owned())), None)
        }
        Slot::Message(role) => (None, Some(format!("{role:?}").to_lowercase())),
    };
    ImageReport {
        index: id.index() as u64 + 1,
        at: transcript.position(id).map(|at| at.to_string()),
        tool,
        role,
        media_type: sighting.header.media_type.map(str::to_owned),
        source_size: original,
        size: sent.filter(|_| is_shown),
        bytes: sighting.wire_bytes as u64,
        tokens,
        usd: price.map(|price| price.of(tokens as f64 * ratio)),
        uncached_usd: price.map(|price| price.of(tokens as f64)),
        fate: plan.fate_name(id).to_owned(),
        reason: fate.reason().name().to_owned(),
        why: fate.reason().says().to_owned(),
        recipe: recipe.map(RecipeReport::of),
    }
}

/// The request without its images, so that both add up to the whole.
fn rest(media: &[ImageReport], ledger: &LedgerReport) -> RestReport {
    let sum = |dollars: fn(&ImageReport) -> Option<f64>| -> f64 {
        media.iter().filter_map(dollars).sum()
    };
    RestReport {
        tokens: ledger.tokens.saturating_sub(media.iter().map(|row| row.tokens).sum()),
        usd: ledger.usd.map(|all| all - sum(|row| row.usd)),
        uncached_usd: ledger.uncached_usd.map(|all| all - sum(|row| row.uncached_usd)),
    }
}

/// Prints the table of images, with the rest of the request and the total.
fn table(out: &mut impl std::io::Write, report: &ExplainReport) -> anyhow::Result<()> {
    let rows = &report.media;
    let name = |row: &ImageReport| -> String {
        let name = row.tool.as_ref().or(row.role.as_ref());
        name.map_or_else(String::new, |name| name.chars().take(24).collect())
    };
    let wide = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).max(5);
    if rows.is_empty() {
        writeln!(out, "{GREEN}no images{GREEN:#}")?;
    }
    writeln!(
        out,
        "{DIM}{:>4}  {:<wide$}  {:>11}  {:>8}  {:>11}  {:>8}  {:<7} why{DIM:#}",
        "#", "from", "pixels", "tokens", "bytes", "dollars", "fate"
    )?;
    let dollars = |usd: Option<f64>| usd.map_or(String::new(), |usd| format!("{usd:.5}"));
    for row in rows {
        let size = row.source_size.map_or("?".to_owned(), |(w, h)| format!("{w}x{h}"));
        let style = match row.fate.as_str() {
            "elide" => CYAN,
            "refuse" => YELLOW,
            _ => GREEN,
        };
        writeln!(
            out,
            "{:>4}  {:<wide$}  {size:>11}  {:>8}  {:>11}  {:>8}  {style}{:<7}{style:#} {}",
            row.index,
            name(row),
            grouped(row.tokens),
            grouped(row.bytes),
            dollars(row.usd),
            row.fate,
            row.why,
        )?;
    }
    let (rest, all) = (&report.rest, &report.ledger);
    let uncached = all.uncached_usd.map(|usd| ("total", usd, "without a prompt cache"));
    for (name, tokens, usd, says) in [
        ("rest", rest.tokens, rest.usd, "text, tools and notices"),
        ("total", all.tokens, all.usd, ""),
    ]
    .into_iter()
    .chain(uncached.map(|(name, usd, says)| (name, all.tokens, Some(usd), says)))
    {
        let row = format!(
            "{:>4}  {name:<wide$}  {:>11}  {:>8}  {:>11}  {:>8}  {says}",
            "",
            "",
            grouped(tokens),
            "",
            dollars(usd),
        );
        writeln!(out, "{}", row.trim_end())?;
    }
    writeln!(out)?;
    Ok(())
}

/// Prints the totals and the effect on the prompt cache.
fn totals(out: &mut impl std::io::Write, plan: &Plan<'_>) -> anyhow::Result<()> {
    let ledger = &plan.ledger;
    let prices = ledger.usd.zip(plan.profile.price).map_or(String::new(), |(usd, price)| {
        let uncached = price.of(ledger.tokens as f64);
        format!(", {usd:.4} dollars ({uncached:.4} uncached)")
    });
    writeln!(
        out,
        "{} shown, {} of about {} in the request{prices}",
        counted(ledger.images, "image"),
        estimated(ledger.image_tokens, ledger.most_image_tokens, ledger.basis),
        grouped(ledger.tokens),
    )?;
    if ledger.effects.iter().any(|effect| effect.blurs_tokens()) {
        writeln!(out, "{DIM}estimates are of the body alone; see the notes{DIM:#}")?;
    }
    if let Some(says) = left_out(&plan.retired(&[])) {
        writeln!(out, "{YELLOW}not shown{YELLOW:#}: {says}")?;
    }
    if plan.survey.requests.len() < 2 {
        return Ok(());
    }
    let reusable = grouped(ledger.reusable_tokens);
    match ledger.changed {
        Some(change) => writeln!(
            out,
            "{YELLOW}prompt cache{YELLOW:#}: prefix changes at message {}, {reusable} tokens \
             reusable, {} rewritten",
            change.message + 1,
            grouped(change.rewritten_tokens)
        )?,
        None => writeln!(
            out,
            "{GREEN}prompt cache{GREEN:#}: prefix unchanged, {reusable} tokens reusable"
        )?,
    }
    Ok(())
}
