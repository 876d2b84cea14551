//! Pages of documents: as they are read, by number, bounded.

use photic_pixels::Layout;
use photic_render::{Area, Fit, Kind, Missing, Page, RefusalCode, Request, draw};

use crate::approved::assert_approved;
use crate::makers::{
    letters, many_pages, one_page, page_objects, page_with, pdf, pdf_with_trailer, shadings,
    standard_fonts, stream, transparency,
};
use crate::{data, worker};

const LETTER: &str = "BT /F1 24 Tf 20 120 Td (Top of the page) Tj ET \
    BT /F2 12 Tf 20 90 Td (Serifs: Hamburgefonstiv 0123456789) Tj ET \
    0.1 0.4 0.8 rg 20 20 60 40 re f 1 0 0 RG 3 w 120 20 m 180 60 l S";

fn drawn(bytes: &[u8], change: impl FnOnce(&mut Request<'_>)) -> Page {
    let mut request = Request::new(bytes, Kind::Pdf);
    request.wanted.fit = Fit::Longest(320);
    change(&mut request);
    draw(&request).expect("a page")
}

#[test]
fn pages_look_as_approved() {
    let boxed = |more: &str| format!("/MediaBox [0 0 240 160] {more}");
    let cases = [
        ("plain", boxed("")),
        ("quarter", boxed("/Rotate 90")),
        ("half", boxed("/Rotate 180")),
        ("three_quarters", boxed("/Rotate -90")),
        ("cropped", boxed("/CropBox [10 10 200 140]")),
        ("cropped_and_turned", boxed("/CropBox [10 10 200 140] /Rotate 270")),
        ("shifted", "/MediaBox [-20 -20 220 140]".to_owned()),
    ];
    for (name, page) in cases {
        assert_approved(&format!("pdf_{name}"), &drawn(&one_page(&page, LETTER), |_| {}));
    }
}

fn source(name: &str) -> Vec<u8> {
    std::fs::read(data("sources/pdf").join(name)).expect("a source")
}

#[test]
fn every_source_looks_as_approved_or_asks_for_its_password() {
    let files = std::fs::read_dir(data("sources/pdf")).expect("sources").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".pdf").map(str::to_owned)).collect();
    names.sort();
    assert!(names.len() >= 17, "{names:?}");
    for name in names {
        let file = source(&format!("{name}.pdf"));
        if name.starts_with("password") {
            let refusal = draw(&Request::new(&file, Kind::Pdf)).expect_err("a closed document");
            assert_eq!(refusal.code, RefusalCode::Encrypted, "{name}");
            continue;
        }
        let page = drawn(&file, |request| request.wanted.fit = Fit::Longest(240));
        assert_approved(&format!("pdf_{name}"), &page);
        if name != "form_without_appearance" {
            assert_eq!(page.facts.left_out, [], "{name}");
        }
    }
}

/// A document whose table of objects is not where it says: all of it is searched.
fn with_a_damaged_end() -> Vec<u8> {
    let mut file = one_page("/MediaBox [0 0 240 160]", LETTER);
    let at = file.windows(9).rposition(|bytes| bytes == b"startxref").expect("an end");
    file.truncate(at);
    file.extend_from_slice(b"startxref\n999999\n%%EOF");
    file
}

#[test]
fn what_is_made_here_looks_as_approved() {
    let cases = [
        ("standard_fonts", standard_fonts()),
        ("shadings", shadings()),
        ("transparency", transparency()),
        ("letters", letters()),
        ("damaged_end", with_a_damaged_end()),
    ];
    for (name, file) in cases {
        let page = drawn(&file, |_| {});
        assert_approved(&format!("pdf_{name}"), &page);
        assert_eq!(page.facts.left_out, [], "{name}");
    }
}

#[test]
fn a_font_that_is_not_in_the_document_has_a_stand_in_and_is_named() {
    let mut objects = page_objects(
        "/MediaBox [0 0 240 160]",
        "BT /F1 20 Tf 15 120 Td (Arial, not embedded) Tj ET \
         BT /F2 20 Tf 15 80 Td (Garamond, neither) Tj ET \
         BT /F3 20 Tf 15 40 Td <00290046004D004D0050> Tj ET",
    );
    let font = |name: &str, flags: u32| {
        format!(
            "<< /Type /Font /Subtype /TrueType /BaseFont /{name} /Encoding /WinAnsiEncoding \
             /FontDescriptor << /Type /FontDescriptor /FontName /{name} /Flags {flags} >> >>"
        )
    };
    objects[4] = font("ABCDEF+Corporate-Sans", 32);
    objects[5] = font("Garamond-Premier", 34);
    objects[2] = objects[2].replace("/Font <<", "/Font << /F3 7 0 R");
    objects.push(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Far-East /Encoding /Identity-H \
         /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Far-East \
         /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 0 >> >>] >>"
            .into(),
    );
    let page = drawn(&pdf(&objects), |_| {});
    assert_approved("pdf_stand_ins", &page);
    let named = |name: &str| LeftOutOf(Missing::Font, name.to_owned());
    assert_eq!(
        left_out(&page),
        [named("Corporate-Sans"), named("Garamond-Premier"), named("Far-East")]
    );
}

#[test]
fn a_font_of_the_far_east_is_taken_from_those_at_hand() {
    let mut objects = page_objects(
        "/MediaBox [0 0 240 160]",
        "BT /J 40 Tf 20 100 Td <65E5672C8A9E> Tj ET BT /K 40 Tf 20 40 Td <D55CAE00> Tj ET",
    );
    objects[2] = objects[2].replace("/Font <<", "/Font << /J 7 0 R /K 8 0 R");
    for (name, map, ordering) in
        [("Mincho", "UniJIS-UTF16-H", "Japan1"), ("Batang", "UniKS-UTF16-H", "Korea1")]
    {
        objects.push(format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /{map} \
             /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /{name} \
             /CIDSystemInfo << /Registry (Adobe) /Ordering ({ordering}) /Supplement 0 >> >>] >>"
        ));
    }
    let file = pdf(&objects);
    let fonts = [source("han.ttf")];
    let mut request = Request { fonts: &fonts, ..Request::new(&file, Kind::Pdf) };
    request.wanted.fit = Fit::Longest(240);
    let page = worker().draw(&request).expect("a page");
    assert_approved("pdf_far_east", &page);
    let named = |name: &str| LeftOutOf(Missing::Font, name.to_owned());
    assert_eq!(left_out(&page), [named("Mincho"), named("Batang")]);
}

/// Content that was left out, in the form that the tests compare.
#[derive(Debug, PartialEq)]
struct LeftOutOf(Missing, String);

fn left_out(page: &Page) -> Vec<LeftOutOf> {
    page.facts.left_out.iter().map(|left| LeftOutOf(left.what, left.detail.clone())).collect()
}

#[test]
fn notes_that_do_not_say_how_they_look_are_listed() {
    let mut objects =
        page_objects("/MediaBox [0 0 240 160] /Annots [7 0 R 8 0 R 9 0 R 10 0 R 11 0 R]", LETTER);
    let note = |more: &str| format!("<< /Type /Annot /Rect [10 10 90 90] {more} >>");
    objects.push(note("/Subtype /Square /C [1 0 0]"));
    objects.push(note("/Subtype /FreeText /Contents (Caf\\351 at four)"));
    objects.push(note("/Subtype /Highlight /Contents <FEFF65E5672C>"));
    objects.push(note("/Subtype /Text /F 2 /Contents (hidden)"));
    objects.push(note("/Subtype /Link"));
    let note = |words: &str| LeftOutOf(Missing::Annotation, words.to_owned());
    assert_eq!(
        left_out(&drawn(&pdf(&objects), |_| {})),
        [note("Square"), note("FreeText: Café at four"), note("Highlight: 日本")]
    );

    let bare = drawn(&source("form_without_appearance.pdf"), |_| {});
    assert_eq!(left_out(&bare)[0], note("Widget: Ada Lovelace"));
}

#[test]
fn programs_and_forms_for_other_programs_are_listed() {
    let mut objects = page_objects("/MediaBox [0 0 240 160]", LETTER);
    let catalog = |more: &str| format!("<< /Type /Catalog /Pages 2 0 R {more} >>");
    for (more, what, words) in [
        ("/OpenAction << /S /JavaScript /JS (go) >>", Missing::Script, "JavaScript"),
        ("/Names << /JavaScript << /Names [] >> >>", Missing::Script, "JavaScript"),
        ("/AcroForm << /XFA (x) /Fields [] >>", Missing::Foreign, "XFA form"),
    ] {
        objects[0] = catalog(more);
        let page = drawn(&pdf(&objects), |_| {});
        assert_eq!(left_out(&page), [LeftOutOf(what, words.to_owned())]);
    }
    objects[0] = catalog("/OpenAction [3 0 R /Fit]");
    assert_eq!(left_out(&drawn(&pdf(&objects), |_| {})), []);
}

#[test]
fn units_are_points_of_the_page_as_it_is_read() {
    let upright = drawn(&one_page("/MediaBox [0 0 240 160]", LETTER), |_| {});
    assert_eq!(upright.facts.size, (240.0, 160.0));
    let turned = drawn(&one_page("/MediaBox [0 0 240 160] /Rotate 90", LETTER), |_| {});
    assert_eq!(turned.facts.size, (160.0, 240.0));
    assert_eq!((turned.raster.width, turned.raster.height), (213, 320));
    assert_eq!(turned.raster.layout, Layout::Rgb, "paper is white");
    // The blue box is 20 points from the left and 100 from above.
    let (x, y) = upright.to_page.unmap_point(50.0, 120.0).expect("a map");
    let at = (y as usize * 320 + x as usize) * 3;
    assert_eq!(upright.raster.data[at..at + 3], [26, 102, 204]);
}

#[test]
fn annotations_are_drawn() {
    let mut objects = page_objects("/MediaBox [0 0 240 160] /Annots [7 0 R 9 0 R]", LETTER);
    objects.push(
        "<< /Type /Annot /Subtype /Stamp /Rect [140 80 220 120] /F 4 /AP << /N 8 0 R >> >>".into(),
    );
    let look = "1 0.9 0.2 rg 0 0 80 40 re f 0 g BT /F1 18 Tf 8 14 Td (NOTE) Tj ET";
    objects.push(format!(
        "<< /Type /XObject /Subtype /Form /BBox [0 0 80 40] \
         /Resources << /Font << /F1 5 0 R >> >> /Length {} >>\nstream\n{look}\nendstream",
        look.len()
    ));
    objects
        .push("<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (x) >> >>".into());
    assert_approved("pdf_annotation", &drawn(&pdf(&objects), |_| {}));
}

#[test]
fn a_region_is_drawn_anew() {
    let file = one_page("/MediaBox [0 0 240 160] /Rotate 90", LETTER);
    let page = drawn(&file, |request| {
        request.wanted.region = Some(Area { x: 80.0, y: 15.0, width: 60.0, height: 90.0 });
    });
    assert_approved("pdf_region", &page);
    assert_eq!((page.raster.width, page.raster.height), (213, 320));
    assert_eq!(page.to_page.map_point(0.0, 0.0), (80.0, 15.0));
}

#[test]
fn a_region_shows_what_the_whole_shows_there() {
    let file = one_page("/MediaBox [0 0 240 160] /Rotate 270", LETTER);
    let whole = drawn(&file, |request| request.wanted.fit = Fit::Scale(3.0));
    let part = drawn(&file, |request| {
        request.wanted.fit = Fit::Scale(3.0);
        request.wanted.region = Some(Area { x: 40.0, y: 30.0, width: 50.0, height: 80.0 });
    });
    assert_eq!((part.raster.width, part.raster.height), (150, 240));
    assert_eq!(part.to_page.map_point(150.0, 240.0), (90.0, 110.0));
    let mut differ = 0;
    for row in 0..240 {
        let at = ((row + 90) * whole.raster.width as usize + 120) * 3;
        let (there, here) = (&whole.raster.data[at..at + 450], &part.raster.data[row * 450..]);
        differ += there.iter().zip(here).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    }
    assert!(differ * 500 < part.raster.data.len(), "{differ} of {}", part.raster.data.len());
}

#[test]
fn paper_is_never_seen_through() {
    let light = "/ExtGState << /H << /ca 0.37 /CA 0.61 >> >>";
    let rings: String = (1..60)
        .map(|n| format!("0.{n:02} 0.5 0.9 rg {n} {n} m 200 {n} 100 150 {n} 130 c b "))
        .collect();
    let file = pdf(&page_with("/MediaBox [0 0 240 160]", light, &format!("/H gs {rings}"), &[]));
    let page = drawn(&file, |request| request.wanted.fit = Fit::Longest(800));
    assert_eq!(page.raster.layout, Layout::Rgb);
}

#[test]
fn a_poster_is_reduced_and_a_giant_is_bounded() {
    let poster = drawn(&one_page("/MediaBox [0 0 2384 3370]", LETTER), |request| {
        request.wanted.fit = Fit::Usual;
    });
    assert_eq!((poster.raster.width, poster.raster.height), (1109, 1568));
    for media_box in
        ["[0 0 1000000000 1000000000]", "[0 0 1e9 1e9]", "[0 0 100000000 1]", "[0 0 0 0]"]
    {
        let file = one_page(&format!("/MediaBox {media_box}"), LETTER);
        let mut request = Request::new(&file, Kind::Pdf);
        request.wanted.fit = Fit::Longest(300);
        match worker().draw(&request) {
            Ok(page) => assert!(page.raster.width.max(page.raster.height) <= 300, "{media_box}"),
            Err(refusal) => assert_eq!(refusal.code, RefusalCode::Corrupt, "{media_box}"),
        }
    }
}

#[test]
fn any_of_three_thousand_pages_is_one_call() {
    let file = many_pages(3_000);
    let timed = |number: u32| {
        let begin = std::time::Instant::now();
        let page = drawn(&file, |request| request.wanted.page = number);
        println!("page {number}: {:?}", begin.elapsed());
        page
    };
    for number in [1, 2, 3_000] {
        assert_eq!(timed(number).facts.page, number);
    }
    let page = timed(2_999);
    assert_eq!((page.facts.page, page.facts.pages), (2_999, 3_000));
    assert_approved("pdf_page_2999", &page);
    for number in [0, 3_001, u32::MAX] {
        let mut request = Request::new(&file, Kind::Pdf);
        request.wanted.page = number;
        let refusal = draw(&request).expect_err("no such page");
        assert_eq!(refusal.code, RefusalCode::NoSuchPage);
        assert!(refusal.hint.contains("1 to 3000"), "{}", refusal.hint);
    }
}

#[test]
fn a_password_is_asked_for() {
    let mut objects = page_objects("/MediaBox [0 0 240 160]", LETTER);
    let key = "61".repeat(32);
    objects.push(format!("<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>"));
    let file = pdf_with_trailer(&objects, "/Encrypt 7 0 R /ID [<00112233> <00112233>]");
    let refusal = worker().draw(&Request::new(&file, Kind::Pdf)).expect_err("a closed document");
    assert_eq!(refusal.code, RefusalCode::Encrypted);

    *objects.last_mut().expect("the dictionary") = "<< /Filter /Acme.Secret /V 9 >>".to_owned();
    let file = pdf_with_trailer(&objects, "/Encrypt 7 0 R /ID [<00112233> <00112233>]");
    let refusal = worker().draw(&Request::new(&file, Kind::Pdf)).expect_err("a closed document");
    assert_eq!(refusal.code, RefusalCode::Encrypted);
}

#[test]
fn what_is_no_document_is_refused() {
    let whole = one_page("/MediaBox [0 0 240 160]", LETTER);
    for bytes in [&b"%PDF-1.7\n"[..], b"hello", &whole[..60]] {
        let refusal = draw(&Request::new(bytes, Kind::Pdf)).expect_err("no document");
        assert_eq!(refusal.code, RefusalCode::Corrupt, "{refusal}");
    }
}

#[test]
fn a_picture_that_does_not_decode_is_listed() {
    let mut objects = page_objects("/MediaBox [0 0 90 90]", "q 90 0 0 90 0 0 cm /X Do Q");
    objects[2] = objects[2].replace("/Font <<", "/XObject << /X 7 0 R >> /Font <<");
    let broken = stream("not a JPEG").replace(
        "<< ",
        "<< /Type /XObject /Subtype /Image /Width 9 /Height 9 /BitsPerComponent 8 \
         /ColorSpace /DeviceRGB /Filter /DCTDecode ",
    );
    objects.push(broken);
    let page = drawn(&pdf(&objects), |_| {});
    assert_eq!(page.facts.left_out.len(), 1);
    assert_eq!(page.facts.left_out[0].what, Missing::Picture);
}

#[test]
fn the_words_of_a_page_are_read_in_lines() {
    let objects = page_objects(
        "/MediaBox [0 0 300 200]",
        "BT /F1 20 Tf 20 150 Td (Two words) Tj 0 -24 Td [(Ker) -20 (ned, ) 5 (and) -400 (apart)] TJ ET \
         BT /F1 12 Tf 20 40 Td (A paragraph below) Tj ET",
    );
    let file = pdf(&objects);
    let request = Request::new(&file, Kind::Pdf);
    let words = worker().words(&request).expect("words");
    assert_eq!(words.text, "Two words\nKerned, and apart\n\nA paragraph below");
    assert_eq!((words.page, words.pages), (1, 1));
    let text = Request::new(b"words", Kind::Text);
    assert_eq!(worker().words(&text).expect_err("text is read").code, RefusalCode::Unavailable);
}
