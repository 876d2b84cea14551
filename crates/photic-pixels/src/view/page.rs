//! Views of pages that a renderer draws. They are fitted by drawing again, not by scaling pixels.

use super::{View, ViewRequest, Warning, cap, encoded};
use crate::decode::{self, Decoded};
use crate::fit::{Fidelity, FittedSize, fit_within};
use crate::geometry::{Affine, Rect, TextRow};
use crate::header::Frames;
use crate::legibility::{MIN_READABLE_X_HEIGHT, SmallestText, smallest_text};
use crate::raster::Raster;
use crate::refusal::Refusal;
use crate::resize::Window;

/// A page, or a region of one, as a renderer drew it.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnPage {
    /// The pixels.
    pub raster: Raster,
    /// Map from those pixels to units of the page.
    pub to_page: Affine,
    /// Width and height of the whole page in its units.
    pub size: (f64, f64),
    /// The unit: `px` or `pt`.
    pub unit: &'static str,
    /// Number of the page, from 1.
    pub page: u32,
    /// Number of pages.
    pub pages: u32,
    /// Content of the source that is missing in the picture, in a few words each.
    pub not_shown: Vec<String>,
    /// Rows of text, from top to bottom, if the page is text.
    pub rows: Vec<TextRow>,
}

/// Makes a view of a page.
///
/// `draw` is called with `None` for the renderer's default size, and again with the longest side
/// that the model can be shown if that is smaller. The renderer handles the region, so `region`,
/// `tile` and `frame` of the request are ignored. The source of the view is the page, in whole
/// units.
pub fn view_page<E: From<Refusal>>(
    request: &ViewRequest<'_>,
    draw: &mut dyn FnMut(Option<u32>) -> Result<DrawnPage, E>,
) -> Result<View, E> {
    let mut page = draw(None)?;
    let mut target = fit(&page.raster, request);
    let (width, height) = target.content;
    if target.upscale <= 1 && (width, height) != page.raster.size() {
        page = draw(Some(width.max(height)))?;
        target = fit(&page.raster, request);
    }
    Ok(made(page, target, request)?)
}

/// The size to show a raster at.
fn fit(raster: &Raster, request: &ViewRequest<'_>) -> FittedSize {
    fit_within(raster.size(), request.profile, request.fidelity, &request.caps)
}

/// Encodes the page and gathers the facts about it.
fn made(
    page: DrawnPage,
    mut target: FittedSize,
    request: &ViewRequest<'_>,
) -> Result<View, Refusal> {
    let DrawnPage { raster, to_page, size, unit, page, pages, not_shown, rows } = page;
    let drawn = raster.size();
    let decoded = Decoded {
        raster: decode::into_opaque(raster),
        window: Window::whole(drawn),
        scale: (1.0, 1.0),
        frames: Frames::Known(pages),
        notes: Vec::new(),
    };
    let text = match request.fidelity {
        Fidelity::Glance => None,
        Fidelity::Read | Fidelity::Pixel => smallest_text(&decoded.raster),
    };
    let (encoded, shrunk) = encoded(&decoded, request, (cap(request), text.as_ref()), &mut target)?;
    let map = Affine::resize(drawn, target.content).then(&to_page);
    let source = (whole(size.0), whole(size.1));
    let shown = to_page.map_rect(&Rect::whole(drawn));
    let region = shown.within(source).unwrap_or(shown);

    let mut warnings = Vec::new();
    warnings.extend((pages > 1).then_some(Warning::MorePages { page, pages }));
    warnings.extend(shrunk);
    let scale = f64::from(target.content.1) / f64::from(drawn.1.max(1));
    warnings.extend(text.and_then(|text| small(&text, scale, drawn, &to_page, source)));
    warnings.extend(not_shown.into_iter().map(|what| Warning::NotShown { what }));
    Ok(View {
        bytes: encoded.bytes,
        media_type: encoded.media_type,
        width: target.width,
        height: target.height,
        source,
        region,
        map,
        scale: 1.0 / map.reduction(),
        tokens: target.tokens,
        detail: target.detail,
        frames: Frames::Known(pages),
        warnings,
        unit,
        rows,
    })
}

/// Rounds a length up to whole units.
fn whole(units: f64) -> u32 {
    (units.ceil() as u32).max(1)
}

/// A warning if the text is too small to read. A region of a page can be drawn at any size.
fn small(
    text: &SmallestText,
    scale: f64,
    drawn: (u32, u32),
    to_page: &Affine,
    source: (u32, u32),
) -> Option<Warning> {
    let x_height = text.x_height * scale;
    if x_height >= MIN_READABLE_X_HEIGHT {
        return None;
    }
    let part = (x_height / MIN_READABLE_X_HEIGHT).min(0.5);
    let length = |side: u32| ((f64::from(side) * part) as u32).clamp(1, side.max(1));
    let start = |at: u32, of: u32, length: u32, side: u32| {
        (at + of / 2).saturating_sub(length / 2).min(side.saturating_sub(length))
    };
    let (width, height) = (length(drawn.0), length(drawn.1));
    let zoom = Rect::new(
        start(text.at.x, text.at.width, width, drawn.0),
        start(text.at.y, text.at.height, height, drawn.1),
        width,
        height,
    );
    let region = to_page.map_rect(&zoom).within(source).ok()?;
    Some(Warning::SmallText { x_height, readable: MIN_READABLE_X_HEIGHT, region, tiles: 0 })
}

#[cfg(test)]
mod tests {
    use photic::{Profile, Wire};

    use super::*;
    use crate::raster::Layout;

    /// A page of 400 by 200 units, drawn at four pixels a unit unless asked for less.
    fn page(longest: Option<u32>) -> DrawnPage {
        let width = longest.unwrap_or(1600);
        let height = width / 2;
        let unit = 400.0 / f64::from(width);
        let data = vec![255; (width * height * 3) as usize];
        let row = |left: f64, line: u32, columns: Vec<u32>| TextRow {
            top: 20.0,
            height: 10.0,
            left,
            cell: 5.0,
            line,
            columns,
        };
        let rows = vec![row(40.0, 7, vec![1, 2, 2, 3]), row(65.0, 8, vec![1, 2])];
        DrawnPage {
            raster: Raster { width, height, layout: Layout::Rgb, data },
            to_page: Affine::scale(unit, unit),
            size: (400.0, 200.0),
            unit: "px",
            page: 2,
            pages: 9,
            not_shown: vec!["an address".to_owned()],
            rows,
        }
    }

    fn look(change: impl FnOnce(&mut ViewRequest<'_>)) -> (View, Vec<Option<u32>>) {
        let profile = Profile::generic(Wire::Anthropic);
        let mut request = ViewRequest::new(&profile);
        change(&mut request);
        let mut asked = Vec::new();
        let view = view_page::<Refusal>(&request, &mut |longest| {
            asked.push(longest);
            Ok(page(longest))
        });
        (view.expect("a view"), asked)
    }

    #[test]
    fn a_page_is_drawn_again_to_fit_and_maps_to_its_units() {
        let (view, asked) = look(|request| request.fidelity = Fidelity::Glance);
        assert_eq!(asked, [None, Some(512)]);
        assert_eq!((view.width, view.height), (512, 256));
        assert_eq!(view.source, (400, 200));
        assert_eq!(view.region, Rect::new(0, 0, 400, 200));
        let (x, y) = view.map.map_point(512.0, 256.0);
        assert!((x - 400.0).abs() < 1e-9 && (y - 200.0).abs() < 1e-9, "{x} {y}");
        assert!((view.scale - 1.28).abs() < 1e-9, "{}", view.scale);
    }

    #[test]
    fn what_fits_is_drawn_once() {
        let (view, asked) = look(|_| {});
        let fitting = page(asked[asked.len() - 1]).raster.size();
        assert_eq!((view.width, view.height), fitting, "no pixel was scaled");
        assert!(view.warnings.contains(&Warning::MorePages { page: 2, pages: 9 }));
        assert!(view.warnings.contains(&Warning::NotShown { what: "an address".to_owned() }));
    }

    #[test]
    fn a_pixel_leads_to_line_and_column() {
        let (view, _) = look(|request| request.fidelity = Fidelity::Glance);
        let at = |x: f64, y: f64| view.line_and_column(x * 1.28, y * 1.28);
        assert_eq!(at(41.0, 25.0), Some((7, 1)));
        assert_eq!(at(56.0, 25.0), Some((7, 3)));
        assert_eq!(at(61.0, 25.0), Some((7, 3)), "between two rows: the nearer one");
        assert_eq!(at(66.0, 25.0), Some((8, 1)));
        assert_eq!(at(399.0, 29.9), Some((8, 2)), "beside the rows: the nearest character");
        assert_eq!(at(41.0, 30.1), None);
    }
}
