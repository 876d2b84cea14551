//! Pages by Chromium: as approved, by sheets, by regions, with what was handed over and no more.

use std::time::Instant;

use photic_render::{Area, Fit, Kind, Missing, Page, RefusalCode, Request, SourceFile, Theme};

use crate::data;
use crate::programs::{assert_resembles, browser};

fn source(name: &str) -> Vec<u8> {
    std::fs::read(data("sources/html").join(name)).expect("a source")
}

/// Three quarters of the usual size, so that the pictures stay small.
fn drawn(bytes: &[u8], change: impl FnOnce(&mut Request<'_>)) -> Option<Page> {
    let mut request = Request::new(bytes, Kind::Html);
    request.wanted.fit = Fit::Scale(0.75);
    change(&mut request);
    Some(browser()?.draw(&request).expect("a page"))
}

fn look(names: &[&str]) {
    for name in names {
        let Some(page) = drawn(&source(&format!("{name}.html")), |_| {}) else { return };
        assert_resembles(&format!("html_{name}"), &page);
    }
}

#[test]
fn prose_and_data_look_as_approved() {
    look(&["article", "table", "form", "math", "scripts_of_the_world", "fonts", "latin1"]);
}

#[test]
fn drawings_and_layouts_look_as_approved() {
    look(&["layout", "effects", "svg_inside", "frames", "quirks", "wide"]);
}

#[test]
fn what_scripts_draw_looks_as_approved() {
    look(&["chart", "animation", "dashboard"]);
    let dark = drawn(&source("dashboard.html"), |request| request.wanted.theme = Theme::Dark);
    let Some(dark) = dark else { return };
    assert_resembles("html_dashboard_dark", &dark);
}

#[test]
fn xhtml_is_read_as_such() {
    let page = drawn(&source("strict.xhtml"), |request| {
        request.wanted.name = Some("strict.xhtml".to_owned());
    });
    let Some(page) = page else { return };
    assert_resembles("html_strict", &page);
}

#[test]
fn a_long_page_is_cut_into_sheets() {
    let Some(second) = drawn(&source("long.html"), |request| request.wanted.page = 2) else {
        return;
    };
    assert_resembles("html_long_2", &second);
    // The first section is as high as the window, and the others have borders.
    assert_eq!((second.facts.page, second.facts.pages), (2, 4));
    assert_eq!(second.facts.size, (1092.0, 1092.0));
    let last = drawn(&source("long.html"), |request| request.wanted.page = 4).expect("a page");
    assert_resembles("html_long_4", &last);
    assert!(last.facts.size.1 < 1092.0, "{:?}", last.facts.size);
    for number in [0, 5] {
        let bytes = source("long.html");
        let mut request = Request::new(&bytes, Kind::Html);
        request.wanted.page = number;
        let refusal = browser().expect("a browser").draw(&request).expect_err("no such sheet");
        assert_eq!(refusal.code, RefusalCode::NoSuchPage);
        assert!(refusal.hint.contains("1 to 4"), "{}", refusal.hint);
    }
}

#[test]
fn a_region_is_drawn_anew() {
    let long = source("long.html");
    let region = Area { x: 380.0, y: 220.0, width: 300.0, height: 150.0 };
    let part = drawn(&long, |request| {
        request.wanted.page = 2;
        request.wanted.region = Some(region);
        request.wanted.fit = Fit::Longest(900);
    });
    let Some(part) = part else { return };
    assert_resembles("html_region", &part);
    assert_eq!((part.raster.width, part.raster.height), (900, 450));
    assert_eq!(part.to_page.map_point(0.0, 0.0), (380.0, 220.0));
    assert_eq!(part.to_page.map_point(900.0, 450.0), (680.0, 370.0));
    assert_eq!(part.facts.size, (1092.0, 1092.0), "of the sheet, not of the region");
    // What the whole shows there at the same scale, but for the edges of letters.
    let whole = drawn(&long, |request| {
        request.wanted.page = 2;
        request.wanted.fit = Fit::Scale(3.0);
    });
    let whole = whole.expect("a page").raster;
    let mut differ = 0;
    for row in 0..450 {
        let at = ((row + 660) * whole.width as usize + 1140) * 3;
        let there = &whole.data[at..at + 2700];
        let here = &part.raster.data[row * 2700..(row + 1) * 2700];
        differ += there.iter().zip(here).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    }
    assert!(differ * 200 < part.raster.data.len(), "{differ}");
}

#[test]
fn regions_are_widened_to_whole_pixels_and_refused_outside() {
    let page = drawn(b"<body style='margin:0;background:#fff'>", |request| {
        request.wanted.region = Some(Area { x: 10.4, y: 20.6, width: 5.2, height: 9.0 });
        request.wanted.fit = Fit::Scale(10.0);
    });
    let Some(page) = page else { return };
    assert_eq!((page.raster.width, page.raster.height), (60, 100));
    assert_eq!(page.to_page.map_point(0.0, 0.0), (10.0, 20.0));
    let mut request = Request::new(b"<p>short", Kind::Html);
    request.wanted.region = Some(Area { x: 0.0, y: 5_000.0, width: 9.0, height: 9.0 });
    let refusal = browser().expect("a browser").draw(&request).expect_err("outside");
    assert_eq!(refusal.code, RefusalCode::BadRegion);
}

#[test]
fn what_is_missing_is_listed_and_shown_once_it_is_handed_over() {
    let bytes = source("external.html");
    let Some(bare) = drawn(&bytes, |_| {}) else { return };
    assert_resembles("html_external", &bare);
    let missing: Vec<&str> = bare.facts.left_out.iter().map(|left| left.detail.as_str()).collect();
    let wanted = [
        "css/page style.css",
        "../lib/app.js",
        "img/photo.svg",
        "https://example.org/far.png",
        "inner.html",
    ];
    for reference in wanted {
        assert!(missing.contains(&reference), "{reference}: {missing:?}");
    }
    assert_eq!(missing.len(), wanted.len(), "{missing:?}");
    assert!(bare.facts.left_out.iter().all(|left| left.what == Missing::External));

    let picture = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 3 2'>\
                    <path d='M0 0h3v2H0z' fill='#2a7'/><circle cx='1.5' cy='1' r='.7' fill='#fff'/></svg>";
    let contents: [(&str, &[u8]); 5] = [
        ("css/page style.css", b"@import 'more.css'; body{font:20px 'DejaVu Sans';margin:16px}"),
        ("../lib/app.js", b"addEventListener('load',()=>h.textContent='With all of it')"),
        ("img/photo.svg", picture),
        ("inner.html", b"<body style='background:#fe9'>the inner page"),
        ("css/more.css", b"h2{color:#b00}"),
    ];
    let files: Vec<SourceFile> = contents
        .iter()
        .map(|(reference, bytes)| SourceFile {
            reference: (*reference).into(),
            bytes: bytes.to_vec(),
        })
        .collect();
    let mut request = Request { files: &files, ..Request::new(&bytes, Kind::Html) };
    request.wanted.fit = Fit::Scale(0.75);
    let whole = browser().expect("a browser").draw(&request).expect("a page");
    assert_resembles("html_external_handed", &whole);
    let missing: Vec<&str> = whole.facts.left_out.iter().map(|left| left.detail.as_str()).collect();
    assert_eq!(missing, ["https://example.org/far.png"]);
}

#[test]
fn the_same_bytes_give_the_same_pixels() {
    for name in ["animation.html", "chart.html"] {
        let bytes = source(name);
        let Some(first) = drawn(&bytes, |_| {}) else { return };
        assert_eq!(drawn(&bytes, |_| {}).expect("a page"), first, "{name}");
    }
}

#[test]
fn fonts_that_are_handed_over_are_used() {
    let font = std::fs::read(data("../fonts/DejaVuSansMono.ttf")).expect("a font");
    let wide = |name: &str| name.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let (from, to) = (wide("DejaVu Sans Mono"), wide("Nowhere Mono Abc"));
    let mut renamed = font.clone();
    for at in 0..font.len() - from.len() {
        if font[at..].starts_with(&from) {
            renamed[at..at + to.len()].copy_from_slice(&to);
        }
    }
    let page = |family: &str| format!("<p style='font:30px {family}'>iiii MMMM");
    let (unknown, known) = (page("Nowhere Mono Abc"), page("DejaVu Sans Mono"));
    let fonts = [renamed];
    let request = Request { fonts: &fonts, ..Request::new(unknown.as_bytes(), Kind::Html) };
    let Some(browser) = browser() else { return };
    let with = browser.draw(&request).expect("a page").raster;
    let draw = |page: &str| browser.draw(&Request::new(page.as_bytes(), Kind::Html));
    assert_eq!(with, draw(&known).expect("a page").raster);
    assert_ne!(with, draw(&unknown).expect("a page").raster);
}

#[test]
fn a_page_costs_so_much_from_cold() {
    let Some(browser) = browser() else { return };
    let bytes = source("article.html");
    let mut times: Vec<u128> = (0..3)
        .map(|_| {
            let begin = Instant::now();
            browser.draw(&Request::new(&bytes, Kind::Html)).expect("a page");
            begin.elapsed().as_millis()
        })
        .collect();
    times.sort_unstable();
    println!("one page of HTML from cold: {times:?} ms");
}

#[test]
fn what_is_no_page_is_refused() {
    let Some(browser) = browser() else { return };
    let refusal = browser.draw(&Request::new(b"", Kind::Html)).expect_err("nothing");
    assert_eq!(refusal.code, RefusalCode::Empty);
    let mut request = Request::new(b"<p>hello", Kind::Html);
    request.wanted.bounds.bytes = 4;
    assert_eq!(browser.draw(&request).expect_err("too long").code, RefusalCode::TooLarge);
    // Anything else is a page to a browser; a large one is, too.
    let large = format!("<p>{}", "word ".repeat(1 << 18));
    let page = browser.draw(&Request::new(large.as_bytes(), Kind::Html)).expect("a page");
    assert!(page.facts.pages > 20, "{}", page.facts.pages);
}
