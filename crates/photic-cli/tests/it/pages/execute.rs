//! Runs the commands of a page in one shell, in a folder of its own, with no key and no settings.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::blocks::Page;
use crate::root;

/// What a command wrote to standard output and standard error, and its exit code; none if the shell
/// ended before it.
pub(super) struct Printed {
    pub(super) lines: Vec<String>,
    pub(super) code: Option<i32>,
}

/// Time that the commands of a page may take together.
const GENEROUS: Duration = Duration::from_secs(400);

/// The folders as pages show them.
const SHOWN_HOME: &str = "/home/me";
const SHOWN_FOLDER: &str = "/home/me/photic";

/// Runs the commands of a page. The folder holds `examples/`; ports that the commands name are
/// replaced by free ones, and back again in the output.
pub(super) fn run(page: &Page) -> Vec<Printed> {
    let commands = page.run_commands();
    if commands.is_empty() {
        return Vec::new();
    }
    let name = page.path().replace(['/', '.'], "-");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("pages-{}", std::process::id()))
        .join(name);
    let (home, work, out) = (folder.join("home"), folder.join("work"), folder.join("out"));
    let _ = std::fs::remove_dir_all(&folder);
    for made in [&home, &work, &out] {
        std::fs::create_dir_all(made).unwrap();
    }
    copy(&root().join("examples"), &work.join("examples"));
    let ports = free_ports(&commands);
    let script = script(&commands, &ports, &out);
    std::fs::write(folder.join("script"), script).unwrap();
    shell(&folder, &home, &work);
    let printed = (0..commands.len()).map(|number| {
        let text = std::fs::read(out.join(number.to_string())).unwrap_or_default();
        let mut text = String::from_utf8_lossy(&text).into_owned();
        for (shown, free) in &ports {
            text = text.replace(&format!(":{free}"), &format!(":{shown}"));
        }
        text = text.replace(&*work.to_string_lossy(), SHOWN_FOLDER);
        text = text.replace(&*home.to_string_lossy(), SHOWN_HOME);
        let code = std::fs::read_to_string(out.join(format!("{number}.code")));
        let code = code.ok().and_then(|code| code.trim().parse().ok());
        Printed { lines: text.lines().map(str::to_owned).collect(), code }
    });
    let printed = printed.collect();
    std::fs::remove_dir_all(&folder).unwrap();
    printed
}

/// Copies a folder of examples.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Runs the script, and ends it when its time is over. What it leaves running ends with it.
fn shell(folder: &Path, home: &Path, work: &Path) {
    let photic = Path::new(env!("CARGO_BIN_EXE_photic")).parent().unwrap();
    let path = format!("{}:{}", photic.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash")
        .arg(folder.join("script"))
        .current_dir(work)
        .env_clear()
        .envs([("PATH", &*path), ("NO_COLOR", "1"), ("LANG", "C.UTF-8")])
        .env("HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while shell.try_wait().unwrap().is_none() {
        if begun.elapsed() > GENEROUS {
            let group = rustix::process::Pid::from_child(&shell);
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
            shell.wait().unwrap();
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The script: each command with its output in a file of its own. A command in the background is
/// waited for until it listens.
fn script(commands: &[&str], ports: &BTreeMap<u16, u16>, out: &Path) -> String {
    let mut script = "\
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null' EXIT
listens() { until (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null; do sleep 0.05; done; }
"
    .to_owned();
    for (number, command) in commands.iter().enumerate() {
        let (file, mut replaced) = (out.join(number.to_string()), (*command).to_owned());
        for (shown, free) in ports {
            replaced = replaced.replace(&shown.to_string(), &free.to_string());
        }
        let file = file.display();
        writeln!(script, "{{\n{replaced}\n}} >'{file}' 2>&1 </dev/null\ncode=$?").unwrap();
        if command.trim_end().ends_with('&') {
            for port in listening(command) {
                writeln!(script, "listens {}", ports[&port]).unwrap();
            }
        }
        writeln!(script, "echo $code >'{file}.code'").unwrap();
    }
    script
}

/// A free port for each that the commands name.
fn free_ports(commands: &[&str]) -> BTreeMap<u16, u16> {
    let named = commands.iter().flat_map(|command| {
        let after = |marker: &'static str| {
            command.split(marker).skip(1).filter_map(number).collect::<Vec<_>>()
        };
        [after("127.0.0.1:"), after("localhost:"), after("--port ")].concat()
    });
    let mut ports = BTreeMap::new();
    // All are held until the last is chosen, so that no two are the same.
    let mut held = Vec::new();
    for shown in named {
        if let Entry::Vacant(entry) = ports.entry(shown) {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            entry.insert(listener.local_addr().unwrap().port());
            held.push(listener);
        }
    }
    ports
}

/// The ports that a command listens on.
fn listening(command: &str) -> Vec<u16> {
    let options = ["--port ", "--listen 127.0.0.1:", "--http 127.0.0.1:"];
    let after = |option: &&str| command.split_once(*option).and_then(|(_, rest)| number(rest));
    options.iter().filter_map(after).collect()
}

/// The number at the start of a text.
fn number(text: &str) -> Option<u16> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn ports_are_found_and_replaced() {
    let commands = ["photic mock --port 4010 > log &", "curl http://127.0.0.1:4010/v1"];
    let ports = free_ports(&commands);
    assert_eq!(ports.keys().collect::<Vec<_>>(), [&4010]);
    assert_eq!(listening(commands[0]), [4010]);
    let script = script(&commands, &ports, Path::new("/out"));
    assert!(!script.contains("4010"), "{script}");
}
