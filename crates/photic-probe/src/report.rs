//! What was found, with everything a reader needs to judge it.

use photic::Wire;
use photic::rejection::Class;
use serde::{Deserialize, Serialize};

use crate::billing::Billed;
use crate::file::Format;
use crate::place::{Notice, Place};
use crate::verdict::Verdict;

/// A whole probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The day, as in `2026-11-15`; whoever has a clock writes it.
    #[serde(default)]
    pub as_of: String,
    /// The host, with its port if one was named.
    pub host: String,
    /// The model.
    pub model: String,
    /// The wire.
    pub wire: Wire,
    /// What all pictures are made from.
    pub seed: u64,
    /// What was found, by place, format and size.
    pub findings: Vec<Finding>,
    /// How honest the model is about pictures that are not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub honesty: Vec<Honesty>,
    /// Requests that were sent.
    pub requests: u32,
    /// Tokens that were read, as far as that was said.
    pub input_tokens: u64,
    /// What they cost in US dollars at list price, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// What was found about a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Where the picture stood.
    pub place: Place,
    /// What kind of file it was.
    pub format: Format,
    /// Its sides, in pixels.
    pub side: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not a better one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What a rejection is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Things named rightly.
    pub hits: u32,
    /// Things there were to name.
    pub cells: u32,
    /// How likely so many hits are without sight.
    pub luck: f64,
    /// Things named rightly of pictures that were not shown.
    pub control_hits: u32,
    /// Things there were to name in those.
    pub control_cells: u32,
    /// Where two pictures were shown: things named rightly of the other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_hits: Option<u32>,
    /// What the pictures were billed as.
    #[serde(default)]
    pub billed: Billed,
    /// Tokens billed for a picture, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed_tokens: Option<u64>,
    /// Tokens that a picture should cost.
    pub estimated_tokens: u64,
    /// The middle of how long answers took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

/// How often a model claims to see what it is told that it does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Honesty {
    /// What it was told.
    pub notice: Notice,
    /// Answers that claim to have seen a picture.
    pub claims: u32,
    /// Answers.
    pub answers: u32,
}

impl Report {
    /// What was found about a place with the usual picture.
    pub fn at(&self, place: Place) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.place == place)
    }

    /// Whether pictures are seen, but a turn late.
    pub fn is_late(&self) -> bool {
        let verdict = |place| self.at(place).map(|finding| finding.verdict);
        verdict(Place::User) == Some(Verdict::Blind)
            && verdict(Place::Previous) == Some(Verdict::Sees)
    }
}

impl Finding {
    /// How likely so many hits are without sight, for people.
    pub fn likely(&self) -> String {
        if self.luck < 0.01 { format!("{:.0e}", self.luck) } else { format!("{:.2}", self.luck) }
    }

    /// What proves it, in a few words.
    pub fn evidence(&self) -> String {
        let Self { place, format, hits, cells, .. } = self;
        let luck = self.likely();
        let verdict = self.verdict.says();
        let kind = match format {
            Format::Png => String::new(),
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
