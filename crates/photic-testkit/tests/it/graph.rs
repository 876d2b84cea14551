//! Rules about crates: their allowed dependencies, and crates that the pure crate must never pull.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::tidy::{report, root};

/// Our crates, the crates of ours that each may use, and those that only its tests may use.
const EDGES: &[(&str, &[&str], &[&str])] = &[
    ("photic", &[], &["photic-testkit"]),
    (
        "photic-cli",
        &[
            "photic",
            "photic-doctor",
            "photic-extproc",
            "photic-fleet",
            "photic-gateway",
            "photic-inspector",
            "photic-mcp",
            "photic-mock",
            "photic-net",
            "photic-pixels",
            "photic-probe",
            "photic-render",
            "photic-store",
            "photic-tools",
        ],
        &["photic-testkit"],
    ),
    (
        "photic-doctor",
        &["photic", "photic-pixels", "photic-store"],
        &["photic-mock", "photic-testkit"],
    ),
    ("photic-encoding", &[], &[]),
    ("photic-extproc", &["photic", "photic-encoding", "photic-pixels"], &[]),
    // Its tests use the suite of the store, which is a feature.
    ("photic-fleet", &["photic", "photic-net", "photic-store"], &["photic-store"]),
    // Listeners ask `photic-net` which hosts and pages they may answer.
    ("photic-mcp", &["photic", "photic-net", "photic-pixels", "photic-tools"], &[]),
    ("photic-mock", &["photic", "photic-net", "photic-pixels", "photic-testkit"], &[]),
    (
        "photic-gateway",
        &[
            "photic",
            "photic-encoding",
            "photic-fleet",
            "photic-inspector",
            "photic-net",
            "photic-openwop",
            "photic-pixels",
            "photic-store",
        ],
        &["photic-mock", "photic-testkit"],
    ),
    (
        "photic-inspector",
        &["photic", "photic-net", "photic-pixels", "photic-store"],
        &["photic-testkit"],
    ),
    ("photic-net", &[], &[]),
    ("photic-openwop", &["photic"], &[]),
    ("photic-pixels", &["photic", "photic-webp"], &["photic-testkit"]),
    ("photic-probe", &["photic", "photic-net", "photic-pixels"], &["photic-mock"]),
    ("photic-render", &["photic-pixels"], &[]),
    (
        "photic-fleet-test",
        &[
            "photic",
            "photic-fleet",
            "photic-mock",
            "photic-pixels",
            "photic-store",
            "photic-testkit",
        ],
        // The suite of the store, which is a feature.
        &["photic-store"],
    ),
    // Its tests use its own suite, which is a feature.
    ("photic-store", &["photic"], &["photic-store"]),
    ("photic-testkit", &[], &[]),
    (
        "photic-tools",
        &["photic", "photic-net", "photic-pixels", "photic-store"],
        &["photic-mock", "photic-testkit"],
    ),
    ("photic-webp", &[], &[]),
];

/// The crates that `photic` may name in its manifest. Adding one is a decision that is made here.
const PHOTIC_DIRECT: [&str; 9] = [
    "base64",
    "blake3",
    "fearless_simd",
    "imagesize",
    "memchr",
    "regex-lite",
    "serde",
    "serde_json",
    "toml",
];

/// Crates that `photic` must never pull, even indirectly: no runtime, no network, no codec, no
/// clock, no randomness, no store.
const PHOTIC_NEVER: [&str; 51] = [
    "actix-rt",
    "async-executor",
    "async-io",
    "async-std",
    "futures-executor",
    "glommio",
    "monoio",
    "smol",
    "tokio",
    "attohttpc",
    "curl",
    "h2",
    "http",
    "hyper",
    "isahc",
    "mio",
    "native-tls",
    "openssl",
    "openssl-sys",
    "polling",
    "quinn",
    "reqwest",
    "rustls",
    "socket2",
    "surf",
    "tungstenite",
    "ureq",
    "fastrand",
    "getrandom",
    "oorandom",
    "rand",
    "rand_core",
    "uuid",
    "chrono",
    "humantime",
    "jiff",
    "quanta",
    "time",
    "web-time",
    "gif",
    "image",
    "image-webp",
    "jpeg-decoder",
    "png",
    "resvg",
    "zune-jpeg",
    "redb",
    "rusqlite",
    "sled",
    "sqlx",
    "tempfile",
];

/// Crates that the gateway must never pull: it serves HTTP, and leaves arguments and MCP to
/// others.
const GATEWAY_NEVER: [&str; 2] = ["clap", "rmcp"];

/// Crates that the MCP server must never pull: it serves what the SDK gives it, with hyper.
const MCP_NEVER: [&str; 3] = ["axum", "clap", "reqwest"];

/// Crates that the renderers must never pull: no runtime, no network, and no search for system
/// fonts, which would make the same bytes look different elsewhere.
const RENDER_NEVER: [&str; 16] = [
    "tokio",
    "mio",
    "socket2",
    "hyper",
    "h2",
    "http",
    "reqwest",
    "ureq",
    "curl",
    "rustls",
    "openssl",
    "native-tls",
    "quinn",
    "fontconfig-parser",
    "yeslogic-fontconfig-sys",
    "onig",
];

/// Crates that the fleet's stores must never pull: `photic-net` makes connections, and one HTTP
/// client is enough.
const FLEET_NEVER: [&str; 4] = ["clap", "native-tls", "openssl", "reqwest"];

/// The crates that the testkit may name: it is the witness, so it should have few dependencies.
const TESTKIT_DIRECT: [&str; 2] = ["base64", "serde_json"];

#[test]
fn crates_know_only_whom_they_may() {
    let metadata = metadata();
    let ours: Vec<&str> = metadata.workspace_packages().iter().map(|p| p.name.as_str()).collect();
    let mut complaints = Vec::new();
    for package in metadata.workspace_packages() {
        let Some((_, normal, dev)) = EDGES.iter().find(|(name, ..)| *name == package.name.as_str())
        else {
            complaints.push(format!("`{}` has no line in EDGES", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| ours.contains(&d.name.as_str())) {
            let allowed = match dependency.kind {
                DependencyKind::Development => normal.iter().chain(dev.iter()),
                _ => normal.iter().chain(&[]),
            };
            if !allowed.into_iter().any(|name| *name == dependency.name) {
                let (from, to) = (&package.name, &dependency.name);
                complaints.push(format!("{from} -> {to} ({})", dependency.kind));
            }
        }
    }
    report("arrows between crates follow the table", &complaints);
}

#[test]
fn direct_dependencies_are_decided_here() {
    let metadata = metadata();
    for (name, allowed) in [("photic", &PHOTIC_DIRECT[..]), ("photic-testkit", &TESTKIT_DIRECT)] {
        let direct = package(&metadata, name).dependencies.iter();
        let direct = direct.filter(|d| d.kind != DependencyKind::Development);
        let direct: BTreeSet<&str> = direct.map(|d| d.name.as_str()).collect();
        assert_eq!(direct, allowed.iter().copied().collect(), "dependencies of `{name}`");
    }
}

#[test]
fn photic_stays_pure() {
    let metadata = metadata();
    let paths = pulled(&metadata, "photic");
    assert!(paths.contains_key("serde_json"), "the walk is broken");
    let found = PHOTIC_NEVER.iter().filter_map(|name| paths.get(*name).cloned());
    report("`photic` pulls what it must never pull", &found.collect::<Vec<_>>());
}

#[test]
fn the_gateway_stays_a_gateway() {
    let metadata = metadata();
    let paths = pulled(&metadata, "photic-gateway");
    assert!(paths.contains_key("hyper"), "the walk is broken");
    let found = GATEWAY_NEVER.iter().filter_map(|name| paths.get(*name).cloned());
    report("`photic-gateway` pulls what it must never pull", &found.collect::<Vec<_>>());
}

#[test]
fn the_mcp_server_stays_small() {
    let metadata = metadata();
    let paths = pulled(&metadata, "photic-mcp");
    assert!(paths.contains_key("rmcp"), "the walk is broken");
    let found = MCP_NEVER.iter().filter_map(|name| paths.get(*name).cloned());
    report("`photic-mcp` pulls what it must never pull", &found.collect::<Vec<_>>());
}

#[test]
fn the_fleet_opens_no_connections_of_its_own() {
    let metadata = metadata();
    let paths = pulled(&metadata, "photic-fleet");
    assert!(paths.contains_key("object_store"), "the walk is broken");
    let found = FLEET_NEVER.iter().filter_map(|name| paths.get(*name).cloned());
    report("`photic-fleet` pulls what it must never pull", &found.collect::<Vec<_>>());
}

/// The tools and the store of one machine use no server. The gateway, which may be one of many,
/// does.
#[test]
fn local_users_need_no_server() {
    let metadata = metadata();
    for name in ["photic-mcp", "photic-store", "photic-tools"] {
        let paths = pulled(&metadata, name);
        assert!(paths.contains_key("rusqlite") || name == "photic-mcp", "the walk is broken");
        let found = ["object_store", "photic-fleet", "sqlx"].iter();
        let found = found.filter_map(|name| paths.get(*name).cloned());
        report("local users need no server", &found.collect::<Vec<_>>());
    }
}

#[test]
fn renderers_reach_nothing() {
    let metadata = metadata();
    let paths = pulled(&metadata, "photic-render");
    assert!(paths.contains_key("usvg"), "the walk is broken");
    let found = RENDER_NEVER.iter().filter_map(|name| paths.get(*name).cloned());
    report("`photic-render` pulls what it must never pull", &found.collect::<Vec<_>>());
}

/// Returns every crate that comes with `name` in a normal build, with the path to it.
fn pulled(metadata: &Metadata, name: &str) -> BTreeMap<String, String> {
    let resolve = metadata.resolve.as_ref().expect("metadata with dependencies");
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|n| (&n.id, n)).collect();
    let mut paths = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(&package(metadata, name).id, name.to_owned())];
    while let Some((id, path)) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for dep in &nodes[id].deps {
            if dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal) {
                let name = metadata[&dep.pkg].name.to_string();
                let path = format!("{path} > {name}");
                paths.insert(name, path.clone());
                open.push((&dep.pkg, path));
            }
        }
    }
    paths
}

fn package<'m>(metadata: &'m Metadata, name: &str) -> &'m Package {
    let packages = metadata.workspace_packages();
    packages.into_iter().find(|p| p.name == name).expect("a crate of the workspace")
}

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml"));
    // Usually there is nothing to fetch, which needs no network. If crates for other systems are
    // missing, cargo must be allowed to fetch them.
    let offline = command.clone().other_options(["--offline".to_owned()]).exec();
    offline.or_else(|_| command.exec()).expect("cargo metadata")
}
