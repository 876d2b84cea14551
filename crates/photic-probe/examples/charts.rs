//! Draws charts that no model was trained on: `charts SEED FOLDER` writes pictures and
//! `charts.json`, which tells what each shows and what to ask about it. The end-to-end suite reads
//! them back through a real model.

use std::fmt::Write as _;
use std::path::Path;

use photic_pixels::Raster;
use photic_pixels::chart::{Chart, Code};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_probe::Task;

const QUADRANTS: &str = "Name the color of each quadrant.";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(seed), Some(folder)) = (words.next(), words.next()) else {
        return Err("usage: charts SEED FOLDER".into());
    };
    let (seed, folder) = (seed.parse::<u64>()?, Path::new(&folder));
    std::fs::create_dir_all(folder)?;
    let mut told = String::new();
    let mut number = 0;
    let mut keep = |kind: &str, raster: &Raster, question: &str, shows: &str| {
        let options = EncodeOptions {
            accepts: &["image/png"],
            prefer: Prefer::Lossless,
            ..Default::default()
        };
        // Names that tell nothing.
        let file = format!("chart-{number}.png");
        number += 1;
        let bytes = encode(raster, &options).map_err(|refusal| format!("{refusal:?}"))?.bytes;
        std::fs::write(folder.join(&file), bytes).map_err(|error| error.to_string())?;
        let comma = if told.is_empty() { "" } else { ",\n" };
        // No word among these needs to be escaped.
        write!(
            told,
            r#"{comma}{{"file":"{file}","kind":"{kind}","question":"{question}","shows":"{shows}"}}"#
        )
        .map_err(|error| error.to_string())
    };
    for index in 0..200 {
        // Seeds far apart, so that two runs share no chart.
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(index);
        let quads = Chart::grid(seed, 2, 2);
        keep("quads", &quads.draw(512, 512), QUADRANTS, &quads.words())?;
        let grid = Chart::grid(seed, 4, 4);
        keep(
            "grids",
            &grid.draw(512, 512),
            &Task::Grid { rows: 4, columns: 4 }.question(),
            &grid.words(),
        )?;
        let code = Code::of(seed, 6);
        keep("codes", &code.draw(512, 512), &Task::Code { length: 6 }.question(), code.text())?;
        if index < 24 {
            let large = Chart::grid(!seed, 2, 2);
            let raster = grainy(large.draw(1600, 1200), seed);
            keep("large", &raster, QUADRANTS, &large.words())?;
        }
    }
    std::fs::write(folder.join("charts.json"), format!("[{told}]\n"))?;
    Ok(())
}

/// As a camera would: what is plain compresses to nothing, and proves nothing about size.
fn grainy(mut raster: Raster, seed: u64) -> Raster {
    let mut state = seed | 1;
    for value in &mut raster.data {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *value = value.saturating_add((state % 9) as u8).saturating_sub(4);
    }
    raster
}
