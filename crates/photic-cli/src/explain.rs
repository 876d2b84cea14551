//! `photic explain`: every image, its fate, why, and what it costs.

use std::io::Write as _;
use std::process::ExitCode;

use photic::{Fate, Ledger, Plan, Position, Recipe, Sighting, Slot, Transcript};
use serde::Serialize;

use crate::arguments::ExplainOptions;
use crate::input::{Input, Shape};
use crate::model::{NamedBy, Target};
use crate::style::{CYAN, DIM, GREEN, YELLOW, counted, estimated, grouped, left_out};

pub(crate) fn run(options: &ExplainOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    let Some(from) = input.shape(&options.source) else { return input.unknown() };
    let (transcript, _) = from.lift(&input.body);
    if !transcript.is_readable() {
        return input.unknown();
    }
    let to = match options.to {
        Some(to) => to,
        None => input.wire(&options.source)?,
    };
    let target = Target::of(options.source.model.as_deref(), &transcript, to);
    target.warn()?;
    let profile = &target.profile;
    let policy = options.policy.policy();
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
    let rows: Vec<Row> = plan
        .survey
        .sightings
        .iter()
        .map(|sighting| Row::of(sighting, &transcript, &plan))
        .collect();
    let mut out = anstream::stdout().lock();
    if options.source.json {
        let report = Report {
            from,
            to,
            model: target.model.as_deref(),
            model_from: target.named_by,
            profile: &profile.id,
            policy: policy.retention.to_string(),
            media: &rows,
            ledger: &plan.ledger,
        };
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    table(&mut out, &rows)?;
    let (who, requests) = (target.words(), counted(plan.survey.requests.len(), "request"));
    writeln!(
        out,
        "{DIM}{} ({to}, {who}, policy {}, {requests} so far){DIM:#}",
        input.name, policy.retention
    )?;
    bill(&mut out, &plan)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Report<'r> {
    from: Shape,
    to: photic::Wire,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    model_from: NamedBy,
    profile: &'r str,
    policy: String,
    media: &'r [Row],
    ledger: &'r Ledger,
}

/// One medium.
#[derive(Serialize)]
struct Row {
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Position>,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<(u32, u32)>,
    /// As it is sent; what a notice costs is in the bill.
    tokens: u64,
    bytes: usize,
    /// What it costs in this request, read from the cache where it can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(flatten)]
    fate: Fate,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<Recipe>,
}

impl Row {
    fn of(sighting: &Sighting, transcript: &Transcript<'_>, plan: &Plan<'_>) -> Self {
        let id = sighting.media;
        let fate = plan.fates[id];
        let size = sighting.header.size;
        let sent =
            size.map(|size| plan.recipes.get(&id).map_or(size, |recipe| recipe.fit().size(size)));
        let tokens = sent.map_or(0, |(w, h)| plan.profile.image_tokens(w, h, sighting.detail));
        let ratio = plan.ledger.token_price(plan.profile, sighting.message);
        let price = plan.profile.price.filter(|_| fate.is_shown());
        Self {
            number: id + 1,
            at: transcript.position(id),
            from: origin(sighting),
            size,
            tokens,
            usd: price.map(|price| price.of(tokens as f64 * ratio)),
            bytes: sighting.wire_bytes,
            fate,
            why: fate.reason().says(),
            recipe: plan.recipes.get(&id).cloned(),
        }
    }

    fn fate(&self) -> &'static str {
        match (self.fate, &self.recipe) {
            (Fate::Keep(_) | Fate::Hoist(_), Some(Recipe::Sheet { .. })) => "sheet",
            (Fate::Keep(_) | Fate::Hoist(_), Some(Recipe::Fit(_))) => "shrink",
            (Fate::Keep(_), None) => "keep",
            (Fate::Hoist(_), None) => "hoist",
            (Fate::Elide(_), _) => "elide",
            (Fate::Refuse(_), _) => "refuse",
        }
    }
}

/// Whose it is.
fn origin(sighting: &Sighting) -> String {
    match sighting.slot {
        Slot::Result { .. } => sighting.tool.clone().unwrap_or_else(|| "a tool".to_owned()),
        Slot::Message(role) => format!("{role:?}").to_lowercase(),
    }
}

fn table(out: &mut impl std::io::Write, rows: &[Row]) -> anyhow::Result<()> {
    if rows.is_empty() {
        writeln!(out, "{GREEN}no image in it{GREEN:#}")?;
        return Ok(());
    }
    let wide = rows.iter().map(|row| row.from.chars().count()).max().unwrap_or(0).clamp(4, 24);
    writeln!(
        out,
        "{DIM}{:>4}  {:<wide$}  {:>11}  {:>8}  {:>11}  {:>8}  {:<7} why{DIM:#}",
        "#", "from", "pixels", "tokens", "bytes", "dollars", "fate"
    )?;
    for row in rows {
        let size = row.size.map_or("?".to_owned(), |(w, h)| format!("{w}x{h}"));
        let style = match row.fate {
            Fate::Keep(_) | Fate::Hoist(_) => GREEN,
            Fate::Elide(_) => CYAN,
            Fate::Refuse(_) => YELLOW,
        };
        let from: String = row.from.chars().take(wide).collect();
        writeln!(
            out,
            "{:>4}  {from:<wide$}  {size:>11}  {:>8}  {:>11}  {:>8}  {style}{:<7}{style:#} {}",
            row.number,
            grouped(row.tokens),
            grouped(row.bytes as u64),
            row.usd.map_or(String::new(), |usd| format!("{usd:.5}")),
            row.fate(),
            row.why,
        )?;
    }
    writeln!(out)?;
    Ok(())
}

fn bill(out: &mut impl std::io::Write, plan: &Plan<'_>) -> anyhow::Result<()> {
    let Ledger { images, image_tokens, most_image_tokens, basis, tokens, reusable_tokens, .. } =
        plan.ledger;
    writeln!(
        out,
        "{} shown, {} of about {} in the request{}",
        counted(images, "image"),
        estimated(image_tokens, most_image_tokens, basis),
        grouped(tokens),
        plan.ledger.usd.map_or(String::new(), |usd| format!(", {usd:.4} dollars"))
    )?;
    if let Some(says) = left_out(&plan.retired(&[])) {
        writeln!(out, "{YELLOW}not shown{YELLOW:#}: {says}")?;
    }
    if plan.survey.requests.len() < 2 {
        return Ok(());
    }
    match plan.ledger.changed {
        Some(change) => writeln!(
            out,
            "{YELLOW}cache{YELLOW:#} changes at message {}: {} tokens can be read from it, {} are written again",
            change.message,
            grouped(reusable_tokens),
            grouped(change.rewritten_tokens)
        )?,
        None => writeln!(
            out,
            "{GREEN}cache{GREEN:#} nothing before the new messages changes: {} tokens can be read from it",
            grouped(reusable_tokens)
        )?,
    }
    Ok(())
}
