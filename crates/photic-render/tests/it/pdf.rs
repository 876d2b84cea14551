//! Pages of documents: as they are read, by number, bounded.

use photic_pixels::Layout;
use photic_render::{Area, Fit, Kind, Missing, Page, RefusalCode, Request, draw};

use crate::approved::assert_approved;
use crate::makers::{
    many_pages, one_page, page_objects, page_with, pdf, pdf_with_trailer, stream, stream_with,
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

/// The fonts that every reader has, each with its name; the last two have signs instead of letters.
fn standard_fonts() -> Vec<u8> {
    let names = [
        "Helvetica",
        "Helvetica-Bold",
        "Helvetica-Oblique",
        "Helvetica-BoldOblique",
        "Times-Roman",
        "Times-Bold",
        "Times-Italic",
        "Times-BoldItalic",
        "Courier",
        "Courier-Bold",
        "Courier-Oblique",
        "Courier-BoldOblique",
        "Symbol",
        "ZapfDingbats",
    ];
    let font = |name: &&str| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} >>");
    let fonts: String = (0..names.len()).map(|n| format!("/S{n} {} 0 R ", 7 + n)).collect();
    let row = |(n, name): (usize, &&str)| {
        format!("BT /S{n} 13 Tf 8 {} Td ({name} 123) Tj ET ", 205 - 15 * n)
    };
    let content: String = names.iter().enumerate().map(row).collect();
    let mut objects = page_objects("/MediaBox [0 0 220 224]", &content);
    objects[2] = objects[2].replace("/Font <<", &format!("/Font << {fonts}"));
    objects.extend(names.iter().map(font));
    pdf(&objects)
}

/// Colors that run along a line and around a point, drawn twice.
fn shadings() -> Vec<u8> {
    let colors = "/ColorSpace /DeviceRGB /Extend [true true] /Function << /FunctionType 2 \
                  /Domain [0 1] /N 1 /C0 [1 0.9 0.2] /C1 [0.1 0.2 0.7] >>";
    let along = format!("<< /ShadingType 2 /Coords [20 0 110 0] {colors} >>");
    let around = format!("<< /ShadingType 3 /Coords [180 80 5 180 80 50] {colors} >>");
    let content = "q 10 20 105 120 re W n /A sh Q q 125 20 105 120 re W n /B sh Q";
    let resources = format!("/Shading << /A {along} /B {around} >>");
    pdf(&page_with("/MediaBox [0 0 240 160]", &resources, content, &[]))
}

/// Light through colors, a mask that fades, and tiles.
fn transparency() -> Vec<u8> {
    let states = "/ExtGState << /M << /BM /Multiply >> /H << /ca 0.4 >> \
                  /S << /SMask << /S /Luminosity /G 7 0 R >> >> >> /Pattern << /T 8 0 R >>";
    let fades = "/Type /XObject /Subtype /Form /BBox [0 0 240 160] \
        /Group << /S /Transparency /CS /DeviceGray >> /Resources << /Shading << /A << \
        /ShadingType 2 /ColorSpace /DeviceGray /Coords [130 0 230 0] /Extend [true true] \
        /Function << /FunctionType 2 /Domain [0 1] /N 1 /C0 [0] /C1 [1] >> >> >> >>";
    let tile = "/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 12 12] /XStep 12 /YStep 12 \
        /Resources << >>";
    let content = "q /M gs 0 1 1 rg 10 70 60 60 re f 1 0 1 rg 40 90 60 60 re f Q \
        q /H gs 0.8 0 0 rg 60 80 60 40 re f Q q /S gs 0 0.4 0 rg 130 80 100 70 re f Q \
        /Pattern cs /T scn 10 10 220 50 re f";
    let more =
        [stream_with(fades, "/A sh"), stream_with(tile, "0.9 0.4 0 rg 1 1 6 6 re f 6 6 5 5 re f")];
    pdf(&page_with("/MediaBox [0 0 240 160]", states, content, &more))
}

/// A font whose letters are drawings, and text that is turned, spaced, outlined and cut out.
fn letters() -> Vec<u8> {
    let mut objects = page_objects(
        "/MediaBox [0 0 240 160]",
        "BT /F3 30 Tf 15 115 Td (abab) Tj ET \
         q 0.87 0.5 -0.5 0.87 30 50 cm BT /F1 16 Tf 0 0 Td (turned) Tj ET Q \
         BT /F1 30 Tf 1 Tr 1 w 0 0 0.7 RG 15 15 Td (outline) Tj ET \
         q BT /F1 40 Tf 7 Tr 140 110 Td (CUT) Tj ET 1 0.2 0 rg 140 100 90 25 re f \
         0 0.5 0.2 rg 140 125 90 25 re f Q BT /F2 14 Tf 0 Tr 0 g 4 Tc 140 70 Td (spaced) Tj ET",
    );
    objects[2] = objects[2].replace("/Font <<", "/Font << /F3 7 0 R");
    objects.push(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] \
         /FirstChar 97 /LastChar 98 /Widths [1000 1000] /Resources << >> \
         /Encoding << /Differences [97 /square /triangle] >> \
         /CharProcs << /square 8 0 R /triangle 9 0 R >> >>"
            .into(),
    );
    objects.push(stream("1000 0 0 0 750 750 d1 0 0 750 750 re f"));
    objects.push(stream("1000 0 0 0 750 750 d1 0 0 m 375 750 l 750 0 l f"));
    pdf(&objects)
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

/// What was left out, as it is compared here.
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
    // The blue box stands 20 points from the left and 100 from above.
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
