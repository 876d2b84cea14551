//! Facts about a repaired request that may be logged: counts, names and positions.
//!
//! They hold no key, no text, no query and no byte of media.

use std::collections::{BTreeMap, BTreeSet};

use photic::profile::MediaKind;
use photic::{Code, Decision, Fate, Finding, Lowered, Plan, Position, Prepared, Reason, Recipe};

/// The facts about a repaired request.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) model: ModelName,
    pub(crate) images: Images,
    /// Number of media that the request leaves out, by reason.
    pub(crate) retired: BTreeMap<&'static str, usize>,
    /// Number of findings that were not repaired, by code.
    pub(crate) unrepaired: BTreeMap<&'static str, usize>,
    /// Fields that refer to pictures which are not in the body.
    pub(crate) unplanned: Vec<String>,
    /// Hashes of the images that repairs made visible, if they are counted.
    pub(crate) made_visible: BTreeSet<u64>,
    /// Details of each fix, up to [`MAX_NOTES`] of a kind.
    pub(crate) fixes: Vec<FixNote>,
    /// Details of each image. Of elided images, only the last [`MAX_NOTES`].
    pub(crate) image_notes: Vec<ImageNote>,
}

/// Maximum number of fixes of a kind, and of elided images, that are listed one by one. A long
/// conversation has hundreds, and they repeat in every turn.
pub(crate) const MAX_NOTES: usize = 16;

/// Numbers of images in a request, by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Images {
    pub(crate) kept: u32,
    pub(crate) hoisted: u32,
    pub(crate) elided: u32,
    pub(crate) refused: u32,
    /// Shown images that were shrunk or converted.
    pub(crate) remade: u32,
}

/// Details of one fix.
#[derive(Debug)]
pub(crate) struct FixNote {
    pub(crate) did: &'static str,
    at: Option<Position>,
    why: Option<Why>,
}

/// The reason of a fix.
#[derive(Clone, Copy, Debug)]
enum Why {
    Found(Code),
    Planned(Reason),
}

/// Details of one image, from its header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageNote {
    pub(crate) media_type: Option<&'static str>,
    pub(crate) size: Option<(u32, u32)>,
    pub(crate) bytes: usize,
    pub(crate) fate: &'static str,
}

/// The name of a model, stored inline. Callers choose it, so a text that does not look like a name
/// becomes [`ModelName::OTHER`].
#[derive(Clone, Copy)]
pub(crate) struct ModelName {
    length: u8,
    bytes: [u8; Self::MAX_LENGTH],
}

impl Facts {
    /// Collects the facts about a request that was lowered. Fixes and images are listed one by one
    /// only with `details`.
    pub(crate) fn of(
        plan: &Plan<'_>,
        prepared: &Prepared,
        lowered: &Lowered<'_>,
        findings: &[Finding],
        details: bool,
    ) -> Self {
        let mut facts = Self::default();
        let retired = plan.retired(&lowered.retired).into_iter();
        facts.retired = retired.map(|(reason, count)| (reason.name(), count)).collect();
        for finding in findings.iter().filter(|finding| finding.is_left_alone()) {
            *facts.unrepaired.entry(finding.code.name()).or_default() += 1;
        }
        for sighting in &plan.survey.sightings {
            if sighting.kind != MediaKind::Image {
                continue;
            }
            let (id, images) = (sighting.media, &mut facts.images);
            let recipe = plan.recipes.get(&id);
            let unmade = matches!(recipe, Some(Recipe::Fit(_))) && !prepared.contains_key(&id);
            let (count, fate) = match plan.fates[id] {
                _ if unmade => (&mut images.refused, "refused"),
                _ if lowered.retired.contains(&id) => (&mut images.elided, "elided"),
                Fate::Keep(_) => (&mut images.kept, "kept"),
                Fate::Hoist(_) => (&mut images.hoisted, "hoisted"),
                Fate::Elide(_) => (&mut images.elided, "elided"),
                Fate::Refuse(_) => (&mut images.refused, "refused"),
            };
            *count += 1;
            images.remade += u32::from(recipe.is_some() && !unmade);
            if details {
                let photic::media::Header { media_type, size, bytes } = sighting.header;
                facts.image_notes.push(ImageNote { media_type, size, bytes, fate });
            }
        }
        if details {
            let mut unseen = facts.images.elided as usize;
            facts.image_notes.retain(|image| {
                let is_elided = image.fate == "elided";
                unseen -= usize::from(is_elided);
                !is_elided || unseen < MAX_NOTES
            });
            let mut told: BTreeMap<&str, usize> = BTreeMap::new();
            let first = lowered.decisions.iter().filter(|decision| {
                let count = told.entry(decision.did.name()).or_default();
                *count += 1;
                *count <= MAX_NOTES
            });
            facts.fixes = first.map(|decision| FixNote::of(decision, plan, findings)).collect();
        }
        facts
    }

    /// Copies the model and the counts of images.
    pub(crate) const fn take_summary(&mut self, other: &Self) {
        (self.model, self.images) = (other.model, other.images);
    }

    /// Sets the fields that refer to pictures which are not in the body.
    pub(crate) fn beside(mut self, unplanned: Vec<String>) -> Self {
        self.unplanned = unplanned;
        self
    }

    /// Sets the model.
    pub(crate) fn named(mut self, model: Option<&str>) -> Self {
        self.model = model.map_or_else(ModelName::default, ModelName::new);
        self
    }
}

impl Images {
    /// Returns the number of shown images.
    pub(crate) const fn shown(&self) -> u32 {
        self.kept + self.hoisted
    }

    /// Returns the number of all images.
    pub(crate) const fn seen(&self) -> u32 {
        self.shown() + self.elided + self.refused
    }
}

impl ImageNote {
    /// Returns `true` if the model was shown the image.
    pub(super) fn is_shown(&self) -> bool {
        matches!(self.fate, "kept" | "hoisted")
    }
}

impl FixNote {
    /// Describes a decision. Its reason is the finding at the same position, else that of the plan.
    fn of(decision: &Decision, plan: &Plan<'_>, findings: &[Finding]) -> Self {
        let same = |finding: &&Finding| {
            let media = decision.media.is_some() && finding.media == decision.media;
            media || decision.at.as_ref() == Some(&finding.at)
        };
        let planned = || {
            let fate = plan.fates.get(decision.media?.index())?;
            Some(fate.reason()).filter(|reason| *reason != Reason::Fits)
        };
        let found = findings.iter().find(same).map(|finding| Why::Found(finding.code));
        Self {
            did: decision.did.name(),
            at: decision.at.clone(),
            why: found.or_else(|| planned().map(Why::Planned)),
        }
    }

    /// Returns the position as a JSON pointer. Callers and tools choose keys, so only keys of the
    /// wires are shown. JSON inside a string is not shown.
    pub(crate) fn place(&self) -> Option<String> {
        const WORDS: [&str; 18] = [
            "messages",
            "content",
            "input",
            "output",
            "system",
            "instructions",
            "image_url",
            "url",
            "source",
            "data",
            "text",
            "tool_calls",
            "function",
            "arguments",
            "tools",
            "name",
            "id",
            "file",
        ];
        let pointer = &self.at.as_ref()?.pointer;
        let step = |step: &str| match step {
            "" => String::new(),
            _ if step.len() < 10 && step.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("/{step}")
            }
            _ if WORDS.contains(&step) => format!("/{step}"),
            _ => "/*".to_owned(),
        };
        Some(pointer.split('/').map(step).collect())
    }

    /// Returns the reason: the code of a finding, or the reason of a fate.
    pub(crate) fn why(&self) -> Option<String> {
        match self.why? {
            Why::Found(code) => Some(code.name().to_owned()),
            Why::Planned(reason) => Some(serde_json::to_value(reason).ok()?.as_str()?.to_owned()),
        }
    }
}

impl ModelName {
    const MAX_LENGTH: usize = 63;
    /// Replaces a text that is not a model name, and names beyond the maximum number in metrics.
    pub(crate) const OTHER: &'static str = "other";

    fn new(name: &str) -> Self {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/@+".contains(&byte);
        let fits = (1..=Self::MAX_LENGTH).contains(&name.len()) && name.bytes().all(plain);
        let name = if fits { name } else { Self::OTHER };
        let mut bytes = [0; Self::MAX_LENGTH];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        Self { length: name.len() as u8, bytes }
    }

    /// Returns the name, if the request had one.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = std::str::from_utf8(&self.bytes[..self.length.into()]).ok();
        name.filter(|name| !name.is_empty())
    }
}

impl Default for ModelName {
    fn default() -> Self {
        Self { length: 0, bytes: [0; Self::MAX_LENGTH] }
    }
}

impl std::fmt::Debug for ModelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name().unwrap_or("none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_name_is_kept() {
        for (name, kept) in [
            ("gpt-4o", "gpt-4o"),
            ("meta-llama/llama-4@eu:free", "meta-llama/llama-4@eu:free"),
            ("", "other"),
            ("tell me\na secret", "other"),
            ("a\"b", "other"),
            ("größe", "other"),
        ] {
            assert_eq!(ModelName::new(name).name(), Some(kept));
        }
        assert_eq!(ModelName::new(&"m".repeat(63)).name().map(str::len), Some(63));
        assert_eq!(ModelName::new(&"m".repeat(64)).name(), Some("other"));
        assert_eq!(ModelName::default().name(), None);
    }

    #[test]
    fn places_hold_no_words_of_callers() {
        let audit = |pointer: &str, inner: Option<&str>| {
            let inner = inner.map(str::to_owned);
            let at = Some(Position { pointer: pointer.to_owned(), inner });
            FixNote { did: "hoisted", at, why: None }.place()
        };
        assert_eq!(audit("/messages/2/content/0", None).unwrap(), "/messages/2/content/0");
        let secret = audit("/messages/12/sk-secret/url", Some("/password"));
        assert_eq!(secret.unwrap(), "/messages/12/*/url");
        assert_eq!(audit("/input/12345678901234567890", None).unwrap(), "/input/*");
        assert_eq!(audit("", None).unwrap(), "");
    }
}
