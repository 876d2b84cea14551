//! The outputs of `check`, `lower` and `explain`.

use std::collections::BTreeMap;

use photic::{Decision, Finding, Ledger, Note, Profile, Reason, Recipe};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::{NamedBy, TargetModel};

/// The output of `photic check --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct CheckReport {
    /// Wire of the body.
    pub(crate) wire: String,
    /// Model that the request is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Origin of the model's name.
    pub(crate) model_from: NamedBy,
    /// Id of the profile that was used.
    pub(crate) profile: String,
    /// Number of images that the model sees once the request is repaired.
    pub(crate) images: u64,
    /// Tokens of these images.
    pub(crate) image_tokens: u64,
    /// Largest number of tokens of these images; larger than `image_tokens` only if their price is
    /// unknown.
    pub(crate) most_image_tokens: u64,
    /// Certainty of the tokens: `published`, `assumed` or `unknown`.
    pub(crate) basis: String,
    /// Numbers of images that `photic lower` leaves out, by the code of the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) retired: BTreeMap<String, u64>,
    /// The problems, in the order of the request.
    pub(crate) findings: Vec<FindingReport>,
    /// Content that the provider keeps, removes or changes by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<NoteReport>,
}

/// The output of `photic lower --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LowerReport {
    /// Wire or framework of the body that was read.
    pub(crate) from: String,
    /// Wire of the body that was written.
    pub(crate) to: String,
    /// Model that the request is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Origin of the model's name.
    pub(crate) model_from: NamedBy,
    /// Id of the profile that was used.
    pub(crate) profile: String,
    /// The problems that the reader found.
    pub(crate) findings: Vec<FindingReport>,
    /// The changes that were made.
    pub(crate) decisions: Vec<DecisionReport>,
    /// The cost of the request.
    pub(crate) ledger: LedgerReport,
    /// Numbers of images that were left out, by the code of the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) retired: BTreeMap<String, u64>,
    /// The body to send.
    #[schemars(with = "Value")]
    pub(crate) body: Box<RawValue>,
}

/// The output of `photic explain --json`. The tokens and dollars of `media` and `rest` add up to
/// those of `ledger`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ExplainReport {
    /// Wire or framework of the body.
    pub(crate) from: String,
    /// Wire that it is sent on.
    pub(crate) to: String,
    /// Model that the request is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Origin of the model's name.
    pub(crate) model_from: NamedBy,
    /// Id of the profile that was used.
    pub(crate) profile: String,
    /// Retention policy.
    pub(crate) policy: String,
    /// The images and documents, in the order of the request.
    pub(crate) media: Vec<ImageReport>,
    /// Everything else in the request: words, tools, notices.
    pub(crate) rest: RestReport,
    /// The whole request.
    pub(crate) ledger: LedgerReport,
    /// Content that the provider keeps, removes or changes by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<NoteReport>,
}

/// A problem in a request.
#[derive(JsonSchema, Serialize)]
pub(crate) struct FindingReport {
    /// Stable code of the problem.
    pub(crate) code: String,
    /// JSON pointer into the body; after `#`, one into the JSON that the string there holds.
    pub(crate) at: String,
    /// Number of the image concerned, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<u64>,
    /// The problem in words.
    pub(crate) message: String,
    /// The next step.
    pub(crate) hint: String,
    /// Tokens of the image as it is now: base64 that is read as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text_tokens: Option<u64>,
    /// Tokens of the image once it is repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}

/// Something that the provider keeps, removes or changes by itself.
#[derive(JsonSchema, Serialize)]
pub(crate) struct NoteReport {
    /// Stable code of the effect.
    pub(crate) effect: String,
    /// Field that causes it.
    pub(crate) field: String,
    /// JSON pointer into the body.
    pub(crate) at: String,
    /// True if the provider keeps the rest of the conversation.
    pub(crate) is_half: bool,
    /// The effect in words.
    pub(crate) message: String,
}

/// A change that `photic lower` made.
#[derive(JsonSchema, Serialize)]
pub(crate) struct DecisionReport {
    /// Stable code of the change.
    pub(crate) did: String,
    /// JSON pointer into the body that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// Number of the image concerned, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<u64>,
    /// Field concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// Stable code of the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The change in words.
    pub(crate) message: String,
}

/// One image or document of a request.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ImageReport {
    /// Number, from 1.
    pub(crate) index: u64,
    /// JSON pointer into the body; after `#`, one into the JSON that the string there holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// Tool that returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    /// Role of the message that holds it, if no tool returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    /// Media type of the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    /// Width and height of the original in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_size: Option<(u32, u32)>,
    /// Width and height in pixels, as it is sent. Left out if it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<(u32, u32)>,
    /// Length in the body, in bytes.
    pub(crate) bytes: u64,
    /// Tokens in this request; 0 if it is not shown.
    pub(crate) tokens: u64,
    /// Price in this request, with what the prompt cache saves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// Price without a prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uncached_usd: Option<f64>,
    /// Its fate: `keep`, `shrink`, `sheet`, `hoist`, `elide` or `refuse`.
    pub(crate) fate: String,
    /// Stable code of the reason.
    pub(crate) reason: String,
    /// The reason in words.
    pub(crate) why: String,
    /// The change before it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recipe: Option<RecipeReport>,
}

/// The change of a picture before it is sent.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RecipeReport {
    /// Longest side in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_edge: Option<u32>,
    /// Shortest side in pixels, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_edge: Option<u32>,
    /// Largest number of 32 px patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_patches: Option<u32>,
    /// Largest number of bytes after base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_base64_bytes: Option<u64>,
    /// Media types to choose from.
    media_types: Vec<String>,
    /// Numbers of the images that it shows side by side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sheet: Vec<u64>,
}

/// The rest of a request, without its images and documents.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RestReport {
    /// Tokens.
    pub(crate) tokens: u64,
    /// Price in this request, with what the prompt cache saves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// Price without a prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uncached_usd: Option<f64>,
}

/// The cost of a request. Tokens are estimates.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LedgerReport {
    /// Number of images that the model sees.
    pub(crate) images: u64,
    /// Tokens of the images.
    pub(crate) image_tokens: u64,
    /// Largest number of tokens of the images; larger than `image_tokens` only if their price is
    /// unknown.
    pub(crate) most_image_tokens: u64,
    /// Number of documents that the model reads.
    pub(crate) documents: u64,
    /// Tokens of the documents.
    pub(crate) document_tokens: u64,
    /// Certainty of the tokens: `published`, `assumed` or `unknown`.
    pub(crate) basis: String,
    /// Bytes of media in the request.
    pub(crate) media_bytes: u64,
    /// Tokens of the whole request.
    pub(crate) tokens: u64,
    /// Tokens before the first difference from the previous request; a prompt cache can hold them.
    pub(crate) reusable_tokens: u64,
    /// Price of the request, with what the prompt cache saves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// Price of the request without a prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uncached_usd: Option<f64>,
    /// The first change to what the previous request had shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changed: Option<ChangeReport>,
}

/// The first place where a request differs from the previous one.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ChangeReport {
    /// Number of the image that changed, from 1.
    pub(crate) index: u64,
    /// Number of the message that holds it, from 1.
    pub(crate) message_index: u64,
    /// Tokens of the previous request that cannot be read from a cache again.
    pub(crate) rewritten_tokens: u64,
}

impl FindingReport {
    pub(crate) fn of(finding: &Finding) -> Self {
        Self {
            code: finding.code.name().to_owned(),
            at: finding.at.to_string(),
            index: finding.media.map(|id| id.index() as u64 + 1),
            message: finding.code.says().to_owned(),
            hint: finding.code.hint().to_owned(),
            text_tokens: finding.cost.map(|cost| cost.as_text),
            tokens: finding.cost.map(|cost| cost.as_image),
        }
    }
}

impl NoteReport {
    pub(crate) fn of(note: &Note) -> Self {
        Self {
            effect: note.effect.name().to_owned(),
            field: note.field.clone(),
            at: note.at.to_string(),
            is_half: note.is_half,
            message: note.effect.says().to_owned(),
        }
    }
}

impl DecisionReport {
    pub(crate) fn of(decision: &Decision) -> Self {
        // The details of a change are nested in its name: a reason, or a field with its reason.
        let told = serde_json::to_value(&decision.did).unwrap_or_default();
        let details = &told["why"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            did: decision.did.name().to_owned(),
            at: decision.at.as_ref().map(ToString::to_string),
            index: decision.media.map(|id| id.index() as u64 + 1),
            field: text(&details["field"]),
            reason: text(&details["reason"]).or_else(|| text(details)),
            message: decision.did.says(),
        }
    }
}

impl RecipeReport {
    pub(crate) fn of(recipe: &Recipe) -> Self {
        let fit = recipe.fit();
        Self {
            max_edge: fit.max_edge,
            min_edge: fit.min_edge,
            max_patches: fit.max_patches,
            max_base64_bytes: fit.max_base64_bytes,
            media_types: fit.types.clone(),
            sheet: recipe.members().iter().map(|id| id.index() as u64 + 1).collect(),
        }
    }
}

impl LedgerReport {
    pub(crate) fn of(ledger: &Ledger, profile: &Profile) -> Self {
        Self {
            images: ledger.images as u64,
            image_tokens: ledger.image_tokens,
            most_image_tokens: ledger.most_image_tokens,
            documents: ledger.documents as u64,
            document_tokens: ledger.document_tokens,
            basis: ledger.basis.name().to_owned(),
            media_bytes: ledger.media_bytes,
            tokens: ledger.tokens,
            reusable_tokens: ledger.reusable_tokens,
            usd: ledger.usd,
            uncached_usd: profile.price.map(|price| price.of(ledger.tokens as f64)),
            changed: ledger.changed.map(|change| ChangeReport {
                index: change.media.index() as u64 + 1,
                message_index: change.message as u64 + 1,
                rewritten_tokens: change.rewritten_tokens,
            }),
        }
    }
}

/// Numbers of media that were left out, by the code of the reason.
pub(crate) fn by_reason(retired: &BTreeMap<Reason, usize>) -> BTreeMap<String, u64> {
    retired.iter().map(|(reason, &count)| (reason.name().to_owned(), count as u64)).collect()
}

impl CheckReport {
    pub(crate) fn of(
        target: &TargetModel,
        plan: &photic::Plan<'_>,
        findings: &[Finding],
        notes: &[Note],
    ) -> Self {
        let ledger = &plan.ledger;
        Self {
            wire: target.profile.wire.name().to_owned(),
            model: target.model.clone(),
            model_from: target.named_by,
            profile: target.profile.id.clone(),
            images: ledger.images as u64,
            image_tokens: ledger.image_tokens,
            most_image_tokens: ledger.most_image_tokens,
            basis: ledger.basis.name().to_owned(),
            retired: by_reason(&plan.retired(&[])),
            findings: findings.iter().map(FindingReport::of).collect(),
            notes: notes.iter().map(NoteReport::of).collect(),
        }
    }
}
