//! Tests from inside the sandbox.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]

use std::io::Read;
use std::time::Instant;

use super::*;

/// The output of a shell in the sandbox, and how it ended. `None` without bubblewrap.
fn tried(script: &str, limits: ProgramLimits) -> Option<(String, ProgramEnd)> {
    let sandbox = match Sandbox::find() {
        Ok(sandbox) => sandbox,
        Err(refusal) => {
            assert!(std::env::var_os("PHOTIC_NEED_PROGRAMS").is_none(), "{refusal}");
            return None;
        }
    };
    let job = SandboxJob {
        program: Path::new("/bin/sh"),
        arguments: vec!["-c".into(), script.into()],
        files: vec![
            ("deep/er/file".to_owned(), Cow::Borrowed(b"what was handed in")),
            ("last".to_owned(), Cow::Borrowed(b"1234")),
        ],
        then: "exec \"$@\" </dev/null 2>&1",
        limits,
    };
    let mut running = sandbox.start(job).expect("the sandbox starts");
    let mut said = String::new();
    let mut output = running.output().expect("its output");
    output.read_to_string(&mut said).expect("text");
    Some((said, running.end()))
}

fn limits() -> ProgramLimits {
    ProgramLimits { time: Duration::from_secs(30), memory: 256 << 20 }
}

#[test]
fn files_come_in_whole() {
    let script = "cat deep/er/file; echo; cat last; pwd";
    let Some((said, ending)) = tried(script, limits()) else { return };
    assert_eq!(said, "what was handed in\n1234/tmp\n");
    assert!(matches!(ending, ProgramEnd::Itself(_)), "{ending:?}");
}

#[test]
fn nothing_of_the_machine_is_seen() {
    let canary = std::env::temp_dir().join(format!("photic-canary-{}", std::process::id()));
    std::fs::write(&canary, "canary").expect("a file");
    let script = format!(
        "cat {} /etc/passwd /etc/shadow /root/.bashrc /etc/hostname /proc/1/environ; ls / /home /root /var /run /usr/local; \
         echo processes $(ls /proc | grep -c '^[0-9]'); echo net $(tail -n +3 /proc/net/dev | cut -d: -f1); \
         env; touch /usr/x /x /etc/x; id -u; hostname; grep CapEff /proc/self/status",
        canary.display()
    );
    let Some((said, _)) = tried(&script, limits()) else { return };
    std::fs::remove_file(&canary).expect("the file goes");
    assert!(!said.lines().any(|line| line == "canary") && !said.contains("root:"), "{said}");
    for gone in ["/etc/passwd", "/etc/shadow", "/root/.bashrc", "/home", "/root", "/var", "/run"] {
        let refused = |line: &&str| line.contains(gone) && line.contains("No such file");
        assert!(said.lines().any(|line| refused(&line)), "{gone}: {said}");
    }
    let count = said.lines().find_map(|line| line.strip_prefix("processes ")).expect("a count");
    assert!(count.parse::<u32>().expect("a number") < 10, "{said}");
    assert!(said.contains("net lo\n"), "{said}");
    assert!(!said.contains("CARGO") && !said.contains("USER="), "{said}");
    assert_eq!(said.matches("touch:").count(), 3, "{said}");
    assert!(said.contains("\n1000\nphotic\n"), "{said}");
    assert!(said.contains("CapEff:\t0000000000000000"), "{said}");
}

#[test]
fn time_and_memory_are_bounded_and_nothing_stays() {
    let short = ProgramLimits { time: Duration::from_secs(2), ..limits() };
    let begin = Instant::now();
    let script =
        "setsid sleep 987654 & (sleep 987654 &) ; trap '' TERM HUP INT; sleep 987654; sleep 987654";
    let Some((_, ending)) = tried(script, short) else { return };
    assert_eq!(ending, ProgramEnd::TooSlow);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let left = processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|command| command.starts_with(b"sleep\x00987654"))
        .count();
    assert_eq!(left, 0, "something stayed");

    // Several processes, each within the limit of one.
    let hog = "hog() { x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 60; }; \
               hog & hog & hog & hog & hog & hog & wait";
    let (_, ending) = tried(hog, limits()).expect("a sandbox");
    assert_eq!(ending, ProgramEnd::TooMuchMemory);
    // Files are memory, too.
    let (said, _) = tried("head -c 300000000 /dev/zero > file; ls -s file", limits()).expect("one");
    assert!(said.contains("No space left"), "{said}");
}
