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
    /// What the control group uses already, cached files aside.
    pub cgroup_used: u64,
}

impl MachineMemory {
    /// Reads `/proc/meminfo` and the control group's files (version 2, then 1). What cannot be read counts as 0 or none.
    pub fn read() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let (cgroup_limit, cgroup_used) = cgroup();
        let (mut total, mut available) = (kib_line(&meminfo, "MemTotal:"), kib_line(&meminfo, "MemAvailable:"));
        if total == 0 || available == 0 {
            (total, available) = sysinfo();
        }
        MachineMemory { total, available, cgroup_limit, cgroup_used }
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
///
/// Never less than a quarter of what there is in all: what others hold now they may give back, and an engine without a
/// budget would refuse everything for ever.
pub fn default_budget() -> u64 {
    budget_of(&MachineMemory::read())
}

fn budget_of(memory: &MachineMemory) -> u64 {
    let free = memory.free_for_us();
    let all = memory.cgroup_limit.map_or(memory.total, |limit| limit.min(memory.total));
    free.saturating_sub((free / 10).clamp(*MARGIN.start(), *MARGIN.end())).max(all / 4)
}

/// Total and available memory as the kernel tells them without `/proc`: free and buffered pages, cached ones aside.
fn sysinfo() -> (u64, u64) {
    let mut info = std::mem::MaybeUninit::<libc::sysinfo>::zeroed();
    // SAFETY: the struct may be written, and zeros are a value of it should the call fail.
    let info = unsafe {
        libc::sysinfo(info.as_mut_ptr());
        info.assume_init()
    };
    let unit = u64::from(info.mem_unit);
    (info.totalram * unit, (info.freeram + info.bufferram) * unit)
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
                let used = number(&base.join(usage_file)).unwrap_or(0);
                let stat = fs::read_to_string(base.join("memory.stat")).unwrap_or_default();
                return (Some(limit), used.saturating_sub(file_cache(&stat, controllers.is_empty())));
            }
            dir = d.parent();
        }
    }
    (None, 0)
}

/// Bytes of cached files in a `memory.stat`. The kernel counts them as used, but gives them up before it refuses anything:
/// a container that has read its parameters is not full of them.
fn file_cache(stat: &str, version_2: bool) -> u64 {
    let keys = if version_2 { ["active_file", "inactive_file"] } else { ["total_active_file", "total_inactive_file"] };
    let value = |key: &str| -> u64 {
        let line = stat.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(' '));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    };
    keys.into_iter().map(value).sum()
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
    fn a_full_cache_is_no_full_group() {
        let stat =
            "cache 15500000000\nactive_file 3\ntotal_inactive_file 900\ntotal_active_file 100\ninactive_file 4\n";
        assert_eq!((file_cache(stat, false), file_cache(stat, true), file_cache("", true)), (1000, 7, 0));
        let memory = |available, limit, used| MachineMemory {
            total: 64 << 30,
            available,
            cgroup_limit: limit,
            cgroup_used: used,
        };
        assert_eq!(budget_of(&memory(40 << 30, None, 0)), 36 << 30);
        assert_eq!(budget_of(&memory(40 << 30, Some(16 << 30), 6 << 30)), 9 << 30);
        // However little is free.
        assert_eq!(budget_of(&memory(0, Some(16 << 30), 16 << 30)), 4 << 30);
        assert_eq!(budget_of(&memory(1 << 20, None, 0)), 16 << 30);
    }

    #[test]
    fn without_proc_there_is_memory_too() {
        let (total, available) = sysinfo();
        assert!(total > 0 && available <= total);
    }

    #[test]
    fn this_machine_has_memory() {
        let m = MachineMemory::read();
        assert!(m.total > 0 && m.free_for_us() <= m.total);
        assert!(peak_rss_bytes() > 0);
    }
}
