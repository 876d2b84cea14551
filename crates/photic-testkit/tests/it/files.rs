//! Rules about files: their names, and text that none of them may contain.

use crate::tidy::{listed, report, root, rust};

/// Vague names, which attract unrelated code.
const EMPTY_NAMES: [&str; 9] =
    ["core", "common", "util", "utils", "helper", "helpers", "manager", "managers", "misc"];

#[test]
fn names_say_something() {
    let mut complaints = Vec::new();
    for path in listed() {
        let rust = rust(&path);
        for step in path.split('/') {
            let stem = step.split('.').find(|part| !part.is_empty()).unwrap_or_default();
            let words = stem.split(|c| rust && matches!(c, '_' | '-'));
            for word in words.filter(|word| EMPTY_NAMES.contains(word)) {
                complaints.push(format!("{path}: `{word}`"));
            }
        }
    }
    report("no file or folder is named for nothing in particular", &complaints);
}

#[test]
fn nothing_outside_the_checkout_is_mentioned() {
    let words = [["..", "/shared"].concat(), ["/work", "/"].concat()];
    let mut complaints = Vec::new();
    let data =
        |path: &String| path.starts_with("crates/") && path.split('/').any(|step| step == "tests");
    for path in listed().into_iter().filter(|path| !data(path)) {
        let bytes = std::fs::read(root().join(&path)).expect("a listed file reads");
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                complaints.push(format!("{path}:{}: `{word}`", number + 1));
            }
        }
    }
    report("docs and sources stand on their own", &complaints);
}

#[test]
fn no_registry_host_is_mentioned() {
    // Built from pieces, so that this file passes its own test.
    let hosts = [
        ["crates", ".io"].concat(),
        ["pypi", ".org"].concat(),
        ["python", "hosted.org"].concat(),
        ["npm", "js.org"].concat(),
        ["npm", "js.com"].concat(),
        ["yarn", "pkg.com"].concat(),
    ];
    // The name cargo itself writes into every lock file: a repository, not a host.
    let index = ["rust-lang/", "crates", ".io-index"].concat();
    let mut complaints = Vec::new();
    for path in listed() {
        let bytes = std::fs::read(root().join(&path)).expect("a listed file reads");
        let text = String::from_utf8_lossy(&bytes).replace(&index, "");
        for (number, line) in text.lines().enumerate() {
            for host in hosts.iter().filter(|host| line.contains(host.as_str())) {
                complaints.push(format!("{path}:{}: `{host}`", number + 1));
            }
        }
    }
    report("where packages come from is the machine's business", &complaints);
}
