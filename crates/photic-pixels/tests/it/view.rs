//! The whole way from a file to a view: geometry, regions, tiles, caps, warnings.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its data has failed")]

use photic::Profile;
use photic_pixels::decode::{DecodeOptions, decode};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::fit::{Caps, Fidelity, Preset, tiles};
use photic_pixels::geometry::{Affine, Rect};
use photic_pixels::header::probe;
use photic_pixels::{DecodeLimits, Layout, Raster, RefusalCode, View, ViewRequest, Warning, view};
use proptest::prelude::*;

use crate::font::{page, paper};

fn claude() -> Profile {
    Profile::by_id("claude@anthropic").unwrap()
}

fn png(raster: &Raster) -> Vec<u8> {
    let options = EncodeOptions { prefer: Prefer::Lossless, ..EncodeOptions::default() };
    encode(raster, &options).unwrap().bytes
}

/// A JPEG file whose EXIF asks to be turned.
fn turned_jpeg(raster: &Raster, orientation: u8) -> Vec<u8> {
    let options = EncodeOptions {
        accepts: &["image/jpeg"],
        prefer: Prefer::Photo,
        quality: Some(95),
        ..EncodeOptions::default()
    };
    let plain = encode(raster, &options).unwrap().bytes;
    let mut file = plain[..2].to_vec();
    file.extend([0xFF, 0xE1, 0, 34]);
    file.extend(b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0");
    file.extend([orientation, 0, 0, 0, 0, 0, 0]);
    file.extend(&plain[2..]);
    file
}

fn pixels(view: &View) -> Raster {
    let header = probe(&view.bytes).unwrap();
    assert_eq!((header.width, header.height), (view.width, view.height));
    assert_eq!(header.format.media_type(), view.media_type);
    decode(&view.bytes, &header, &DecodeLimits::default(), DecodeOptions::default()).unwrap().raster
}

/// The center of all light above the background's own.
fn bright(raster: &Raster) -> (f64, f64) {
    let samples = raster.layout.samples();
    let (mut sum, mut x_sum, mut y_sum) = (0.0, 0.0, 0.0);
    for (index, pixel) in raster.data.chunks_exact(samples).enumerate() {
        let value = f64::from(pixel[0].saturating_sub(30));
        sum += value;
        x_sum += value * ((index % raster.width as usize) as f64 + 0.5);
        y_sum += value * ((index / raster.width as usize) as f64 + 0.5);
    }
    assert!(sum > 0.0, "the marker is not in the view");
    (x_sum / sum, y_sum / sum)
}

fn marked(size: (u32, u32), at: (u32, u32), half: u32) -> Raster {
    let mut raster = paper(size, 20);
    for y in at.1 - half..=at.1 + half {
        for x in at.0 - half..=at.0 + half {
            raster.data[(y * size.0 + x) as usize] = 250;
        }
    }
    raster
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Through the real decoder (with its own scaling), fit, resize and encoder; then again for a
    /// region of that view.
    #[test]
    fn a_marker_is_where_the_map_says(
        size in (300..1100_u32, 300..1100_u32),
        at in (0.1..0.9, 0.1..0.9),
        orientation in 1..=8_u8,
        edge in 150..700_u32,
        jpeg in any::<bool>(),
        zoom in 0.1..0.5,
    ) {
        let spot = ((at.0 * f64::from(size.0)) as u32, (at.1 * f64::from(size.1)) as u32);
        let half = 14;
        let stored = marked(size, spot, half);
        let (file, orientation) =
            if jpeg { (turned_jpeg(&stored, orientation), orientation) } else { (png(&stored), 1) };
        let profile = claude();
        let caps = Caps { edge: Some(edge), ..Caps::default() };
        let request = ViewRequest { caps, ..ViewRequest::new(&profile) };
        let first = view(&file, &request).unwrap();
        let to_stored = Affine::orientation(orientation, size);
        let truth = (f64::from(spot.0) + 0.5, f64::from(spot.1) + 0.5);
        let (x, y) = bright(&pixels(&first));
        let back = first.map.then(&to_stored).map_point(x, y);
        let off = (back.0 - truth.0).abs().max((back.1 - truth.1).abs());
        prop_assert!(off <= 1.0, "{truth:?} came back at {back:?} from {first:?}");

        // Zoom in on the marker, as seen in the view; it must be read from the file again.
        let reach: f64 = zoom * f64::from(first.width.min(first.height));
        let reach = reach.max(25.0 * first.scale) + 2.0;
        let low = |v: f64| (v - reach).max(0.0) as u32;
        let side = (2.0 * reach).ceil() as u32 + 1;
        let region = first.region_of(&Rect::new(low(x), low(y), side, side)).unwrap();
        let second = view(&file, &ViewRequest { region: Some(region), ..request }).unwrap();
        prop_assert!(second.scale >= first.scale * 0.99);
        let (x, y) = bright(&pixels(&second));
        let back = second.map.then(&to_stored).map_point(x, y);
        let off = (back.0 - truth.0).abs().max((back.1 - truth.1).abs());
        prop_assert!(off <= 1.0, "{truth:?} came back at {back:?} from {second:?}");
    }
}

#[test]
fn a_region_shows_the_original_pixels() {
    let source = page((2400, 1600), 2, (255, 0), 5);
    let file = png(&source);
    let profile = claude();
    let region = Rect::new(701, 333, 640, 480);
    let request = ViewRequest { region: Some(region), ..ViewRequest::new(&profile) };
    let shown = view(&file, &request).unwrap();
    assert_eq!((shown.width, shown.height, shown.region), (640, 480, region));
    assert!((shown.scale - 1.0).abs() < 1e-12 && shown.warnings.is_empty(), "{:?}", shown.warnings);
    let raster = pixels(&shown);
    let samples = raster.layout.samples();
    for (x, y) in [(0_u32, 0_u32), (17, 90), (639, 479), (320, 240)] {
        let own = raster.data[(y * 640 + x) as usize * samples];
        let (sx, sy) = shown.map.map_pixel(i64::from(x), i64::from(y));
        assert_eq!(own, source.data[(sy * 2400 + sx) as usize], "{x},{y}");
    }
    // Over the edge: cut, and said so.
    let request = ViewRequest { region: Some(Rect::new(2300, 1500, 400, 400)), ..request };
    let shown = view(&file, &request).unwrap();
    assert_eq!(shown.region, Rect::new(2300, 1500, 100, 100));
    assert!(shown.warnings.contains(&Warning::RegionCut { shown: shown.region }));
}

#[test]
fn small_text_is_announced_and_the_zoom_shows_it() {
    // Crisp 10 px letters on a sheet four times what the model sees.
    let file = png(&page((3200, 2400), 2, (255, 0), 9));
    let profile = claude();
    let request = ViewRequest::new(&profile);
    let all = view(&file, &request).unwrap();
    let Some(Warning::SmallText { x_height, region, tiles: count, .. }) = all.warnings.first()
    else {
        panic!("no warning in {:?}", all.warnings);
    };
    assert!((x_height - 10.0 * all.scale).abs() < 1.0, "{x_height}");
    assert_eq!(*count as usize, tiles((3200, 2400), &profile).tiles.len());
    let text = all.warnings[0].to_string();
    assert!(text.contains("view region") && text.contains("tiles"), "{text}");
    let zoomed = view(&file, &ViewRequest { region: Some(*region), ..request }).unwrap();
    assert_eq!(zoomed.warnings, [], "{zoomed:?}");
    assert!(zoomed.scale > all.scale);
    // A glance promises no legible text.
    let glance = view(&file, &ViewRequest { fidelity: Fidelity::Glance, ..request }).unwrap();
    assert_eq!(glance.warnings, []);
}

#[test]
fn tiles_are_views_too() {
    let file = png(&page((1440, 5056), 2, (255, 0), 9));
    let profile = claude();
    let request = ViewRequest::new(&profile);
    let tiling = tiles((1440, 5056), &profile);
    for (number, tile) in (1..).zip(&tiling.tiles) {
        let shown = view(&file, &ViewRequest { tile: Some(number), ..request }).unwrap();
        assert_eq!(((shown.width, shown.height), shown.region), (tile.size(), *tile));
        assert_eq!(shown.warnings, []);
    }
    let overview = view(&file, &ViewRequest { tile: Some(0), ..request }).unwrap();
    assert_eq!(overview, view(&file, &request).unwrap(), "and the same bytes twice");
    let past = tiling.tiles.len() as u32 + 1;
    let refusal = view(&file, &ViewRequest { tile: Some(past), ..request }).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::BadRegion);
    assert!(refusal.hint.contains(&format!("1 to {}", past - 1)), "{refusal:?}");
    // A tile of a region counts from the region's corner.
    let region = Some(Rect::new(100, 1000, 1340, 3000));
    let shown = view(&file, &ViewRequest { region, tile: Some(1), ..request }).unwrap();
    assert_eq!((shown.region.x, shown.region.y), (100, 1000));
}

#[test]
fn tiny_sources_are_enlarged_exactly() {
    let icon = Raster { width: 2, height: 1, layout: Layout::Gray, data: vec![0, 255] };
    let profile = claude();
    let shown = view(&png(&icon), &ViewRequest::new(&profile)).unwrap();
    assert_eq!((shown.width, shown.height), (200, 100));
    assert_eq!(shown.warnings, [Warning::Enlarged { by: 100 }]);
    assert_eq!(shown.map.map_pixel(99, 50), (0, 0));
    assert_eq!(shown.map.map_pixel(100, 50), (1, 0));
}

#[test]
fn a_byte_cap_shrinks_to_its_floor_and_no_further() {
    let mut noise = paper((1400, 1000), 0);
    let mut state = 1_u32;
    for sample in &mut noise.data {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *sample = (state >> 24) as u8;
    }
    let file = png(&noise);
    let profile = claude();
    let capped = |bytes| {
        let caps = Caps { bytes: Some(bytes), ..Preset::Seed003.caps() };
        view(&file, &ViewRequest { caps, ..ViewRequest::new(&profile) })
    };
    let preset = capped(500 << 10).unwrap();
    assert!(preset.bytes.len() <= 500 << 10, "{preset:?}");
    let tight = capped(40_000).unwrap();
    assert!(tight.bytes.len() <= 40_000 && tight.width.min(tight.height) >= 100, "{tight:?}");
    let shrunk = |warning: &Warning| matches!(warning, Warning::ShrunkForBytes { .. });
    assert!(tight.warnings.iter().any(shrunk), "{:?}", tight.warnings);
    assert_eq!(capped(600).unwrap_err().code, RefusalCode::CannotFit);
}

#[test]
fn a_file_that_needs_no_change_passes_without_its_metadata() {
    let file = png(&page((800, 600), 2, (255, 0), 4));
    // A text chunk after the header: length, type, data, checksum (not looked at by anyone).
    let mut tagged = file[..33].to_vec();
    tagged.extend(b"\0\0\0\x0ctEXtComment\0secr\x2e\x45\x9f\xd1");
    tagged.extend(&file[33..]);
    let profile = claude();
    let shown = view(&tagged, &ViewRequest::new(&profile)).unwrap();
    assert_eq!(shown.bytes, file, "the very bytes, less the comment");
    // A rotated picture has to be encoded again.
    let jpeg = turned_jpeg(&page((800, 600), 2, (255, 0), 4), 6);
    let shown = view(&jpeg, &ViewRequest::new(&profile)).unwrap();
    assert_eq!((shown.width, shown.height), (600, 800));
    assert!(!shown.bytes.windows(4).any(|window| window == b"Exif"));
    let plain = turned_jpeg(&page((800, 600), 2, (255, 0), 4), 1);
    let shown = view(&plain, &ViewRequest::new(&profile)).unwrap();
    assert_eq!(shown.bytes.len() + 36, plain.len(), "less the EXIF segment");
}

#[test]
fn what_is_no_picture_is_refused() {
    let profile = claude();
    let request = ViewRequest::new(&profile);
    assert_eq!(view(b"", &request).unwrap_err().code, RefusalCode::Empty);
    assert_eq!(view(b"hello, world", &request).unwrap_err().code, RefusalCode::NotAnImage);
    let file = png(&paper((50, 50), 9));
    let region = Some(Rect::new(50, 0, 1, 1));
    let refusal = view(&file, &ViewRequest { region, ..request }).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::BadRegion);
}
