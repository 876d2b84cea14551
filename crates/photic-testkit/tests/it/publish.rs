//! Rules for published packages: each describes itself, and holds every file it needs.

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::tidy::{report, root, sources};

/// The packages that are not published: programs for tests.
const UNPUBLISHED: [&str; 1] = ["photic-fleet-test"];

/// Modules that are tests because their parent declares them so, not by their name.
const TESTS: [&str; 1] = ["crates/photic-net/src/fetch/tls_tests.rs"];

#[test]
fn every_published_package_says_what_it_is() {
    let mut complaints = Vec::new();
    for package in published() {
        let mut miss = |what: &str| complaints.push(format!("{}: {what}", package.name));
        let folder = root().join("crates").join(package.name.as_str());
        for (there, what) in [
            (package.description.is_some(), "no description"),
            (package.license.is_some(), "no license"),
            (package.repository.is_some(), "no repository"),
            (package.rust_version.is_some(), "no rust-version"),
            (package.readme().is_some_and(|path| path.is_file()), "no README.md"),
            (folder.join("LICENSE-APACHE").is_file(), "no LICENSE-APACHE"),
            (folder.join("LICENSE-MIT").is_file(), "no LICENSE-MIT"),
            ((1..=5).contains(&package.keywords.len()), "keywords: one to five are wanted"),
            ((1..=5).contains(&package.categories.len()), "categories: one to five are wanted"),
            (package.keywords.iter().all(|word| word.len() <= 20), "a keyword is too long"),
        ] {
            if !there {
                miss(what);
            }
        }
    }
    report("a registry shows what a package is", &complaints);
}

/// A package outside of this workspace knows the others only by their versions.
#[test]
fn published_packages_depend_on_published_versions() {
    let packages = packages();
    let mut complaints = Vec::new();
    for package in published() {
        for dependency in &package.dependencies {
            let ours = packages.iter().find(|other| other.name == dependency.name);
            let Some(ours) = ours.filter(|_| dependency.kind != DependencyKind::Development) else {
                continue;
            };
            if !is_published(ours) {
                complaints.push(format!("{} -> {}: it is not published", package.name, ours.name));
            }
            if !dependency.req.matches(&ours.version) || dependency.req.comparators.is_empty() {
                complaints.push(format!("{} -> {}: no version", package.name, ours.name));
            }
        }
    }
    report("path dependencies have versions", &complaints);
}

/// `cargo publish` packs a crate's folder, or the files that `include` names.
#[test]
fn embedded_files_are_inside_the_package() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        if TESTS.contains(&path.as_str()) || path.ends_with("/tests.rs") || path.contains("/tests/")
        {
            continue;
        }
        // Tests and doctests run only in the workspace.
        let tests = ["#[cfg(test)]", "#[cfg(doctest)]"].into_iter().filter_map(|at| text.find(at));
        let text = &text[..tests.min().unwrap_or(text.len())];
        let folder = root().join(&path).parent().expect("a file has a folder").to_path_buf();
        let krate = path.split('/').take(2).collect::<Vec<_>>().join("/");
        let tests = root().join(&krate).join("tests");
        for embedded in embedded(text) {
            let Ok(file) = folder.join(embedded).canonicalize() else {
                complaints.push(format!("{path}: `{embedded}` is not there"));
                continue;
            };
            if !file.starts_with(root().join(&krate)) || file.starts_with(&tests) {
                complaints.push(format!("{path}: `{embedded}` is outside of the package"));
            }
        }
    }
    report("a package holds the files it embeds", &complaints);
}

/// Returns the paths in `include_str!` and `include_bytes!`.
fn embedded(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| {
        let calls = ["include_str!(\"", "include_bytes!(\""];
        calls.into_iter().flat_map(move |call| line.split(call).skip(1))
    })
    .filter_map(|rest| rest.split('"').next())
}

fn is_published(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
}

fn published() -> Vec<Package> {
    let (published, rest): (Vec<_>, Vec<_>) = packages().into_iter().partition(is_published);
    let rest: Vec<String> = rest.iter().map(|package| package.name.to_string()).collect();
    assert_eq!(rest, UNPUBLISHED, "packages that are not published");
    published
}

fn packages() -> Vec<Package> {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).no_deps();
    command.exec().expect("cargo metadata").packages
}
