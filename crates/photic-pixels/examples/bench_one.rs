//! One image job of the speed bench, with the CPU time it took.
//!
//! `bench_one JOB IN OUT` runs once. Without arguments it reads such lines from standard input,
//! as a worker that lives through a whole bench. Each job prints `CPU_MS BYTES WIDTH HEIGHT TYPE`.
//! Jobs: `jpeg` (quality 75), `png`, `cap` (500 KiB, as seed 003), `raw` (decode and resize only).

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use photic_pixels::encode::{EncodeOptions, Encoded, Prefer, encode};
use photic_pixels::{DecodeLimits, Raster, Refusal, decode, header, resize};
use rustix::time::{ClockId, clock_gettime};

/// The command's own: pictures are large, and with the system's a fifth of the time goes into pages
/// that are taken and given back for each of them.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The longest edge of seed 003.
const EDGE: u32 = 1568;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.is_empty() {
        return job(&args);
    }
    for line in stdin().lock().lines() {
        job(&line?.split_whitespace().map(str::to_owned).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn job(args: &[String]) -> Result<(), Box<dyn Error>> {
    let [job, source, target] = args else { return Err("usage: bench_one JOB IN OUT".into()) };
    let bytes = std::fs::read(source)?;
    let start = cpu_ms();
    let raster = fitted(&bytes).map_err(|refusal| refusal.says)?;
    let encoded = encoded(&raster, job)?;
    let took = cpu_ms() - start;
    std::fs::write(target, &encoded.bytes)?;
    let Raster { width, height, .. } = raster;
    let (length, media_type) = (encoded.bytes.len(), encoded.media_type);
    writeln!(stdout(), "{took:.2} {length} {width} {height} {media_type}")?;
    stdout().flush()?;
    Ok(())
}

fn fitted(bytes: &[u8]) -> Result<Raster, Refusal> {
    let header = header::probe(bytes)?;
    let scale = (f64::from(EDGE) / f64::from(header.width.max(header.height))).min(1.0);
    let edge = |edge: u32| (f64::from(edge) * scale).round().max(1.0) as u32;
    let size = (edge(header.width), edge(header.height));
    let wanted = decode::DecodeOptions { at_most: Some(size), ..decode::DecodeOptions::default() };
    let decoded = decode::decode(bytes, &header, &DecodeLimits::default(), wanted)?;
    if (decoded.raster.width, decoded.raster.height) == size {
        return Ok(decoded.raster);
    }
    resize::resize_window(&decoded.raster, &decoded.window, size)
}

fn encoded(raster: &Raster, job: &str) -> Result<Encoded, Box<dyn Error>> {
    let all: &[&str] = &["image/png", "image/jpeg", "image/webp"];
    let usual = EncodeOptions::default();
    let options = match job {
        "jpeg" => EncodeOptions {
            accepts: &["image/jpeg"],
            prefer: Prefer::Photo,
            quality: Some(75),
            ..usual
        },
        "png" => EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..usual },
        "cap" => EncodeOptions { accepts: all, cap: Some(500 << 10), ..usual },
        "raw" => {
            let (bytes, media_type) = (Vec::new(), "none");
            return Ok(Encoded { bytes, media_type, quality: None, lossless: true });
        }
        other => return Err(format!("no job `{other}`").into()),
    };
    encode(raster, &options).map_err(|no_fit| no_fit.refusal.says.into())
}

/// User and system time of the whole process.
fn cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}
