//! One fate for every sighting, each with its reason: a pure function of the survey, the profile
//! and the policy.
//!
//! It knows no provider and no wire: whatever differs between them is data in the profile.

mod fate;
mod limits;
pub mod retention;

pub(crate) use fate::placed;
pub use fate::{Fate, Reason};
pub(crate) use limits::shed;

use serde::Serialize;

use crate::profile::{Detail, MediaKind, Profile};
use crate::survey::{Sighting, Survey};
use crate::transcript::MediaId;

/// What a host may choose.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Policy {}

/// What is to become of every sighting.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The facts it was made for.
    pub profile: Profile,
    /// One fate for each medium.
    pub fates: Vec<Fate>,
    /// What was measured.
    pub survey: Survey,
    /// What it costs.
    pub ledger: Ledger,
}

/// The bill of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Images the model will see.
    pub images: usize,
    /// Tokens they cost, by the profile's rule; images of unknown size are not in it.
    pub image_tokens: u64,
    /// Bytes of media in the request.
    pub media_bytes: u64,
    /// Media that are not shown because the request as a whole has limits. What was shown in an
    /// earlier turn may be among them: then the prefix of the request changes there.
    pub retired: Vec<MediaId>,
}

/// Chooses a fate for every sighting.
pub fn plan(survey: Survey, profile: &Profile, _policy: &Policy) -> Plan {
    let mut fates: Vec<Fate> = survey
        .sightings
        .iter()
        .map(|sighting| fate::alone(sighting, survey.wire, profile))
        .collect();
    let retired = limits::together(&survey, profile, &mut fates);
    let ledger = bill(&survey, profile, &fates, retired);
    Plan { profile: profile.clone(), fates, survey, ledger }
}

fn bill(survey: &Survey, profile: &Profile, fates: &[Fate], retired: Vec<MediaId>) -> Ledger {
    let mut ledger = Ledger { retired, ..Ledger::default() };
    for (sighting, fate) in survey.sightings.iter().zip(fates) {
        if !fate.is_shown() {
            continue;
        }
        ledger.media_bytes += sighting.wire_bytes as u64;
        if sighting.kind == MediaKind::Image {
            ledger.images += 1;
            ledger.image_tokens += tokens(sighting, profile).unwrap_or(0);
        }
    }
    ledger
}

/// What a picture costs as a picture.
pub(crate) fn tokens(sighting: &Sighting, profile: &Profile) -> Option<u64> {
    let (width, height) = sighting.header.size?;
    let detail: Option<Detail> = sighting.detail;
    Some(profile.image_tokens(width, height, detail))
}
