//! Reports: the findings and changes of a call, as JSON with explanations.

use std::collections::BTreeMap;

use photic::finding::Cost;
use photic::{
    Decision, Fate, Finding, Ledger, MediaId, Note, Plan, Position, Reason, Recipe, Sighting, Slot,
    Transcript, Wire,
};
use serde::Serialize;

use crate::CallError;

/// A report of any call. Members that a call does not have are absent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Wire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<&'r str>,
    pub(crate) findings: Vec<ExplainedFinding<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixes: Option<Vec<Fix<'r>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media: Option<Vec<MediaRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ledger: Option<&'r Ledger>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) retired: BTreeMap<Reason, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<ExplainedNote<'r>>,
}

impl Report<'_> {
    /// Writes the report.
    pub(crate) fn json(&self) -> Result<String, CallError> {
        serde_json::to_string(self)
            .map_err(|error| CallError::new("internal", error.to_string(), "please report this"))
    }
}

/// A finding with its explanation.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainedFinding<'r> {
    code: &'static str,
    at: &'r Position,
    says: &'static str,
    hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    media: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Price>,
}

/// The tokens of a finding: now, and after repair.
#[derive(Debug, Serialize)]
struct Price {
    as_text: u64,
    as_image: u64,
}

/// Explains findings.
pub(crate) fn explained(findings: &[Finding]) -> Vec<ExplainedFinding<'_>> {
    let price = |Cost { as_text, as_image, .. }: Cost| Price { as_text, as_image };
    findings
        .iter()
        .map(|finding| ExplainedFinding {
            code: finding.code.name(),
            at: &finding.at,
            says: finding.code.says(),
            hint: finding.code.hint(),
            media: finding.media.map(MediaId::index),
            cost: finding.cost.map(price),
        })
        .collect()
}

/// A change with its explanation.
#[derive(Debug, Serialize)]
pub(crate) struct Fix<'r> {
    #[serde(flatten)]
    decision: &'r Decision,
    says: String,
}

/// Explains changes.
pub(crate) fn fixes(decisions: &[Decision]) -> Vec<Fix<'_>> {
    decisions.iter().map(|one| Fix { decision: one, says: one.did.says() }).collect()
}

/// A note with its explanation.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainedNote<'r> {
    #[serde(flatten)]
    note: &'r Note,
    says: &'static str,
}

/// Explains notes.
pub(crate) fn notes(notes: &[Note]) -> Vec<ExplainedNote<'_>> {
    notes.iter().map(|note| ExplainedNote { note, says: note.effect.says() }).collect()
}

/// One image, document or sound of a request, with its fate.
#[derive(Debug, Serialize)]
pub(crate) struct MediaRow {
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Position>,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<(u32, u32)>,
    tokens: u64,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(flatten)]
    fate: Fate,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<Recipe>,
}

impl MediaRow {
    /// Describes a sighting under a plan.
    pub(crate) fn of(sighting: &Sighting, transcript: &Transcript<'_>, plan: &Plan<'_>) -> Self {
        let id = sighting.media;
        let fate = plan.fates[id];
        let size = sighting.header.size;
        let sent =
            size.map(|size| plan.recipes.get(&id).map_or(size, |recipe| recipe.fit().size(size)));
        let tokens = sent.map_or(0, |(w, h)| plan.profile.image_tokens(w, h, sighting.detail));
        let ratio = plan.ledger.token_price(plan.profile, sighting.message);
        let price = plan.profile.price.filter(|_| fate.is_shown());
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let usd = price.map(|price| price.of(tokens as f64 * ratio));
        Self {
            number: id.index() + 1,
            at: transcript.position(id),
            from: match sighting.slot {
                Slot::Result { .. } => sighting.tool.clone().unwrap_or_else(|| "a tool".to_owned()),
                Slot::Message(role) => format!("{role:?}").to_lowercase(),
            },
            size,
            tokens,
            usd,
            bytes: sighting.wire_bytes,
            fate,
            why: fate.reason().says(),
            recipe: plan.recipes.get(&id).cloned(),
        }
    }
}
