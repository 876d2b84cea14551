//! Recorded and golden bodies on their way to every other wire.

use std::collections::BTreeSet;

use photic::{Profile, Wire};

use super::{assert_none, losses};
use crate::captured::captures;
use crate::cases::across_wires::refused;
use crate::golden::cases;

/// Fails if a body loses something on its way to the generic endpoint of any other wire.
fn lost(name: &str, from: Wire, body: &[u8]) -> Vec<String> {
    let others = Wire::ALL.into_iter().filter(|to| *to != from);
    let lost = others.flat_map(|to| losses(from, body, &Profile::generic(to)));
    lost.map(|lost| format!("{name}: {lost}")).collect()
}

#[test]
fn every_value_of_recorded_bodies_is_carried_or_named() {
    let captures = captures();
    let all = captures.iter().flat_map(|(capture, body)| lost(&capture.file, capture.wire, body));
    assert_none(&all.collect::<Vec<_>>());
}

#[test]
fn every_value_of_golden_bodies_is_carried_or_named() {
    let cases = cases("in.json");
    let all = cases.iter().flat_map(|(name, (case, body))| lost(name, case.wire, body));
    assert_none(&all.collect::<Vec<_>>());
}

#[test]
fn no_recorded_body_is_refused_on_any_other_wire() {
    let captures = captures();
    let clients: BTreeSet<_> = captures.iter().map(|(capture, _)| &capture.client).collect();
    assert!(clients.len() >= 6, "{clients:?}");
    let against: Vec<_> = captures
        .iter()
        .flat_map(|(capture, body)| refused(&capture.file, capture.wire, body))
        .collect();
    let shown = against.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(against.is_empty(), "{}\n{shown}", against.len());
}
