//! Sources made to hurt: each ends in a page or a refusal, within its limits, and reaches nothing.

mod documents;
mod drawings;
mod outside;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic_render::{Fit, Kind, Page, Refusal, RefusalCode, Request, Worker, WorkerLimits};

use crate::worker;

/// A source that is up to no good.
pub(crate) struct Case {
    name: String,
    kind: Kind,
    bytes: Vec<u8>,
    ends: Outcome,
}

/// Permitted outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// A page, or a refusal that says what is wrong with it; never a crash.
    Well,
    /// A page.
    Drawn,
    /// This refusal.
    Refused(RefusalCode),
    /// As `Well`, or a crash: an assertion of the renderer's that builds for users do not have.
    OrAsserts,
}

impl Case {
    fn new(name: &str, kind: Kind, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), kind, bytes: bytes.into(), ends: Outcome::Well }
    }

    fn ends(self, ends: Outcome) -> Self {
        Self { ends, ..self }
    }
}

fn text(name: &str, bytes: impl Into<Vec<u8>>) -> Case {
    Case::new(name, Kind::Text, bytes)
}

fn texts() -> Vec<Case> {
    vec![
        text("one line of a million", "x".repeat(1_000_000)),
        text("a million lines", "\n".repeat(1_000_000)),
        text("a tower of accents", format!("a{}", "\u{301}".repeat(100_000))),
        text("joined emoji", "👩‍👩‍👧‍👦".repeat(20_000)),
        text("turned to and fro", "\u{202e}a\u{202d}b".repeat(50_000)),
        text("mixed directions", "abc אבג 123 ".repeat(50_000)),
        text("broken UTF-8", [0xff, 0xfe, 0x00, 0xd8].repeat(10_000)),
        text("all bytes", (0..=255).collect::<Vec<u8>>().repeat(1_000)),
        text("ligatures", "ﷺ".repeat(100_000)),
    ]
}

/// Limits that a slow machine keeps and a bomb does not.
const STRICT: WorkerLimits =
    WorkerLimits { time: Duration::from_mins(1), processor_seconds: 1, memory: 700 << 20 };

fn strict() -> Worker {
    Worker { limits: STRICT, ..worker() }
}

/// Children are measured together, so only one of these tests runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Processor time of the children that ended so far, in seconds.
#[cfg(target_os = "linux")]
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("what this process used");
    let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
    let ticks = fields.skip(13).take(2).map(|ticks| ticks.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> f64 {
    0.0
}

/// The most memory that any child has had, in bytes; nothing where there is no `/proc`. What is
/// limited is address space, but while something large is moved to a larger place the system counts
/// it twice, so what was resident is held against the limit.
fn largest_child() -> u64 {
    let of = |task: std::fs::DirEntry| {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let peak = |child: &str| {
            let status = std::fs::read_to_string(format!("/proc/{child}/status")).ok()?;
            // Before it is another program, a child counts as large as this process.
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            let line = status.starts_with("Name:\trender_worker\n").then_some(line)?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        children.split_whitespace().filter_map(peak).max()
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(of).max().unwrap_or(0) * 1024
}

/// Draws in a child while its size is looked at: what came of it, and the most it had.
fn watched(worker: &Worker, request: &Request<'_>) -> (Result<Page, Refusal>, u64) {
    std::thread::scope(|scope| {
        let drawing = scope.spawn(|| worker.draw(request));
        let mut largest = 0;
        while !drawing.is_finished() {
            largest = largest.max(largest_child());
            std::thread::sleep(Duration::from_millis(2));
        }
        (drawing.join().expect("no panic"), largest)
    })
}

/// `PHOTIC_HOSTILE=words` tries only those with these words in their name.
fn survives(cases: Vec<Case>, least: usize) {
    assert!(cases.len() >= least, "{}", cases.len());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = strict();
    let (mut slowest, mut largest) = (0.0_f64, 0);
    let only = std::env::var("PHOTIC_HOSTILE").unwrap_or_default();
    for Case { name, kind, bytes, ends } in cases.into_iter().filter(|c| c.name.contains(&only)) {
        let mut request = Request::new(&bytes, kind);
        request.wanted.name = (kind == Kind::Text).then(|| "bomb.rs".to_owned());
        let (before, begin) = (processor_time(), Instant::now());
        let (outcome, memory) = watched(&worker, &request);
        let (used, took) = (processor_time() - before, begin.elapsed());
        let short = outcome.as_ref().map(|page| &page.raster).map_err(|no| (no.code, &no.says));
        println!("{name}: {short:?}, {used:.2} s, {} MiB, {took:.2?}", memory >> 20);
        // One second more is the signal that cannot be missed; the rest is other tests' children.
        assert!(used < STRICT.processor_seconds as f64 + 1.5, "`{name}` used {used} seconds");
        assert!(memory <= STRICT.memory, "`{name}` had {memory} bytes");
        assert!(took < STRICT.time + Duration::from_mins(1), "`{name}` took {took:?}");
        (slowest, largest) = (slowest.max(used), largest.max(memory));
        assert!(allowed(ends, &outcome), "`{name}` should end {ends:?}: {short:?}");
    }
    println!("at most {slowest:.2} s of the processor and {} MiB", largest >> 20);
}

fn allowed(ends: Outcome, outcome: &Result<Page, Refusal>) -> bool {
    use RefusalCode::{Corrupt, Crashed, Encrypted, TooLarge, TooMuchMemory, TooSlow};
    match outcome {
        Ok(page) => {
            let pixels = u64::from(page.raster.width) * u64::from(page.raster.height);
            pixels <= 33_000_000 && !matches!(ends, Outcome::Refused(_))
        }
        Err(refusal) if refusal.hint.is_empty() || refusal.says.contains("root:") => false,
        Err(refusal) => match ends {
            Outcome::Drawn => false,
            Outcome::Refused(code) => refusal.code == code,
            Outcome::OrAsserts if refusal.code == Crashed => true,
            Outcome::Well | Outcome::OrAsserts => {
                matches!(refusal.code, Corrupt | Encrypted | TooLarge | TooMuchMemory | TooSlow)
            }
        },
    }
}

#[test]
fn drawings_are_bounded() {
    survives(drawings::all(), 36);
}

#[test]
fn documents_are_bounded() {
    survives(documents::all(), 36);
}

#[test]
fn texts_are_bounded() {
    survives(texts(), 9);
}

#[test]
fn a_bomb_is_stopped_by_its_limits() {
    let worker =
        Worker { limits: WorkerLimits { processor_seconds: 1, ..strict().limits }, ..strict() };
    let bomb = drawings::filtered("", &"<feMorphology operator='dilate' radius='300'/>".repeat(4));
    let refusal = worker.draw(&Request::new(&bomb.bytes, Kind::Svg)).expect_err("a bomb");
    assert_eq!(refusal.code, RefusalCode::TooSlow, "{refusal}");
    assert!(refusal.says.ends_with("1 seconds of the processor"), "{refusal}");

    let hungry =
        Worker { limits: WorkerLimits { memory: 200 << 20, ..strict().limits }, ..strict() };
    let layers = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='1000' height='1000'>{}<rect width='1000' height='1000'/>{}</svg>",
        "<g opacity='0.99'>".repeat(50),
        "</g>".repeat(50)
    );
    let mut request = Request::new(layers.as_bytes(), Kind::Svg);
    request.wanted.fit = Fit::Longest(4_000);
    let refusal = hungry.draw(&request).expect_err("a bomb");
    assert_eq!(refusal.code, RefusalCode::TooMuchMemory, "{refusal}");
}
