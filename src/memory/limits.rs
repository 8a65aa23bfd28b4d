//! What the machine and its control group allow.

use std::fs;
use std::path::Path;

/// Memory of the machine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineMemory {
    /// `MemTotal`.
    pub total: u64,
    /// `MemAvailable`: what can be taken without swapping.
    pub available: u64,
    /// The control group's limit, if it has one.
    pub cgroup_limit: Option<u64>,
    /// What the control group uses already.
    pub cgroup_used: u64,
}

impl MachineMemory {
    /// Reads `/proc/meminfo` and the control group's files (version 2, then 1). What cannot be read counts as 0 or none.
    pub fn read() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let (cgroup_limit, cgroup_used) = cgroup();
        MachineMemory {
            total: kib_line(&meminfo, "MemTotal:"),
            available: kib_line(&meminfo, "MemAvailable:"),
            cgroup_limit,
            cgroup_used,
        }
    }

    /// What this process may still take: the smaller of `MemAvailable` and what the control group leaves.
    pub fn free_for_us(&self) -> u64 {
        match self.cgroup_limit {
            Some(limit) => self.available.min(limit.saturating_sub(self.cgroup_used)),
            None => self.available,
        }
    }
}

/// What is left to others when an engine may take "what the machine allows": a tenth, between these bounds.
const MARGIN: std::ops::RangeInclusive<u64> = 256 << 20..=8 << 30;

/// The budget of an engine that was given none: what this process may still take, less a margin, in bytes.
pub fn default_budget() -> u64 {
    let free = available_bytes();
    free.saturating_sub((free / 10).clamp(*MARGIN.start(), *MARGIN.end()))
}

/// What this process may still take, in bytes.
pub fn available_bytes() -> u64 {
    MachineMemory::read().free_for_us()
}

/// The largest resident size this process has had, in bytes (`VmHWM`).
pub fn peak_rss_bytes() -> u64 {
    kib_line(&fs::read_to_string("/proc/self/status").unwrap_or_default(), "VmHWM:")
}

fn kib_line(text: &str, key: &str) -> u64 {
    text.lines()
        .find_map(|l| l.strip_prefix(key))
        .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
        .unwrap_or(0)
        .saturating_mul(1024)
}

/// Limit and usage of the closest control group that has a limit.
fn cgroup() -> (Option<u64>, u64) {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (root, limit_file, usage_file) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max", "memory.current")
        } else if controllers.split(',').any(|c| c == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        } else {
            continue;
        };
        // A limit may stand on any level above.
        let mut dir = Some(Path::new(path));
        while let Some(d) = dir {
            let base = Path::new(root).join(d.strip_prefix("/").unwrap_or(d));
            let limit = number(&base.join(limit_file));
            // Version 1 writes "no limit" as a number near 2^63.
            if let Some(limit) = limit.filter(|l| *l < 1 << 60) {
                return (Some(limit), number(&base.join(usage_file)).unwrap_or(0));
            }
            dir = d.parent();
        }
    }
    (None, 0)
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_meminfo() {
        assert_eq!(kib_line("MemTotal:       24689020 kB\nMemFree: 1 kB\n", "MemTotal:"), 24_689_020 * 1024);
        assert_eq!(kib_line("", "MemTotal:"), 0);
    }

    #[test]
    fn this_machine_has_memory() {
        let m = MachineMemory::read();
        assert!(m.total > 0 && m.free_for_us() <= m.total);
        assert!(peak_rss_bytes() > 0);
    }
}
