//! Perceptions: the pixels a model gets, and facts about them.
//!
//! A perception has no freshness token and cannot create one: seeing is not reading.

use std::fmt;

use photic::tokens::Detail;
use photic_pixels::geometry::{Affine, Rect, TextRow};
use photic_pixels::{View, Warning};
use serde::Serialize;

/// A source as a model sees it. Serialization contains everything but the bytes.
#[derive(Clone, PartialEq, Serialize)]
pub struct Perception {
    /// The file to send. It is never serialized or logged.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Its media type, detected from the bytes.
    pub media_type: &'static str,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Its size in bytes.
    pub byte_size: usize,
    /// Width and height of the upright original, or of the drawn page.
    pub source_size: (u32, u32),
    /// Unit of the original's size: `px`, or `pt` for pages.
    pub unit: &'static str,
    /// The part of the original that is shown.
    pub region: Rect,
    /// Pixels of the view per unit of the original.
    pub scale: f64,
    /// Map from pixels of the view to units of the original.
    pub map: Affine,
    /// Tokens for the model it was made for.
    pub tokens: u64,
    /// The `detail` to send, so that the provider keeps the size.
    #[serde(skip)]
    pub detail: Option<Detail>,
    /// Number of pages or frames, at least.
    pub pages: u32,
    /// First and last line shown, for text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// Rows from top to bottom, for text.
    #[serde(skip)]
    pub rows: Vec<TextRow>,
    /// Handle for looking at the original again, if there is a store.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Warnings for the reader.
    pub warnings: Vec<Warning>,
    /// Summary to put before the picture.
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

/// Returns the first and last line with a visible row.
fn lines(rows: &[TextRow]) -> Option<(u32, u32)> {
    let all = rows.iter().map(|row| row.line);
    all.clone().min().zip(all.max())
}

impl fmt::Debug for Perception {
    /// Never shows the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { media_type, width, height, byte_size, region, .. } = self;
        write!(f, "<{media_type} {width}x{height}, {byte_size} bytes, of {region:?}>")
    }
}

/// Writes the summary: size, scale, coordinates, zoom.
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
