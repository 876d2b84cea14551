//! The results of a probe, with all evidence.

use photic::Wire;
use photic::rejection::Class;
use serde::{Deserialize, Serialize};

use crate::billing::Billed;
use crate::file::PictureFormat;
use crate::position::{Notice, PicturePosition};
use crate::verdict::Verdict;

/// The results of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// The day, such as `2026-11-15`; set by the caller.
    #[serde(default)]
    pub as_of: String,
    /// The host, with its port if one was given.
    pub host: String,
    /// The model.
    pub model: String,
    /// The wire.
    pub wire: Wire,
    /// The seed of all pictures.
    pub seed: u64,
    /// The findings, by position, format and size.
    pub findings: Vec<ProbeFinding>,
    /// Honesty about pictures that are not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub honesty: Vec<Honesty>,
    /// The number of requests sent.
    pub requests: u32,
    /// The number of input tokens, as far as stated.
    pub input_tokens: u64,
    /// Their list price in US dollars, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// The finding about one position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeFinding {
    /// The position of the picture.
    pub place: PicturePosition,
    /// The format of the picture.
    pub format: PictureFormat,
    /// The side of the picture in pixels.
    pub side: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason why it is not a better one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The subject of a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The number of things named correctly.
    pub hits: u32,
    /// The number of things to name.
    pub cells: u32,
    /// The probability of as many hits by chance.
    pub luck: f64,
    /// The number of things named correctly without a picture.
    pub control_hits: u32,
    /// The number of things to name there.
    pub control_cells: u32,
    /// The number of things named correctly of the other picture, if two were shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_hits: Option<u32>,
    /// The way in which the pictures were billed.
    #[serde(default)]
    pub billed: Billed,
    /// The tokens billed for a picture, if stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed_tokens: Option<u64>,
    /// The tokens that a picture should cost.
    pub estimated_tokens: u64,
    /// The median time of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

/// The number of answers that claim to see a picture which is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Honesty {
    /// The notice.
    pub notice: Notice,
    /// Answers that claim to have seen a picture.
    pub claims: u32,
    /// All answers.
    pub answers: u32,
}

impl ProbeReport {
    /// The finding about a position with the default picture.
    pub fn at(&self, place: PicturePosition) -> Option<&ProbeFinding> {
        self.findings.iter().find(|finding| finding.place == place)
    }

    /// Returns `true` if pictures are seen one turn late.
    pub fn is_late(&self) -> bool {
        let verdict = |place| self.at(place).map(|finding| finding.verdict);
        verdict(PicturePosition::User) == Some(Verdict::Blind)
            && verdict(PicturePosition::Previous) == Some(Verdict::Sees)
    }
}

impl ProbeFinding {
    /// The probability of as many hits by chance, for people.
    pub fn likely(&self) -> String {
        if self.luck < 0.01 { format!("{:.0e}", self.luck) } else { format!("{:.2}", self.luck) }
    }

    /// The evidence in a few words.
    pub fn evidence(&self) -> String {
        let Self { place, format, hits, cells, .. } = self;
        let luck = self.likely();
        let verdict = self.verdict.says();
        let kind = match format {
            PictureFormat::Png => String::new(),
            format => format!(" as {}", format.name()),
        };
        match (self.verdict, &self.why) {
            (Verdict::Rejects, Some(why)) => {
                format!("probe: {}{kind} {verdict}: {why}", place.says())
            }
            _ => format!(
                "probe: {}{kind} {verdict}, {hits} of {cells} named, {luck} by luck",
                place.says()
            ),
        }
    }
}
