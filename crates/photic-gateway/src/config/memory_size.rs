//! Derives the default memory budget from the limits of the container or the machine.

use std::fs;

/// Maximum budget by default, in MiB, however large the machine is.
const MAX_MIB: u64 = 2048;
/// Memory that the process needs beside the budget, in MiB: code, stacks, connections, free memory
/// that the allocator keeps.
const PROCESS_MIB: u64 = 192;
/// Mount point of control groups.
const MOUNT: &str = "/sys/fs/cgroup";

/// Returns the default budget in MiB.
///
/// In a container it is seven eighths of the container's limit, less the memory of the process
/// itself. Otherwise it is a quarter of the machine's memory. It is at most [`MAX_MIB`].
pub(crate) fn default_mib() -> u32 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let told = files(&groups).into_iter().filter_map(|path| limit(&fs::read_to_string(path).ok()?));
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| physical(&text));
    u32::try_from(budget(told.min(), machine)).unwrap_or(u32::MAX)
}

/// Returns the files that may hold a memory limit of this process: those of its own group and of the
/// whole container, in both versions of control groups.
fn files(groups: &str) -> Vec<String> {
    let mut files =
        vec![format!("{MOUNT}/memory.max"), format!("{MOUNT}/memory/memory.limit_in_bytes")];
    for line in groups.lines() {
        match line.splitn(3, ':').collect::<Vec<_>>().as_slice() {
            [_, "", path] => files.push(format!("{MOUNT}{path}/memory.max")),
            [_, names, path] if names.split(',').any(|name| name == "memory") => {
                files.push(format!("{MOUNT}/memory{path}/memory.limit_in_bytes"));
            }
            _ => {}
        }
    }
    files
}

fn budget(group: Option<u64>, machine: Option<u64>) -> u64 {
    // A limit above the memory of the machine limits nothing.
    let budget = match group.filter(|mib| machine.is_none_or(|machine| *mib <= machine)) {
        Some(limit) => limit.saturating_sub(PROCESS_MIB) * 7 / 8,
        None => machine.map_or(MAX_MIB, |mib| mib / 4),
    };
    budget.clamp(64, MAX_MIB)
}

/// Parses the limit in a control group file, in MiB. Returns `None` for `max`.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().map(|bytes| bytes >> 20)
}

/// Parses the memory of the machine out of `/proc/meminfo`, in MiB.
fn physical(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_room_for_the_budget_and_the_process() {
        for limit in [256, 512, 1024, 2048] {
            assert!(budget(Some(limit), Some(64 << 10)) + 128 <= limit, "{limit}");
        }
        assert_eq!(budget(Some(1024), Some(64 << 10)), 728);
        assert_eq!(budget(Some(1 << 40), Some(4096)), 1024, "a limit that says nothing");
        assert_eq!(budget(None, Some(2048)), 512);
        assert_eq!(budget(None, None), MAX_MIB);
        assert_eq!(budget(Some(64 << 10), Some(64 << 10)), MAX_MIB);
    }

    #[test]
    fn the_chart_and_the_compose_file_leave_room_for_the_process() {
        let chart = include_str!("../../../../deploy/helm/photic/values.yaml");
        assert!(chart.contains("limits: { memory: 1Gi }"));
        assert!(include_str!("../../../../deploy/compose/compose.yaml").contains("mem_limit: 1g"));
        // The budget, 64 MB of the process beside it, and a reserve for memory that the kernel counts.
        let budget = budget(Some(1024), Some(16 << 10));
        assert!((budget << 20) + 64_000_000 + (64 << 20) <= 1 << 30, "{budget}");
    }

    #[test]
    fn what_the_kernel_says_is_read() {
        assert_eq!(
            files("12:pids:/a\n4:cpu,memory:/a/b\n0::/c\n")[2..],
            ["/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "/sys/fs/cgroup/c/memory.max"]
        );
        assert_eq!(limit("1073741824\n"), Some(1024));
        assert_eq!(limit("max\n"), None);
        assert_eq!(physical("MemTotal:       16384000 kB\nMemFree: 1 kB\n"), Some(16000));
    }
}
