//! PDF documents, made here: small, and odd on purpose.

use std::fmt::Write as _;

/// A document of these objects; the first is the catalog, and gets number 1.
pub(crate) fn pdf(objects: &[String]) -> Vec<u8> {
    pdf_with_trailer(objects, "")
}

/// Makes a PDF with additional entries in its trailer.
pub(crate) fn pdf_with_trailer(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let count = objects.len() + 1;
    let _ = write!(
        file,
        "trailer\n<< /Size {count} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}

/// A stream with this content.
pub(crate) fn stream(content: &str) -> String {
    format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A document with one page: what its dictionary says besides the usual, and its content.
pub(crate) fn one_page(page: &str, content: &str) -> Vec<u8> {
    pdf(&page_objects(page, content))
}

/// The objects of such a document: catalog, pages, page, content, two fonts.
pub(crate) fn page_objects(page: &str, content: &str) -> Vec<String> {
    vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> {page} >>"
        ),
        stream(content),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>".to_owned(),
    ]
}

/// A document with so many pages, each with its number on it.
pub(crate) fn many_pages(count: usize) -> Vec<u8> {
    let kids: String = (0..count).map(|page| format!("{} 0 R ", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{kids}] /Count {count} /MediaBox [0 0 200 100] \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in 0..count {
        let content = format!("BT /F1 40 Tf 20 40 Td (page {}) Tj ET", page + 1);
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", 5 + 2 * page));
        objects.push(stream(&content));
    }
    pdf(&objects)
}

/// The objects of a page with more in its resources, and more objects, from 7 on.
pub(crate) fn page_with(
    page: &str,
    resources: &str,
    content: &str,
    more: &[String],
) -> Vec<String> {
    let mut objects = page_objects(page, content);
    objects[2] = objects[2].replace("/Font <<", &format!("{resources} /Font <<"));
    objects.extend_from_slice(more);
    objects
}

/// A stream with more in its dictionary.
pub(crate) fn stream_with(dictionary: &str, content: &str) -> String {
    stream(content).replacen("<< ", &format!("<< {dictionary} "), 1)
}

/// A form that fills the page.
pub(crate) fn form(resources: &str, content: &str) -> String {
    let about =
        format!("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << {resources} >>");
    stream_with(&about, content)
}

/// The fonts that every reader has, each with its name; the last two have signs instead of letters.
pub(crate) fn standard_fonts() -> Vec<u8> {
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
pub(crate) fn shadings() -> Vec<u8> {
    let colors = "/ColorSpace /DeviceRGB /Extend [true true] /Function << /FunctionType 2 \
                  /Domain [0 1] /N 1 /C0 [1 0.9 0.2] /C1 [0.1 0.2 0.7] >>";
    let along = format!("<< /ShadingType 2 /Coords [20 0 110 0] {colors} >>");
    let around = format!("<< /ShadingType 3 /Coords [180 80 5 180 80 50] {colors} >>");
    let content = "q 10 20 105 120 re W n /A sh Q q 125 20 105 120 re W n /B sh Q";
    let resources = format!("/Shading << /A {along} /B {around} >>");
    pdf(&page_with("/MediaBox [0 0 240 160]", &resources, content, &[]))
}

/// Light through colors, a mask that fades, and tiles.
pub(crate) fn transparency() -> Vec<u8> {
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
pub(crate) fn letters() -> Vec<u8> {
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

/// Bits in a row, the first one lowest or highest in its byte.
struct Bits {
    bytes: Vec<u8>,
    used: usize,
    in_bytes: BitOrder,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32, order: BitOrder) {
        for bit in 0..count {
            let bit = match order {
                BitOrder::LowestFirst => value >> bit & 1,
                BitOrder::HighestFirst => value >> (count - 1 - bit) & 1,
            };
            let place = match self.in_bytes {
                BitOrder::LowestFirst => self.used % 8,
                BitOrder::HighestFirst => 7 - self.used % 8,
            };
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= (bit as u8) << place;
            }
            self.used += 1;
        }
    }
}

#[derive(Clone, Copy)]
enum BitOrder {
    LowestFirst,
    HighestFirst,
}

/// One or two bytes, again and again, as deflate has it: 160 times as many as it takes.
pub(crate) fn deflated(pattern: &[u8], length: usize) -> Vec<u8> {
    let mut bits = Bits { bytes: Vec::new(), used: 0, in_bytes: BitOrder::LowestFirst };
    // A final block with the code that needs no table; codes go highest bit first, numbers lowest.
    bits.push(0b011, 3, BitOrder::LowestFirst);
    for byte in pattern {
        match u32::from(*byte) {
            byte @ 0..144 => bits.push(0x30 + byte, 8, BitOrder::HighestFirst),
            byte => bits.push(0x190 + byte - 144, 9, BitOrder::HighestFirst),
        }
    }
    for _ in 0..length / 258 {
        bits.push(0b1100_0101, 8, BitOrder::HighestFirst);
        bits.push(pattern.len() as u32 - 1, 5, BitOrder::HighestFirst);
    }
    bits.push(0, 7, BitOrder::HighestFirst);
    bits.bytes
}

/// Makes a zlib stream, as PDF holds it. The checksum at its end is missing; no reader gets there.
pub(crate) fn zlib(pattern: &[u8], length: usize) -> Vec<u8> {
    [&[0x78, 0x9c][..], &deflated(pattern, length)].concat()
}

/// So many rounds of 7 megabytes of zeros, in 5 kilobytes each.
pub(crate) fn lzw(rounds: usize) -> Vec<u8> {
    let mut bits = Bits { bytes: Vec::new(), used: 0, in_bytes: BitOrder::HighestFirst };
    for round in 0..rounds {
        bits.push(256, if round == 0 { 9 } else { 12 }, BitOrder::HighestFirst);
        bits.push(0, 9, BitOrder::HighestFirst);
        for code in 258_u32..4_094 {
            let width = match code + 1 {
                0..512 => 9,
                512..1_024 => 10,
                1_024..2_048 => 11,
                _ => 12,
            };
            bits.push(code, width, BitOrder::HighestFirst);
        }
    }
    bits.push(257, 12, BitOrder::HighestFirst);
    bits.bytes
}

/// A document whose last object is a stream of bytes.
pub(crate) fn pdf_with_bytes(objects: &[String], dictionary: &str, bytes: &[u8]) -> Vec<u8> {
    const HERE: &[u8] = b"@@@";
    let place = format!("<< {dictionary} /Length {} >>\nstream\n@@@\nendstream", bytes.len());
    let objects = [objects, &[place]].concat();
    let file = pdf(&objects);
    let at = file.windows(HERE.len()).position(|window| window == HERE).expect("its place");
    let end = file.windows(9).rposition(|window| window == b"startxref").expect("an end");
    let table: usize = std::str::from_utf8(&file[end + 9..file.len() - 6])
        .expect("text")
        .trim()
        .parse()
        .expect("a number");
    let table = format!("startxref\n{}\n%%EOF\n", table + bytes.len() - HERE.len());
    [&file[..at], bytes, &file[at + HERE.len()..end], table.as_bytes()].concat()
}
