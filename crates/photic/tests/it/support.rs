//! `docs/support.md` is written from the cases, the captures and the profiles, so it cannot lie.
//!
//! `PHOTIC_BLESS=1` writes it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use photic::profile::{Capability, ErrorResults, Profile};
use photic::{Code, Wire};

use crate::captured::captures;
use crate::golden::cases;
use crate::harness::{check, codes, lower, rules};

#[test]
fn the_support_page_says_what_the_tests_show() {
    let page = [
        "# What is supported\n\n*Written by `crates/photic/tests/it/support.rs` from the tests' own data; do not edit.*\n",
        &findings(),
        &clients(),
        &profiles(),
    ]
    .join("\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/support.md");
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/support.md is out of date: run with PHOTIC_BLESS=1 and read the diff"
    );
}

/// Cases for every finding and wire; each is lowered to all wires and accepted by the oracle.
fn findings() -> String {
    let mut counts: BTreeMap<(&str, Wire), usize> = BTreeMap::new();
    for (case, body) in cases("in.json").into_values() {
        let found: BTreeSet<_> =
            codes(&check(case.wire, &body, &case.profile(case.wire))).into_iter().collect();
        for code in found {
            *counts.entry((code, case.wire)).or_default() += 1;
        }
    }
    let mut table = String::from(
        "## Findings\n\nHow many golden cases show each finding, by the wire they come in on. Every case is lowered to every wire, and a strict provider that knows nothing of photic accepts the result.\n\n| finding",
    );
    for wire in Wire::ALL {
        write!(table, " | {wire}").unwrap();
    }
    writeln!(table, " |\n|---{}|", "|---".repeat(Wire::ALL.len())).unwrap();
    for code in Code::ALL {
        write!(table, "| `{code}`").unwrap();
        for wire in Wire::ALL {
            let count =
                counts.get(&(code.name(), wire)).map_or("–".to_owned(), ToString::to_string);
            write!(table, " | {count}").unwrap();
        }
        table.push_str(" |\n");
    }
    table
}

/// What published clients send, and what arrives.
fn clients() -> String {
    #[derive(Default)]
    struct Row {
        bodies: usize,
        blind: usize,
        found: BTreeSet<&'static str>,
        sent: usize,
        arrive: BTreeMap<Wire, usize>,
    }
    let mut rows: BTreeMap<(String, String, Wire), Row> = BTreeMap::new();
    for (capture, body) in captures() {
        let found = codes(&check(capture.wire, &body, &Profile::generic(capture.wire)));
        let row = rows
            .entry((capture.client.clone(), capture.version.clone(), capture.wire))
            .or_default();
        row.bodies += 1;
        row.blind += usize::from(!found.is_empty());
        row.found.extend(found);
        row.sent += capture.images.len();
        for wire in Wire::ALL {
            let profile = Profile::generic(wire);
            let lowered = lower(capture.wire, &body, &profile).body;
            let (seen, _) = photic_testkit::oracle::look(wire.name(), &lowered, &rules(&profile));
            *row.arrive.entry(wire).or_default() += seen.images.len();
        }
    }
    let table = String::from(
        "## Clients\n\nBodies recorded from the published packages, each with the result of a tool that returned an image. *Blind*: bodies in which `photic check` finds something. *Images*: how many the tools returned, and how many a model sees after lowering to {wires}.\n\n| client | version | wire | bodies | blind | findings | images |\n|---|---|---|---|---|---|---|\n",
    );
    let mut table = table.replace("{wires}", &Wire::ALL.map(Wire::name).join(" / "));
    for ((client, version, wire), row) in rows {
        let found: Vec<_> = row.found.iter().map(|code| format!("`{code}`")).collect();
        let arrive: Vec<_> = Wire::ALL.iter().map(|wire| row.arrive[wire].to_string()).collect();
        writeln!(
            table,
            "| {client} | {version} | {wire} | {} | {} | {} | {} → {} |",
            row.bodies,
            row.blind,
            if found.is_empty() { "–".to_owned() } else { found.join(" ") },
            row.sent,
            arrive.join(" / ")
        )
        .unwrap();
    }
    table
}

/// What each profile says of images.
fn profiles() -> String {
    let mut table = String::from(
        "## Profiles\n\nWhat photic ships about endpoints and models; the most specific model wins, and a host's facts are laid over it. Dates and sources of every section are in `crates/photic/profiles/`.\n\n| profile | models | hosts | sees images | image in a tool result | types | most images | base64 bytes an image | longest side |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for profile in photic::profile::shipped() {
        let sees = match profile.sight.images {
            Capability::Yes => "yes",
            Capability::No => "no",
            Capability::Unknown => "unknown",
        };
        let placement = serde_json::to_value(profile.placement.image).unwrap();
        let errors = match profile.placement.error_results {
            ErrorResults::TextOnly => " (not in errors)",
            ErrorResults::Media => "",
        };
        let number =
            |number: Option<u64>| number.map_or("–".to_owned(), |number| number.to_string());
        let types: Vec<_> =
            profile.accepts.image.iter().map(|name| name.trim_start_matches("image/")).collect();
        let list = |names: &[String]| {
            let shown: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            if shown.is_empty() { "–".to_owned() } else { shown.join(" ") }
        };
        writeln!(
            table,
            "| `{}` | {} | {} | {sees} | {}{errors} | {} | {} | {} | {} |",
            profile.id,
            list(&profile.models),
            list(&profile.hosts),
            placement.as_str().unwrap(),
            types.join(" "),
            number(profile.limits.images.map(u64::from)),
            number(profile.limits.image_base64_bytes),
            number(profile.limits.edge.map(u64::from)),
        )
        .unwrap();
    }
    table
}
