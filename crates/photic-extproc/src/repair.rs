//! Repairs one body. It takes a processor for as long as that takes, and does no I/O.

use std::collections::BTreeMap;

use bytes::Bytes;
use photic::{Code, Reason, RepairOptions};
use photic_encoding::{DecodeError, Decoding};

use crate::target::{Passed, Target};

/// Bytes that are decoded at once.
const DECODED_PIECE: usize = 64 << 10;

/// A body after its repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RepairedBody {
    /// The body to send instead, without a content encoding. `None` if nothing had to change.
    pub(crate) body: Option<Bytes>,
    /// The reason for which it was not read.
    pub(crate) passed: Option<Passed>,
    /// The headers of the reply that tell what was done.
    pub(crate) notes: Vec<(&'static str, String)>,
}

impl RepairedBody {
    /// A body that was not read.
    pub(crate) fn passed(reason: Passed) -> Self {
        Self { passed: Some(reason), ..Self::default() }
    }
}

/// Repairs a body for the provider that it is sent to.
pub(crate) fn repair(target: &Target, body: &Bytes, max_body: usize) -> RepairedBody {
    let decoded = match decode(target, body, max_body) {
        Ok(decoded) => decoded,
        Err(DecodeError::Corrupt) => return RepairedBody::passed(Passed::UnreadableBody),
        Err(DecodeError::TooLarge) => return RepairedBody::passed(Passed::TooLarge),
    };
    let body = decoded.as_ref().unwrap_or(body);
    let wire = target.turn.wire;
    let mut options = RepairOptions::default();
    options.from = Some(wire);
    options.model = target.turn.params.model.clone().filter(|_| !wire.names_model());
    options.host.clone_from(&target.host);
    options.policy = target.policy.clone();
    options.policy.pixels = true;
    let mut retired = BTreeMap::new();
    let repaired = photic::repair_with(body, &options, |transcript, plan| {
        retired = plan.retired(&[]);
        photic_pixels::prepare(transcript, plan)
    });
    if repaired.findings.iter().any(|finding| finding.code == Code::NotJson) {
        return RepairedBody::passed(Passed::UnreadableBody);
    }
    let mut fixes: BTreeMap<&str, usize> = BTreeMap::new();
    for decision in &repaired.decisions {
        *fixes.entry(decision.did.name()).or_default() += 1;
    }
    let mut notes = vec![("x-photic-fixes", fixes.values().sum::<usize>().to_string())];
    if !fixes.is_empty() {
        let each: Vec<String> =
            fixes.iter().map(|(name, count)| format!("{name}={count}")).collect();
        notes.push(("x-photic-fixed", each.join(", ")));
    }
    if !repaired.retired.is_empty() {
        *retired.entry(Reason::OverBudget).or_default() += repaired.retired.len();
    }
    if !retired.is_empty() {
        let each: Vec<String> =
            retired.iter().map(|(reason, count)| format!("{}={count}", reason.name())).collect();
        notes.push(("x-photic-retired", each.join(", ")));
    }
    let body = repaired.is_changed().then(|| Bytes::from(repaired.body.into_owned()));
    RepairedBody { body, passed: None, notes }
}

/// Removes the content encoding of a body. Returns `None` if it has none.
fn decode(target: &Target, body: &Bytes, max_body: usize) -> Result<Option<Bytes>, DecodeError> {
    if target.codings.is_empty() {
        return Ok(None);
    }
    let mut decoding = Decoding::new(body, &target.codings, max_body as u64)?;
    let mut decoded = Vec::new();
    let mut piece = vec![0; DECODED_PIECE];
    loop {
        let read = decoding.next(&mut piece)?;
        if read == 0 {
            return Ok(Some(decoded.into()));
        }
        decoded.extend_from_slice(&piece[..read]);
    }
}
