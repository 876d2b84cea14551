//! Drawings that grow, turn in circles, or ask for more than there is.

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use photic_render::{Kind, RefusalCode};

use super::{Case, Outcome};
use crate::makers::deflated;

const CORRUPT: Outcome = Outcome::Refused(RefusalCode::Corrupt);
const TOO_LARGE: Outcome = Outcome::Refused(RefusalCode::TooLarge);

/// Everything of the kind.
pub(super) fn all() -> Vec<Case> {
    [bombs(), circles(), numbers(), floods()].into_iter().flatten().collect()
}

pub(super) fn svg(name: &str, attributes: &str, body: &str) -> Case {
    let drawing = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \
         {attributes}>{body}</svg>"
    );
    Case::new(name, Kind::Svg, drawing)
}

const SIZE: &str = "width='1000' height='1000'";

pub(super) fn filtered(name: &str, filter: &str) -> Case {
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

fn bombs() -> Vec<Case> {
    let entity = |n: usize| format!("<!ENTITY e{n} '{}'>", format!("&e{};", n - 1).repeat(10));
    let laughs: String = (1..10).map(entity).collect();
    let doctype = |name: &str, entities: &str, body: &str| {
        let drawing = format!(
            "<!DOCTYPE svg [{entities}]><svg xmlns='http://www.w3.org/2000/svg' width='9' \
             height='9'><text>{body}</text></svg>"
        );
        Case::new(name, Kind::Svg, drawing)
    };
    let deep = |depth: usize| "<g>".repeat(depth) + &"</g>".repeat(depth);
    vec![
        doctype("billion laughs", &format!("<!ENTITY e0 'ha'>{laughs}"), "&e9;").ends(CORRUPT),
        doctype("entity loop", "<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;").ends(CORRUPT),
        doctype("external entity", "<!ENTITY x SYSTEM 'file:///etc/passwd'>", "&x;").ends(CORRUPT),
        doctype("parameter entity", "<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;", "a"),
        svg("use of itself", SIZE, "<g id='a'><use href='#a'/></g>"),
        svg(
            "use in a circle",
            SIZE,
            "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>",
        ),
        svg("a hundred thousand uses", SIZE, &nested_use(5)),
        svg("a billion uses", SIZE, &nested_use(9)).ends(TOO_LARGE),
        svg("a thousand groups", SIZE, &deep(1_000)),
        svg("a hundred thousand groups", SIZE, &deep(100_000)).ends(TOO_LARGE),
        svg("a million elements", SIZE, &"<g/>".repeat(1_000_000)).ends(TOO_LARGE),
        svg("1e9 pixels", "width='1e9' height='1e9'", "<rect width='1e9' height='1e9'/>"),
        svg("1e38 pixels", "width='1e38' height='1e38'", "<rect width='1e38' height='1e38'/>"),
        svg("a strip", "width='1e9' height='1'", "<rect width='1e9' height='1'/>"),
        svg("no number", "width='NaN' height='inf'", "<rect width='9' height='9'/>"),
        svg("view box of nothing", "width='9' height='9' viewBox='0 0 0 0'", "<rect/>"),
        svg("view box of 1e-30", "viewBox='0 0 1e-30 1e-30'", "<rect width='1' height='1'/>")
            .ends(CORRUPT),
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
        svg("text of 1e9", SIZE, "<text font-size='1e9' y='500'>A</text>").ends(Outcome::OrAsserts),
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

/// Each element occurs twice in the next one, so that the first occurs a million times.
fn doubled(levels: usize, one: impl Fn(usize, usize) -> String) -> String {
    (1..=levels).map(|level| one(level, level - 1)).collect()
}

fn circles() -> Vec<Case> {
    let masks = doubled(20, |level, below| {
        let rect = format!("<rect width='999' height='999' fill='#fff' mask='url(#m{below})'/>");
        format!("<mask id='m{level}'>{rect}{rect}</mask>")
    });
    let clips = doubled(20, |level, below| {
        let rect = format!("<rect width='999' height='999' clip-path='url(#c{below})'/>");
        format!("<clipPath id='c{level}'>{rect}{rect}</clipPath>")
    });
    let patterns = doubled(20, |level, below| {
        let rect = format!("<rect width='9' height='9' fill='url(#p{below})'/>");
        format!("<pattern id='p{level}' width='.1' height='.1'>{rect}{rect}</pattern>")
    });
    let symbols = doubled(25, |level, below| {
        let both = format!("<use href='#s{below}'/>").repeat(2);
        format!("<symbol id='s{level}'>{both}</symbol>")
    });
    let inside = |inner: &str| {
        let escaped: String = inner.bytes().map(|byte| format!("%{byte:02x}")).collect();
        format!("<image width='9' height='9' href='data:image/svg+xml,{escaped}'/>")
    };
    let wrapped = |body: &str| format!("<svg xmlns='http://www.w3.org/2000/svg'>{body}</svg>");
    let dolls = (0..6).fold("<rect/>".to_owned(), |inner, _| inside(&wrapped(&inner)));
    let loops = "<linearGradient id='a' href='#b'/><linearGradient id='b' href='#a'/>\
                 <pattern id='p' href='#q'/><pattern id='q' href='#p'/>\
                 <rect width='99' height='99' fill='url(#a)' stroke='url(#p)'/>";
    let filter = "<filter id='f'><feImage href='#r'/></filter>\
                  <rect id='r' width='99' height='99' filter='url(#f)'/>";
    let users = |body: String, last: &str| format!("{body}<rect width='999' height='999' {last}/>");
    vec![
        svg("a million masks", SIZE, &users(masks, "mask='url(#m20)'")),
        svg("a million clips", SIZE, &users(clips, "clip-path='url(#c20)'")),
        svg("a million patterns", SIZE, &users(patterns, "fill='url(#p20)'")),
        svg("33 million symbols", SIZE, &format!("{symbols}<use href='#s25'/>")).ends(TOO_LARGE),
        svg("a drawing in a drawing in a drawing", SIZE, &dolls).ends(Outcome::Drawn),
        svg("gradients and patterns in circles", SIZE, loops).ends(Outcome::Drawn),
        svg("a filter that shows what it filters", SIZE, filter).ends(Outcome::Drawn),
    ]
}

fn numbers() -> Vec<Case> {
    let odd = ["NaN", "Infinity", "-inf", "1e999", "-1e38", "1e-45", "0x10", "9".repeat(400).as_str()]
        .map(|number| {
            format!(
                "<path d='M{number} 0L9 {number}A{number} 9 0 0 1 9 9' stroke='red'/>\
                 <rect width='{number}' height='{number}' rx='{number}'/>\
                 <circle r='{number}' stroke-width='{number}' stroke-dasharray='{number}'/>\
                 <g transform='matrix({number} {number} 0 {number} 1 1)'><rect width='9' height='9'/></g>\
                 <text x='{number}' letter-spacing='{number}'>a</text>"
            )
        });
    let odd: String = odd.concat();
    vec![
        svg("odd numbers", SIZE, &odd),
        filtered("a million octaves", "<feTurbulence baseFrequency='9' numOctaves='1000000'/>"),
        filtered("a radius of a million", "<feMorphology operator='dilate' radius='1e6'/>"),
        filtered("a region of 1e9", "<feFlood x='-1e9' y='-1e9' width='2e9' height='2e9'/>"),
        filtered("an offset of 1e9", "<feOffset dx='1e9' dy='-1e9'/>"),
        svg(
            "filters on filters",
            SIZE,
            &format!(
                "<filter id='f'><feGaussianBlur stdDeviation='90'/></filter>{}<rect width='999' \
                 height='999'/>{}",
                "<g filter='url(#f)'>".repeat(60),
                "</g>".repeat(60)
            ),
        ),
        svg(
            "turned and skewed away",
            SIZE,
            &format!(
                "{}<rect width='9' height='9'/>{}",
                "<g transform='scale(1e9) skewX(89.9999)'>".repeat(9),
                "</g>".repeat(9)
            ),
        ),
    ]
}

fn floods() -> Vec<Case> {
    let gzip = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &deflated(b" ", 1 << 30)].concat();
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=''")).collect();
    let spaces: String = (0..20_000).map(|n| format!(" xmlns:n{n}='u:{n}'")).collect();
    let quadratic = format!(
        "<!DOCTYPE svg [<!ENTITY a '{}'>]><svg xmlns='http://www.w3.org/2000/svg' width='9' \
         height='9'><text>{}</text></svg>",
        "a".repeat(50_000),
        "&a;".repeat(50_000)
    );
    vec![
        Case::new("quadratic blowup", Kind::Svg, quadratic),
        Case::new("a gigabyte, zipped", Kind::Svg, gzip).ends(CORRUPT),
        Case::new("zeros", Kind::Svg, vec![0; 1 << 20]).ends(CORRUPT),
        Case::new("an open bracket", Kind::Svg, "<".repeat(1 << 20)).ends(CORRUPT),
        svg("a hundred thousand attributes", &attributes, "<rect/>"),
        svg("twenty thousand namespaces", &spaces, &"<rect/>".repeat(100)),
        svg("a word of 20 megabytes", SIZE, &format!("<desc>{}</desc>", "x".repeat(20 << 20))),
        svg("spans in spans", SIZE, &format!("<text>{}", "<tspan>a".repeat(2_000))).ends(CORRUPT),
        svg(
            "spans in spans, closed",
            SIZE,
            &format!("<text>{}{}</text>", "<tspan>a".repeat(900), "</tspan>".repeat(900)),
        ),
        svg(
            "a dash of a hundred thousand",
            SIZE,
            &format!(
                "<path d='M0 0H999' stroke='red' stroke-dasharray='{}'/>",
                "1 ".repeat(100_001)
            ),
        ),
        svg(
            "a gradient of a hundred thousand",
            SIZE,
            &format!(
                "<linearGradient id='g'>{}</linearGradient><rect width='9' height='9' fill='url(#g)'/>",
                (0..100_000).map(|n| format!("<stop offset='{n}e-5'/>")).collect::<String>()
            ),
        ),
    ]
}
