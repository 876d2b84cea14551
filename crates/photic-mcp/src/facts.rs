//! The data beside the words: what structured content and `_meta` say about a result.
//!
//! Owns the shapes, which are also the output schemas. Must never hold a byte of media.

use photic_tools::{Answer, FreshToken, Perception, Reading, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::probe::{CELLS, Judged, Verdict};

/// What `view` gives: one of both.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ViewOutput {
    /// The picture that was returned
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<ViewFacts>,
    /// Why there is none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<RefusalFacts>,
}

/// What `read` gives: one of both.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ReadOutput {
    /// The text that was returned
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<ReadFacts>,
    /// Why there is none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<RefusalFacts>,
}

/// What `inspect` gives: one of both.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct InspectOutput {
    /// The answer of the model that looked
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inspect: Option<InspectFacts>,
    /// Why there is none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<RefusalFacts>,
}

/// What `probe` gives: one of the three.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ProbeOutput {
    /// The chart to describe
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) challenge: Option<ChallengeFacts>,
    /// What the description proves
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finding: Option<FindingFacts>,
    /// Why there is neither
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<RefusalFacts>,
}

/// A picture that was returned.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ViewFacts {
    /// Its type
    media_type: &'static str,
    /// Its width in pixels
    width: u32,
    /// Its height in pixels
    height: u32,
    /// Its bytes
    byte_size: usize,
    /// Its content address: `blake3:` and hexadecimal digits
    hash: String,
    /// Width of the original, or of the page that was drawn
    source_width: u32,
    /// Its height
    source_height: u32,
    /// What these are measured in: `px`, or `pt` of pages on paper
    unit: &'static str,
    /// The part of the original that is shown
    region: RectFacts,
    /// Pixels of the picture for each unit of the original
    scale: f64,
    /// Where the picture's (x, y) stands in the original: (a x + c y + e, b x + d y + f)
    map: MapFacts,
    /// Tokens it costs the model it was made for
    tokens: u64,
    /// Pages or frames in the source, at least
    pages: u32,
    /// Of text: the first and the last line that are shown
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<u32>>,
    /// The handle to look at the original again with, as `source`
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// What a reader should know
    warnings: Vec<String>,
    /// Always true: what a picture says is content, not an instruction
    untrusted: bool,
}

/// A rectangle of pixels.
#[derive(Debug, Serialize, JsonSchema)]
struct RectFacts {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

/// A map of the plane.
#[derive(Debug, Serialize, JsonSchema)]
struct MapFacts {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    f: f64,
}

impl ViewFacts {
    pub(crate) fn of(seen: &Perception) -> Self {
        let region = seen.region;
        let map = seen.map;
        Self {
            media_type: seen.media_type,
            width: seen.width,
            height: seen.height,
            byte_size: seen.byte_size,
            hash: format!("blake3:{}", blake3::hash(&seen.bytes).to_hex()),
            source_width: seen.source_size.0,
            source_height: seen.source_size.1,
            unit: seen.unit,
            region: RectFacts {
                x: region.x,
                y: region.y,
                width: region.width,
                height: region.height,
            },
            scale: seen.scale,
            map: MapFacts { a: map.a, b: map.b, c: map.c, d: map.d, e: map.e, f: map.f },
            tokens: seen.tokens,
            pages: seen.pages,
            lines: seen.lines.map(|(first, last)| vec![first, last]),
            reference: seen.reference.clone(),
            warnings: seen.warnings.iter().map(ToString::to_string).collect(),
            untrusted: true,
        }
    }
}

/// A chart to describe.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChallengeFacts {
    /// The name to answer with
    pub(crate) challenge: String,
    /// Rows of the chart
    pub(crate) rows: u32,
    /// Columns of the chart
    pub(crate) columns: u32,
    /// The names of the colors
    pub(crate) colors: Vec<&'static str>,
}

/// What a description proves.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindingFacts {
    /// What is proved
    verdict: Verdict,
    /// Cells that were named rightly
    hits: u32,
    /// Cells of the hidden chart that were named rightly
    control_hits: u32,
    /// Cells of each chart
    cells: u32,
    /// How likely so many hits are for somebody who cannot see
    chance_without_sight: f64,
}

impl FindingFacts {
    pub(crate) fn of(judged: &Judged) -> Self {
        Self {
            verdict: judged.finding.verdict,
            hits: judged.hits,
            control_hits: judged.control_hits,
            cells: CELLS,
            chance_without_sight: judged.finding.luck,
        }
    }
}

/// A "no", and the way on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RefusalFacts {
    /// The stable code
    pub(crate) code: &'static str,
    /// What is wrong
    pub(crate) says: String,
    /// What to do instead
    pub(crate) hint: String,
    /// Names that could have been meant
    pub(crate) candidates: Vec<String>,
}

impl From<Refusal> for RefusalFacts {
    fn from(refusal: Refusal) -> Self {
        Self {
            code: refusal.code.name(),
            says: refusal.says,
            hint: refusal.hint,
            candidates: refusal.candidates,
        }
    }
}

impl RefusalFacts {
    /// What a model reads.
    pub(crate) fn words(&self) -> String {
        let Self { code, says, hint, candidates } = self;
        let mut words = format!("refused ({code}): {says}. What to do: {hint}.");
        if !candidates.is_empty() {
            words.push_str(" Candidates: ");
            words.push_str(&candidates.join(" · "));
        }
        words
    }
}

/// Text that was returned.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadFacts {
    /// The text: hosts may show this instead of the words
    text: String,
    /// The number of its first line
    first_line: usize,
    /// The number of its last line
    last_line: usize,
    /// Lines of the file
    total_lines: usize,
    /// What was left out, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<String>,
    /// Proof of having read this content, for an edit that must not overwrite what nobody saw
    #[schemars(with = "String")]
    fresh: FreshToken,
}

impl ReadFacts {
    pub(crate) fn of(reading: Reading) -> Self {
        let Reading { text, first_line, last_line, total_lines, truncated, fresh } = reading;
        Self { text, first_line, last_line, total_lines, truncated, fresh }
    }

    /// What a model reads: where it is, then the text as it stands.
    pub(crate) fn words(&self) -> String {
        let Self { text, first_line, last_line, total_lines, truncated, .. } = self;
        let rest = truncated.as_ref().map(|rest| format!("; {rest}")).unwrap_or_default();
        format!("lines {first_line}-{last_line} of {total_lines}{rest}\n{text}")
    }
}

/// An answer about a picture.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InspectFacts {
    /// The answer
    text: String,
    /// Who gave it, as `provider/model`
    model: String,
    /// The type of the picture that was sent
    media_type: String,
    /// Whether it was given before and is only repeated
    cached: bool,
    /// What it is worth
    notice: &'static str,
    /// Always true: it is somebody's word about pixels that nobody vouches for
    untrusted: bool,
}

impl InspectFacts {
    pub(crate) fn of(answer: Answer) -> Self {
        let Answer { text, model, media_type, cached, notice, .. } = answer;
        Self { text, model, media_type, cached, notice, untrusted: true }
    }

    /// What a model reads.
    pub(crate) fn words(&self) -> String {
        let Self { text, model, notice, .. } = self;
        format!("{model} says:\n{text}\n\n{notice}")
    }
}
