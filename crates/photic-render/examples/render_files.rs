//! Draws files for the benches in `bench/render`, and says what each took.
//!
//! Reads jobs from standard input, one JSON object a line, and answers each with another:
//!
//! ```json
//! {"how": "draw", "kind": "pdf", "source": "a.pdf", "target": "a.png", "page": 1}
//! ```
//!
//! `how` is `draw` (in this process), `worker` (in a child), or `bare`: the library alone, at the
//! `scale`, `width` and `height` that a `draw` answered with. Without a `target` nothing is
//! written. Times are of the drawing alone, neither of reading nor of writing files.

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use photic_render::{Area, Fit, Kind, Page, Request, Theme, Worker, draw};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use serde::Deserialize;
use serde_json::json;

type Failed = Box<dyn Error>;

#[derive(Deserialize)]
struct Job {
    how: Method,
    kind: Kind,
    source: String,
    target: Option<String>,
    name: Option<String>,
    page: Option<u32>,
    region: Option<Area>,
    longest: Option<u32>,
    scale: Option<f64>,
    width: Option<u32>,
    height: Option<u32>,
    #[serde(default)]
    theme: Theme,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Method {
    Draw,
    Worker,
    Bare,
}

fn main() -> Result<(), Failed> {
    for line in stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let bytes = std::fs::read(&job.source)?;
        let answer = match job.how {
            Method::Draw | Method::Worker => ours(&job, &bytes)?,
            Method::Bare => bare(&job, &bytes)?,
        };
        writeln!(stdout(), "{answer}")?;
        stdout().flush()?;
    }
    Ok(())
}

fn ours(job: &Job, bytes: &[u8]) -> Result<serde_json::Value, Failed> {
    let mut request = Request::new(bytes, job.kind);
    request.wanted.page = job.page.unwrap_or(1);
    request.wanted.region = job.region;
    request.wanted.theme = job.theme;
    request.wanted.name.clone_from(&job.name);
    request.wanted.fit = match (job.longest, job.scale) {
        (Some(pixels), _) => Fit::Longest(pixels),
        (None, Some(scale)) => Fit::Scale(scale),
        (None, None) => Fit::Usual,
    };
    let worker = Worker::new(std::env::current_exe()?.with_file_name("render_worker"), Vec::new());
    let clock = Clock::start();
    let drawn = if job.how == Method::Draw { draw(&request) } else { worker.draw(&request) };
    let (cpu, wall) = clock.stop();
    let Page { raster, to_page, facts } = match drawn {
        Ok(page) => page,
        Err(refusal) => return Ok(json!({ "refused": refusal })),
    };
    save(job, &raster)?;
    let (width, height, scale) = (raster.width, raster.height, 1.0 / to_page.a);
    Ok(json!({
        "cpu": cpu, "wall": wall, "width": width, "height": height, "scale": scale, "facts": facts,
    }))
}

/// The library as its own example calls it.
fn bare(job: &Job, bytes: &[u8]) -> Result<serde_json::Value, Failed> {
    let size = (job.width.ok_or("no width")?, job.height.ok_or("no height")?);
    let scale = job.scale.ok_or("no scale")? as f32;
    let fonts = fonts()?;
    let clock = Clock::start();
    let (size, pixels) = match job.kind {
        Kind::Svg => bare_svg(bytes, scale, size, fonts)?,
        Kind::Pdf => bare_pdf(bytes, scale, job.page.unwrap_or(1))?,
        _ => return Err("no library draws this kind".into()),
    };
    let (cpu, wall) = clock.stop();
    if job.target.is_some() {
        save(job, &straight(size, pixels))?;
    }
    let (width, height) = size;
    Ok(json!({ "cpu": cpu, "wall": wall, "width": width, "height": height }))
}

/// Size, and premultiplied pixels.
type Bare = ((u32, u32), Vec<u8>);

fn bare_svg(
    bytes: &[u8],
    scale: f32,
    size: (u32, u32),
    fonts: Vec<Arc<Vec<u8>>>,
) -> Result<Bare, Failed> {
    let mut database = fontdb::Database::new();
    for file in fonts {
        database.load_font_source(fontdb::Source::Binary(file));
    }
    database.set_serif_family("DejaVu Serif");
    database.set_sans_serif_family("DejaVu Sans");
    database.set_monospace_family("DejaVu Sans Mono");
    let fontdb = Arc::new(database);
    let options = Options { fontdb, font_family: "DejaVu Serif".into(), ..Options::default() };
    let tree = Tree::from_data(bytes, &options)?;
    let mut canvas = Pixmap::new(size.0, size.1).ok_or("no canvas")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut canvas.as_mut());
    Ok((size, canvas.take()))
}

fn bare_pdf(bytes: &[u8], scale: f32, page: u32) -> Result<Bare, Failed> {
    let document = Pdf::new(bytes.to_vec()).map_err(|error| format!("{error:?}"))?;
    let page = document.pages().get(page as usize - 1).ok_or("no such page")?;
    let canvas = hayro::render(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE },
    );
    let size = (u32::from(canvas.width()), u32::from(canvas.height()));
    Ok((size, canvas.data_as_u8_slice().to_vec()))
}

/// The crate's own fonts, which are built into it.
fn fonts() -> Result<Vec<Arc<Vec<u8>>>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fonts");
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<Result<Vec<_>, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "ttf"));
    files.sort();
    files.iter().map(|file| Ok(Arc::new(std::fs::read(file)?))).collect()
}

/// Premultiplied pixels as a raster.
fn straight((width, height): (u32, u32), mut data: Vec<u8>) -> Raster {
    for pixel in data.chunks_exact_mut(4) {
        let alpha = u32::from(pixel[3]);
        for sample in &mut pixel[..3] {
            let straight = (u32::from(*sample) * 255 + alpha / 2).checked_div(alpha);
            *sample = straight.unwrap_or(0).min(255) as u8;
        }
    }
    Raster { width, height, layout: Layout::Rgba, data }
}

fn save(job: &Job, raster: &Raster) -> Result<(), Failed> {
    let Some(target) = &job.target else { return Ok(()) };
    let lossless =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    let encoded = encode(raster, &lossless).map_err(|no_fit| no_fit.refusal.says)?;
    Ok(std::fs::write(target, encoded.bytes)?)
}

/// Time of this process, and of the wall, in milliseconds.
struct Clock {
    cpu: f64,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { cpu: cpu(), wall: Instant::now() }
    }

    fn stop(&self) -> (f64, f64) {
        (cpu() - self.cpu, self.wall.elapsed().as_secs_f64() * 1e3)
    }
}

#[cfg(unix)]
fn cpu() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

/// Elsewhere the wall has to do.
#[cfg(not(unix))]
fn cpu() -> f64 {
    0.0
}
