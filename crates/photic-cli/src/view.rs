//! `photic view`: the picture that a model would get, as a file, and the facts about it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use photic::Wire;
use photic::profile::{Basis, Profile};
use photic_pixels::fit::{Caps, Preset};
use photic_pixels::geometry::Rect;
use photic_pixels::{View, ViewRequest};
use photic_tools::{Content, Refusal, RenderRequest, Tools};
use serde::Serialize;

use crate::arguments::ViewOptions;
use crate::input::{Input, read_bytes};
use crate::read::refused;
use crate::style::{CYAN, DIM, GREEN, YELLOW, grouped};
use crate::{preview, render};

/// Runs the command. Exit code: 0 shown, 1 refused, 2 error.
pub(crate) fn run(options: &ViewOptions) -> anyhow::Result<ExitCode> {
    let input = read_bytes(Some(&options.source), "name a picture: `photic view page.png`")?;
    let profile = profile(options.model.as_deref());
    if let Some(model) = &options.model
        && profile.id == Profile::generic(profile.wire).id
    {
        anstream::eprintln!(
            "{CYAN}note:{CYAN:#} unknown model `{model}`; using sizes that every endpoint accepts"
        );
    }
    let mut request = ViewRequest::new(&profile);
    request.region = options.region;
    request.tile = options.tile;
    request.frame = options.page.map_or(options.frame, |page| page - 1);
    request.fidelity = options.fidelity;
    request.caps = options.preset.map_or_else(Caps::default, Preset::caps);
    let made = match drawn(options, &input, &request) {
        Some(drawn) => drawn,
        None => match options.sheet {
            None => photic_pixels::view(&input.body, &request),
            Some(most) => photic_pixels::sheet(&input.body, &request, most),
        }
        .map_err(Refusal::from),
    };
    let view = match made {
        Ok(view) => view,
        Err(refusal) => return refused(&refusal, options.json),
    };
    if let Some(path) = &options.output {
        std::fs::write(path, &view.bytes)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if options.json {
        as_json(anstream::stdout().lock(), &view, &profile, options.at)?;
    } else {
        preview::draw(&view, options.preview)?;
        as_text(anstream::stdout().lock(), &input.name, &view, &profile)?;
        if let Some(at) = options.at {
            anstream::println!(
                "  {},{}{DIM} is{DIM:#} {}",
                at.0,
                at.1,
                PixelLocation::of(&view, at)
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The profile of a model on any wire; without a model, one that every endpoint satisfies.
pub(crate) fn profile(model: Option<&str>) -> Profile {
    // A model is best described on its maker's wire; the others are on Chat Completions.
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, None))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::Anthropic))
}

/// Draws a document; `None` for pictures.
fn drawn(
    options: &ViewOptions,
    input: &Input,
    request: &ViewRequest<'_>,
) -> Option<Result<View, Refusal>> {
    let head = &input.body[..input.body.len().min(SNIFFED_BYTES)];
    let content = Content::of(head);
    let name = if options.source.as_os_str() == "-" { "" } else { input.name.as_str() };
    let renderer = render::capability().filter(|it| it.renders(content, head, name))?;
    if options.tile.is_some() || options.sheet.is_some() {
        return Some(Err(photic_tools::one_page_at_a_time()));
    }
    let folder = options.source.parent().map(|folder| match folder.as_os_str() {
        nothing if nothing.is_empty() => Path::new("."),
        _ => folder,
    });
    let tools = folder.and_then(|folder| Tools::builder().root(folder).build().ok());
    let file = options.source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let beside = |reference: &str| tools.as_ref()?.beside(file, reference);
    Some(photic_pixels::view_page(request, &mut |longest| {
        renderer.render(&RenderRequest {
            bytes: &input.body,
            content,
            name,
            page: request.frame + 1,
            region: request.region,
            longest,
            beside: &beside,
        })
    }))
}

/// Number of bytes from which the kind of a source is detected.
const SNIFFED_BYTES: usize = 256 << 10;

/// The original's point at a pixel of a view.
#[derive(Serialize)]
struct PixelLocation {
    /// Column of the original.
    x: f64,
    /// Row of the original.
    y: f64,
    /// Line of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Column of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip)]
    unit: &'static str,
}

impl PixelLocation {
    fn of(view: &View, (x, y): (u32, u32)) -> Self {
        // A click means the center of a pixel.
        let (x, y) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
        let (line, column) = view.line_and_column(x, y).unzip();
        let (x, y) = view.map.map_point(x, y);
        Self { x, y, line, column, unit: view.unit }
    }
}

impl std::fmt::Display for PixelLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1},{:.1} {}", self.x, self.y, self.unit)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, ", line {line}, column {column}"),
            _ => Ok(()),
        }
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct ViewReport<'f> {
    media_type: &'f str,
    width: u32,
    height: u32,
    bytes: usize,
    source: (u32, u32),
    unit: &'f str,
    region: Rect,
    scale: f64,
    map: photic_pixels::geometry::Affine,
    profile: &'f str,
    tokens: u64,
    basis: Basis,
    detail: Option<&'f str>,
    /// Smallest possible number of frames.
    frames: u32,
    warnings: &'f [photic_pixels::Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<PixelLocation>,
}

/// Prints the facts as JSON.
fn as_json(
    mut out: impl std::io::Write,
    view: &View,
    profile: &Profile,
    at: Option<(u32, u32)>,
) -> anyhow::Result<()> {
    let facts = ViewReport {
        media_type: view.media_type,
        width: view.width,
        height: view.height,
        bytes: view.bytes.len(),
        source: view.source,
        unit: view.unit,
        region: view.region,
        scale: view.scale,
        map: view.map,
        profile: &profile.id,
        tokens: view.tokens,
        basis: profile.basis(),
        detail: view.detail.map(photic::tokens::Detail::name),
        frames: view.frames.least(),
        warnings: &view.warnings,
        at: at.map(|at| PixelLocation::of(view, at)),
    };
    serde_json::to_writer_pretty(&mut out, &facts)?;
    writeln!(out)?;
    Ok(())
}

/// Prints the facts for people.
fn as_text(
    mut out: impl std::io::Write,
    name: &str,
    view: &View,
    profile: &Profile,
) -> anyhow::Result<()> {
    let (source_width, source_height) = view.source;
    writeln!(out, "{GREEN}{name}{GREEN:#} {source_width}x{source_height} {}", view.unit)?;
    let Rect { x, y, width, height } = view.region;
    if (width, height) != view.source {
        writeln!(out, "  region {x},{y},{width},{height}")?;
    }
    let bytes = grouped(view.bytes.len() as u64);
    writeln!(out, "  view   {}x{} {}, {bytes} bytes", view.width, view.height, view.media_type)?;
    let (origin_x, origin_y) = view.map.map_point(0.0, 0.0);
    let photic_pixels::geometry::Affine { a, d, .. } = view.map;
    let original = if (origin_x, origin_y) == (0.0, 0.0) {
        format!("({a:.3}·x, {d:.3}·y)")
    } else {
        format!("({origin_x:.1} + {a:.3}·x, {origin_y:.1} + {d:.3}·y)")
    };
    writeln!(out, "  scale  {:.3}{DIM}: original pixel = {original}{DIM:#}", view.scale)?;
    let tokens = match profile.basis() {
        Basis::Published => grouped(view.tokens),
        Basis::Assumed => format!("about {}", grouped(view.tokens)),
        Basis::Unknown => {
            let most = profile.most_image_tokens(
                view.width,
                view.height,
                view.detail.or(profile.quirks.detail),
            );
            format!("about {} (model unknown; at most {})", grouped(view.tokens), grouped(most))
        }
    };
    writeln!(out, "  tokens {tokens} {DIM}for `{}`{DIM:#}", profile.id)?;
    for warning in &view.warnings {
        writeln!(out, "{YELLOW}warning:{YELLOW:#} {warning}")?;
    }
    Ok(())
}
