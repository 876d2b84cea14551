//! Every file of `bad/` gives its verdict, quickly, in little memory, and without a panic.
//!
//! Each file is opened in a process of its own: this test binary, started again. Time is the CPU
//! time of the thread that decodes (`/proc/thread-self/schedstat`); memory is how far the resident
//! set's high-water mark (`VmHWM`, reset before) rises above what was resident before.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its data has failed"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use photic_pixels::decode::{self, DecodeOptions};
use photic_pixels::{DecodeLimits, Refusal, header};

const FILE: &str = "PHOTIC_HOSTILE_FILE";
const CPU_MS_MOST: u64 = 200;
const MEMORY_KB_MOST: u64 = 64 << 10;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bad")
}

fn expected() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(corpus().join("expect.toml")).unwrap();
    text.lines()
        .filter(|line| line.starts_with('"'))
        .map(|line| {
            let (name, verdict) = line.split_once(" = ").unwrap();
            (name.trim_matches('"').to_owned(), verdict.trim_matches('"').to_owned())
        })
        .collect()
}

fn open(bytes: &[u8]) -> Result<(), Refusal> {
    let header = header::probe(bytes)?;
    let decoded =
        decode::decode(bytes, &header, &DecodeLimits::default(), DecodeOptions::default())?;
    let size = (decoded.raster.width, decoded.raster.height);
    assert_eq!(size, (header.width, header.height));
    assert!(!decode::into_opaque(decoded.raster).data.is_empty());
    Ok(())
}

fn verdict(result: &Result<(), Refusal>) -> String {
    match result {
        Ok(()) => "opens".to_owned(),
        Err(refusal) => {
            assert!(!refusal.says.is_empty() && !refusal.hint.is_empty());
            serde_json_word(refusal)
        }
    }
}

/// The code as it is written on the wire.
fn serde_json_word(refusal: &Refusal) -> String {
    let debug = format!("{:?}", refusal.code);
    let mut word = String::new();
    for (at, letter) in debug.char_indices() {
        if letter.is_uppercase() && at > 0 {
            word.push('_');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|line| {
            line.strip_prefix(key)?.trim_start_matches(':').split_whitespace().next()?.parse().ok()
        })
        .unwrap_or(0)
}

fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The other side: opens one file and prints what it cost. Does nothing in a plain run.
#[test]
fn child() {
    let Some(name) = std::env::var_os(FILE) else { return };
    let bytes = std::fs::read(corpus().join(name)).unwrap();
    // Code and tables are paged in on a good file first: they are not the bad file's cost.
    let _ = open(&std::fs::read(corpus().join("label-png-as.jpg")).unwrap());
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (memory, cpu) = (status("VmRSS"), cpu_ns());
    let result = open(&bytes);
    let (cpu, memory) = (cpu_ns() - cpu, status("VmHWM").saturating_sub(memory));
    let says = result.as_ref().err().map_or("", |refusal| refusal.says.as_str());
    println!("\nHOSTILE {} {} {memory} {says}", verdict(&result), cpu / 1000);
}

struct Cost {
    verdict: String,
    cpu_us: u64,
    memory_kb: u64,
    says: String,
}

fn run(name: &str) -> Cost {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::child", "--nocapture", "--test-threads=1"])
        .env(FILE, name)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.strip_prefix("HOSTILE "));
    let line = line.unwrap_or_else(|| panic!("{name} broke the process: {errors}"));
    assert!(!errors.contains("panicked"), "{name} panicked inside: {errors}");
    let mut words = line.splitn(4, ' ');
    let mut next = || words.next().unwrap_or_default().to_owned();
    Cost {
        verdict: next(),
        cpu_us: next().parse().unwrap(),
        memory_kb: next().parse().unwrap(),
        says: next(),
    }
}

#[test]
fn every_file_gives_its_verdict_within_its_bounds() {
    let expected = expected();
    let on_disk = std::fs::read_dir(corpus()).unwrap().count();
    assert_eq!(on_disk, expected.len() + 2, "files and expect.toml have drifted; run make.py");
    assert!(expected.len() >= 60);
    let mut wrong = Vec::new();
    let (mut slowest, mut largest) = ((0, String::new()), (0, String::new()));
    for (name, verdict) in &expected {
        let cost = run(name);
        if cost.verdict != *verdict {
            wrong.push(format!("{name}: {} instead of {verdict} ({})", cost.verdict, cost.says));
        }
        if cost.cpu_us > CPU_MS_MOST * 1000 {
            wrong.push(format!("{name}: {} ms of CPU", cost.cpu_us / 1000));
        }
        if cost.memory_kb > MEMORY_KB_MOST {
            wrong.push(format!("{name}: {} kB of memory", cost.memory_kb));
        }
        slowest = slowest.max((cost.cpu_us, name.clone()));
        largest = largest.max((cost.memory_kb, name.clone()));
    }
    println!("{} files; slowest {slowest:?} us, largest {largest:?} kB", expected.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cut anywhere, a file is a picture or a refusal.
#[test]
fn cutting_at_every_byte_never_panics() {
    for name in [
        "label-png-as.jpg",
        "label-jpeg-as.png",
        "label-webp-as.gif",
        "label-gif-as.webp",
        "label-ico-as.png",
        "tiff-plain.tif",
        "apng-frame-off-canvas.png",
        "unsupported-avif.avif",
        "unsupported-heic.heic",
    ] {
        let bytes = std::fs::read(corpus().join(name)).unwrap();
        for end in 0..bytes.len() {
            let _ = open(&bytes[..end]);
        }
    }
}

/// Every byte of a header damaged in a few ways; the fuzz targets do the rest.
#[test]
fn damaging_every_byte_never_panics() {
    let limits = DecodeLimits { pixels: 1 << 20, memory: 32 << 20, ..DecodeLimits::default() };
    for (name, _) in expected().iter().filter(|(_, verdict)| *verdict == "opens") {
        let bytes = std::fs::read(corpus().join(name)).unwrap();
        if bytes.len() > 12 << 10 {
            continue;
        }
        for at in 0..bytes.len().min(150) {
            for damage in [0x01, 0x80] {
                let mut bytes = bytes.clone();
                bytes[at] ^= damage;
                if let Ok(header) = header::probe(&bytes) {
                    let _ = decode::decode(&bytes, &header, &limits, DecodeOptions::default());
                    let _ = decode::contact_sheet(&bytes, &header, &limits, 4);
                }
            }
        }
    }
}
