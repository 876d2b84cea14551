//! JPEG: colour spaces, scaling, damage.

use photic_pixels::decode::{Note, Wanted};
use photic_pixels::geometry::Rect;
use photic_pixels::{Layout, header};
use turbojpeg::{Colorspace, Compressor, Image, PixelFormat, Subsamp};

use super::make;
use super::{all, near, open, pixel};

fn compressed(
    pixels: &[u8],
    size: usize,
    format: PixelFormat,
    tune: fn(&mut Compressor),
) -> Vec<u8> {
    let mut compressor = Compressor::new().unwrap();
    compressor.set_quality(100).unwrap();
    compressor.set_subsamp(Subsamp::None).unwrap();
    tune(&mut compressor);
    let image = Image { pixels, width: size, pitch: size * format.size(), height: size, format };
    compressor.compress_to_vec(image).unwrap()
}

#[test]
fn inks_with_and_without_adobes_mark() {
    // Adobe's way: 255 is no ink. No cyan, full magenta, full yellow, no black: red.
    let red = [255, 0, 0, 255].repeat(256);
    for space in [Colorspace::CMYK, Colorspace::YCCK] {
        let mut compressor = Compressor::new().unwrap();
        compressor.set_quality(100).unwrap();
        compressor.set_subsamp(Subsamp::None).unwrap();
        compressor.set_colorspace(space).unwrap();
        let image =
            Image { pixels: &red[..], width: 16, pitch: 64, height: 16, format: PixelFormat::CMYK };
        let file = compressor.compress_to_vec(image).unwrap();
        assert_eq!(header::probe(&file).unwrap().color, header::Color::Cmyk);
        let raster = all(&file);
        assert_eq!(raster.layout, Layout::Rgb);
        assert!(near(pixel(&raster, 8, 8), &[255, 0, 0], 2), "{:?}", pixel(&raster, 8, 8));
        if space == Colorspace::CMYK {
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
    let gray = all(&compressed(&[77; 256], 16, PixelFormat::GRAY, |made| {
        made.set_subsamp(Subsamp::Gray).unwrap();
    }));
    assert_eq!((gray.layout, gray.data[100]), (Layout::Gray, 77));
    let rgb = [40, 90, 200].repeat(256);
    let tunes: [fn(&mut Compressor); 3] = [
        |made| made.set_progressive(true).unwrap(),
        |made| made.set_arithmetic(true).unwrap(),
        |made| made.set_lossless(true).unwrap(),
    ];
    for tune in tunes {
        let file = compressed(&rgb, 16, PixelFormat::RGB, tune);
        assert!(near(pixel(&all(&file), 8, 8), &[40, 90, 200], 2));
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
        let wanted = Wanted { at_most: Some(at_most), ..Wanted::default() };
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
    let wanted = Wanted { region: Some(region), at_most: Some((250, 250)), frame: 0 };
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
    let open = |bytes: &[u8]| open(bytes, Wanted::default());
    assert_eq!(open(&file).unwrap().notes, []);
    let got = open(&file[..file.len() - 2]).unwrap();
    assert_eq!(got.notes, [Note::Damaged]);
    assert_eq!(got.raster, all(&file));
    assert!(open(&file[..file.len() - 200]).is_err());
}

#[test]
fn headers_that_libjpeg_warns_about_still_open() {
    let file = make::jpeg((16, 16), &[30, 60, 90].repeat(256));
    let at = file.windows(2).position(|pair| pair == [0xff, 0xdb]).unwrap();
    let stray = [&file[..at], &[0; 10], &file[at..]].concat();
    let got = open(&stray, Wanted::default()).unwrap();
    assert!(near(pixel(&got.raster, 5, 5), &[30, 60, 90], 3));
    assert_eq!(got.notes, [Note::Damaged]);
}
