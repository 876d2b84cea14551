//! `photic view`: the picture a model would get, as a file, and the facts about it.

use std::process::ExitCode;

use anyhow::Context as _;
use photic::Wire;
use photic::profile::Profile;
use photic_pixels::fit::{Caps, Preset};
use photic_pixels::geometry::Rect;
use photic_pixels::{Refusal, View, ViewRequest};
use serde::Serialize;

use crate::arguments::ViewOptions;
use crate::input::read_bytes;
use crate::preview;
use crate::style::{CYAN, DIM, GREEN, RED, YELLOW, grouped};

/// 0 a view, 1 a refusal, 2 error or misuse.
pub(crate) fn run(options: &ViewOptions) -> anyhow::Result<ExitCode> {
    let input = read_bytes(Some(&options.source), "name a picture: `photic view page.png`")?;
    let profile = profile(options.model.as_deref());
    if let Some(model) = &options.model
        && profile.id == Profile::generic(profile.wire).id
    {
        anstream::eprintln!(
            "{CYAN}note:{CYAN:#} nothing is known about `{model}`; this is what every endpoint takes"
        );
    }
    let mut request = ViewRequest::new(&profile);
    request.region = options.region;
    request.tile = options.tile;
    request.frame = options.frame;
    request.fidelity = options.fidelity;
    request.caps = options.preset.map_or_else(Caps::default, Preset::caps);
    let made = match options.sheet {
        None => photic_pixels::view(&input.body, &request),
        Some(most) => photic_pixels::sheet(&input.body, &request, most),
    };
    let view = match made {
        Ok(view) => view,
        Err(refusal) => return refuse(options, &refusal),
    };
    if let Some(path) = &options.output {
        std::fs::write(path, &view.bytes)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if options.json {
        as_json(anstream::stdout().lock(), &view, &profile)?;
    } else {
        preview::draw(&view, options.preview)?;
        as_text(anstream::stdout().lock(), &input.name, &view, &profile)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The facts about the model, whatever wire it speaks; without one, what every endpoint takes.
pub(crate) fn profile(model: Option<&str>) -> Profile {
    // A model is best described on the wire of its own maker; chat is where everybody else speaks.
    [Wire::Anthropic, Wire::OpenAiResponses, Wire::OpenAiChat]
        .into_iter()
        .map(|wire| photic::profile::resolve(wire, model, None))
        .find(|profile| profile.id != Profile::generic(profile.wire).id)
        .unwrap_or_else(|| Profile::generic(Wire::Anthropic))
}

fn refuse(options: &ViewOptions, refusal: &Refusal) -> anyhow::Result<ExitCode> {
    if options.json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &serde_json::json!({ "refusal": refusal }))?;
        std::io::Write::write_all(&mut out, b"\n")?;
    } else {
        anstream::eprintln!(
            "{RED}refused:{RED:#} {}\n\n{CYAN}hint:{CYAN:#} {}",
            refusal.says,
            refusal.hint
        );
    }
    Ok(ExitCode::from(1))
}

#[derive(Serialize)]
struct Facts<'f> {
    media_type: &'f str,
    width: u32,
    height: u32,
    bytes: usize,
    source: (u32, u32),
    region: Rect,
    scale: f64,
    map: photic_pixels::geometry::Affine,
    profile: &'f str,
    tokens: u64,
    detail: Option<&'f str>,
    /// At least so many.
    frames: u32,
    warnings: &'f [photic_pixels::Warning],
}

fn as_json(mut out: impl std::io::Write, view: &View, profile: &Profile) -> anyhow::Result<()> {
    let facts = Facts {
        media_type: view.media_type,
        width: view.width,
        height: view.height,
        bytes: view.bytes.len(),
        source: view.source,
        region: view.region,
        scale: view.scale,
        map: view.map,
        profile: &profile.id,
        tokens: view.tokens,
        detail: view.detail.map(photic::tokens::Detail::name),
        frames: view.frames.least(),
        warnings: &view.warnings,
    };
    serde_json::to_writer_pretty(&mut out, &facts)?;
    writeln!(out)?;
    Ok(())
}

fn as_text(
    mut out: impl std::io::Write,
    name: &str,
    view: &View,
    profile: &Profile,
) -> anyhow::Result<()> {
    let (source_width, source_height) = view.source;
    writeln!(out, "{GREEN}{name}{GREEN:#} {source_width}x{source_height}")?;
    let Rect { x, y, width, height } = view.region;
    if (width, height) != view.source {
        writeln!(out, "  region {x},{y},{width},{height}")?;
    }
    let bytes = grouped(view.bytes.len() as u64);
    writeln!(out, "  view   {}x{} {}, {bytes} bytes", view.width, view.height, view.media_type)?;
    let (origin_x, origin_y) = view.map.map_point(0.0, 0.0);
    let step = 1.0 / view.scale;
    writeln!(
        out,
        "  scale  {:.3}{DIM}: the view's (x, y) is the source's ({origin_x:.1} + {step:.3}x, {origin_y:.1} + {step:.3}y){DIM:#}",
        view.scale
    )?;
    writeln!(out, "  tokens {} {DIM}for `{}`{DIM:#}", grouped(view.tokens), profile.id)?;
    for warning in &view.warnings {
        writeln!(out, "{YELLOW}warning:{YELLOW:#} {warning}")?;
    }
    Ok(())
}
