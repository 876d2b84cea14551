//! `kill -9` at random moments, and failing disks: everything that was committed is there and
//! readable.
//!
//! The writer is this test binary, started again. The driver reads what it reports as committed.
//! `PHOTIC_CRASH_ROUNDS` and `PHOTIC_FAULT_ROUNDS` set the number of rounds.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use photic_store::contract::{self, Conversation, picture};
use photic_store::{GracePeriods, LocalStore, SessionId, wait};

use crate::directory::TestDirectory;

const DIRECTORY_VARIABLE: &str = "PHOTIC_CRASH_WRITER";
/// Rounds per store, limited so that checks stay quick.
const ROUNDS_EACH: usize = 4;

/// Not a test by itself: the driver starts it as the writer.
#[test]
fn writer() {
    let Ok(directory) = std::env::var(DIRECTORY_VARIABLE) else { return };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let directory = &directory;
            scope.spawn(move || write(Path::new(directory), thread));
        }
        scope.spawn(|| {
            let store = LocalStore::open(&directory).unwrap();
            let grace = GracePeriods { blobs: Duration::from_secs(5), ..GracePeriods::default() };
            loop {
                wait(store.collect(&grace)).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    });
}

/// Appends turns and reports each.
fn write(directory: &Path, thread: u64) {
    let store = LocalStore::open(directory).unwrap();
    let id = wait(store.begin("crash")).unwrap();
    let seed = u64::from(std::process::id()) * 1_000_000 + thread * 500_000;
    let mut talk = Conversation::new("look");
    for turn in 0.. {
        if turn % 6 == 5 {
            // The client starts over, in the same session.
            talk = Conversation::new("look again");
        }
        talk.look(&picture(seed + turn, 20_000));
        let (number, sent) = wait(talk.send(&store, &id, 1)).unwrap();
        let line = format!("committed {id} {number} {} {}\n", hash(&talk.body()), hash(&sent));
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

fn hash(bytes: &[u8]) -> String {
    photic_store::BlobId::of(bytes).to_string()
}

/// A turn that a writer reported as committed.
#[derive(Debug)]
struct Committed {
    id: SessionId,
    number: u64,
    body: String,
    sent: String,
}

fn parse(line: &str) -> Option<Committed> {
    let mut words = line.split_once("committed ")?.1.split(' ');
    let mut word = || words.next();
    Some(Committed {
        id: word()?.parse().ok()?,
        number: word()?.parse().ok()?,
        body: word()?.to_owned(),
        // A truncated line reports nothing.
        sent: word()?.strip_suffix('\n').filter(|digest| digest.len() == 64)?.to_owned(),
    })
}

/// Starts a writer and kills it after `life`, counted from its first turn, or from its first output
/// if `early`. Returns the turns it reported.
fn round(directory: &Path, life: Duration, early: bool) -> Vec<Committed> {
    let command = Command::new(std::env::current_exe().unwrap());
    live(command, directory, life, early)
}

/// Runs the writer with a prepared command; see [`round`].
fn live(mut command: Command, directory: &Path, life: Duration, early: bool) -> Vec<Committed> {
    let mut child = command
        .args(["--exact", "crash::writer", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY_VARIABLE, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let (first, began) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut committed = Vec::new();
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 0 {
            committed.extend(parse(&line));
            if early || !committed.is_empty() {
                let _ = first.send(());
            }
            line.clear();
        }
        committed
    });
    // The time starts with the first output, however slow the machine is.
    let _ = began.recv_timeout(Duration::from_secs(20));
    std::thread::sleep(life);
    // Together with its tracer.
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-9", "--", &group]).status().unwrap().success());
    child.wait().unwrap();
    reader.join().unwrap()
}

/// Counts of a driver.
#[derive(Debug, Default)]
struct DriverCounts {
    rounds: usize,
    committed: usize,
    /// Turns that were committed, but not reported in time.
    untold: usize,
    /// Temporary files that were left.
    unfinished: usize,
}

/// Runs rounds, each followed by a check of everything.
fn drive(rounds: usize, mut chance: u64) -> DriverCounts {
    let mut seen = DriverCounts::default();
    while seen.rounds < rounds {
        let place = TestDirectory::new();
        let mut told = 0;
        for _ in 0..ROUNDS_EACH.min(rounds - seen.rounds) {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let new = round(&place, Duration::from_millis(chance % 160), chance.is_multiple_of(5));
            seen.rounds += 1;
            let left = std::fs::read_dir(place.join("blobs/unfinished"));
            seen.unfinished += left.map_or(0, Iterator::count);
            let store = LocalStore::open(&*place).unwrap();
            let found = wait(contract::existing(&store)).unwrap();
            told += new.len();
            for turn in &new {
                let body = wait(store.body(&turn.id, turn.number)).unwrap();
                assert_eq!(hash(&body), turn.body, "{turn:?}");
                let view = wait(store.lower(&turn.id, turn.number)).unwrap();
                assert_eq!(hash(&view.body), turn.sent, "{turn:?}");
            }
            let there: u64 = found.turns.iter().map(|(_, turns)| turns).sum();
            seen.untold += there as usize - told;
        }
        seen.committed += told;
    }
    seen
}

#[test]
fn what_was_committed_survives_kill_9() {
    /// They mostly wait for the disk.
    const DRIVERS: usize = 3;
    let rounds: usize =
        std::env::var("PHOTIC_CRASH_ROUNDS").map_or(15, |rounds| rounds.parse().unwrap());
    let chance = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 | 1;
    let started = Instant::now();
    let all: Vec<DriverCounts> = std::thread::scope(|scope| {
        let drivers = (0..DRIVERS).map(|driver| {
            let share = rounds / DRIVERS + usize::from(driver < rounds % DRIVERS);
            scope.spawn(move || drive(share, chance.rotate_left(driver as u32 * 7)))
        });
        let drivers: Vec<_> = drivers.collect();
        drivers.into_iter().map(|driver| driver.join().unwrap()).collect()
    });
    let sum = |of: fn(&DriverCounts) -> usize| all.iter().map(of).sum::<usize>();
    println!(
        "{} rounds in {:.0} s: {} turns committed and found, {} times one more that its writer did \
         not live to tell, {} files left unfinished",
        sum(|seen| seen.rounds),
        started.elapsed().as_secs_f64(),
        sum(|seen| seen.committed),
        sum(|seen| seen.untold),
        sum(|seen| seen.unfinished),
    );
    assert_eq!(sum(|seen| seen.rounds), rounds);
    assert!(sum(|seen| seen.committed) > rounds, "writers hardly wrote");
}

/// System calls that fail, and their errors, injected by `strace`.
const FAULTS: [(&str, &str); 6] = [
    ("fsync,fdatasync", "EIO"),
    ("fsync,fdatasync", "ENOSPC"),
    ("write,pwrite64", "EIO"),
    ("write,pwrite64", "ENOSPC"),
    ("rename,renameat,renameat2", "EIO"),
    ("openat", "ENOSPC"),
];

/// Runs a writer with system calls that fail for a while, beginning with the call `from`.
fn failing(directory: &Path, fault: (&str, &str), from: u64) -> Vec<Committed> {
    let (calls, error) = fault;
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
    command.args([format!("trace={calls}"), "-e".to_owned()]);
    command.arg(format!("inject={calls}:error={error}:when={from}..{}", from + 40));
    command.arg(std::env::current_exe().unwrap());
    live(command, directory, Duration::from_millis(400), true)
}

/// Turns that a failing disk refused are not committed, and all others survive.
#[test]
fn what_was_committed_survives_a_disk_that_fails() {
    let is_there = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        println!("SKIPPED: there is no strace here");
        return;
    }
    let rounds: u64 =
        std::env::var("PHOTIC_FAULT_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    let (mut committed, mut after) = (0, 0);
    for round_number in 0..rounds {
        for (number, fault) in (0..).zip(FAULTS) {
            let place = TestDirectory::new();
            // A round without faults, so that there is something to damage.
            let mut told = round(&place, Duration::from_millis(60), false);
            let from = 3 + (round_number * 7 + number * 11) % 60;
            let more = failing(&place, fault, from);
            after += more.len();
            told.extend(more);
            committed += told.len();
            let store = LocalStore::open(&*place).unwrap();
            wait(contract::existing(&store)).unwrap();
            for turn in &told {
                let body = wait(store.body(&turn.id, turn.number)).unwrap();
                assert_eq!(hash(&body), turn.body, "{fault:?} {turn:?}");
                let view = wait(store.lower(&turn.id, turn.number)).unwrap();
                assert_eq!(hash(&view.body), turn.sent, "{fault:?} {turn:?}");
            }
        }
    }
    let faults = FAULTS.len();
    println!(
        "{rounds} rounds of {faults} faults: {committed} turns committed and found, {after} of them \
         by writers whose disk failed"
    );
    assert!(committed > 0);
}
