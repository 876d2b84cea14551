//! Prose, tables, values and notebooks: approved pages, and rows that lead back to the source.

use std::path::Path;

use photic_render::{File, Kind, Page, Request, Theme, draw};

use crate::approved::assert_approved;
use crate::data;

/// Draws every source of a folder and holds it against its approved picture.
///
/// Words in the name of a file say how it is drawn: `name.dark.md`, `name.page2.md`.
pub(crate) fn folder_looks_as_approved(folder: &str, kind: Kind, least: usize) {
    let mut paths: Vec<_> = std::fs::read_dir(data("sources").join(folder))
        .expect("a folder of sources")
        .map(|entry| entry.expect("a source").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= least, "{} sources", paths.len());
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).replace(['.', '-'], "_");
        assert_approved(&format!("{folder}_{stem}"), &drawn_as_named(&path, kind));
    }
}

fn drawn_as_named(path: &Path, kind: Kind) -> Page {
    let bytes = std::fs::read(path).expect("a source");
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let svg = std::fs::read(data("sources/svg/chart.svg")).expect("a drawing");
    let files = [File { reference: "images/chart.svg".to_owned(), bytes: svg }];
    let mut request = Request::new(&bytes, kind);
    request.files = &files;
    request.wanted.name = Some(name.to_owned());
    for word in name.split('.') {
        match word {
            "dark" => request.wanted.theme = Theme::Dark,
            "page2" => request.wanted.page = 2,
            _ => {}
        }
    }
    draw(&request).expect("a page")
}

#[test]
fn markdown_looks_as_approved() {
    folder_looks_as_approved("markdown", Kind::Markdown, 18);
}

#[test]
fn tables_look_as_approved() {
    folder_looks_as_approved("csv", Kind::Csv, 8);
}

#[test]
fn values_look_as_approved() {
    folder_looks_as_approved("json", Kind::Json, 6);
}

#[test]
fn notebooks_look_as_approved() {
    folder_looks_as_approved("notebook", Kind::Notebook, 8);
}
