//! A region of a picture with more pixels than the limit is the same as that part of the whole
//! picture, where the format allows it; the other formats say that it does not.

use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

use libjpeg_turbo_rs::{Encoder, PixelFormat, Subsampling};
use photic_pixels::decode::{self, DecodeOptions, Decoded};
use photic_pixels::geometry::Rect;
use photic_pixels::{DecodeLimits, Meter, Raster, Refusal, RefusalCode, header};

use super::make::{self, chunk, colors};

/// Size of the pictures that are compared.
const SIZE: (u32, u32) = (203, 157);
/// Regions at corners, at edges and inside, none larger than the limit.
const REGIONS: [Rect; 7] = [
    Rect::new(0, 0, 40, 30),
    Rect::new(163, 127, 40, 30),
    Rect::new(0, 100, 203, 20),
    Rect::new(77, 0, 13, 157),
    Rect::new(64, 48, 32, 32),
    Rect::new(101, 63, 1, 1),
    Rect::new(15, 17, 63, 61),
];
/// Fewer pixels than the pictures have, and enough for each region.
const LIMIT: u64 = 4200;

/// Remembers the most that was asked for.
#[derive(Debug, Default)]
struct Most(AtomicU64);

impl Meter for Most {
    fn hold(&self, bytes: u64) -> bool {
        self.0.fetch_max(bytes, Ordering::Relaxed);
        true
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

fn part(bytes: &[u8], limits: &DecodeLimits<'_>, region: Rect) -> Result<Decoded, Refusal> {
    let header = header::probe(bytes)?;
    let wanted = DecodeOptions { region: Some(region), ..DecodeOptions::default() };
    decode::decode(bytes, &header, limits, wanted)
}

/// The part of a raster.
fn cut(raster: &Raster, region: Rect) -> Vec<u8> {
    let samples = raster.layout.samples();
    (region.y..region.bottom())
        .flat_map(|y| {
            let start = (y as usize * raster.width as usize + region.x as usize) * samples;
            &raster.data[start..start + region.width as usize * samples]
        })
        .copied()
        .collect()
}

fn png() -> Vec<u8> {
    make::Png {
        size: SIZE,
        color: ::png::ColorType::Rgb,
        depth: ::png::BitDepth::Eight,
        data: &colors(SIZE),
        extra: Vec::new(),
    }
    .file()
}

/// Colors that change softly, as in a photograph, with edges.
fn waves() -> Vec<u8> {
    let wave = |n: u32, period: f64| (127.5 + 100.0 * (f64::from(n) / period).sin()) as u8;
    (0..SIZE.1)
        .flat_map(|y| (0..SIZE.0).map(move |x| (x, y)))
        .flat_map(|(x, y)| [wave(x, 17.0), wave(y, 11.0), if x / 9 % 2 == 0 { 20 } else { 230 }])
        .collect()
}

fn jpeg(tune: fn(Encoder<'_>) -> Encoder<'_>) -> Vec<u8> {
    let pixels = waves();
    let encoder = Encoder::new(&pixels, SIZE.0 as usize, SIZE.1 as usize, PixelFormat::Rgb);
    tune(encoder.quality(92).subsampling(Subsampling::S420)).encode().unwrap()
}

fn gray_jpeg() -> Vec<u8> {
    let pixels: Vec<u8> = waves().chunks_exact(3).map(|pixel| pixel[0] ^ pixel[2]).collect();
    let (width, height) = (SIZE.0 as usize, SIZE.1 as usize);
    Encoder::new(&pixels, width, height, PixelFormat::Grayscale).quality(80).encode().unwrap()
}

fn tiff(rows_per_strip: u32) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut out).unwrap();
    let mut image = encoder.new_image::<tiff::encoder::colortype::RGB8>(SIZE.0, SIZE.1).unwrap();
    image.rows_per_strip(rows_per_strip).unwrap();
    image.write_data(&colors(SIZE)).unwrap();
    out.into_inner()
}

fn bmp(color: image::ExtendedColorType, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    image::codecs::bmp::BmpEncoder::new(&mut out).encode(data, SIZE.0, SIZE.1, color).unwrap();
    out
}

/// A BMP with 32 bits a pixel whose rows begin at the top.
fn bmp_from_the_top() -> Vec<u8> {
    let pixels: Vec<u8> =
        colors(SIZE).chunks_exact(3).flat_map(|rgb| [rgb[2], rgb[1], rgb[0], 9]).collect();
    let mut out = b"BM".to_vec();
    for number in [54 + pixels.len() as u32, 0, 54, 40, SIZE.0] {
        out.extend(number.to_le_bytes());
    }
    out.extend((-SIZE.1.cast_signed()).to_le_bytes());
    out.extend([1, 0, 32, 0]);
    out.extend([0; 24]);
    out.extend(pixels);
    out
}

fn gray() -> Vec<u8> {
    colors(SIZE).chunks_exact(3).map(|pixel| pixel[1]).collect()
}

#[test]
fn a_region_is_the_same_as_that_part_of_the_whole() {
    let files: [(&str, Vec<u8>); 12] = [
        ("PNG", png()),
        ("JPEG 4:2:0", jpeg(|made| made)),
        ("JPEG 4:4:4", jpeg(|made| made.subsampling(Subsampling::S444))),
        ("JPEG 4:2:2", jpeg(|made| made.subsampling(Subsampling::S422))),
        ("JPEG with restarts", jpeg(|made| made.restart_blocks(5))),
        ("JPEG with its own codes", jpeg(|made| made.optimize_huffman(true))),
        ("gray JPEG", gray_jpeg()),
        ("TIFF", tiff(10)),
        ("TIFF, rows one by one", tiff(1)),
        ("BMP", bmp(image::ExtendedColorType::Rgb8, &colors(SIZE))),
        ("BMP with a palette", bmp(image::ExtendedColorType::L8, &gray())),
        ("BMP from the top", bmp_from_the_top()),
    ];
    for (name, bytes) in files {
        let header = header::probe(&bytes).unwrap();
        let whole =
            decode::decode(&bytes, &header, &DecodeLimits::default(), DecodeOptions::default())
                .unwrap_or_else(|no| panic!("{name}: {no}"))
                .raster;
        for region in REGIONS {
            let limits = DecodeLimits { pixels: LIMIT, ..DecodeLimits::default() };
            let got = part(&bytes, &limits, region).unwrap_or_else(|no| panic!("{name}: {no}"));
            assert_eq!(got.raster.size(), region.size(), "{name} {region:?}");
            // A gray palette may be read as gray or as colors.
            let expected = cut(&whole, region);
            let same = if got.raster.layout == whole.layout {
                got.raster.data == expected
            } else {
                let samples = (got.raster.layout.samples(), whole.layout.samples());
                let pixels = got.raster.data.chunks_exact(samples.0);
                pixels
                    .zip(expected.chunks_exact(samples.1))
                    .all(|(left, right)| left[0] == right[0])
            };
            assert!(same, "{name} {region:?}");
        }
    }
}

#[test]
fn a_region_of_a_turned_jpeg_that_is_scaled_down_is_the_same_too() {
    for orientation in 1..=8 {
        let exif = [b"Exif\0\0".to_vec(), make::exif(orientation, true)].concat();
        let bytes = make::with_segment(&jpeg(|made| made), 0xe1, &exif);
        let header = header::probe(&bytes).unwrap();
        let region = Rect::new(50, 30, 60, 64);
        let wanted = DecodeOptions { region: Some(region), at_most: Some((16, 16)), frame: 0 };
        let open = |pixels| {
            let limits = DecodeLimits { pixels, ..DecodeLimits::default() };
            decode::decode(&bytes, &header, &limits, wanted).unwrap()
        };
        assert_eq!(open(LIMIT), open(64_000_000), "orientation {orientation}");
    }
}

#[test]
fn more_than_the_limit_is_refused_with_a_region_to_ask_for() {
    let limits = DecodeLimits { pixels: LIMIT, ..DecodeLimits::default() };
    for bytes in [png(), jpeg(|made| made), tiff(10)] {
        let refusal = part(&bytes, &limits, Rect::whole(SIZE)).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        assert!(refusal.says.contains("203x157"), "{refusal}");
        let region = refusal.hint.split("such as ").nth(1).unwrap();
        let numbers: Vec<u32> =
            region.split([',', ' ']).map_while(|number| number.parse().ok()).collect();
        let region = Rect::new(numbers[0], numbers[1], numbers[2], numbers[3]);
        assert!(part(&bytes, &limits, region).is_ok(), "{}", refusal.hint);
    }
}

#[test]
fn formats_that_are_decoded_whole_say_so() {
    let interlaced = make::Png {
        size: SIZE,
        color: ::png::ColorType::Rgb,
        depth: ::png::BitDepth::Eight,
        data: &colors(SIZE),
        extra: Vec::new(),
    }
    .interlaced();
    let webp = make::riff(&[make::vp8l(SIZE, &colors(SIZE), false)]);
    let limits = DecodeLimits { pixels: LIMIT, ..DecodeLimits::default() };
    for (bytes, words) in [
        (interlaced, "an interlaced PNG can only be decoded whole"),
        (jpeg(|made| made.progressive(true)), "a progressive JPEG can only be decoded whole"),
        (jpeg(|made| made.arithmetic(true)), "arithmetic coding"),
        (webp, "a WebP file can only be decoded whole"),
    ] {
        let refusal = part(&bytes, &limits, Rect::new(0, 0, 10, 10)).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        assert!(refusal.says.contains(words), "{refusal}");
        assert!(refusal.hint.contains("raise the limit"), "{}", refusal.hint);
    }
    let one_strip = part(&tiff(SIZE.1), &limits, Rect::new(0, 0, 10, 10)).unwrap_err();
    assert!(one_strip.says.contains("strips or tiles"), "{one_strip}");
}

#[test]
fn a_damaged_jpeg_is_refused_and_never_breaks() {
    let sound = jpeg(|made| made.restart_blocks(5));
    let limits = DecodeLimits { pixels: LIMIT, ..DecodeLimits::default() };
    let cut = part(&sound[..sound.len() / 2], &limits, Rect::new(160, 120, 40, 30)).unwrap_err();
    assert_eq!(cut.code, RefusalCode::Corrupt);
    let mut seed = 11_u32;
    for _ in 0..400 {
        let mut bytes = sound.clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (seed >> 8) as usize % bytes.len();
            bytes[at] = (seed >> 3) as u8;
        }
        // Any answer is right; a panic would be named.
        if let Err(refusal) = part(&bytes, &limits, Rect::new(60, 60, 40, 30)) {
            assert!(!refusal.says.contains("broke its decoder"), "{refusal}");
        }
    }
}

/// A PNG of one row that all others repeat.
fn tall_png((width, height): (u32, u32)) -> Vec<u8> {
    let row: Vec<u8> =
        std::iter::once(0).chain((0..width * 3).map(|n| (n / 40 % 200) as u8)).collect();
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    out.extend(chunk(b"IHDR", &head));
    let mut packer = fdeflate::Compressor::new(Vec::new()).unwrap();
    packer.write_data(&row).unwrap();
    let mut same = vec![0; row.len()];
    same[0] = 2;
    for _ in 1..height {
        packer.write_data(&same).unwrap();
    }
    out.extend(chunk(b"IDAT", &packer.finish().unwrap()));
    out.extend(chunk(b"IEND", &[]));
    out
}

#[test]
fn a_region_of_69_megapixels_asks_for_the_memory_of_the_region() {
    let bytes = tall_png((2880, 24_000));
    let most = Most::default();
    // Memory is what is measured here; a busy machine may take its time.
    let time = std::time::Duration::from_mins(2);
    let limits = DecodeLimits { meter: Some(&most), time, ..DecodeLimits::default() };
    assert!(part(&bytes, &limits, Rect::new(0, 0, 2880, 24_000)).is_err());
    assert_eq!(most.0.load(Ordering::Relaxed), 0, "refused before anything was asked for");
    let got = part(&bytes, &limits, Rect::new(0, 20_000, 1440, 900)).unwrap();
    assert_eq!(got.raster.size(), (1440, 900));
    let (region, row) = (1440 * 900 * 3, 2880 * 3);
    let asked = most.0.load(Ordering::Relaxed);
    assert!(asked <= region + row * 8 + (3 << 20), "{asked}");
}
