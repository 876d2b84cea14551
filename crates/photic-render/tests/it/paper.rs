//! Prose, tables, values and notebooks: approved pages, and rows that lead back to the source.

#![expect(clippy::expect_used, reason = "a test that cannot draw its page has failed")]
#![expect(clippy::format_collect, reason = "sources are made once")]

use std::path::Path;

use photic_render::{
    Area, Fit, Kind, Missing, Page, RefusalCode, Request, SourceFile, Theme, draw,
};

use crate::approved::assert_approved;
use crate::{data, worker};

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
    let files = [SourceFile { reference: "images/chart.svg".to_owned(), bytes: svg }];
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

fn markdown(text: &str) -> Page {
    draw(&Request::new(text.as_bytes(), Kind::Markdown)).expect("a page")
}

/// Returns the content that a page leaves out, as pairs.
fn left_out(page: &Page) -> Vec<(Missing, &str)> {
    page.facts.left_out.iter().map(|missing| (missing.what, missing.detail.as_str())).collect()
}

#[test]
fn pictures_are_shown_if_handed_over_and_listed_if_not() {
    let text = "![a](images/a.svg) ![b](../b.png) ![c](file:///etc/passwd) ![d][ref]\n\n\
                <img src='e.gif'> ![f](data:image/png;base64,AAAA)\n\n[ref]: http://127.0.0.1:9/d.png";
    let page = markdown(text);
    let external = |reference| (Missing::External, reference);
    let expected = [
        external("images/a.svg"),
        external("../b.png"),
        external("file:///etc/passwd"),
        external("http://127.0.0.1:9/d.png"),
        external("e.gif"),
    ];
    assert_eq!(left_out(&page)[..5], expected);
    assert_eq!(left_out(&page)[5].0, Missing::Picture);
    assert_eq!(page.facts.left_out.len(), 6);

    let red = "<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'>\
               <rect width='50' height='50' fill='#f00'/></svg>";
    let files = [SourceFile { reference: "images/a.svg".to_owned(), bytes: red.into() }];
    let mut request = Request::new(text.as_bytes(), Kind::Markdown);
    request.files = &files;
    let second = draw(&request).expect("a page");
    assert!(!left_out(&second).contains(&external("images/a.svg")));
    let red = |page: &Page| page.raster.data.chunks_exact(3).any(|pixel| pixel == [255, 0, 0]);
    assert!(red(&second) && !red(&page));
}

#[test]
fn html_is_not_run_and_is_listed() {
    let page = markdown("<div>\n<script>go()</script>\n<video src=x></video>\n</div>\n\ntext");
    assert_eq!(
        left_out(&page),
        [(Missing::Foreign, "div"), (Missing::Script, "script"), (Missing::Foreign, "video"),]
    );
}

#[test]
fn prose_leads_back_to_its_lines() {
    let text = "# Title\n\nfirst line\nsecond **line**\n\n```\ncode one\ncode two\n```\n\n\
                | a | b |\n|---|---|\n| x | yes |\n\n- item\n";
    let page = markdown(text);
    let lines: Vec<u32> = page.facts.rows.iter().map(|row| row.line).collect();
    assert_eq!(lines, [1, 3, 4, 7, 8, 11, 13, 15]);
    let columns = |line: u32| {
        let row = page.facts.rows.iter().find(|row| row.line == line).expect("a row");
        (row.columns.first().copied(), row.columns.last().copied())
    };
    assert_eq!(columns(1), (Some(3), Some(7)));
    assert_eq!(columns(3), (Some(1), Some(11)), "the end of a line is a space");
    assert_eq!(columns(4), (Some(1), Some(13)));
    assert_eq!(columns(7), (Some(1), Some(8)));
    assert_eq!(columns(13), (Some(3), Some(9)));
    let heading = &page.facts.rows[0];
    let found = page.line_and_column(heading.left + 2.0, heading.top + 5.0);
    assert_eq!(found, Some((1, 3)));
}

#[test]
fn tables_lead_back_to_their_lines() {
    let text = "name,note\nAda,\"two\nlines\"\nGrace,x\n";
    let page = draw(&Request::new(text.as_bytes(), Kind::Csv)).expect("a page");
    let lines: Vec<u32> = page.facts.rows.iter().map(|row| row.line).collect();
    assert_eq!(lines, [1, 2, 3, 4]);
    let last = page.facts.rows.last().expect("a row");
    assert_eq!((last.columns.first(), last.columns.last()), (Some(&1), Some(&7)));
}

#[test]
fn values_lead_back_and_say_that_they_are_laid_out_anew() {
    let pad = "x".repeat(500);
    let text = format!("{{\"a\":[1,2],\"pad\":\"{pad}\",\"last\":true}}");
    let page = draw(&Request::new(text.as_bytes(), Kind::Json)).expect("a page");
    assert_eq!(left_out(&page)[0].0, Missing::Layout);
    let rows = &page.facts.rows;
    assert!(rows.iter().all(|row| row.line == 1), "there is one line");
    let at = text.find("true").expect("it is there") as u32;
    let last = rows.iter().rev().nth(1).expect("a row");
    assert!(last.columns.ends_with(&[at + 1, at + 2, at + 3, at + 4]), "{:?}", last.columns);

    let short = draw(&Request::new(b"{\"a\": 1}", Kind::Json)).expect("a page");
    assert_eq!(short.facts.left_out, []);
}

#[test]
fn pages_are_the_same_whichever_is_asked_for() {
    let text =
        (1..200).map(|n| format!("## Part {n}\n\nWords of part {n}.\n\n")).collect::<String>();
    let page = |text: &str, number| {
        let mut request = Request::new(text.as_bytes(), Kind::Markdown);
        request.wanted.page = number;
        draw(&request)
    };
    let pages = page(&text, 1).expect("a page").facts.pages;
    assert!(pages > 10, "{pages}");
    let mut next = 1;
    for number in 1..=pages {
        let drawn = page(&text, number).expect("a page");
        assert!(drawn.raster.width == 1092 && drawn.raster.height <= 1092);
        let first = drawn.facts.rows.first().expect("a row").line;
        assert!(first >= next, "page {number} begins at line {first}, after {next}");
        next = drawn.facts.rows.last().expect("a row").line;
        assert!(next % 4 == 3, "page {number} ends with a heading");
    }
    let longer = format!("{text}\n\nmore\n");
    let again = page(&longer, 3).expect("a page");
    assert_eq!(again.raster, page(&text, 3).expect("a page").raster);
    let refusal = page(&text, pages + 1).expect_err("no page");
    assert_eq!(refusal.code, RefusalCode::NoSuchPage);
}

#[test]
fn a_region_is_drawn_anew() {
    let text = "# A heading\n\nand a paragraph";
    let mut request = Request::new(text.as_bytes(), Kind::Markdown);
    request.wanted.region = Some(Area { x: 20.0, y: 20.0, width: 300.0, height: 60.0 });
    request.wanted.fit = Fit::Scale(3.0);
    let page = draw(&request).expect("a page");
    assert_eq!((page.raster.width, page.raster.height), (900, 180));
    assert_eq!(page.line_and_column(30.0, 60.0), Some((1, 3)));
}

#[test]
fn what_is_no_notebook_is_refused() {
    for text in ["{", "{}", "[]", "1", "{\"cells\": 1}"] {
        let refusal = draw(&Request::new(text.as_bytes(), Kind::Notebook)).expect_err(text);
        assert_eq!(refusal.code, RefusalCode::Corrupt, "{text}");
        assert!(!refusal.hint.is_empty());
    }
}

#[test]
fn outputs_are_bounded_and_say_so() {
    let lines: String = (0..1_000).map(|n| format!("{n}\\n")).collect();
    let text = format!(
        "{{\"cells\": [{{\"cell_type\": \"code\", \"source\": \"x\", \"outputs\": \
         [{{\"output_type\": \"stream\", \"text\": \"{lines}\"}}, \
          {{\"output_type\": \"display_data\", \"data\": {{\"text/html\": \"<script>\", \
          \"text/plain\": \"y\"}}}}]}}]}}"
    );
    let page = draw(&Request::new(text.as_bytes(), Kind::Notebook)).expect("a page");
    assert_eq!(
        left_out(&page),
        [(Missing::Rest, "the end of a long output"), (Missing::Script, "HTML of an output"),]
    );
}

#[test]
fn the_same_source_gives_the_same_bytes_in_a_child() {
    let text = "# Title\n\n| a | b |\n|---|---|\n| 漢字 | 😀 |\n\n```rust\nfn main() {}\n```\n";
    for (text, kind) in [
        (text, Kind::Markdown),
        ("a,b\n1,2\n", Kind::Csv),
        ("{\"a\": [1, 2]}", Kind::Json),
        ("{\"cells\": []}", Kind::Notebook),
    ] {
        let request = Request::new(text.as_bytes(), kind);
        assert_eq!(worker().draw(&request), draw(&request), "{kind:?}");
    }
}

#[test]
fn drawings_have_the_same_glyphs() {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='420' height='80'>\
               <rect width='420' height='80' fill='#fff'/>\
               <text x='10' y='50' font-size='32' font-family='Arial'>漢字 かな 한글 😀 α</text></svg>";
    let page = draw(&Request::new(svg.as_bytes(), Kind::Svg)).expect("a page");
    assert_approved("text_glyphs_in_a_drawing", &page);
}
