//! How an engine is set up.

use std::path::PathBuf;

/// Options of an engine. `Default` reads the environment once.
#[derive(Clone, Debug)]
pub struct Options {
    /// Prove on the CPU even where there is a GPU.
    pub no_gpu: bool,
    /// Check every proof against its verifying key before the caller sees it.
    pub self_check: bool,
    /// Accept parameters that filecoin-proofs' list does not know for 32 and 64 GiB.
    pub allow_insecure_params: bool,
    /// Load parameters only if every point lies in its subgroup.
    pub check_params_subgroup: bool,
    /// Load only parameter files that filecoin-proofs' `parameters.json` lists, by the digest of the whole file, whatever
    /// the sector size and `allow_insecure_params`.
    pub check_params_digest: bool,
    /// Threads that decode and synthesise; 0: one a core.
    pub synthesis_threads: usize,
    /// Threads of the CPU backend; 0: one a core.
    pub cpu_threads: usize,
    /// Jobs that may wait or run at once; 0: 64. One more is `BUSY`.
    pub queue_depth: usize,
    /// Bytes of memory to stay under; 0: what the machine allows.
    pub host_memory_limit: u64,
    /// Bytes of pinned memory to stay under; 0: no limit of its own.
    pub pinned_memory_limit: u64,
    /// Bytes of device memory to stay under; 0: what the device allows.
    pub device_memory_limit: u64,
    /// Where parameter files are.
    pub params_dir: PathBuf,
    /// Where compiled circuits are kept; where that cannot be written, in memory.
    pub circuit_cache_dir: PathBuf,
    /// Devices to use (UUIDs or indexes); `None`: all.
    pub devices: Option<Vec<String>>,
}

/// filecoin-proofs' default for `FIL_PROOFS_PARAMETER_CACHE`.
const DEFAULT_PARAMS_DIR: &str = "/var/tmp/filecoin-proof-parameters/";

impl Default for Options {
    fn default() -> Self {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let cache = set("XDG_CACHE_HOME")
            .or_else(|| set("HOME").map(|h| h.join(".cache")))
            // Nobody's home: nothing is kept, rather than where anybody could have put something.
            .unwrap_or_else(|| PathBuf::from("/dev/null"))
            .join("splitprove");
        Options {
            no_gpu: false,
            self_check: true,
            allow_insecure_params: false,
            check_params_subgroup: false,
            check_params_digest: false,
            synthesis_threads: 0,
            cpu_threads: 0,
            queue_depth: 0,
            host_memory_limit: 0,
            pinned_memory_limit: 0,
            device_memory_limit: 0,
            params_dir: set("FIL_PROOFS_PARAMETER_CACHE").unwrap_or_else(|| DEFAULT_PARAMS_DIR.into()),
            circuit_cache_dir: cache,
            devices: None,
        }
    }
}
