//! `photic explain`: every image with its fate, the reason, and its price.

use std::io::Write as _;
use std::process::ExitCode;

use photic::{Fate, Ledger, Plan, Position, Recipe, Sighting, Slot, Transcript};
use serde::Serialize;

use crate::arguments::ExplainOptions;
use crate::body_format::BodyFormat;
use crate::input::Input;
use crate::model::{NamedBy, TargetModel};
use crate::notes::{ExplainedNote, explained_notes, write_notes};
use crate::style::{CYAN, DIM, GREEN, YELLOW, counted, estimated, grouped, left_out};

/// Runs the command.
pub(crate) fn run(options: &ExplainOptions) -> anyhow::Result<ExitCode> {
    let input = Input::read(&options.source)?;
    let Some(from) = input.format(&options.source) else { return input.unknown() };
    let (transcript, _) = from.lift(&input.body);
    if !transcript.is_readable() {
        return input.unknown();
    }
    let to = match options.to {
        Some(to) => to,
        None => input.wire(&options.source)?,
    };
    let target = TargetModel::of(options.source.model.as_deref(), &transcript, to);
    target.warn()?;
    let profile = &target.profile;
    let policy = options.policy.policy();
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
    let rows: Vec<ImageRow> = plan
        .survey
        .sightings
        .iter()
        .map(|sighting| ImageRow::of(sighting, &transcript, &plan))
        .collect();
    let notes = photic::notes(&transcript);
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
            notes: explained_notes(&notes),
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
    write_notes(&mut out, &notes)?;
    Ok(ExitCode::SUCCESS)
}

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'r> {
    from: BodyFormat,
    to: photic::Wire,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    model_from: NamedBy,
    profile: &'r str,
    policy: String,
    media: &'r [ImageRow],
    ledger: &'r Ledger,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<ExplainedNote<'r>>,
}

/// One image or document of the request.
#[derive(Serialize)]
struct ImageRow {
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Position>,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<(u32, u32)>,
    /// Tokens as it is sent; the price of a notice is in the ledger.
    tokens: u64,
    bytes: usize,
    /// Price in this request, read from the prompt cache where possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(flatten)]
    fate: Fate,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<Recipe>,
}

impl ImageRow {
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
            number: id.index() + 1,
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

/// The tool or role that an image comes from.
fn origin(sighting: &Sighting) -> String {
    match sighting.slot {
        Slot::Result { .. } => sighting.tool.clone().unwrap_or_else(|| "a tool".to_owned()),
        Slot::Message(role) => format!("{role:?}").to_lowercase(),
    }
}

/// Prints the table of images.
fn table(out: &mut impl std::io::Write, rows: &[ImageRow]) -> anyhow::Result<()> {
    if rows.is_empty() {
        writeln!(out, "{GREEN}no images{GREEN:#}")?;
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

/// Prints the totals and the effect on the prompt cache.
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
    if plan.ledger.effects.iter().any(|effect| effect.blurs_tokens()) {
        writeln!(out, "{DIM}estimates are of the body alone; see the notes{DIM:#}")?;
    }
    if let Some(says) = left_out(&plan.retired(&[])) {
        writeln!(out, "{YELLOW}not shown{YELLOW:#}: {says}")?;
    }
    if plan.survey.requests.len() < 2 {
        return Ok(());
    }
    match plan.ledger.changed {
        Some(change) => writeln!(
            out,
            "{YELLOW}prompt cache{YELLOW:#}: prefix changes at message {}, {} tokens reusable, {} rewritten",
            change.message,
            grouped(reusable_tokens),
            grouped(change.rewritten_tokens)
        )?,
        None => writeln!(
            out,
            "{GREEN}prompt cache{GREEN:#}: prefix unchanged, {} tokens reusable",
            grouped(reusable_tokens)
        )?,
    }
    Ok(())
}
