//! A decoder asks its meter before it uses memory, and for no less than it uses. The test compares
//! with the resident set of a separate process, for sound, hostile and damaged files of every
//! format.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use photic::{Profile, Wire};
use photic_pixels::{DecodeLimits, Meter, RefusalCode, ViewRequest, view};

use super::make::{colors, jpeg};

const ASKED: &str = "PHOTIC_ANNOUNCED";
/// The file's own copies, tables of the decoders, and what the allocator rounds up to, in KiB.
const SLACK: u64 = 8 << 10;

/// Lends everything, and remembers the most.
#[derive(Debug, Default)]
struct Lender {
    most: AtomicU64,
    unwanted: AtomicBool,
}

impl Meter for Lender {
    fn hold(&self, bytes: u64) -> bool {
        self.most.fetch_max(bytes, Ordering::Relaxed);
        true
    }

    fn is_wanted(&self) -> bool {
        !self.unwanted.load(Ordering::Relaxed)
    }
}

fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |line: &str| line.strip_prefix(key)?.split_whitespace().next()?.parse().ok();
    text.lines().find_map(value).unwrap_or(0)
}

/// An animated GIF whose frames are taken back: what stood there before has to be kept.
fn gif((width, height): (u16, u16)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder =
        gif::Encoder::new(&mut out, width, height, &[0, 0, 0, 255, 255, 255]).unwrap();
    for index in 0..2 {
        let frame = gif::Frame {
            width,
            height,
            dispose: gif::DisposalMethod::Previous,
            buffer: vec![index; usize::from(width) * usize::from(height)].into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    out
}

fn tiff((width, height): (u32, u32)) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    let data = colors((width, height));
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut out).unwrap();
    encoder.write_image::<tiff::encoder::colortype::RGB8>(width, height, &data).unwrap();
    out.into_inner()
}

fn files() -> Vec<(String, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("bad");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    // Each header damaged in a few places, the same every time.
    let mut seed = 7_u32;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % limit
    };
    for at in 0..files.len() {
        for round in 0..3 {
            let (name, mut bytes) = files[at].clone();
            for _ in 0..2 {
                let length = bytes.len().min(96);
                if length > 0 {
                    bytes[below(length)] = below(256) as u8;
                }
            }
            files.push((format!("{name}, damaged {round}"), bytes));
        }
    }
    files.push(("a large GIF".to_owned(), gif((4000, 3500))));
    files.push(("a large TIFF".to_owned(), tiff((3000, 2500))));
    files.push(("a large JPEG".to_owned(), jpeg((3000, 2500), &colors((3000, 2500)))));
    files
}

/// The other side; does nothing in a plain run.
#[test]
fn child() {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let profile = Profile::generic(Wire::Anthropic);
    let _ = view(&jpeg((64, 64), &colors((64, 64))), &ViewRequest::new(&profile));
    for (name, bytes) in files() {
        let lender = Lender::default();
        let limits = DecodeLimits { meter: Some(&lender), ..DecodeLimits::default() };
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let before = status("VmRSS:");
        let _ = view(&bytes, &ViewRequest { limits, ..ViewRequest::new(&profile) });
        let used = status("VmHWM:").saturating_sub(before);
        let asked = lender.most.into_inner() >> 10;
        if used > asked + SLACK {
            println!("\nMORE {name}: asked for {asked} kB, used {used}");
        }
    }
    println!("\nALL");
}

#[test]
fn no_more_memory_is_used_than_was_asked_for() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "decode::announced::child", "--nocapture"])
        .env(ASKED, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\nALL"), "{text} {}", String::from_utf8_lossy(&output.stderr));
    let more: Vec<&str> = text.lines().filter(|line| line.starts_with("MORE")).collect();
    assert!(more.is_empty(), "{}", more.join("\n"));
}

#[test]
fn work_that_nobody_wants_ends_with_a_refusal() {
    let profile = Profile::generic(Wire::Anthropic);
    let lender = Lender { unwanted: AtomicBool::new(true), ..Lender::default() };
    let limits = DecodeLimits { meter: Some(&lender), ..DecodeLimits::default() };
    for bytes in [jpeg((64, 64), &colors((64, 64))), gif((64, 64)), tiff((64, 64))] {
        let refused = view(&bytes, &ViewRequest { limits, ..ViewRequest::new(&profile) });
        assert_eq!(refused.unwrap_err().code, RefusalCode::TooLarge);
    }
}
