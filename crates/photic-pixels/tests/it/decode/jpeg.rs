//! JPEG: colour spaces, scaling, damage.

use super::make;
use super::{all, near, open, pixel};
use libjpeg_turbo_rs::{ColorSpace, Encoder, PixelFormat, Subsampling};
use photic_pixels::decode::{DecodeOptions, Note};
use photic_pixels::geometry::Rect;
use photic_pixels::{Layout, header};

/// Settings of an encoder.
type Tune = fn(Encoder<'_>) -> Encoder<'_>;

fn compressed(pixels: &[u8], size: usize, format: PixelFormat, tune: Tune) -> Vec<u8> {
    let encoder = Encoder::new(pixels, size, size, format);
    tune(encoder.quality(100).subsampling(Subsampling::S444)).encode().unwrap()
}

#[test]
fn inks_with_and_without_adobes_mark() {
    // Adobe's way: 255 is no ink. No cyan, full magenta, full yellow, no black: red.
    let red = [255, 0, 0, 255].repeat(256);
    for space in [ColorSpace::Cmyk, ColorSpace::Ycck] {
        let tune: Tune = match space {
            ColorSpace::Cmyk => |made| made.colorspace(ColorSpace::Cmyk),
            _ => |made| made.colorspace(ColorSpace::Ycck),
        };
        let file = compressed(&red, 16, PixelFormat::Cmyk, tune);
        assert_eq!(header::probe(&file).unwrap().color, header::Color::Cmyk);
        let raster = all(&file);
        assert_eq!(raster.layout, Layout::Rgb);
        assert!(near(pixel(&raster, 8, 8), &[255, 0, 0], 2), "{:?}", pixel(&raster, 8, 8));
        if space == ColorSpace::Cmyk {
            // Without the mark 255 is full ink: cyan and black in full are black.
            let at = file.windows(5).position(|part| part == b"Adobe").unwrap();
            let length = usize::from(file[at - 1]);
            let bare = [&file[..at - 4], &file[at - 2 + length..]].concat();
            assert!(near(pixel(&all(&bare), 8, 8), &[0, 0, 0], 2));
        }
    }
}

#[test]
fn gray_stays_gray_and_slow_kinds_open() {
    let gray = all(&compressed(&[77; 256], 16, PixelFormat::Grayscale, |made| made));
    assert_eq!((gray.layout, gray.data[100]), (Layout::Gray, 77));
    let rgb = [40, 90, 200].repeat(256);
    let tunes: [Tune; 4] = [
        |made| made.progressive(true),
        |made| made.arithmetic(true),
        |made| made.lossless(true),
        |made| made.restart_blocks(1),
    ];
    for tune in tunes {
        let file = compressed(&rgb, 16, PixelFormat::Rgb, tune);
        assert!(near(pixel(&all(&file), 8, 8), &[40, 90, 200], 2));
    }
}

/// Colors that change everywhere, softly.
fn waves(size: usize) -> Vec<u8> {
    let wave = |n: usize, period: f64| 127.5 + 100.0 * (n as f64 / period).sin();
    (0..size)
        .flat_map(|y| (0..size).map(move |x| (x, y)))
        .flat_map(|(x, y)| [wave(x, 17.0), wave(y, 11.0), wave(x + y, 23.0)].map(|n| n as u8))
        .collect()
}

#[test]
fn another_decoder_sees_the_same_pixels_at_every_subsampling() {
    let (size, pixels) = (83, waves(83));
    let tunes: [(&str, u8, Tune); 5] = [
        ("4:4:4", 4, |made| made),
        ("4:2:2", 12, |made| made.subsampling(Subsampling::S422)),
        ("4:2:0", 12, |made| made.subsampling(Subsampling::S420)),
        ("4:4:4, progressive", 4, |made| made.progressive(true)),
        ("4:2:0, progressive", 12, |made| made.subsampling(Subsampling::S420).progressive(true)),
    ];
    for (name, most, tune) in tunes {
        let file = compressed(&pixels, size, PixelFormat::Rgb, tune);
        let theirs = image::load_from_memory(&file).unwrap().into_rgb8().into_raw();
        let ours = all(&file);
        assert_eq!(ours.data.len(), theirs.len());
        let apart = ours.data.iter().zip(&theirs).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(apart <= most, "{name}: {apart}");
    }
}

#[test]
fn a_damaged_scan_opens_with_a_note() {
    let (size, pixels) = (83, waves(83));
    let mut file = compressed(&pixels, size, PixelFormat::Rgb, |made| made.restart_blocks(4));
    let (at, end) = (file.len() * 2 / 3, file.len() - 2);
    for byte in &mut file[at..end] {
        // Keeps markers apart from data.
        *byte = if *byte == 0xff { 0xff } else { 0x55 };
    }
    let got = open(&file, DecodeOptions::default()).unwrap();
    assert_eq!(got.notes, [Note::Damaged]);
    assert!(near(pixel(&got.raster, 5, 5), &pixels[(5 * size + 5) * 3..][..3], 4));
}

#[test]
fn a_second_frame_of_another_size_is_refused() {
    let file = make::jpeg((16, 16), &[30, 60, 90].repeat(256));
    let at = file.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    let length = 2 + usize::from(file[at + 3]);
    let mut second = file[at..at + length].to_vec();
    second[6] = 64;
    let scan = file.windows(2).position(|pair| pair == [0xff, 0xda]).unwrap();
    for place in [at, scan] {
        let two = [&file[..place], &second, &file[place..]].concat();
        assert!(open(&two, DecodeOptions::default()).is_err());
    }
}

/// Left half black, right half white, and so top to bottom: edges at known places.
fn cross(size: (u32, u32), at: (u32, u32)) -> Vec<u8> {
    let data: Vec<u8> = (0..size.1)
        .flat_map(|y| {
            (0..size.0).flat_map(move |x| [255 * u8::from(x >= at.0), 255 * u8::from(y >= at.1), 0])
        })
        .collect();
    make::jpeg(size, &data)
}

#[test]
fn scaling_never_goes_below_what_is_asked_and_says_what_it_did() {
    let file = cross((1000, 600), (512, 304));
    for (at_most, eighths) in [((125, 75), 1), ((126, 75), 2), ((500, 300), 4), ((999, 1), 8)] {
        let wanted = DecodeOptions { at_most: Some(at_most), ..DecodeOptions::default() };
        let got = open(&file, wanted).unwrap();
        let scale = f64::from(eighths) / 8.0;
        assert_eq!(got.scale, (scale, scale));
        assert!(got.raster.width >= at_most.0 && got.raster.height >= at_most.1);
        assert!((got.window.width - 1000.0 * scale).abs() < 1e-9);
        // The edges stand where the scale says.
        let (x, y) = ((512.0 * scale) as u32, (304.0 * scale) as u32);
        let [left, right] = [pixel(&got.raster, x - 2, y)[0], pixel(&got.raster, x + 1, y)[0]];
        assert!(left < 40 && right > 215, "{eighths}/8: {left} {right}");
        let [above, below] = [pixel(&got.raster, 3, y - 2)[1], pixel(&got.raster, 3, y + 1)[1]];
        assert!(above < 40 && below > 215, "{eighths}/8: {above} {below}");
    }
}

#[test]
fn a_scaled_region_says_where_it_lies_between_pixels() {
    let file = cross((800, 800), (400, 400));
    let region = Rect::new(101, 203, 500, 501);
    let wanted = DecodeOptions { region: Some(region), at_most: Some((250, 250)), frame: 0 };
    let got = open(&file, wanted).unwrap();
    assert_eq!(got.scale, (0.5, 0.5));
    assert_eq!((got.window.x, got.window.y), (0.5, 0.5));
    assert_eq!((got.window.width, got.window.height), (250.0, 250.5));
    assert_eq!((got.raster.width, got.raster.height), (251, 251));
    // The edge at 400 is 299 into the region: half of that, after half a pixel.
    let (x, y) = (150, 99);
    assert!(pixel(&got.raster, x - 1, y)[0] < 60 && pixel(&got.raster, x + 1, y)[0] > 195);
}

#[test]
fn a_file_without_its_end_opens_with_a_note_and_a_cut_one_does_not() {
    let file = make::jpeg((64, 64), &make::colors((64, 64)));
    let open = |bytes: &[u8]| open(bytes, DecodeOptions::default());
    assert_eq!(open(&file).unwrap().notes, []);
    let got = open(&file[..file.len() - 2]).unwrap();
    assert_eq!(got.notes, [Note::Damaged]);
    assert_eq!(got.raster, all(&file));
    assert!(open(&file[..file.len() - 200]).is_err());
}

#[test]
fn headers_with_stray_bytes_still_open() {
    let file = make::jpeg((16, 16), &[30, 60, 90].repeat(256));
    let at = file.windows(2).position(|pair| pair == [0xff, 0xdb]).unwrap();
    let stray = [&file[..at], &[0; 10], &file[at..]].concat();
    let got = open(&stray, DecodeOptions::default()).unwrap();
    assert!(near(pixel(&got.raster, 5, 5), &[30, 60, 90], 3));
    assert_eq!(got.notes, [Note::Damaged]);
}
