//! What renderers must hold to, whatever the source.

use photic_render::{DrawLimits, Fit, Kind, Request, Theme, draw, words};

/// Small: what is looked for is a panic, and a large page hides slow ones.
const BOUNDS: DrawLimits = DrawLimits { bytes: 1 << 16, edge: 400, pixels: 100_000 };

/// Names by which text is colored.
const NAMES: [&str; 8] = ["a.rs", "a.py", "a.md", "a.json", "a.ts", "a.html", "a.log", ""];

/// Draws a source as each of the kinds; the last byte chooses the page, the colors and the name.
///
/// Panics if a page is larger than its bounds, or holds other pixels than its size says.
pub fn drawn(bytes: &[u8], kinds: &[Kind]) {
    let [source @ .., wish] = bytes else { return };
    for &kind in kinds {
        let mut request = Request::new(source, kind);
        request.wanted.bounds = BOUNDS;
        request.wanted.page = u32::from(wish & 1) + 1;
        request.wanted.theme = if wish & 2 == 2 { Theme::Dark } else { Theme::Light };
        request.wanted.fit = if wish & 4 == 4 { Fit::Longest(300) } else { Fit::Usual };
        request.wanted.name = Some(NAMES[usize::from(wish >> 3) % NAMES.len()].to_owned());
        if let Ok(page) = draw(&request) {
            let raster = &page.raster;
            assert!(raster.width <= BOUNDS.edge && raster.height <= BOUNDS.edge);
            assert!(u64::from(raster.width) * u64::from(raster.height) <= BOUNDS.pixels);
            let samples = raster.layout.samples();
            assert_eq!(raster.data.len(), raster.width as usize * raster.height as usize * samples);
        }
        if kind == Kind::Pdf {
            let _ = words(&request);
        }
    }
}
