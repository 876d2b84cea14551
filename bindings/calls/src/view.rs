//! Views: one picture as a model would get it.

use photic::profile::{Basis, Profile};
use photic::{Wire, tokens};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::fit::{Caps, Fidelity, Preset};
use photic_pixels::geometry::{Affine, Rect};
use photic_pixels::{Layout, Raster, Refusal, ViewRequest, Warning};
use serde::{Deserialize, Serialize};

use crate::CallError;

/// The options of a view, read from JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewOptions {
    /// The model that gets the view. Without it, sizes are those that every endpoint accepts.
    pub model: Option<String>,
    /// The host that the request is sent to.
    pub host: Option<String>,
    /// The region to show, as x, y, width and height in pixels of the upright source.
    pub region: Option<(u32, u32, u32, u32)>,
    /// A tile of that region, from 1; 0 is the overview.
    pub tile: Option<u32>,
    /// The page or frame, from 1; the first one if `None`.
    pub page: Option<u32>,
    /// The level of detail: `glance`, `read` or `pixel`.
    pub fidelity: Option<String>,
    /// A named set of limits.
    pub preset: Option<String>,
    /// Longest side in pixels.
    pub max_edge: Option<u32>,
    /// Largest number of bytes of the encoded picture.
    pub max_bytes: Option<u64>,
}

/// The source of a view.
#[derive(Clone, Copy, Debug)]
pub enum Pixels<'s> {
    /// The bytes of an image file.
    File(&'s [u8]),
    /// Rows of samples, from the top, without gaps.
    Samples {
        /// The samples, one byte each.
        data: &'s [u8],
        /// The width.
        width: u32,
        /// The height.
        height: u32,
        /// The samples of a pixel: 1 for gray, 3 for RGB, 4 for RGBA.
        channels: u8,
    },
}

/// A view.
#[derive(Clone, Debug)]
pub struct Viewed {
    /// The encoded picture.
    pub bytes: Vec<u8>,
    /// The facts about it, as JSON.
    pub report: String,
}

/// Makes a view. `options` is JSON; an empty text stands for no options.
pub fn view(source: Pixels<'_>, options: &str) -> Result<Viewed, CallError> {
    let options: ViewOptions = if options.is_empty() {
        ViewOptions::default()
    } else {
        serde_json::from_str(options)
            .map_err(|error| CallError::option(format!("cannot read the options: {error}")))?
    };
    let profile = profile(options.model.as_deref(), options.host.as_deref());
    let request = request(&options, &profile)?;
    let encoded;
    let file = match source {
        Pixels::File(file) => file,
        Pixels::Samples { data, width, height, channels } => {
            encoded = as_file(data, (width, height), channels)?;
            &encoded
        }
    };
    let view = photic_pixels::view(file, &request).map_err(refused)?;
    let facts = Facts {
        media_type: view.media_type,
        size: (view.width, view.height),
        bytes: view.bytes.len(),
        source_size: view.source,
        unit: view.unit,
        region: view.region,
        scale: view.scale,
        map: view.map,
        profile: &profile.id,
        tokens: view.tokens,
        basis: profile.basis(),
        detail: view.detail.map(tokens::Detail::name),
        pages: view.frames.least(),
        warnings: view.warnings.iter().map(WarningRow::of).collect(),
    };
    let report = serde_json::to_string(&facts)
        .map_err(|error| CallError::new("internal", error.to_string(), "please report this"))?;
    Ok(Viewed { bytes: view.bytes, report })
}

/// The facts about a view, with the names of `photic view --json`.
#[derive(Serialize)]
struct Facts<'f> {
    media_type: &'f str,
    size: (u32, u32),
    bytes: usize,
    source_size: (u32, u32),
    unit: &'f str,
    region: Rect,
    scale: f64,
    map: Affine,
    profile: &'f str,
    tokens: u64,
    basis: Basis,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'f str>,
    pages: u32,
    warnings: Vec<WarningRow<'f>>,
}

/// A warning with its explanation.
#[derive(Serialize)]
struct WarningRow<'f> {
    #[serde(flatten)]
    warning: &'f Warning,
    message: String,
}

impl<'f> WarningRow<'f> {
    fn of(warning: &'f Warning) -> Self {
        Self { warning, message: warning.to_string() }
    }
}

/// Returns the request that the options describe.
fn request<'p>(options: &ViewOptions, profile: &'p Profile) -> Result<ViewRequest<'p>, CallError> {
    let mut request = ViewRequest::new(profile);
    request.region = options.region.map(|(x, y, width, height)| Rect::new(x, y, width, height));
    request.tile = options.tile;
    request.frame = match options.page {
        Some(0) => return Err(CallError::option("pages are numbered from 1")),
        page => page.unwrap_or(1) - 1,
    };
    if let Some(name) = &options.fidelity {
        request.fidelity = Fidelity::from_name(name).ok_or_else(|| {
            CallError::option(format!(
                "unknown fidelity `{name}`; expected `glance`, `read` or `pixel`"
            ))
        })?;
    }
    let mut caps = Caps::default();
    if let Some(name) = &options.preset {
        let preset = Preset::from_name(name);
        caps = preset.ok_or_else(|| CallError::option(format!("unknown preset `{name}`")))?.caps();
    }
    caps.edge = options.max_edge.or(caps.edge);
    caps.bytes = options.max_bytes.or(caps.bytes);
    request.caps = caps;
    Ok(request)
}

/// Returns the profile of a model on any wire; without a model, one that every endpoint satisfies.
fn profile(model: Option<&str>, host: Option<&str>) -> Profile {
    // A model is best described on its maker's wire; the others are on Chat Completions.
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, host))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::Anthropic))
}

/// Encodes samples without loss.
fn as_file(data: &[u8], (width, height): (u32, u32), channels: u8) -> Result<Vec<u8>, CallError> {
    let layout = match channels {
        1 => Layout::Gray,
        3 => Layout::Rgb,
        4 => Layout::Rgba,
        other => {
            return Err(CallError::new(
                "bad_pixels",
                format!("a pixel has {other} samples"),
                "pass gray (1), RGB (3) or RGBA (4) samples of one byte each",
            ));
        }
    };
    let expected = u64::from(width) * u64::from(height) * u64::from(channels);
    if expected == 0 || expected != data.len() as u64 {
        return Err(CallError::new(
            "bad_pixels",
            format!(
                "{width}x{height} with {channels} samples a pixel are {expected} bytes, not {}",
                data.len()
            ),
            "pass rows from top to bottom without gaps, one byte a sample",
        ));
    }
    let raster = Raster { width, height, layout, data: data.to_vec() };
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    encode(&raster, &options).map(|encoded| encoded.bytes).map_err(|error| refused(error.into()))
}

/// The error for a refusal.
fn refused(refusal: Refusal) -> CallError {
    let code = serde_json::to_value(refusal.code).ok();
    let code = code.as_ref().and_then(|code| code.as_str()).unwrap_or("refused");
    CallError::new(code, refusal.says, refusal.hint)
}
