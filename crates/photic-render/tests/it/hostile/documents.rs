//! Documents that grow, turn in circles, claim what they do not have, or would like to act.

use photic_render::{Kind, RefusalCode};

use super::{Case, Outcome};
use crate::makers::{
    form, lzw, one_page, page_objects, page_with, pdf, pdf_with_bytes, pdf_with_trailer, stream,
    stream_with, zlib,
};

const PAGE: &str = "/MediaBox [0 0 600 800]";
const CORRUPT: Outcome = Outcome::Refused(RefusalCode::Corrupt);

/// Everything of the kind.
pub(super) fn all() -> Vec<Case> {
    let kinds = [bombs(), coded(), pictures(), circles(), claims(), recipes(), actions()];
    kinds.into_iter().flatten().collect()
}

fn document(name: &str, bytes: Vec<u8>) -> Case {
    Case::new(name, Kind::Pdf, bytes)
}

fn picture(width: &str, height: &str) -> String {
    stream_with(&about_picture(width, height), "x")
}

fn about_picture(width: &str, height: &str) -> String {
    format!(
        "/Type /XObject /Subtype /Image /Width {width} /Height {height} /BitsPerComponent 8 \
         /ColorSpace /DeviceRGB"
    )
}

fn bombs() -> Vec<Case> {
    let with = |resources: &str, content: &str, more: &[String]| {
        pdf(&page_with(PAGE, resources, content, more))
    };
    let chain = |count: usize| -> Vec<String> {
        let level =
            |n: usize| form(&format!("/XObject << /X {} 0 R >>", 8 + n), &"/X Do ".repeat(10));
        (0..count).map(level).chain([form("", "0 0 9 9 re f")]).collect()
    };
    let mut kids_loop = page_objects(PAGE, "");
    kids_loop[1] = "<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 1000000 >>".to_owned();
    let mut parent_loop = page_objects("", "");
    parent_loop[1] = "<< /Type /Pages /Parent 2 0 R /Kids [3 0 R] >>".to_owned();
    let mut references = page_objects(PAGE, "");
    references[3] = "4 0 R".to_owned();
    let launch = "<< /S /Launch /F (/bin/sh) /Win << /F (cmd.exe) >> >>";
    let mut launches = page_objects(PAGE, "");
    launches[0] = format!(
        "<< /Type /Catalog /Pages 2 0 R /OpenAction {launch} /AA << /WC {launch} >> \
         /Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (app.alert(1)) >>] >> >> >>"
    );
    let shading = "<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1000000000 0 1000000000] /Function \
                   << /FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1] /Length 9 >> >>";
    let tiling = form("", "0 0 1 1 re f").replacen(
        "/Subtype /Form",
        "/PatternType 1 /PaintType 1 /TilingType 1 /XStep 0.001 /YStep 0.001",
        1,
    );
    vec![
        document("a loop of pages", pdf(&kids_loop)).ends(Outcome::Drawn),
        document("a loop of parents", pdf(&parent_loop)),
        document("an object that is itself", pdf(&references)),
        document("launch and script", pdf(&launches)).ends(Outcome::Drawn),
        document("nested forms", with("/XObject << /X 7 0 R >>", "/X Do", &chain(9))),
        document(
            "a form of itself",
            with(
                "/XObject << /X 7 0 R >>",
                "/X Do",
                &[form("/XObject << /X 7 0 R >>", "/X Do /X Do")],
            ),
        ),
        document("states without end", one_page(PAGE, &"q ".repeat(500_000))),
        document("clips without end", one_page(PAGE, &"0 0 9 9 re W n ".repeat(200_000))),
        document("a million boxes", one_page(PAGE, &"0 0 600 800 re f ".repeat(1_000_000))),
        document("curves", one_page(PAGE, &"0 0 m 9 9 600 0 0 800 c S ".repeat(100_000))),
        document("dashes", one_page(PAGE, "[0.00001] 0 d 0 0 m 100000 100000 l S")),
        document(
            "a stroke of 1e30",
            one_page(PAGE, &format!("1{} w 0 0 m 9 9 l S", "0".repeat(30))),
        ),
        document("letters of 1e9", one_page(PAGE, "BT /F1 1000000000 Tf (AAAA) Tj ET")),
        document(
            "many letters",
            one_page(PAGE, &format!("BT /F1 9 Tf ({}) Tj ET", "W".repeat(500_000))),
        ),
        document(
            "numbers out of range",
            one_page(PAGE, "1e999 -1e999 99999999999999999999 0 re f"),
        ),
        document(
            "a page of 1e9",
            one_page("/MediaBox [0 0 1000000000 1000000000]", "0 0 1000000000 1000000000 re f"),
        ),
        document("a page without size", one_page("/MediaBox [5 5 5 5]", "0 0 9 9 re f"))
            .ends(Outcome::Drawn),
        document("a page turned by 7", one_page(&format!("{PAGE} /Rotate 7"), "0 0 9 9 re f")),
        document(
            "a giant picture",
            with("/XObject << /X 7 0 R >>", "9 0 0 9 0 0 cm /X Do", &[picture("60000", "60000")]),
        ),
        document(
            "a negative picture",
            with("/XObject << /X 7 0 R >>", "9 0 0 9 0 0 cm /X Do", &[picture("-1", "2147483647")]),
        ),
        document("a shading", with(&format!("/Shading << /S {shading} >>"), "/S sh", &[])),
        document(
            "tiny tiles",
            with("/Pattern << /P 7 0 R >>", "/Pattern cs /P scn 0 0 600 800 re f", &[tiling]),
        ),
        document("nested arrays", one_page(PAGE, &format!("{} 0 d", "[".repeat(200_000)))),
        document("nested dictionaries", pdf(&["<< /A ".repeat(100_000)])),
        document("an inline picture without end", one_page(PAGE, "BI /W 9 /H 9 ID xxxx")),
    ]
}

/// Streams that are a thousand times as long as they look.
fn coded() -> Vec<Case> {
    let content = |filters: &str, bytes: &[u8]| {
        let objects = page_objects(PAGE, "");
        let objects: Vec<String> = objects
            .iter()
            .map(|object| object.replace("/Contents 4 0 R", "/Contents 7 0 R"))
            .collect();
        pdf_with_bytes(&objects, &format!("/Filter [{filters}]"), bytes)
    };
    let run = zlib(&[129, b' '], 40 << 20);
    let z = "z".repeat(8 << 20);
    vec![
        document("a gigabyte, deflated", content("/FlateDecode", &zlib(b" ", 1 << 30))),
        document("a gigabyte by LZW", content("/LZWDecode", &lzw(150))),
        document("runs in a bomb", content("/FlateDecode /RunLengthDecode", &run)),
        document("z, and z, and z", content("/ASCII85Decode", z.as_bytes())),
        document("a thousand filters", content(&"/FlateDecode ".repeat(1_000), &zlib(b"x", 9_999))),
        document("filters without end", content(&"[".repeat(50_000), b"x")),
    ]
}

/// Pictures that claim a size, or have it.
fn pictures() -> Vec<Case> {
    const SHOW: &str = "600 0 0 800 0 0 cm /X Do";
    let objects = |content: &str| page_with(PAGE, "/XObject << /X 7 0 R >>", content, &[]);
    let with = |about: &str, bytes: &[u8]| pdf_with_bytes(&objects(SHOW), about, bytes);
    let coded = |name: &str, size: &str| format!("{} /Filter /{name}", about_picture(size, size));
    let jpeg = [&b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"[..],
        b"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00", &[0x55; 4_000]].concat();
    let jpeg_2000 = [
        &b"\xff\x4f\xff\x51\x00\x2f\x00\x00\x7f\xff\xff\xff\x7f\xff\xff\xff"[..],
        &[0; 8],
        b"\x7f\xff\xff\xff\x7f\xff\xff\xff",
        &[0; 8],
        b"\x00\x03\x07\x01\x01\x07\x01\x01\x07\x01\x01",
        b"\xff\x52\x00\x0c\x00\x00\x00\x01\x00\x05\x04\x04\x00\x00",
    ]
    .concat();
    let jbig2 = [
        &b"\x00\x00\x00\x00\x30\x00\x01\x00\x00\x00\x13\x7f\xff\xff\xff\x7f\xff\xff\xff"[..],
        &[0; 11],
    ]
    .concat();
    let many = stream_with(&about_picture("4000", "4000"), "x");
    let often = "q 600 0 0 800 0 0 cm /X Do Q ".repeat(3_000);
    let fax = "/DecodeParms << /K -1 /Columns 65535 /Rows 65535 >>";
    vec![
        document(
            "65535 by 65535, deflated",
            with(&coded("FlateDecode", "65535"), &zlib(&[0], 1 << 28)),
        ),
        document("a JPEG of 65535 by 65535", with(&coded("DCTDecode", "65535"), &jpeg)),
        document("a JPEG 2000 of 2147483647", with(&coded("JPXDecode", "2147483647"), &jpeg_2000)),
        document("a JBIG2 of 2147483647", with(&coded("JBIG2Decode", "2147483647"), &jbig2)),
        document(
            "a fax of 65535 by 65535",
            with(&format!("{} {fax}", coded("CCITTFaxDecode", "65535")), &[0x55; 9_999]),
        ),
        document(
            "a picture, 3000 times",
            pdf(&page_with(PAGE, "/XObject << /X 7 0 R >>", &often, &[many])),
        ),
        document(
            "a mask of a mask",
            pdf(&page_with(
                PAGE,
                "/XObject << /X 7 0 R >>",
                SHOW,
                &[stream_with(&format!("{} /SMask 7 0 R", about_picture("9", "9")), "x")],
            )),
        ),
    ]
}

/// Documents whose references form circles.
fn circles() -> Vec<Case> {
    let with = |resources: &str, content: &str, more: &[String]| {
        pdf(&page_with(PAGE, resources, content, more))
    };
    let letter = |content: &str| {
        vec![
            "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] \
             /FirstChar 97 /LastChar 97 /Widths [9] /Encoding << /Differences [97 /a] >> \
             /Resources << /Font << /T 7 0 R >> >> /CharProcs << /a 8 0 R >> >>"
                .to_owned(),
            stream(content),
        ]
    };
    let mut font = page_objects(PAGE, "BT /T 9 Tf (a) Tj ET");
    font[2] = font[2].replace("/Font <<", "/Font << /T 7 0 R");
    font.extend(letter("9 0 d0 BT /T 1 Tf (aaaaaaaaaa) Tj ET"));
    let tile = |level: usize| {
        let inside = format!("/Pattern << /P {} 0 R >>", 8 + level);
        form(&inside, "/Pattern cs /P scn 0 0 600 800 re f").replacen(
            "/Subtype /Form",
            "/PatternType 1 /PaintType 1 /TilingType 1 /XStep 7 /YStep 7",
            1,
        )
    };
    let tiles: Vec<String> = (0..12).map(tile).chain([form("", "0 0 9 9 re f")]).collect();
    let masked = form(
        "/ExtGState << /S << /SMask << /S /Luminosity /G 7 0 R >> >> >>",
        "/S gs 0 0 600 800 re f",
    );
    let mut length = page_objects(PAGE, "");
    length[3] = "<< /Length 4 0 R >>\nstream\n0 0 9 9 re f\nendstream".to_owned();
    let mut objects = page_objects(PAGE, "");
    objects.push(stream_with("/Type /ObjStm /N 2 /First 8 /Extends 7 0 R", "7 0 8 9 << >> << >>"));
    objects[3] = "8 0 R".to_owned();
    let mut function = page_objects(PAGE, "/C cs 0.5 scn 0 0 99 99 re f");
    function[2] = function[2]
        .replace("/Font <<", "/ColorSpace << /C [/Separation /X 7 0 R 8 0 R] >> /Font <<");
    function.push("[/Separation /Y 7 0 R 8 0 R]".into());
    function.push("<< /FunctionType 3 /Domain [0 1] /Functions [8 0 R 8 0 R] /Bounds [0.5] /Encode [0 1 0 1] >>".into());
    let twice = String::from_utf8(one_page(PAGE, "0 0 9 9 re f")).expect("text");
    let start = twice.rfind("\nxref").expect("a table") + 1;
    let twice =
        twice.replace("/Root 1 0 R", &format!("/Root 1 0 R /Prev {start} /XRefStm {start}"));
    vec![
        document("a letter written with itself", pdf(&font)),
        document(
            "tiles of tiles of tiles",
            with("/Pattern << /P 7 0 R >>", "/Pattern cs /P scn 0 0 600 800 re f", &tiles),
        ),
        document(
            "a mask that masks itself",
            with(
                "/ExtGState << /S << /SMask << /S /Luminosity \
            /G 7 0 R >> >> >>",
                "/S gs 0 0 600 800 re f",
                &[masked],
            ),
        ),
        document("a length that is itself", pdf(&length)),
        document("an object stream that holds itself", pdf(&objects)),
        document("colors and functions in circles", pdf(&function)),
        document("a table before itself", twice.into_bytes()),
        document(
            "a character map of itself",
            with(
                "",
                "BT /F1 9 Tf (a) Tj ET",
                &[stream_with("/Type /CMap /UseCMap 7 0 R", "begincmap endcmap")],
            ),
        ),
    ]
}

/// Documents that promise more than they have.
fn claims() -> Vec<Case> {
    let mut million = page_objects(PAGE, "0 0 9 9 re f");
    million[1] = "<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>".to_owned();
    let mut deep = page_objects(PAGE, "");
    deep[1] = format!("{}3 0 R{}", "<< /Type /Pages /Kids [".repeat(20_000), "] >>".repeat(20_000));
    let mut wide = page_objects(PAGE, "");
    wide[1] = format!(
        "<< /Type /Pages /Kids [{}] >>",
        format!("<< /Type /Page {PAGE} >> ").repeat(200_000)
    );
    let entries = String::from_utf8(one_page(PAGE, "0 0 9 9 re f")).expect("text");
    let entries = entries.replace("\n0 7\n", "\n0 2000000000\n");
    let locked = |more: &str| {
        let mut objects = page_objects(PAGE, "");
        objects.push(format!("<< /Filter /Standard {more} /P -4 >>"));
        pdf_with_trailer(&objects, "/Encrypt 7 0 R /ID [<00> <00>]")
    };
    let notes = format!("{PAGE} /Annots [{}]", "7 0 R ".repeat(100_000));
    let mut noted = page_objects(&notes, "");
    noted.push("<< /Type /Annot /Subtype /Stamp /Rect [0 0 600 800] /AP << /N 8 0 R >> >>".into());
    noted.push(form("", "0 0 600 800 re f"));
    let million = pdf(&million);
    vec![
        document("a million pages, it says", million.clone()).ends(Outcome::Drawn),
        document("pages in pages in pages", pdf(&deep)),
        document("two hundred thousand pages", pdf(&wide)),
        document("two billion objects, it says", entries.into_bytes()),
        document("a key of a billion bits", locked("/V 2 /R 3 /Length 1000000000 /O () /U ()")),
        document("a key that is nothing", locked("/V 5 /R 6 /O <> /U <> /OE <> /UE <> /Perms <>")),
        document("a hundred thousand notes", pdf(&noted)),
        document("half of a document", million[..million.len() / 2].to_vec()),
        document("only a name", b"%PDF-2.0".to_vec()).ends(CORRUPT),
        document("zeros", [b"%PDF-1.4\n".to_vec(), vec![0; 4 << 20]].concat()).ends(CORRUPT),
    ]
}

/// Colors that are computed, at length.
fn recipes() -> Vec<Case> {
    let shaded = |shading: &str, more: &[String]| {
        pdf(&page_with(PAGE, &format!("/Shading << /S {shading} >>"), "/S sh", more))
    };
    let by = |function: &str| {
        format!(
            "<< /ShadingType 1 /ColorSpace /DeviceGray /Domain [0 600 0 800] /Function {function} >>"
        )
    };
    let ranges = "/FunctionType 4 /Domain [0 600 0 800] /Range [0 1]";
    let program = format!("{{ {} }}", "exp sin 2 copy add dup mul exch ".repeat(20_000));
    let nested = format!("{}{}", "{ ".repeat(50_000), "} ".repeat(50_000));
    let sampled =
        "/FunctionType 0 /Domain [0 1 0 1] /Range [0 1] /Size [60000 60000] /BitsPerSample 8";
    let stitched = format!(
        "<< /FunctionType 3 /Domain [0 1] /Functions [{}] /Bounds [{}] /Encode [{}] >>",
        "<< /FunctionType 2 /Domain [0 1] /N 1 >> ".repeat(20_000),
        "0.5 ".repeat(19_999),
        "0 1 ".repeat(20_000)
    );
    let mesh = "/ShadingType 7 /ColorSpace /DeviceRGB /BitsPerCoordinate 8 /BitsPerComponent 8 \
                /BitsPerFlag 8 /Decode [0 600 0 800 0 1 0 1 0 1]";
    let patches = "\u{0}abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq".repeat(20_000);
    let grid = "/ShadingType 5 /ColorSpace /DeviceGray /BitsPerCoordinate 8 /BitsPerComponent 8 \
                /VerticesPerRow 2147483647 /Decode [0 600 0 800 0 1]";
    vec![
        document("a long program", shaded(&by("7 0 R"), &[stream_with(ranges, &program)])),
        document("a nested program", shaded(&by("7 0 R"), &[stream_with(ranges, &nested)])),
        document("a table of 3.6 billion", shaded(&by("7 0 R"), &[stream_with(sampled, "xx")])),
        document(
            "twenty thousand functions",
            shaded(
                &format!(
                    "<< /ShadingType 2 /ColorSpace \
            /DeviceGray /Coords [0 0 600 0] /Function {stitched} >>"
                ),
                &[],
            ),
        ),
        document("twenty thousand patches", shaded("7 0 R", &[stream_with(mesh, &patches)])),
        document("a mesh without end", shaded("7 0 R", &[stream_with(grid, "abcdefgh")])),
    ]
}

/// Documents with actions.
fn actions() -> Vec<Case> {
    let acting = |name: &str, action: &str| {
        let notes = format!("{PAGE} /AA << /O << {action} >> >> /Annots [7 0 R]");
        let mut objects = page_objects(&notes, "0 0 9 9 re f");
        objects[0] = format!("<< /Type /Catalog /Pages 2 0 R /OpenAction << {action} >> >>");
        objects.push(format!(
            "<< /Type /Annot /Subtype /Link /Rect [0 0 600 800] /A << {action} >> \
             /AA << /PV << {action} >> >> >>"
        ));
        document(name, pdf(&objects)).ends(Outcome::Drawn)
    };
    let mut attached = page_objects(PAGE, "0 0 9 9 re f");
    attached[0] = "<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(a.exe) \
                   << /Type /Filespec /F (a.exe) /EF << /F 7 0 R >> >>] >> >> >>"
        .to_owned();
    let mut form = page_objects(PAGE, "0 0 9 9 re f");
    form[0] =
        "<< /Type /Catalog /Pages 2 0 R /AcroForm << /NeedAppearances true /XFA 7 0 R >> >>".into();
    form.push(stream("<xdp:xdp><script>app.launchURL('http://127.0.0.1/')</script></xdp:xdp>"));
    vec![
        acting("JavaScript", "/S /JavaScript /JS (while (true) app.alert(1))"),
        acting("launch", "/S /Launch /F (/bin/sh) /Win << /F (cmd.exe) /P (/c calc) >>"),
        acting("an address", "/S /URI /URI (http://127.0.0.1/)"),
        acting("a form that submits", "/S /SubmitForm /F (http://127.0.0.1/) /Flags 4"),
        acting(
            "another document",
            "/S /GoToR /F (\\\\\\\\127.0.0.1\\\\share\\\\a.pdf) /D [0 /Fit]",
        ),
        acting("data from outside", "/S /ImportData /F (/etc/passwd)"),
        document("a program attached", pdf_with_bytes(&attached, "/Type /EmbeddedFile", b"MZ"))
            .ends(Outcome::Drawn),
        document("a form for other programs", pdf(&form)).ends(Outcome::Drawn),
    ]
}
