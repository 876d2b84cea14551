//! Rules about the files of a crate: no large circles of imports, and no arrow up between layers.

mod graph;
mod text;

use std::collections::BTreeMap;

use crate::sources::code_of;
use crate::tidy::{report, sources};
use graph::Graph;

/// Maximum number of files in a circle of imports. A file and its parent often form one.
const MAX_CIRCLE: usize = 4;

/// Crates without any circle.
const NO_CIRCLES: &[&str] = &["photic", "photic-gateway"];

/// The layers of a crate from bottom to top. A layer is a list of folders or files below `src/`,
/// without extension. Files of one layer may use each other and the layers below. A file in no
/// layer may not be used by others (`lib.rs`, `main.rs`).
const LAYERS: &[(&str, &[&[&str]])] = &[(
    "photic-gateway",
    &[
        &["counter", "future"],
        &["config"],
        &["memory"],
        &["http"],
        &["tenant"],
        &["upstream"],
        &["learned"],
        &["record"],
        &["media"],
        &["observe"],
        &["fleet"],
        &["turn"],
        &["socket"],
        &["dispatch"],
        &["server"],
    ],
)];

#[test]
fn no_import_circle_is_large() {
    let mut complaints = Vec::new();
    for (name, graph) in graphs() {
        let most = if NO_CIRCLES.contains(&name.as_str()) { 1 } else { MAX_CIRCLE };
        for (files, arrows) in graph.circles() {
            if files.len() > most {
                complaints.push(format!("{name}: a circle of {} files", files.len()));
                complaints.extend(arrows.iter().map(|arrow| format!("  {arrow}")));
            }
        }
    }
    report("files do not import each other in circles", &complaints);
}

#[test]
fn no_arrow_points_up() {
    let graphs = graphs();
    let mut complaints = Vec::new();
    for (name, layers) in LAYERS {
        let Some(graph) = graphs.get(*name) else {
            complaints.push(format!("there is no crate `{name}`"));
            continue;
        };
        for (from, to, path) in graph.arrows() {
            match (layer(layers, from), layer(layers, to)) {
                (_, None) => complaints.push(format!("{name}: `{to}` is in no layer")),
                (Some(low), Some(high)) if low < high => {
                    complaints.push(format!("{name}: {from} -> {to} (`{path}`)"));
                }
                _ => {}
            }
        }
    }
    complaints.dedup();
    report("no file uses what is above it", &complaints);
}

/// Returns the height of a file's layer: that of the longest name it begins with.
fn layer(layers: &[&[&str]], file: &str) -> Option<usize> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let names =
        layers.iter().enumerate().flat_map(|(at, names)| names.iter().map(move |name| (at, *name)));
    let fits = |name: &str| {
        stem.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    names.filter(|(_, name)| fits(name)).max_by_key(|(_, name)| name.len()).map(|(at, _)| at)
}

/// Returns the module graph of every crate, by its name. Programs below `src/bin/` are crates of
/// their own.
fn graphs() -> BTreeMap<String, Graph> {
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in sources() {
        let Some((name, file)) =
            path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if file.starts_with("bin/") || is_test(file) {
            continue;
        }
        crates.entry(name.to_owned()).or_default().push((file.to_owned(), code_of(&text)));
    }
    assert!(crates.len() > 10, "the list of crates is broken");
    crates.into_iter().map(|(name, files)| (name, Graph::read(&files))).collect()
}

fn is_test(file: &str) -> bool {
    file.ends_with("tests.rs") || file.split('/').any(|step| step == "tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> Graph {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Graph::read(&files.collect::<Vec<_>>())
    }

    #[test]
    fn a_circle_is_found_through_names_that_are_passed_on() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a/mod.rs", "mod low; pub use low::A;"),
            ("a/low.rs", "use crate::b; pub struct A(b::B);"),
            ("b.rs", "use crate::A; pub struct B(Option<Box<A>>);"),
        ]);
        let circles = graph.circles();
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].0, ["a/low.rs", "b.rs"]);
        assert_eq!(circles[0].1, ["a/low.rs -> b.rs (`b::B`)", "b.rs -> a/low.rs (`crate::A`)"]);
    }

    #[test]
    fn a_name_that_is_only_passed_on_is_no_arrow() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod low; pub use low::A;"),
            ("a/low.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "use crate::a; pub struct B; fn f() { a::g(); }"),
        ]);
        let arrows: Vec<_> = graph.arrows().collect();
        assert_eq!(arrows, [("a/low.rs", "b.rs", "crate::b::B"), ("b.rs", "a/mod.rs", "a::g")]);
        assert_eq!(graph.circles(), []);
    }

    #[test]
    fn a_module_may_use_the_module_around_it() {
        let graph = graph(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod low; pub struct B(low::A);"),
            ("a/low.rs", "use super::B; pub struct A(Option<Box<B>>);"),
        ]);
        assert_eq!(graph.circles(), []);
        assert_eq!(graph.arrows().count(), 1);
    }

    #[test]
    fn the_longest_name_says_the_layer() {
        let layers: &[&[&str]] = &[&["a/low"], &["b", "a"]];
        assert_eq!(layer(layers, "a/low.rs"), Some(0));
        assert_eq!(layer(layers, "a/lower.rs"), Some(1));
        assert_eq!(layer(layers, "a/mod.rs"), Some(1));
        assert_eq!(layer(layers, "lib.rs"), None);
    }
}
