//! Sources made to hurt: each ends in a page or a refusal, within its limits, and reaches nothing.

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use photic_render::{Fit, Kind, RefusalCode, Request, Worker, WorkerLimits};

use crate::makers::{one_page, page_objects, pdf, stream};
use crate::worker;

/// A source that is up to no good.
struct Case {
    name: String,
    kind: Kind,
    bytes: Vec<u8>,
}

fn svg(name: &str, attributes: &str, body: &str) -> Case {
    let bytes = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \
         {attributes}>{body}</svg>"
    );
    Case { name: name.to_owned(), kind: Kind::Svg, bytes: bytes.into_bytes() }
}

fn document(name: &str, bytes: Vec<u8>) -> Case {
    Case { name: name.to_owned(), kind: Kind::Pdf, bytes }
}

fn text(name: &str, bytes: impl Into<Vec<u8>>) -> Case {
    Case { name: name.to_owned(), kind: Kind::Text, bytes: bytes.into() }
}

const SIZE: &str = "width='1000' height='1000'";

fn filtered(name: &str, filter: &str) -> Case {
    let body = format!(
        "<filter id='f' x='0' y='0' width='1' height='1'>{filter}</filter>\
         <rect width='1000' height='1000' fill='red' filter='url(#f)'/>"
    );
    svg(name, SIZE, &body)
}

/// Each level uses the one below ten times.
fn nested_use(levels: usize) -> String {
    let mut body = String::from("<defs><g id='l0'><rect width='9' height='9'/></g>");
    for level in 1..=levels {
        let uses = format!("<use href='#l{}' x='1'/>", level - 1).repeat(10);
        body += &format!("<g id='l{level}'>{uses}</g>");
    }
    format!("{body}</defs><use href='#l{levels}'/>")
}

fn drawings() -> Vec<Case> {
    let entity = |n: usize| format!("<!ENTITY e{n} '{}'>", format!("&e{};", n - 1).repeat(10));
    let laughs: String = (1..10).map(entity).collect();
    let doctype = |entities: &str, body: &str| Case {
        name: String::new(),
        kind: Kind::Svg,
        bytes: format!(
            "<!DOCTYPE svg [{entities}]><svg xmlns='http://www.w3.org/2000/svg' width='9' \
             height='9'><text>{body}</text></svg>"
        )
        .into_bytes(),
    };
    let named = |name: &str, case: Case| Case { name: name.to_owned(), ..case };
    let deep = |depth: usize| "<g>".repeat(depth) + &"</g>".repeat(depth);
    vec![
        named("billion laughs", doctype(&format!("<!ENTITY e0 'ha'>{laughs}"), "&e9;")),
        named("entity loop", doctype("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;")),
        named("external entity", doctype("<!ENTITY x SYSTEM 'file:///etc/passwd'>", "&x;")),
        named("parameter entity", doctype("<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;", "a")),
        svg("use of itself", SIZE, "<g id='a'><use href='#a'/></g>"),
        svg(
            "use in a circle",
            SIZE,
            "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>",
        ),
        svg("a hundred thousand uses", SIZE, &nested_use(5)),
        svg("a billion uses", SIZE, &nested_use(9)),
        svg("a thousand groups", SIZE, &deep(1_000)),
        svg("a hundred thousand groups", SIZE, &deep(100_000)),
        svg("a million elements", SIZE, &"<g/>".repeat(1_000_000)),
        svg("1e9 pixels", "width='1e9' height='1e9'", "<rect width='1e9' height='1e9'/>"),
        svg("1e38 pixels", "width='1e38' height='1e38'", "<rect width='1e38' height='1e38'/>"),
        svg("a strip", "width='1e9' height='1'", "<rect width='1e9' height='1'/>"),
        svg("no number", "width='NaN' height='inf'", "<rect width='9' height='9'/>"),
        svg("view box of nothing", "width='9' height='9' viewBox='0 0 0 0'", "<rect/>"),
        svg("view box of 1e-30", "viewBox='0 0 1e-30 1e-30'", "<rect width='1' height='1'/>"),
        filtered("blur of 1e9", "<feGaussianBlur stdDeviation='1e9'/>"),
        filtered("sixty blurs", &"<feGaussianBlur stdDeviation='200'/>".repeat(60)),
        filtered("morphology", &"<feMorphology operator='dilate' radius='300'/>".repeat(4)),
        filtered("turbulence", &"<feTurbulence baseFrequency='0.5' numOctaves='1000'/>".repeat(3)),
        filtered(
            "convolution",
            &format!("<feConvolveMatrix order='151' kernelMatrix='{}'/>", "1 ".repeat(151 * 151)),
        ),
        filtered("a tile of itself", &"<feTile/><feOffset dx='1'/>".repeat(400)),
        filtered("lights", &"<feDiffuseLighting><fePointLight/></feDiffuseLighting>".repeat(100)),
        svg(
            "layers",
            SIZE,
            &("<g opacity='0.99'>".repeat(900)
                + "<rect width='1000' height='1000'/>"
                + &"</g>".repeat(900)),
        ),
        svg("3000 layers", SIZE, &"<g opacity='.9'><path d='M0 0H999V999'/></g>".repeat(3_000)),
        svg("dashes", SIZE, "<path d='M0 0H1e6' stroke='red' stroke-dasharray='1e-5'/>"),
        svg("a stroke of 1e30", SIZE, "<path d='M0 0L9 9' stroke='red' stroke-width='1e30'/>"),
        svg(
            "a pattern in a pattern",
            SIZE,
            &(0..40)
                .map(|n| {
                    format!(
                        "<pattern id='p{n}' width='3' height='3' patternUnits='userSpaceOnUse'>\
                         <rect width='3' height='3' fill='url(#p{})'/></pattern>",
                        n + 1
                    )
                })
                .collect::<String>(),
        ),
        svg(
            "a pattern of 1e-6",
            SIZE,
            "<pattern id='p' width='1e-6' height='1e-6' patternUnits='userSpaceOnUse'>\
             <rect width='1' height='1'/></pattern><rect width='999' height='999' fill='url(#p)'/>",
        ),
        svg(
            "a mask of itself",
            SIZE,
            "<mask id='m' mask='url(#m)'><rect mask='url(#m)' width='9' height='9'/></mask>\
             <rect width='99' height='99' mask='url(#m)'/>",
        ),
        svg(
            "a clip of itself",
            SIZE,
            "<clipPath id='c' clip-path='url(#c)'><rect width='9' height='9'/></clipPath>\
             <rect width='99' height='99' clip-path='url(#c)'/>",
        ),
        svg(
            "markers on markers",
            SIZE,
            &format!(
                "<marker id='m'><path d='M0 0L1 1L2 2' marker-mid='url(#m)'/></marker>\
                 <path d='M0 0{}' marker-mid='url(#m)' stroke='red'/>",
                "l1 1".repeat(100_000)
            ),
        ),
        svg("a long path", SIZE, &format!("<path d='M0 0{}'/>", "q9 9 1 1".repeat(300_000))),
        svg("text of 1e9", SIZE, "<text font-size='1e9' y='500'>A</text>"),
        svg("long text", SIZE, &format!("<text>{}</text>", "ﷺ".repeat(100_000))),
        svg(
            "text on a long path",
            SIZE,
            &format!(
                "<path id='p' d='M0 0{}'/><text><textPath href='#p'>{}</textPath></text>",
                "l1 1".repeat(50_000),
                "a".repeat(20_000)
            ),
        ),
        svg("a style bomb", SIZE, &format!("<style>{}</style>", "*{fill:red}".repeat(20_000))),
        svg(
            "a selector bomb",
            SIZE,
            &format!("<style>{}{{fill:red}}</style>{}", "* ".repeat(200), deep(500)),
        ),
        svg("a picture of nothing", SIZE, "<image href='data:image/png;base64,'/>"),
        svg("a picture that lies", SIZE, "<image href='data:image/png;base64,/9j/4AAQSkZJRg=='/>"),
        svg("a large picture", SIZE, &format!("<image href='{}'/>", large_picture())),
        svg(
            "a large picture, often",
            SIZE,
            &format!(
                "<defs><image id='i' href='{}'/></defs>{}",
                large_picture(),
                "<use href='#i'/>".repeat(300)
            ),
        ),
        svg(
            "a switch of languages",
            SIZE,
            &"<switch><g systemLanguage='xx'/></switch>".repeat(9_999),
        ),
    ]
}

/// 6000 by 6000 pixels: more than is left for pictures.
fn large_picture() -> String {
    let (width, height) = (6_000, 6_000);
    let data = vec![200; width as usize * height as usize];
    let raster = Raster { width, height, layout: Layout::Gray, data };
    let options =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    let bytes = encode(&raster, &options).expect("a PNG").bytes;
    let escaped: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
    format!("data:image/png,{escaped}")
}

fn documents() -> Vec<Case> {
    let page = "/MediaBox [0 0 600 800]";
    let with = |more: &str, content: &str, extra: &[String]| {
        let mut objects = page_objects(page, content);
        objects[2] = objects[2].replace("/Font <<", &format!("{more} /Font <<"));
        objects.extend_from_slice(extra);
        pdf(&objects)
    };
    let form = |resources: &str, content: &str| {
        stream(content).replacen(
            "<< ",
            &format!(
                "<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << {resources} >> "
            ),
            1,
        )
    };
    let chain = |count: usize| -> Vec<String> {
        let level =
            |n: usize| form(&format!("/XObject << /X {} 0 R >>", 8 + n), &"/X Do ".repeat(10));
        (0..count).map(level).chain([form("", "0 0 9 9 re f")]).collect()
    };
    let mut kids_loop = page_objects(page, "");
    kids_loop[1] = "<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 1000000 >>".to_owned();
    let mut parent_loop = page_objects("", "");
    parent_loop[1] = "<< /Type /Pages /Parent 2 0 R /Kids [3 0 R] >>".to_owned();
    let mut references = page_objects(page, "");
    references[3] = "4 0 R".to_owned();
    let launch = "<< /S /Launch /F (/bin/sh) /Win << /F (cmd.exe) >> >>";
    let mut launches = page_objects(page, "");
    launches[0] = format!(
        "<< /Type /Catalog /Pages 2 0 R /OpenAction {launch} /AA << /WC {launch} >> \
         /Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (app.alert(1)) >>] >> >> >>"
    );
    let picture = |width: &str, height: &str| {
        stream("x").replacen(
            "<< ",
            &format!(
                "<< /Type /XObject /Subtype /Image /Width {width} /Height {height} \
                 /BitsPerComponent 8 /ColorSpace /DeviceRGB "
            ),
            1,
        )
    };
    let shading = "<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1e9 0 1e9] /Function \
                   << /FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1] /Length 9 >> >>";
    let tiling = form("", "0 0 1 1 re f").replacen(
        "/Subtype /Form",
        "/PatternType 1 /PaintType 1 /TilingType 1 /XStep 0.001 /YStep 0.001",
        1,
    );
    vec![
        document("a loop of pages", pdf(&kids_loop)),
        document("a loop of parents", pdf(&parent_loop)),
        document("an object that is itself", pdf(&references)),
        document("launch and script", pdf(&launches)),
        document("nested forms", with("/XObject << /X 7 0 R >>", "/X Do", &chain(9))),
        document(
            "a form of itself",
            with(
                "/XObject << /X 7 0 R >>",
                "/X Do",
                &[form("/XObject << /X 7 0 R >>", "/X Do /X Do")],
            ),
        ),
        document("states without end", one_page(page, &"q ".repeat(500_000))),
        document("clips without end", one_page(page, &"0 0 9 9 re W n ".repeat(200_000))),
        document("a million boxes", one_page(page, &"0 0 600 800 re f ".repeat(1_000_000))),
        document("curves", one_page(page, &"0 0 m 9 9 600 0 0 800 c S ".repeat(100_000))),
        document("dashes", one_page(page, "[0.00001] 0 d 0 0 m 100000 100000 l S")),
        document("a stroke of 1e30", one_page(page, "1e30 w 0 0 m 9 9 l S")),
        document("letters of 1e9", one_page(page, "BT /F1 1e9 Tf (AAAA) Tj ET")),
        document(
            "many letters",
            one_page(page, &format!("BT /F1 9 Tf ({}) Tj ET", "W".repeat(500_000))),
        ),
        document(
            "numbers out of range",
            one_page(page, "1e999 -1e999 99999999999999999999 0 re f"),
        ),
        document("a page of 1e9", one_page("/MediaBox [0 0 1e9 1e9]", "0 0 1e9 1e9 re f")),
        document("a page without size", one_page("/MediaBox [5 5 5 5]", "0 0 9 9 re f")),
        document("a page turned by 7", one_page(&format!("{page} /Rotate 7"), "0 0 9 9 re f")),
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
        document("nested arrays", one_page(page, &format!("{} 0 d", "[".repeat(200_000)))),
        document("nested dictionaries", pdf(&["<< /A ".repeat(100_000)])),
        document("an inline picture without end", one_page(page, "BI /W 9 /H 9 ID xxxx")),
    ]
}

fn texts() -> Vec<Case> {
    vec![
        text("one line of a million", "x".repeat(1_000_000)),
        text("a million lines", "\n".repeat(1_000_000)),
        text("a tower of accents", format!("a{}", "\u{301}".repeat(100_000))),
        text("joined emoji", "👩‍👩‍👧‍👦".repeat(20_000)),
        text("turned to and fro", "\u{202e}a\u{202d}b".repeat(50_000)),
        text("mixed directions", "abc אבג 123 ".repeat(50_000)),
        text("broken UTF-8", [0xff, 0xfe, 0x00, 0xd8].repeat(10_000)),
        text("all bytes", (0..=255).collect::<Vec<u8>>().repeat(1_000)),
        text("ligatures", "ﷺ".repeat(100_000)),
    ]
}

/// Limits that a slow machine keeps and a bomb does not.
fn strict() -> Worker {
    let limits =
        WorkerLimits { time: Duration::from_secs(20), processor_seconds: 3, memory: 700 << 20 };
    Worker { limits, ..worker() }
}

fn survives(cases: Vec<Case>, least: usize) {
    assert!(cases.len() >= least, "{}", cases.len());
    let worker = strict();
    let mut limited = 0;
    for Case { name, kind, bytes } in cases {
        let mut request = Request::new(&bytes, kind);
        request.wanted.name = (kind == Kind::Text).then(|| "bomb.rs".to_owned());
        let begin = Instant::now();
        let outcome = worker.draw(&request);
        let took = begin.elapsed();
        println!("{name}: {:?} in {took:?}", outcome.as_ref().map(|page| &page.raster));
        assert!(took < Duration::from_secs(30), "`{name}` took {took:?}");
        match outcome {
            Ok(page) => {
                let raster = &page.raster;
                assert!(u64::from(raster.width) * u64::from(raster.height) <= 33_000_000, "{name}");
            }
            Err(refusal) => {
                use RefusalCode::{TooMuchMemory, TooSlow, Unavailable};
                assert_ne!(refusal.code, Unavailable, "{name}");
                limited += usize::from(matches!(refusal.code, TooSlow | TooMuchMemory));
                assert!(!refusal.says.contains("root:"), "{name}: {refusal}");
            }
        }
    }
    println!("{limited} ran into a limit");
}

#[test]
fn drawings_are_bounded() {
    survives(drawings(), 40);
}

#[test]
fn documents_are_bounded() {
    survives(documents(), 25);
}

#[test]
fn texts_are_bounded() {
    survives(texts(), 9);
}

#[test]
fn a_bomb_is_stopped_by_its_limits() {
    let worker =
        Worker { limits: WorkerLimits { processor_seconds: 1, ..strict().limits }, ..strict() };
    let bomb = filtered("", &"<feMorphology operator='dilate' radius='300'/>".repeat(4));
    let refusal = worker.draw(&Request::new(&bomb.bytes, Kind::Svg)).expect_err("a bomb");
    assert_eq!(refusal.code, RefusalCode::TooSlow, "{refusal}");

    let hungry =
        Worker { limits: WorkerLimits { memory: 200 << 20, ..strict().limits }, ..strict() };
    let layers = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' {SIZE}>{}<rect width='1000' height='1000'/>{}</svg>",
        "<g opacity='0.99'>".repeat(50),
        "</g>".repeat(50)
    );
    let mut request = Request::new(layers.as_bytes(), Kind::Svg);
    request.wanted.fit = Fit::Longest(4_000);
    let refusal = hungry.draw(&request).expect_err("a bomb");
    assert_eq!(refusal.code, RefusalCode::TooMuchMemory, "{refusal}");
}

#[test]
fn nothing_outside_is_fetched_or_read() {
    let trap = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    trap.set_nonblocking(true).expect("a listener that does not wait");
    let port = trap.local_addr().expect("an address").port();
    let folder = std::env::temp_dir().join(format!("photic-render-bait-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let bait = folder.join("bait.svg");
    let red = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
               <rect id='a' width='9' height='9' fill='red'/></svg>";
    std::fs::write(&bait, red).expect("the bait");
    let path = bait.display();
    for target in
        [format!("http://127.0.0.1:{port}/a.svg"), format!("file://{path}"), path.to_string()]
    {
        let case = svg(
            "",
            "width='9' height='9'",
            &format!(
                "<style>@import url({target}); @font-face {{ font-family: f; src: url({target}) }}</style>\
                 <image href='{target}' width='9' height='9'/><use href='{target}#a'/>\
                 <filter id='f'><feImage href='{target}'/></filter>\
                 <rect width='1' height='1' fill='url({target}#a)' filter='url(#f)'/>\
                 <text font-family='f'>a</text>"
            ),
        );
        let page = worker().draw(&Request::new(&case.bytes, Kind::Svg)).expect("a page");
        assert!(!page.facts.left_out.is_empty(), "{target}");
        let samples = page.raster.layout.samples();
        let red = |pixel: &[u8]| pixel[0] > 200 && pixel[1] < 60 && pixel.get(3) != Some(&0);
        assert!(!page.raster.data.chunks_exact(samples).any(red), "`{target}` was shown");

        let action = format!("<< /S /URI /URI ({target}) >>");
        let mut objects = page_objects("/MediaBox [0 0 9 9]", "/X Do");
        objects[0] = format!("<< /Type /Catalog /Pages 2 0 R /OpenAction {action} >>");
        objects[2] = objects[2].replace("/Font <<", "/XObject << /X 7 0 R >> /Font <<");
        objects.push(format!(
            "<< /Type /XObject /Subtype /Image /Width 9 /Height 9 /F << /FS /URL /F ({target}) >> \
             /Length 0 >>\nstream\n\nendstream"
        ));
        let _ = worker().draw(&Request::new(&pdf(&objects), Kind::Pdf));
    }
    assert!(trap.accept().is_err(), "somebody connected");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
