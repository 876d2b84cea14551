//! How much memory the process may have, where nobody says.

use std::fs;

/// What a gateway takes at most by default, however large the machine is, in MiB.
const MOST: u64 = 2048;
/// What the process needs beside the budget, in MiB: code, stacks, connections, what the allocator keeps.
const BESIDE: u64 = 192;
/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// The budget in MiB: seven eighths of what the container may have, less what the process itself needs, or
/// a quarter of the machine's memory where there is no container; 2 GiB at most.
pub(crate) fn default_mib() -> u32 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let told = files(&groups).into_iter().filter_map(|path| limit(&fs::read_to_string(path).ok()?));
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| physical(&text));
    u32::try_from(budget(told.min(), machine)).unwrap_or(u32::MAX)
}

/// Where the kernel tells the limits that hold for this process, in both versions of control groups: that of
/// its own group and that of the whole container.
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
    // A group may be allowed more than there is, which says nothing.
    let budget = match group.filter(|mib| machine.is_none_or(|machine| *mib <= machine)) {
        Some(limit) => limit.saturating_sub(BESIDE) * 7 / 8,
        None => machine.map_or(MOST, |mib| mib / 4),
    };
    budget.clamp(64, MOST)
}

/// The limit that a group file tells, in MiB; none where it is `max`.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().map(|bytes| bytes >> 20)
}

/// The memory of the machine, in MiB.
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
        assert_eq!(budget(None, None), MOST);
        assert_eq!(budget(Some(64 << 10), Some(64 << 10)), MOST);
    }

    #[test]
    fn the_chart_and_the_compose_file_leave_room_for_the_process() {
        let chart = include_str!("../../../../deploy/helm/photic/values.yaml");
        assert!(chart.contains("limits: { memory: 1Gi }"));
        assert!(include_str!("../../../../deploy/compose/compose.yaml").contains("mem_limit: 1g"));
        // The budget, the 64 MB that a process may hold beside it, and room for what the kernel counts as well.
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
