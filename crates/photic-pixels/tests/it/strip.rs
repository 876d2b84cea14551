//! Metadata goes, pixels stay, nothing panics.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::sync::LazyLock;

use image::{ExtendedColorType, ImageEncoder, ImageFormat};
use photic_pixels::header::Format;
use photic_pixels::strip::{has_trailing_data, strip};
use proptest::prelude::*;

/// An EXIF block whose GPS reference and comment can be searched for.
const SECRET: &[u8] = b"GPSLatitude 48.8584 N Serial-12345";

fn pixels() -> image::RgbImage {
    image::RgbImage::from_fn(61, 43, |x, y| {
        image::Rgb([(x * 4) as u8, (y * 5) as u8, (x ^ y) as u8])
    })
}

fn plain(format: ImageFormat) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    pixels().write_to(&mut out, format).unwrap();
    out.into_inner()
}

fn exif() -> Vec<u8> {
    [b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0".as_slice(), SECRET].concat()
}

/// A chunk of a PNG; its checksum is not looked at by what drops it.
fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes(), &kind, body, b"\0\0\0\0"].concat()
}

fn segment(marker: u8, body: &[u8]) -> Vec<u8> {
    [&[0xFF, marker], (body.len() as u16 + 2).to_be_bytes().as_slice(), body].concat()
}

fn riff(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = b"WEBP".to_vec();
    for (kind, chunk) in chunks {
        body.extend_from_slice(kind.as_slice());
        body.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
        body.extend_from_slice(chunk);
        body.extend_from_slice(&[0][..chunk.len() % 2]);
    }
    [b"RIFF".as_slice(), &(body.len() as u32).to_le_bytes(), &body].concat()
}

fn png() -> Vec<u8> {
    let plain = plain(ImageFormat::Png);
    let (head, rest) = plain.split_at(33);
    let (rest, end) = rest.split_at(rest.len() - 12);
    let early = [
        chunk(*b"tEXt", SECRET),
        chunk(*b"eXIf", &exif()),
        chunk(*b"zTXt", SECRET),
        chunk(*b"acTL", &[0; 8]),
        chunk(*b"fcTL", &[0; 26]),
    ];
    let late = [chunk(*b"iTXt", SECRET), chunk(*b"tIME", &[7; 7]), chunk(*b"fdAT", SECRET)];
    [head, &early.concat(), rest, &late.concat(), end].concat()
}

fn jpeg() -> Vec<u8> {
    let plain = plain(ImageFormat::Jpeg);
    let extra = [
        segment(0xE1, &exif()),
        segment(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0", SECRET].concat()),
        segment(0xE2, &[b"MPF\0", SECRET].concat()),
        segment(0xE2, b"ICC_PROFILE\0\x01\x01not looked at"),
        segment(0xED, &[b"Photoshop 3.0\0", SECRET].concat()),
        segment(0xFE, SECRET),
        segment(0xE0, &[b"JFXX\0\x10", SECRET].concat()),
    ];
    [&plain[..2], &extra.concat(), &plain[2..]].concat()
}

fn webp() -> Vec<u8> {
    let plain = plain(ImageFormat::WebP);
    let mut extended = vec![0x0C, 0, 0, 0];
    extended.extend_from_slice(&[60, 0, 0, 42, 0, 0]);
    let kind: [u8; 4] = plain[12..16].try_into().unwrap();
    let length = u32::from_le_bytes(plain[16..20].try_into().unwrap()) as usize;
    riff(&[
        (b"VP8X", &extended),
        (&kind, &plain[20..20 + length]),
        (b"EXIF", &exif()),
        (b"XMP ", SECRET),
        (b"junk", SECRET),
    ])
}

fn gif() -> Vec<u8> {
    let plain = plain(ImageFormat::Gif);
    let table = if plain[10] & 0x80 == 0 { 0 } else { 3 << ((plain[10] & 7) + 1) };
    let (head, rest) = plain.split_at(13 + table);
    let comment = [&[0x21, 0xFE, SECRET.len() as u8], SECRET, &[0]].concat();
    let repeat = [b"\x21\xFF\x0BNETSCAPE2.0".as_slice(), &[3, 1, 0, 0, 0]].concat();
    let xmp = [b"\x21\xFF\x0BXMP DataXMP".as_slice(), &[SECRET.len() as u8], SECRET, &[0]].concat();
    [head, &comment, &repeat, &xmp, rest].concat()
}

static ALL: LazyLock<[(Format, Vec<u8>); 4]> = LazyLock::new(|| {
    [(Format::Png, png()), (Format::Jpeg, jpeg()), (Format::Webp, webp()), (Format::Gif, gif())]
});

fn all() -> [(Format, Vec<u8>); 4] {
    ALL.clone()
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn secrets_go_and_pixels_stay() {
    for (format, bytes) in all() {
        assert!(holds(&bytes, SECRET));
        let stripped = strip(&bytes, format).unwrap_or_else(|| panic!("{format:?} refused"));
        for word in [SECRET, b"Exif", b"http://ns.adobe.com", b"Photoshop", b"acTL", b"MPF"] {
            assert!(
                !holds(&stripped, word),
                "{format:?} kept {:?}",
                word.escape_ascii().to_string()
            );
        }
        let [before, after] =
            [&bytes, &stripped].map(|bytes| image::load_from_memory(bytes).unwrap());
        assert_eq!(before.into_rgba8(), after.into_rgba8(), "{format:?}");
        assert_eq!(strip(&stripped, format).as_deref(), Some(stripped.as_slice()), "idempotent");
    }
}

#[test]
fn clean_files_pass_as_they_are() {
    for (format, kind) in [
        (Format::Png, ImageFormat::Png),
        (Format::Jpeg, ImageFormat::Jpeg),
        (Format::Webp, ImageFormat::WebP),
        (Format::Gif, ImageFormat::Gif),
    ] {
        let bytes = plain(kind);
        assert_eq!(strip(&bytes, format), Some(bytes));
    }
}

#[test]
fn profiles_and_loops_are_kept() {
    let jpeg = strip(&jpeg(), Format::Jpeg).unwrap();
    assert!(holds(&jpeg, b"ICC_PROFILE"));
    assert!(holds(&strip(&gif(), Format::Gif).unwrap(), b"NETSCAPE2.0"));
    let mut out = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut out);
    encoder.set_icc_profile(b"a profile that nobody reads".to_vec()).unwrap();
    encoder.write_image(pixels().as_raw(), 61, 43, ExtendedColorType::Rgb8).unwrap();
    assert!(holds(&strip(&out, Format::Png).unwrap(), b"iCCP"));
}

#[test]
fn flags_of_webp_say_what_is_left() {
    let stripped = strip(&webp(), Format::Webp).unwrap();
    assert_eq!((&stripped[12..16], stripped[20] & 0x0C), (b"VP8X".as_slice(), 0));
    assert_eq!(u32::from_le_bytes(stripped[4..8].try_into().unwrap()) as usize, stripped.len() - 8);
}

#[test]
fn what_follows_the_end_is_seen_and_not_passed() {
    for (format, bytes) in all() {
        assert!(!has_trailing_data(&bytes, format));
        let polyglot = [&bytes, b"PK\x03\x04".as_slice()].concat();
        assert!(has_trailing_data(&polyglot, format), "{format:?}");
        assert_eq!(strip(&polyglot, format), None);
    }
}

#[test]
fn truncated_files_are_refused() {
    for (format, bytes) in all() {
        for end in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
            assert_eq!(strip(&bytes[..end], format), None, "{format:?} cut at {end}");
        }
    }
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Png), Just(Format::Jpeg), Just(Format::Webp), Just(Format::Gif)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_bytes_are_refused_or_shortened(
        format in format(),
        noise in proptest::collection::vec(any::<u8>(), 0..300),
        head in 0_usize..40,
    ) {
        let (_, real) = all().into_iter().find(|(kind, _)| *kind == format).unwrap();
        let bytes = [&real[..head], &noise].concat();
        has_trailing_data(&bytes, format);
        if let Some(stripped) = strip(&bytes, format) {
            prop_assert!(stripped.len() <= bytes.len());
        }
    }

    #[test]
    fn a_flipped_byte_is_refused_or_stripped_for_good(
        format in format(),
        at: prop::sample::Index,
        to: u8,
    ) {
        let (_, mut bytes) = all().into_iter().find(|(kind, _)| *kind == format).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = to;
        if let Some(stripped) = strip(&bytes, format) {
            prop_assert!(stripped.len() <= bytes.len());
            prop_assert_eq!(strip(&stripped, format), Some(stripped));
        }
    }
}
