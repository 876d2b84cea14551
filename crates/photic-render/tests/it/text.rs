//! Code and text: approved pages, lines and columns, pages that stay.

#![expect(clippy::expect_used, reason = "a test that cannot draw its page has failed")]
#![expect(clippy::format_collect, reason = "sources are made once")]

use photic_render::{Area, Fit, Kind, Missing, Page, RefusalCode, Request, Theme, draw};

use crate::approved::assert_approved;
use crate::paper::folder_looks_as_approved;
use crate::worker;

const RUST: &str = include_str!("../sources/text/sample.rs");

fn drawn(text: &str, name: Option<&str>, change: impl FnOnce(&mut Request<'_>)) -> Page {
    let mut request = Request::new(text.as_bytes(), Kind::Text);
    request.wanted.name = name.map(str::to_owned);
    change(&mut request);
    draw(&request).expect("a page")
}

#[test]
fn pages_look_as_approved() {
    let odd = "tab\tstop\n\tindented\nescape \u{1b}[31mred\u{1b}[0m\nturned \u{202e}desrever\u{202c}\n\
               greek αβγ, Кириллица, עברית, العربية\nboxes ┌─┬─┐ │ │ └─┴─┘ → ⇒ ≠ ∑ ✓\n\
               wide one: 漢字 | aligned\ntwo cell: 123456789";
    let prose = "A paragraph that was written as one long line, as editors with soft wrapping \
                 leave them, has to go on in the next row at a word. "
        .repeat(3);
    assert_approved(
        "text_dark",
        &drawn(&RUST[..240], Some("rs"), |r| r.wanted.theme = Theme::Dark),
    );
    assert_approved("text_odd", &drawn(odd, None, |_| {}));
    assert_approved("text_prose", &drawn(&prose, Some("notes.txt"), |_| {}));
    assert_approved(
        "text_region",
        &drawn(RUST, Some("sample.rs"), |request| {
            request.wanted.region = Some(Area { x: 90.0, y: 24.0, width: 330.0, height: 72.0 });
            request.wanted.fit = Fit::Longest(660);
        }),
    );
}

#[test]
fn sources_look_as_approved() {
    folder_looks_as_approved("text", Kind::Text, 20);
}

#[test]
fn what_no_font_has_is_named() {
    let facts = drawn("हिन्दी and ASCII", None, |_| {}).facts;
    assert_eq!(facts.left_out.len(), 1);
    assert_eq!(facts.left_out[0].what, Missing::Glyphs);
    let named = &facts.left_out[0].detail;
    assert!(named.contains('ह') && named.contains('न') && !named.contains('A'), "{named}");
    assert_eq!(drawn(RUST, Some("sample.rs"), |_| {}).facts.left_out, []);
    let many = "漢字 かな 한글 😀 👨‍👩‍👧‍👦 🇩🇪 ❤️ 1️⃣ Ж α א ع ✓ →";
    assert_eq!(drawn(many, None, |_| {}).facts.left_out, [], "all of these have glyphs");
}

#[test]
fn every_pixel_leads_to_its_line_and_column() {
    let text = format!("first\n\tx = 1\n漢b\n{}\nlast", "0123456789".repeat(10));
    let page = drawn(&text, None, |_| {});
    let left = page.facts.rows[0].left;
    let at =
        |cell: f64, row: f64| page.line_and_column(left + cell * 11.0 + 5.0, 36.0 + row * 24.0);
    assert_eq!(at(0.0, 0.0), Some((1, 1)));
    assert_eq!(at(4.0, 0.0), Some((1, 5)));
    assert_eq!(at(40.0, 0.0), Some((1, 5)), "beside the line is its end");
    assert_eq!(at(-3.0, 0.0), Some((1, 1)), "the number of a line is its beginning");
    assert_eq!(at(3.0, 1.0), Some((2, 1)), "all of a tab is one column");
    assert_eq!(at(4.0, 1.0), Some((2, 2)));
    assert_eq!(at(1.0, 2.0), Some((3, 1)), "a wide character has two cells");
    assert_eq!(at(2.0, 2.0), Some((3, 2)));
    assert_eq!(at(0.0, 4.0), Some((4, 89)), "where a line goes on");
    assert_eq!(at(0.0, 5.0), Some((5, 1)));
    assert_eq!(at(0.0, 20.0), None);

    let zoomed = drawn(&text, None, |request| {
        request.wanted.region = Some(Area { x: left, y: 48.0, width: 110.0, height: 48.0 });
        request.wanted.fit = Fit::Scale(3.0);
    });
    assert_eq!(zoomed.line_and_column(4.0 * 33.0 + 9.0, 30.0), Some((2, 2)));
}

#[test]
fn pages_have_one_size_and_keep_their_lines() {
    let text: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    let page = |number| drawn(&text, None, |request| request.wanted.page = number);
    let (first, second, third) = (page(1), page(2), page(3));
    assert_eq!((first.raster.width, first.raster.height), (1092, 1080));
    assert_eq!((second.raster.width, second.raster.height), (1092, 1080));
    assert_eq!((third.raster.width, third.raster.height), (1092, 384), "no empty paper");
    assert_eq!((second.facts.page, second.facts.pages), (2, 3));
    let lines = |page: &Page| (page.facts.rows[0].line, page.facts.rows.last().map(|row| row.line));
    assert_eq!(lines(&first), (1, Some(43)));
    assert_eq!(lines(&second), (44, Some(86)));
    assert_eq!(lines(&third), (87, Some(100)));

    let longer = format!("{text}line 101\nline 102\n");
    let again = drawn(&longer, None, |request| request.wanted.page = 2);
    assert_eq!(again.raster, second.raster, "what is added behind changes no page before");

    let mut request = Request::new(text.as_bytes(), Kind::Text);
    request.wanted.page = 4;
    assert_eq!(draw(&request).expect_err("no page").code, RefusalCode::NoSuchPage);
}

#[test]
fn the_end_of_the_last_line_begins_no_new_one() {
    for (text, lines) in [("a", 1), ("a\n", 1), ("a\n\n", 2), ("\n", 1), ("a\r\nb\r\n", 2)] {
        let rows = drawn(text, None, |_| {}).facts.rows;
        assert_eq!(rows.len(), lines, "{text:?}");
    }
}

#[test]
fn long_texts_are_drawn_without_colors_and_say_so() {
    let text = "let x = 1; // a comment\n".repeat(40_000);
    let page = drawn(&text, Some("a.rs"), |request| request.wanted.page = 900);
    assert_eq!(page.facts.pages, 931);
    assert_eq!(page.facts.left_out.len(), 1);
    assert_eq!(page.facts.left_out[0].what, Missing::Colors);
    let page = drawn(&text, Some("a.rs"), |_| {});
    assert_eq!(page.facts.left_out, [], "the first page is colored");
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    let mut request = Request::new(RUST.as_bytes(), Kind::Text);
    request.wanted.name = Some("sample.rs".to_owned());
    let here = draw(&request).expect("a page");
    assert_eq!(worker().draw(&request).expect("a page"), here);
}
