//! A large PNG is never held at full size: measured in a process of its own, as in `hostile`.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use photic_pixels::decode::{self, DecodeOptions};
use photic_pixels::{DecodeLimits, header};

use super::make::chunk;

const FILE: &str = "PHOTIC_LARGE_FILE";
const SIZE: (u32, u32) = (8000, 6000);

fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|line| {
            line.strip_prefix(key)?.trim_matches([':', '\t', ' ', 'k', 'B']).parse().ok()
        })
        .unwrap_or(0)
}

/// 48 megapixels of stripes: one row, and all others the same as the one above.
fn large() -> Vec<u8> {
    let row: Vec<u8> =
        std::iter::once(0).chain((0..SIZE.0 * 3).map(|n| (n / 40 % 200) as u8)).collect();
    let mut head = [SIZE.0.to_be_bytes(), SIZE.1.to_be_bytes()].concat();
    head.extend([8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    out.extend(chunk(b"IHDR", &head));
    let mut packer = fdeflate::Compressor::new(Vec::new()).unwrap();
    packer.write_data(&row).unwrap();
    let mut same = vec![0; row.len()];
    same[0] = 2;
    for _ in 1..SIZE.1 {
        packer.write_data(&same).unwrap();
    }
    out.extend(chunk(b"IDAT", &packer.finish().unwrap()));
    out.extend(chunk(b"IEND", &[]));
    out
}

/// The other side; does nothing in a plain run.
#[test]
fn child() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let bytes = std::fs::read(path).unwrap();
    let before = status("VmRSS");
    let header = header::probe(&bytes).unwrap();
    let wanted = DecodeOptions { at_most: Some((1568, 1176)), ..DecodeOptions::default() };
    // Memory is what is measured here; a busy machine may take its time.
    let limits = DecodeLimits { time: Duration::from_mins(2), ..DecodeLimits::default() };
    let got = decode::decode(&bytes, &header, &limits, wanted).unwrap();
    assert_eq!((got.raster.width, got.raster.height), (4000, 3000));
    println!("\nLARGE {}", status("VmHWM").saturating_sub(before));
}

#[test]
fn a_48_megapixel_png_on_its_way_down_stays_small() {
    let path = std::env::temp_dir().join(format!("photic-large-{}.png", std::process::id()));
    std::fs::File::create(&path).unwrap().write_all(&large()).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "decode::memory::child", "--nocapture"])
        .env(FILE, &path)
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text} {}", String::from_utf8_lossy(&output.stderr));
    let added: u64 =
        text.lines().find_map(|line| line.strip_prefix("LARGE ")?.parse().ok()).unwrap();
    assert!(added < 60 << 10, "{added} kB");
}
