//! Drawings: approved pictures of every source, what was left out, regions, fonts.

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use photic_render::{Area, Fit, Kind, Missing, Page, RefusalCode, Request, SourceFile, draw};

use crate::approved::assert_approved;
use crate::{data, worker};

fn source(name: &str) -> Vec<u8> {
    std::fs::read(data("sources/svg").join(format!("{name}.svg"))).expect("a source")
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir(data("sources/svg")).expect("sources");
    let stem = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        path.file_stem().expect("a name").to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = files.map(stem).collect();
    names.sort();
    names
}

fn drawn(svg: &[u8], fit: Fit) -> Page {
    let mut request = Request::new(svg, Kind::Svg);
    request.wanted.fit = fit;
    draw(&request).expect("a page")
}

#[test]
fn every_source_looks_as_approved() {
    assert!(names().len() >= 42);
    for name in names() {
        assert_approved(&format!("svg_{name}"), &drawn(&source(&name), Fit::Longest(320)));
    }
}

#[test]
fn sizes_are_those_of_the_drawing() {
    for (name, size, pixels) in [
        ("shapes", (160.0, 100.0), (512, 320)),
        ("icon_current_color", (24.0, 24.0), (512, 512)),
        ("strip", (2000.0, 20.0), (1568, 16)),
        ("absurd_size", (1e9, 5e8), (1568, 784)),
        ("inches", (192.0, 96.0), (512, 256)),
    ] {
        let page = drawn(&source(name), Fit::Usual);
        assert_eq!(page.facts.size, size, "{name}");
        assert_eq!((page.raster.width, page.raster.height), pixels, "{name}");
        assert_eq!((page.facts.page, page.facts.pages), (1, 1));
    }
}

#[test]
fn what_is_clear_stays_clear() {
    assert_eq!(drawn(&source("transparent"), Fit::Usual).raster.layout, Layout::Rgba);
    assert_eq!(drawn(&source("chart"), Fit::Scale(2.0)).raster.layout, Layout::Rgb);
}

#[test]
fn what_was_left_out_is_listed() {
    let left_out = |name: &str| {
        let facts = drawn(&source(name), Fit::Usual).facts;
        let each = facts.left_out.into_iter();
        each.map(|left_out| (left_out.what, left_out.detail)).collect::<Vec<_>>()
    };
    let list = |items: &[(Missing, &str)]| {
        items.iter().map(|(what, detail)| (*what, (*detail).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        left_out("external"),
        list(&[
            (Missing::External, "/etc/hostname.png"),
            (Missing::External, "https://example.org/pixel.png"),
            (Missing::External, "other.svg#a"),
            (Missing::External, "https://example.org/theme.css"),
        ])
    );
    assert_eq!(
        left_out("animated_and_scripted"),
        list(&[
            (Missing::Script, "onload"),
            (Missing::Animation, "animate"),
            (Missing::Script, "script"),
            (Missing::Foreign, "foreignObject"),
        ])
    );
    assert_eq!(left_out("embedded_png"), []);
    assert_eq!(left_out("chart"), []);
}

#[test]
fn what_a_drawing_in_a_drawing_leaves_out_is_listed_too() {
    let inner = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
        <image href='/etc/secret.png' width='9' height='9'/></svg>";
    let inner: String = inner.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
         <image width='9' height='9' href='data:image/svg+xml,{inner}'/></svg>"
    );
    let page = drawn(svg.as_bytes(), Fit::Usual);
    assert_eq!(page.facts.left_out.len(), 1);
    assert_eq!(page.facts.left_out[0].detail, "/etc/secret.png");
}

#[test]
fn long_lists_and_long_words_are_cut() {
    let many: String = (0..100).map(|n| format!("<image href='a{n}.png'/>")).collect();
    let long = "x".repeat(10_000);
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
         <image href='{long}'/>{many}{many}</svg>"
    );
    let facts = drawn(svg.as_bytes(), Fit::Usual).facts;
    assert_eq!(facts.left_out.len(), 40);
    assert_eq!(facts.left_out[0].detail.chars().count(), 161);
    assert!(facts.unlisted >= 61, "{}", facts.unlisted);
}

#[test]
fn a_region_is_drawn_anew() {
    let svg = source("fonts");
    let mut request = Request::new(&svg, Kind::Svg);
    request.wanted.region = Some(Area { x: 0.0, y: 84.0, width: 75.0, height: 30.0 });
    request.wanted.fit = Fit::Longest(300);
    let page = draw(&request).expect("a page");
    assert_approved("svg_region", &page);
    assert_eq!(page.facts.size, (300.0, 170.0));
    assert_eq!(page.to_page.map_point(0.0, 0.0), (0.0, 84.0));
    assert_eq!(page.to_page.map_point(300.0, 120.0), (75.0, 114.0));
    // Sharper than pixels of the whole could be: hardly anything between ink and paper.
    let gray = page.raster.data.iter().filter(|sample| (40..216).contains(*sample)).count();
    assert!(gray * 12 < page.raster.data.len(), "{gray} of {}", page.raster.data.len());
}

#[test]
fn a_region_shows_what_the_whole_shows_there() {
    let svg = source("shapes");
    let whole = drawn(&svg, Fit::Scale(4.0));
    let mut request = Request::new(&svg, Kind::Svg);
    request.wanted.fit = Fit::Scale(4.0);
    request.wanted.region = Some(Area { x: 20.0, y: 10.0, width: 50.0, height: 25.0 });
    let part = draw(&request).expect("a page");
    assert_eq!((part.raster.width, part.raster.height), (200, 100));
    let samples = whole.raster.layout.samples();
    assert_eq!(samples, part.raster.layout.samples());
    let mut differ = 0;
    for row in 0..100 {
        let at = ((row + 40) * whole.raster.width as usize + 80) * samples;
        let length = 200 * samples;
        let there = &whole.raster.data[at..at + length];
        let here = &part.raster.data[row * length..(row + 1) * length];
        differ += there.iter().zip(here).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    }
    // Curves are flattened where they stand, so a few pixels on their edges are not the same.
    assert!(differ * 200 < part.raster.data.len(), "{differ} of {}", part.raster.data.len());
}

#[test]
fn a_drawing_has_one_page_and_a_size() {
    let svg = source("shapes");
    let mut request = Request::new(&svg, Kind::Svg);
    request.wanted.page = 2;
    assert_eq!(draw(&request).expect_err("no page").code, RefusalCode::NoSuchPage);
    for svg in [
        "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='5'/>",
        "<svg xmlns='http://www.w3.org/2000/svg' width='-1' height='5'/>",
        "<html/>",
        "no XML",
        "\u{0}",
    ] {
        let refusal = draw(&Request::new(svg.as_bytes(), Kind::Svg)).expect_err(svg);
        assert_eq!(refusal.code, RefusalCode::Corrupt, "{svg}");
    }
}

/// A font file under another family name of the same length.
fn renamed(file: &str, from: &str, to: &str) -> Vec<u8> {
    let wide = |name: &str| name.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let (from, to) = (wide(from), wide(to));
    let mut font = std::fs::read(data("../fonts").join(file)).expect("a font");
    let places = 0..font.len() - from.len();
    let found: Vec<usize> = places.filter(|at| font[*at..].starts_with(&from)).collect();
    assert!(!found.is_empty() && from.len() == to.len());
    for at in found {
        font[at..at + to.len()].copy_from_slice(&to);
    }
    font
}

#[test]
fn fonts_that_are_handed_over_are_used() {
    let drawing = |family: &str| {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='30'>\
             <text y='20' font-family='{family}'>Hamburgefonstiv</text></svg>"
        )
    };
    let unknown = drawing("Nowhere Type Abc");
    let with = |fonts: &[Vec<u8>]| {
        let request = Request { fonts, ..Request::new(unknown.as_bytes(), Kind::Svg) };
        worker().draw(&request).expect("a page")
    };
    let without = with(&[]);
    assert_eq!(without.raster, drawn(drawing("serif").as_bytes(), Fit::Usual).raster);
    assert_eq!(without.facts.left_out[0].what, Missing::Font);
    assert_eq!(without.facts.left_out[0].detail, "Nowhere Type Abc");
    let choice = drawn(drawing("Nowhere, sans-serif").as_bytes(), Fit::Usual);
    assert_eq!(choice.facts.left_out, [], "the drawing says what else it may be");
    assert_eq!(with(&[b"not a font".to_vec()]), without, "a broken file changes nothing");
    let font = renamed("DejaVuSansMono.ttf", "DejaVu Sans Mono", "Nowhere Type Abc");
    let handed = with(&[font]);
    assert_eq!(handed.raster, drawn(drawing("monospace").as_bytes(), Fit::Usual).raster);
    assert_eq!(handed.facts.left_out, []);
}

#[test]
fn a_font_that_is_not_at_hand_has_a_stand_in_of_its_kind() {
    let page = |family: &str, weight: &str| {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='30'>\
             <text y='20' font-family='{family}' font-weight='{weight}'>Hamburgefonstiv</text></svg>"
        );
        drawn(svg.as_bytes(), Fit::Usual)
    };
    for (family, kind) in [
        ("Arial", "sans-serif"),
        ("Helvetica Neue", "sans-serif"),
        ("Space Grotesk", "sans-serif"),
        ("Courier New", "monospace"),
        ("Fira Code", "monospace"),
        ("Times New Roman", "serif"),
        ("Nobody Knows", "serif"),
    ] {
        for weight in ["400", "700"] {
            let stand_in = page(family, weight);
            assert_eq!(stand_in.raster, page(kind, weight).raster, "{family}");
            assert_eq!(stand_in.facts.left_out.len(), 1, "{family}");
        }
    }
    // These are kinds rather than fonts.
    for (family, kind) in [("system-ui", "sans-serif"), ("ui-monospace", "monospace")] {
        assert_eq!(page(family, "400"), page(kind, "400"), "{family}");
    }
}

#[test]
fn the_same_bytes_give_the_same_pixels() {
    for name in ["filters", "fonts", "gradients"] {
        let svg = source(name);
        let first = drawn(&svg, Fit::Usual);
        let second = worker().draw(&Request::new(&svg, Kind::Svg)).expect("a page");
        assert_eq!(second.raster, first.raster, "{name}");
    }
}

/// A checkerboard of 4 by 4 pixels, black and white.
fn checkerboard() -> Vec<u8> {
    let data = (0..16).map(|at| if (at + at / 4) % 2 == 0 { 0 } else { 255 }).collect();
    let raster = Raster { width: 4, height: 4, layout: Layout::Gray, data };
    let options =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    encode(&raster, &options).expect("a PNG").bytes
}

#[test]
fn a_file_that_is_handed_over_is_shown_and_no_other() {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='40'>\
        <image href='pictures/board.png' width='40' height='40' style='image-rendering:pixelated'/>\
        <image href='../other.png' x='40' width='40' height='40'/></svg>";
    let without = drawn(svg.as_bytes(), Fit::Scale(1.0));
    let details = |page: &Page| -> Vec<(Missing, String)> {
        page.facts.left_out.iter().map(|left| (left.what, left.detail.clone())).collect()
    };
    let external = |reference: &str| (Missing::External, reference.to_owned());
    assert_eq!(details(&without), [external("pictures/board.png"), external("../other.png")]);

    let files = [
        SourceFile { reference: "pictures/board.png".to_owned(), bytes: checkerboard() },
        SourceFile { reference: "unused.png".to_owned(), bytes: b"no picture".to_vec() },
    ];
    let mut request = Request { files: &files, ..Request::new(svg.as_bytes(), Kind::Svg) };
    request.wanted.fit = Fit::Scale(1.0);
    let page = worker().draw(&request).expect("a page");
    assert_eq!(details(&page), [external("../other.png")]);
    let alpha = |x: usize, y: usize| page.raster.data[(y * 80 + x) * 4 + 3];
    assert_eq!((alpha(5, 5), alpha(35, 35), alpha(45, 5)), (255, 255, 0));

    let broken = [SourceFile { bytes: b"no picture".to_vec(), ..files[0].clone() }];
    let page = draw(&Request { files: &broken, ..request }).expect("a page");
    assert_eq!(details(&page)[0], external("../other.png"));
    assert_eq!(details(&page)[1].0, Missing::Picture);
}

#[test]
fn pixels_stay_square_where_the_drawing_asks_for_it() {
    let files = [SourceFile { reference: "board.png".to_owned(), bytes: checkerboard() }];
    let grays = |attributes: &str| {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'>\
             <image href='board.png' width='40' height='40' {attributes}/></svg>"
        );
        let request = Request { files: &files, ..Request::new(svg.as_bytes(), Kind::Svg) };
        let page = draw(&request).expect("a page");
        page.raster.data.iter().filter(|sample| (10..245).contains(*sample)).count()
    };
    assert!(grays("") > 10_000);
    for attributes in [
        "image-rendering='pixelated'",
        "image-rendering='crisp-edges'",
        "image-rendering='optimizeSpeed'",
        "style='image-rendering: pixelated'",
    ] {
        assert_eq!(grays(attributes), 0, "{attributes}");
    }
}

#[test]
fn characters_that_no_font_has_are_named() {
    let text = |words: &str| {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='30'>{words}</svg>"
        );
        let facts = drawn(svg.as_bytes(), Fit::Usual).facts;
        facts.left_out.iter().map(|left| (left.what, left.detail.clone())).collect::<Vec<_>>()
    };
    let named = |glyphs: &str| vec![(Missing::Glyphs, glyphs.to_owned())];
    assert_eq!(text("<text y='20'>Plain é Ω ж \u{200d} ✓</text>"), []);
    assert_eq!(text("<text y='20'>\u{16a0}a\u{1d000}\u{16a0}</text>"), named("\u{16a0}\u{1d000}"));
    assert_eq!(text("<text visibility='hidden'>\u{16a0}</text>"), []);
    // In a pattern, a clip path, and a drawing in the drawing, too.
    let inside = "<pattern id='p' width='9' height='9' patternUnits='userSpaceOnUse'>\
        <text y='9'>\u{16a1}</text></pattern><clipPath id='c'><text y='9'>\u{16a2}</text></clipPath>\
        <rect width='99' height='20' fill='url(#p)' clip-path='url(#c)'/>";
    assert_eq!(text(inside), named("\u{16a1}\u{16a2}"));
    let nested = "<image width='9' height='9' href=\"data:image/svg+xml,\
        %3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'%3E\
        %3Ctext%3E\u{16a3}%3C/text%3E%3C/svg%3E\"/>";
    assert_eq!(text(nested), named("\u{16a3}"));
}

#[test]
fn a_character_that_is_missing_hides_no_other() {
    // Serif and Sans Mono both lack the rune; only one of the Sans files has the snowman.
    let ink = |words: &str| {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'>\
             <text y='30' font-size='30' font-family='serif'>{words}</text></svg>"
        );
        drawn(svg.as_bytes(), Fit::Scale(1.0))
    };
    let page = ink("\u{16a0}☃");
    assert_eq!(page.facts.left_out.len(), 1, "{:?}", page.facts.left_out);
    assert_eq!(page.facts.left_out[0].detail, "\u{16a0}");
}
