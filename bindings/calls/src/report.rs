//! Reports: the findings and changes of a call, as JSON with explanations.
//!
//! The names are those of the command's `--json`, which `docs/cli.schema.json` describes; the suite
//! compares both. Numbers of images and messages begin with 1. What is not known is left out.

use std::collections::BTreeMap;

use photic::{
    Change, Decision, Finding, Ledger, Note, Plan, Position, Profile, Reason, Recipe, Sighting,
    Slot, Transcript,
};
use serde::Serialize;
use serde_json::Value;

use crate::CallError;
use crate::options::Options;

/// A report of any call. Members that a call does not have are absent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wire: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_from: Option<NamedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<String>,
    #[serde(flatten)]
    pub(crate) load: Option<Load>,
    pub(crate) findings: Vec<FindingRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decisions: Option<Vec<DecisionRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media: Option<Vec<MediaRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<Rest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ledger: Option<LedgerRow>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) retired: BTreeMap<Reason, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<NoteRow>,
}

impl Report<'_> {
    /// Writes the report.
    pub(crate) fn json(&self) -> Result<String, CallError> {
        serde_json::to_string(self)
            .map_err(|error| CallError::new("internal", error.to_string(), "please report this"))
    }
}

/// The origin of a model's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamedBy {
    /// The options.
    Argument,
    /// The request body.
    Body,
    /// No name was given.
    Nothing,
}

impl NamedBy {
    /// Returns the origin of a name.
    pub(crate) const fn of(options: &Options, model: Option<&String>) -> Self {
        match (&options.model, model) {
            (Some(_), _) => Self::Argument,
            (None, Some(_)) => Self::Body,
            (None, None) => Self::Nothing,
        }
    }
}

/// The images of a request once it is repaired.
#[derive(Debug, Serialize)]
pub(crate) struct Load {
    images: usize,
    image_tokens: u64,
    most_image_tokens: u64,
    basis: &'static str,
}

impl Load {
    /// Returns the images of a plan.
    pub(crate) const fn of(ledger: &Ledger) -> Self {
        Self {
            images: ledger.images,
            image_tokens: ledger.image_tokens,
            most_image_tokens: ledger.most_image_tokens,
            basis: ledger.basis.name(),
        }
    }
}

/// A finding with its explanation.
#[derive(Debug, Serialize)]
pub(crate) struct FindingRow {
    code: &'static str,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    message: &'static str,
    hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
}

impl FindingRow {
    /// The finding for a body that is no request of any wire.
    pub(crate) fn unread() -> Self {
        Self {
            code: photic::Code::NotJson.name(),
            at: "/".to_owned(),
            index: None,
            message: "the body is not a request of an API that photic knows",
            hint: "it was left as it is; pass `wire` if it is one",
            text_tokens: None,
            tokens: None,
        }
    }
}

/// Explains findings.
pub(crate) fn findings(findings: &[Finding]) -> Vec<FindingRow> {
    let row = |one: &Finding| FindingRow {
        code: one.code.name(),
        at: one.at.to_string(),
        index: one.media.map(|id| id.index() + 1),
        message: one.code.says(),
        hint: one.code.hint(),
        text_tokens: one.cost.map(|cost| cost.as_text),
        tokens: one.cost.map(|cost| cost.as_image),
    };
    findings.iter().map(row).collect()
}

/// A change with its explanation.
#[derive(Debug, Serialize)]
pub(crate) struct DecisionRow {
    did: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    message: String,
}

/// Explains changes.
pub(crate) fn decisions(decisions: &[Decision]) -> Vec<DecisionRow> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let row = |one: &Decision| {
        // The details of a change are nested in its name: a reason, or a field with its reason.
        let told = serde_json::to_value(&one.did).unwrap_or_default();
        let details = &told["why"];
        DecisionRow {
            did: one.did.name(),
            at: one.at.as_ref().map(Position::to_string),
            index: one.media.map(|id| id.index() + 1),
            field: text(&details["field"]),
            reason: text(&details["reason"]).or_else(|| text(details)),
            message: one.did.says(),
        }
    };
    decisions.iter().map(row).collect()
}

/// A note with its explanation.
#[derive(Debug, Serialize)]
pub(crate) struct NoteRow {
    effect: &'static str,
    field: String,
    at: String,
    is_half: bool,
    message: &'static str,
}

/// Explains notes.
pub(crate) fn notes(notes: &[Note]) -> Vec<NoteRow> {
    let row = |one: &Note| NoteRow {
        effect: one.effect.name(),
        field: one.field.clone(),
        at: one.at.to_string(),
        is_half: one.is_half,
        message: one.effect.says(),
    };
    notes.iter().map(row).collect()
}

/// One image, document or sound of a request, with its fate.
#[derive(Debug, Serialize)]
pub(crate) struct MediaRow {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_size: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<(u32, u32)>,
    bytes: usize,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncached_usd: Option<f64>,
    fate: &'static str,
    reason: &'static str,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<RecipeRow>,
}

impl MediaRow {
    /// Describes a sighting under a plan.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub(crate) fn of(sighting: &Sighting, transcript: &Transcript<'_>, plan: &Plan<'_>) -> Self {
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
        Self {
            index: id.index() + 1,
            at: transcript.position(id).map(|at| at.to_string()),
            tool,
            role,
            media_type: sighting.header.media_type,
            source_size: original,
            size: sent.filter(|_| is_shown),
            bytes: sighting.wire_bytes,
            tokens,
            usd: price.map(|price| price.of(tokens as f64 * ratio)),
            uncached_usd: price.map(|price| price.of(tokens as f64)),
            fate: plan.fate_name(id),
            reason: fate.reason().name(),
            why: fate.reason().says(),
            recipe: recipe.map(RecipeRow::of),
        }
    }
}

/// The change of a picture before it is sent.
#[derive(Debug, Serialize)]
struct RecipeRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_edge: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_edge: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_patches: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_base64_bytes: Option<u64>,
    media_types: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sheet: Vec<usize>,
}

impl RecipeRow {
    fn of(recipe: &Recipe) -> Self {
        let fit = recipe.fit();
        Self {
            max_edge: fit.max_edge,
            min_edge: fit.min_edge,
            max_patches: fit.max_patches,
            max_base64_bytes: fit.max_base64_bytes,
            media_types: fit.types.clone(),
            sheet: recipe.members().iter().map(|id| id.index() + 1).collect(),
        }
    }
}

/// The rest of a request, without its images and documents.
#[derive(Debug, Serialize)]
pub(crate) struct Rest {
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncached_usd: Option<f64>,
}

impl Rest {
    /// Subtracts the images from the whole.
    pub(crate) fn of(media: &[MediaRow], ledger: &LedgerRow) -> Self {
        let sum = |dollars: fn(&MediaRow) -> Option<f64>| -> f64 {
            media.iter().filter_map(dollars).sum()
        };
        Self {
            tokens: ledger.tokens.saturating_sub(media.iter().map(|row| row.tokens).sum()),
            usd: ledger.usd.map(|all| all - sum(|row| row.usd)),
            uncached_usd: ledger.uncached_usd.map(|all| all - sum(|row| row.uncached_usd)),
        }
    }
}

/// The cost of a request.
#[derive(Debug, Serialize)]
pub(crate) struct LedgerRow {
    images: usize,
    image_tokens: u64,
    most_image_tokens: u64,
    documents: usize,
    document_tokens: u64,
    basis: &'static str,
    media_bytes: u64,
    tokens: u64,
    reusable_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncached_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<ChangeRow>,
}

/// The first place where a request differs from the previous one.
#[derive(Debug, Serialize)]
struct ChangeRow {
    index: usize,
    message_index: usize,
    rewritten_tokens: u64,
}

impl LedgerRow {
    /// Describes the cost of a request.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub(crate) fn of(ledger: &Ledger, profile: &Profile) -> Self {
        Self {
            images: ledger.images,
            image_tokens: ledger.image_tokens,
            most_image_tokens: ledger.most_image_tokens,
            documents: ledger.documents,
            document_tokens: ledger.document_tokens,
            basis: ledger.basis.name(),
            media_bytes: ledger.media_bytes,
            tokens: ledger.tokens,
            reusable_tokens: ledger.reusable_tokens,
            usd: ledger.usd,
            uncached_usd: profile.price.map(|price| price.of(ledger.tokens as f64)),
            changed: ledger.changed.map(|change: Change| ChangeRow {
                index: change.media.index() + 1,
                message_index: change.message + 1,
                rewritten_tokens: change.rewritten_tokens,
            }),
        }
    }
}
