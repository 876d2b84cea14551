//! The inputs of a request that were not in it: fetched pictures and stored blobs.

use std::collections::BTreeSet;

use photic::{Plan, Transcript};
use photic_store::BlobId;

use super::cache::{self, Pictures};
use super::remote::{RemoteMedia, RemotePictures};
use crate::memory::Charge;
use crate::record::Named;

/// Inputs that a plan still needs: addresses to fetch, blobs to load, pixels to decode.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingInputs {
    pub(crate) addresses: BTreeSet<String>,
    pub(crate) blobs: BTreeSet<BlobId>,
    pub(crate) pixels: u64,
}

/// The inputs of one request that were fetched or loaded for it.
#[derive(Debug, Default)]
pub(crate) struct FetchedInputs {
    /// Pictures from web addresses.
    pub(crate) remote: RemotePictures,
    /// Pictures that came as references.
    pub(crate) pictures: Pictures,
    /// Pixels that have to be decoded.
    pub(crate) pixels: u64,
    /// The memory of all that, until the request was sent.
    pub(crate) charges: Vec<Charge>,
}

impl MissingInputs {
    /// Finds the inputs that a plan needs.
    pub(crate) fn of(
        transcript: &Transcript<'_>,
        plan: &Plan<'_>,
        named: &Named<'_>,
        remote: &RemoteMedia,
    ) -> Self {
        Self {
            addresses: remote.addresses(transcript, plan),
            blobs: cache::wanted(named, plan),
            pixels: pixels(plan),
        }
    }
}

impl FetchedInputs {
    /// Takes the charges out, for the request that is made from the inputs.
    pub(crate) fn take_charges(&mut self) -> Vec<Charge> {
        std::mem::take(&mut self.charges)
    }
}

/// Counts the pixels from which the recipes of a plan are made.
fn pixels(plan: &Plan<'_>) -> u64 {
    let sizes =
        plan.recipes.keys().filter_map(|id| plan.survey.sightings.get(id.index())?.header.size);
    sizes.map(|(width, height)| u64::from(width) * u64::from(height)).sum()
}
