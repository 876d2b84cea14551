//! Makes the pictures that a plan asks for.
//!
//! This is the only step between survey and lowering that handles pixels. The same bytes and recipe
//! give the same picture on any machine. A picture that cannot be made is left out, and lowering
//! puts a notice in its place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::Source;
use photic::transcript::MediaId;
use photic::{Fit, Made, Plan, Prepared, Profile, Recipe, Transcript};

use crate::decode::{self, DecodeOptions, SheetGrid};
use crate::encode::{self, EncodeOptions};
use crate::fit::{Caps, Fidelity};
use crate::header;
use crate::limits::DecodeLimits;
use crate::raster::{Layout, Raster};
use crate::refusal::{Refusal, RefusalCode};
use crate::view::{View, ViewRequest, view};

/// Makes all pictures that a plan asks for and that can be made.
pub fn prepare(transcript: &Transcript<'_>, plan: &Plan<'_>) -> Prepared {
    let bytes = |id: MediaId| match &transcript.media.get(id.index())?.source {
        Source::Data(payload) => Some(payload.decode()),
        Source::Text(_) | Source::Url(_) | Source::File(_) | Source::Missing => None,
    };
    let made = |(&id, recipe): (&MediaId, &Recipe)| {
        let made = match recipe {
            Recipe::Fit(fit) => fitted(&bytes(id)?, fit, plan.profile, &DecodeLimits::default()),
            Recipe::Sheet { members, fit } => {
                let members: Option<Vec<_>> = members.iter().map(|&member| bytes(member)).collect();
                merged(&members?, fit, plan.profile, &DecodeLimits::default())
            }
        };
        Some((id, made.ok()?))
    };
    plan.recipes.iter().filter_map(made).collect()
}

/// Makes one picture that fits.
pub fn fitted(
    bytes: &[u8],
    fit: &Fit,
    profile: &Profile,
    limits: &DecodeLimits<'_>,
) -> Result<Made, Refusal> {
    if fit.types.is_empty() {
        return Err(Refusal::new(
            RefusalCode::CannotFit,
            "the endpoint takes no image type",
            "send it to a model that sees",
        ));
    }
    let cap = fit.max_base64_bytes.map(|most| encode::raw_cap(most as usize) as u64);
    let request = ViewRequest {
        // No smaller than necessary: the client sent it at this size.
        fidelity: Fidelity::Pixel,
        caps: Caps { edge: fit.max_edge, bytes: cap, ..Caps::default() },
        limits: *limits,
        ..ViewRequest::new(profile)
    };
    let mut made = view(bytes, &request)?;
    // A picture of another type may take more bytes than its source.
    if photic::media::sniff(bytes).is_some_and(|name| fit.types.iter().any(|one| one == name)) {
        made = no_heavier(bytes, &request, made);
    }
    let view = made;
    Ok(Made {
        media_type: view.media_type.to_owned(),
        base64: STANDARD.encode(&view.bytes),
        size: (view.width, view.height),
    })
}

/// Makes a view again if it takes more bytes than its source: a scaled picture has more colors and
/// compresses worse. More bytes are allowed only if the picture would otherwise lose much of its
/// size.
fn no_heavier(bytes: &[u8], request: &ViewRequest<'_>, made: View) -> View {
    let source = bytes.len() as u64;
    if made.bytes.len() as u64 <= source {
        return made;
    }
    let within = |most: u64| {
        let cap = request.caps.bytes.map_or(most, |cap| cap.min(most));
        let caps = Caps { bytes: Some(cap), ..request.caps };
        view(bytes, &ViewRequest { caps, ..*request }).ok()
    };
    let light = within(source);
    // Three quarters of a side can still be read.
    if let Some(light) = light.filter(|light| light.width * 4 >= made.width * 3) {
        return light;
    }
    within(2 * source).filter(|light| light.width == made.width).unwrap_or(made)
}

/// Combines several pictures into one, each with its number.
pub fn merged(
    members: &[Vec<u8>],
    fit: &Fit,
    profile: &Profile,
    limits: &DecodeLimits<'_>,
) -> Result<Made, Refusal> {
    let headers: Vec<_> =
        members.iter().map(|bytes| header::probe(bytes)).collect::<Result<_, _>>()?;
    let largest = |side: fn(&header::Header) -> u32| headers.iter().map(side).max().unwrap_or(1);
    let grid = SheetGrid::new(
        (largest(|header| header.width), largest(|header| header.height)),
        members.len() as u32,
    );
    let mut cells = Vec::with_capacity(members.len());
    for (bytes, header) in members.iter().zip(&headers) {
        let wanted = DecodeOptions { at_most: Some(grid.size()), region: None, frame: 0 };
        let decoded = decode::decode(bytes, header, limits, wanted)?;
        let mut cell = grid.cell(decoded.raster)?;
        number(&mut cell, cells.len() + 1);
        cells.push(cell);
    }
    let raster = grid.sheet(cells.into_iter());
    let png = encode::encode(
        &raster,
        &EncodeOptions { accepts: &["image/png"], ..EncodeOptions::default() },
    )
    .map_err(|no| no.refusal)?;
    fitted(&png.bytes, fit, profile, limits)
}

/// Digits of three by five dots; each number holds a row in three bits.
const DIGITS: [[u8; 5]; 10] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 1, 1, 1],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
];

/// Pixels of a dot of a digit.
const DOT: usize = 6;

/// Writes a number into the top left corner, black on white, as far as it fits.
fn number(cell: &mut Raster, number: usize) {
    let digits: Vec<usize> =
        number.to_string().bytes().map(|digit| usize::from(digit - b'0')).collect();
    let (wide, high) = ((digits.len() * 4 + 1) * DOT, 7 * DOT);
    let is_dark = |x: usize, y: usize| {
        let (column, row) = ((x / DOT).wrapping_sub(1), (y / DOT).wrapping_sub(1));
        let digit = digits.get(column / 4).copied();
        digit.is_some_and(|digit| {
            DIGITS[digit]
                .get(row)
                .is_some_and(|dots| column % 4 < 3 && dots >> (2 - column % 4) & 1 == 1)
        })
    };
    debug_assert_eq!(cell.layout, Layout::Rgb, "cells of a sheet have three samples");
    let width = cell.width as usize;
    for y in 0..high.min(cell.height as usize) {
        for x in 0..wide.min(width) {
            let level = if is_dark(x, y) { 0 } else { 255 };
            let at = (y * width + x) * cell.layout.samples();
            cell.data[at..at + cell.layout.samples()].fill(level);
        }
    }
}
