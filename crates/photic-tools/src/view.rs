//! `view`: returns pixels of a source and facts about them.
//!
//! Every view is made from the original, zooms included. It never returns text or a freshness
//! token.

use photic_pixels::fit::Caps;
use photic_pixels::{ViewRequest, sheet, view};

use crate::arguments::ViewArguments;
use crate::content::Content;
use crate::load::Loaded;
use crate::perception::Perception;
use crate::refusal::{Refusal, RefusalCode};
use crate::render::{one_page_at_a_time, rendered};
use crate::tools::{Inner, Tools, blocking};

/// Largest number of frames on a sheet.
const MAX_FRAMES: u32 = 64;

impl Tools {
    /// Shows a source as a picture.
    pub async fn view(&self, arguments: &ViewArguments) -> Result<Perception, Refusal> {
        check(arguments)?;
        let loaded = self.load(&arguments.source).await?;
        let arguments = arguments.clone();
        blocking(&self.inner, move |inner| perceive(inner, &loaded, &arguments)).await
    }
}

fn check(arguments: &ViewArguments) -> Result<(), Refusal> {
    let bad = |says: &str, hint: &str| Err(Refusal::new(RefusalCode::BadArguments, says, hint));
    let ViewArguments { region, page, tile, sheet, max_edge, max_bytes, .. } = arguments;
    if *page == Some(0) {
        return bad("pages are counted from 1", "ask for page 1");
    }
    if *max_edge == Some(0) || *max_bytes == Some(0) {
        return bad("a picture of no size was asked for", "leave `max_edge` and `max_bytes` out");
    }
    if sheet.is_some_and(|most| most == 0 || most > MAX_FRAMES) {
        return bad("a sheet shows 1 to 64 frames", "ask for 12");
    }
    if sheet.is_some() && (region.is_some() || page.is_some() || tile.is_some()) {
        return bad(
            "a sheet shows many pages whole; `region`, `page` and `tile` are about one",
            "ask for the sheet first, then for a page",
        );
    }
    Ok(())
}

/// Decodes, fits and encodes. Stores the original after this succeeded.
fn perceive(
    inner: &Inner,
    loaded: &Loaded,
    arguments: &ViewArguments,
) -> Result<Perception, Refusal> {
    let page = arguments.page.unwrap_or(1);
    let region = arguments.region.map(|region| region.0);
    let mut request = ViewRequest::new(&inner.profile);
    request.region = region;
    request.tile = arguments.tile;
    request.frame = page - 1;
    request.fidelity = arguments.fidelity.unwrap_or_default().into();
    request.limits = inner.bounds.pixels;
    request.caps = Caps { edge: arguments.max_edge, bytes: arguments.max_bytes, ..Caps::default() };
    let drawn = rendered(inner, loaded, (page, region), &request)?;
    let made = match (drawn, arguments.sheet) {
        (Some(_), _) if arguments.tile.is_some() || arguments.sheet.is_some() => {
            return Err(one_page_at_a_time());
        }
        (Some(view), _) => view,
        (None, None) => view(&loaded.bytes, &request)?,
        (None, Some(most)) => sheet(&loaded.bytes, &request, most)?,
    };
    let reference = match &loaded.handle {
        Some(handle) => Some(handle.clone()),
        // Without a handle the view is still useful; the next one tries again.
        None => inner.originals.put(&loaded.bytes, media_type(loaded)).ok(),
    };
    Ok(Perception::of(made, &loaded.name, reference))
}

/// Returns the media type of an original.
fn media_type(loaded: &Loaded) -> &'static str {
    match loaded.content {
        Content::Bitmap(format) => format.media_type(),
        Content::Svg => "image/svg+xml",
        Content::Pdf => "application/pdf",
        Content::Text | Content::Utf16 { .. } | Content::OddText => "text/plain",
        Content::Torn | Content::Empty | Content::Binary(_) => "application/octet-stream",
    }
}
