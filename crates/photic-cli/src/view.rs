//! `photic view`: the picture that a model would get, as a file, and the facts about it.

mod file_type;
mod picture;
mod report;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use photic_pixels::fit::{Caps, Preset};
use photic_pixels::{DecodeLimits, View, ViewRequest};
use photic_tools::{Content, Refusal, RefusalCode, RenderRequest, Tools};

use crate::arguments::ViewOptions;
use crate::model::{print_notes, profile_on_any_wire};
use crate::output::{is_standard_output, write_to};
use crate::read::refused;
use crate::style::{DIM, Hint};
use crate::{preview, render};
use picture::Picture;
use report::PixelLocation;

/// Runs the command. Exit code: 0 shown, 1 refused, 2 error.
pub(crate) fn run(options: &ViewOptions) -> anyhow::Result<ExitCode> {
    if options.json && options.output.as_deref().is_some_and(is_standard_output) {
        let hint = Hint("write the picture to a file, or leave out `--json`");
        bail!(
            anyhow::anyhow!("the picture and its facts cannot both go to standard output")
                .context(hint)
        );
    }
    let picture = Picture::read(options)?;
    let model = options.model.as_deref().or(picture.model.as_deref());
    let mut profile = match picture.wire.filter(|_| options.model.is_none()) {
        Some(wire) => photic::profile::resolve(wire, model, None),
        None => profile_on_any_wire(model),
    };
    if let Some(model) = model {
        print_notes(model, &profile);
    }
    file_type::restrict(&mut profile, options.output.as_deref())?;
    let mut request = ViewRequest::new(&profile);
    request.region = options.region;
    request.tile = options.tile;
    request.frame = options.page - 1;
    request.fidelity = options.fidelity;
    request.caps = options.preset.map_or_else(Caps::default, Preset::caps);
    request.limits = limits(options.max_megapixels);
    let made = match drawn(options, &picture, &request) {
        Some(drawn) => drawn,
        None => match options.sheet {
            None => photic_pixels::view(&picture.bytes, &request),
            Some(most) => photic_pixels::sheet(&picture.bytes, &request, most),
        }
        .map_err(Refusal::from),
    };
    let view = match made {
        Ok(view) => view,
        Err(refusal) => return refused(&with_flag(refusal, &picture, options), options.json),
    };
    if let Some(path) = &options.output {
        write_to(path, &view.bytes)?;
    }
    if options.output.as_deref().is_some_and(is_standard_output) {
        report::as_text(anstream::stderr().lock(), &picture.name, &view, &profile)?;
    } else if options.json {
        report::as_json(anstream::stdout().lock(), &view, &profile, options.at)?;
    } else {
        preview::draw(&view, options.preview)?;
        report::as_text(anstream::stdout().lock(), &picture.name, &view, &profile)?;
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

/// Limits for a file that the user named: more pixels need more memory and time. The file is in
/// memory already, so its length is no limit.
fn limits(megapixels: u32) -> DecodeLimits<'static> {
    let usual = DecodeLimits::default();
    let pixels = u64::from(megapixels) * 1_000_000;
    let seconds = pixels.div_ceil(usual.pixels / usual.time.as_secs().max(1));
    DecodeLimits {
        file_bytes: usize::MAX,
        pixels,
        memory: usual.memory.max(pixels * BYTES_PER_PIXEL),
        time: usual.time.max(Duration::from_secs(seconds)),
        ..usual
    }
}

/// Bytes that the greediest decoder holds for a pixel.
const BYTES_PER_PIXEL: u64 = 16;

/// Names the option that raises the limit on pixels, if that is why the picture was refused.
fn with_flag(mut refusal: Refusal, picture: &Picture, options: &ViewOptions) -> Refusal {
    let header = photic_pixels::header::probe(&picture.bytes);
    let needed = header.map_or(0, |header| header.pixels().div_ceil(1_000_000));
    if refusal.code == RefusalCode::TooLarge && needed > u64::from(options.max_megapixels) {
        refusal.hint = format!("{}; the option is `--max-megapixels {needed}`", refusal.hint);
    }
    refusal
}

/// Draws a document; `None` for pictures.
fn drawn(
    options: &ViewOptions,
    picture: &Picture,
    request: &ViewRequest<'_>,
) -> Option<Result<View, Refusal>> {
    let head = &picture.bytes[..picture.bytes.len().min(SNIFFED_BYTES)];
    let content = Content::of(head);
    let name = picture.file_name.as_str();
    let renderer = render::capability().filter(|it| it.renders(content, head, name))?;
    if options.tile.is_some() || options.sheet.is_some() {
        return Some(Err(photic_tools::one_page_at_a_time()));
    }
    let folder = picture.folder.as_deref();
    let tools = folder.and_then(|folder| Tools::builder().root(folder).build().ok());
    let beside = |reference: &str| tools.as_ref()?.beside(name, reference);
    Some(photic_pixels::view_page(request, &mut |longest| {
        renderer.render(&RenderRequest {
            bytes: &picture.bytes,
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
