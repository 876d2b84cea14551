//! One view of one file, for benches and for trying things out:
//! `view_once FILE OUT [--region X,Y,W,H] [--tile N] [--fidelity F] [--profile ID] [--preset P]`.
//!
//! Writes the view to OUT and its facts as `key=value` lines to standard output.

use std::io::Write;
use std::process::ExitCode;

use photic::Profile;
use photic_pixels::fit::{Fidelity, Preset};
use photic_pixels::geometry::Rect;
use photic_pixels::{View, ViewRequest, view};

type Problem = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Problem> {
    let mut args = std::env::args().skip(1);
    let usage = || Problem::from("usage: view_once FILE OUT [options]");
    let (file, out) = (args.next().ok_or_else(usage)?, args.next().ok_or_else(usage)?);
    let mut profile = Profile::by_id("claude@anthropic").ok_or("no default profile")?;
    let mut request = (None, None, Fidelity::Read, None);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(usage)?;
        match flag.as_str() {
            "--region" => request.0 = Some(region(&value)?),
            "--tile" => request.1 = Some(value.parse()?),
            "--fidelity" => request.2 = Fidelity::from_name(&value).ok_or("no such fidelity")?,
            "--preset" => request.3 = Some(Preset::from_name(&value).ok_or("no such preset")?),
            "--profile" => profile = Profile::by_id(&value).ok_or("no such profile")?,
            _ => return Err(usage()),
        }
    }
    let (region, tile, fidelity, preset) = request;
    let caps = preset.map(Preset::caps).unwrap_or_default();
    let request = ViewRequest { region, tile, fidelity, caps, ..ViewRequest::new(&profile) };
    match view(&std::fs::read(file)?, &request) {
        Ok(view) => {
            std::fs::write(out, &view.bytes)?;
            facts(&view)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(refusal) => {
            writeln!(std::io::stdout(), "refused={}\nhint={}", refusal.says, refusal.hint)?;
            Ok(ExitCode::from(1))
        }
    }
}

fn region(text: &str) -> Result<Rect, Problem> {
    let numbers: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
    match numbers[..] {
        [x, y, width, height] => Ok(Rect::new(x, y, width, height)),
        _ => Err("a region is X,Y,W,H".into()),
    }
}

fn facts(view: &View) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "type={}\nwidth={}\nheight={}", view.media_type, view.width, view.height)?;
    writeln!(out, "source={}x{}\nscale={:.4}", view.source.0, view.source.1, view.scale)?;
    writeln!(out, "tokens={}\nbytes={}", view.tokens, view.bytes.len())?;
    for warning in &view.warnings {
        writeln!(out, "warning={warning}")?;
    }
    Ok(())
}
