//! A process and its descendants, as the kernel lists them.
//!
//! Orphans in the sandbox become children of its first process, so the tree is complete.

use std::collections::BTreeMap;

/// The descendants of a process, its own children first.
pub(super) fn below(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let theirs = children.remove(process).unwrap_or_default();
        found.extend(theirs);
        next += 1;
    }
    found
}

/// Bytes of memory of some processes, without files such as programs and libraries. Shared memory
/// counts once for each process.
pub(super) fn memory(processes: &[u32]) -> u64 {
    processes.iter().filter_map(|process| held(*process)).sum()
}

/// The parent of a process.
fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(1)?.parse().ok()
}

/// The memory of a process.
fn held(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kilobytes = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    Some((kilobytes("RssAnon:") + kilobytes("RssShmem:")) << 10)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn children_and_theirs_are_found() {
        let script = "sleep 600 & sh -c 'sleep 600; true' & wait";
        let mut shell = std::process::Command::new("/bin/sh")
            .args(["-c", script])
            .spawn()
            .expect("a shell starts");
        let begin = std::time::Instant::now();
        let mut found = below(shell.id());
        while found.len() < 3 && begin.elapsed().as_secs() < 10 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            found = below(shell.id());
        }
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(memory(&found) > 3 << 12, "{}", memory(&found));
        assert!(below(std::process::id()).contains(&shell.id()));
        for process in found {
            let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
            let process = process.expect("a number");
            rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
        }
        shell.kill().expect("killed");
        shell.wait().expect("ended");
        assert_eq!(below(u32::MAX), Vec::<u32>::new());
    }
}
