//! A perception: the pixels a model gets, and the light facts about them.
//!
//! It holds no freshness token and no way to make one: seeing is not reading (seed 001).

use std::fmt;

use photic::tokens::Detail;
use photic_pixels::geometry::{Affine, Rect, TextRow};
use photic_pixels::{View, Warning};
use serde::Serialize;

/// A source as a model sees it. Serialized, it is everything but the bytes.
#[derive(Clone, PartialEq, Serialize)]
pub struct Perception {
    /// The file to send; never serialized, never in a log.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Its type, sniffed from those bytes.
    pub media_type: &'static str,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// How many bytes it has.
    pub byte_size: usize,
    /// Width and height of the original, upright, or of the page that was drawn.
    pub source_size: (u32, u32),
    /// What those are measured in: `px`, or `pt` of pages on paper.
    pub unit: &'static str,
    /// The part of the original that is shown.
    pub region: Rect,
    /// Pixels of the view for each unit of the original.
    pub scale: f64,
    /// From pixels of the view to units of the original.
    pub map: Affine,
    /// What it costs the model it was made for.
    pub tokens: u64,
    /// The detail to state on the wire, so that the provider leaves the size alone.
    #[serde(skip)]
    pub detail: Option<Detail>,
    /// Pages or frames in the source, at least so many.
    pub pages: u32,
    /// Of text: the first and last line that are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// Of text: its rows, from top to bottom.
    #[serde(skip)]
    pub rows: Vec<TextRow>,
    /// The handle by which the original can be looked at again, with a store.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What a reader of it should know.
    pub warnings: Vec<Warning>,
    /// All of this in a few words, to stand before the picture.
    pub label: String,
}

impl Perception {
    pub(crate) fn of(view: View, name: &str, reference: Option<String>) -> Self {
        let label = label(&view, name, reference.as_deref());
        Self {
            media_type: view.media_type,
            width: view.width,
            height: view.height,
            byte_size: view.bytes.len(),
            source_size: view.source,
            region: view.region,
            scale: view.scale,
            map: view.map,
            tokens: view.tokens,
            detail: view.detail,
            pages: view.frames.least(),
            lines: lines(&view.rows),
            unit: view.unit,
            rows: view.rows,
            reference,
            warnings: view.warnings,
            label,
            bytes: view.bytes,
        }
    }
}

/// The first and last line of which a row is shown.
fn lines(rows: &[TextRow]) -> Option<(u32, u32)> {
    let all = rows.iter().map(|row| row.line);
    all.clone().min().zip(all.max())
}

impl fmt::Debug for Perception {
    /// Never the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { media_type, width, height, byte_size, region, .. } = self;
        write!(f, "<{media_type} {width}x{height}, {byte_size} bytes, of {region:?}>")
    }
}

/// What stands before the picture: size, scale, how to get from one to the other, how to zoom.
fn label(view: &View, name: &str, reference: Option<&str>) -> String {
    let (source_width, source_height) = view.source;
    let Rect { x, y, width, height } = view.region;
    let step = 1.0 / view.scale;
    let mut words = vec![format!("{name}: {source_width}x{source_height} {}", view.unit)];
    if (width, height) != view.source {
        words.push(format!(", region {x},{y},{width},{height}"));
    }
    words.extend(lines(&view.rows).map(|(first, last)| format!(", lines {first} to {last}")));
    words.push(format!(", shown as {}x{}, scale {:.3}", view.width, view.height, view.scale));
    if (step - 1.0).abs() > 1e-9 || (x, y) != (0, 0) {
        words.push(format!(": (x, y) here is ({x} + {step:.3}x, {y} + {step:.3}y) there"));
    }
    words.extend(reference.map(|reference| format!("; ref {reference}")));
    words.extend(view.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
    words.concat()
}
