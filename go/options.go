package splitprove

import (
	"log/slog"
	"math"
	"strings"
)

// Options of a prover. The zero value is the defaults.
type Options struct {
	// NoGPU proves on the CPU even where there is a GPU.
	NoGPU bool
	// NoSelfCheck hands proofs out without verifying them first.
	NoSelfCheck bool
	// AllowInsecureParams accepts parameters that Filecoin does not know for 32 and 64 GiB sectors.
	AllowInsecureParams bool

	// SynthesisThreads decode and synthesise; 0: one a core.
	SynthesisThreads int
	// CPUThreads prove on the CPU and verify; 0: one a core.
	CPUThreads int
	// QueueDepth is how many proofs may wait or run at once, one more is [ErrBusy]; 0: the library's default.
	QueueDepth int

	// HostMemoryLimit in bytes; 0: what the machine and its cgroup allow.
	HostMemoryLimit uint64
	// PinnedMemoryLimit in bytes; 0: no limit of its own.
	PinnedMemoryLimit uint64
	// DeviceMemoryLimit in bytes; 0: what the device has.
	DeviceMemoryLimit uint64

	// ParamsDir has the parameter files; "": $FIL_PROOFS_PARAMETER_CACHE, else Filecoin's default.
	ParamsDir string
	// CircuitCacheDir keeps compiled circuits; "": the user's cache folder.
	CircuitCacheDir string
	// Devices to use, as UUIDs or indexes; empty: all.
	Devices []string

	// Logger, if not nil, is given to [SetLogger]. The library's log is the process's, not the prover's: the last
	// logger given gets the records of all provers.
	Logger *slog.Logger
}

// check refuses what the C structs cannot carry.
func (o *Options) check() error {
	for _, n := range []struct {
		field string
		value int
	}{{"synthesis_threads", o.SynthesisThreads}, {"cpu_threads", o.CPUThreads}, {"queue_depth", o.QueueDepth}} {
		if n.value < 0 || uint64(n.value) > math.MaxUint32 {
			return argumentError(n.field, "out of range")
		}
	}
	for _, s := range []struct{ field, value string }{
		{"params_dir", o.ParamsDir}, {"circuit_cache_dir", o.CircuitCacheDir}, {"devices", strings.Join(o.Devices, ",")},
	} {
		if strings.ContainsRune(s.value, 0) {
			return argumentError(s.field, "contains a NUL byte")
		}
	}
	for _, device := range o.Devices {
		if device == "" || strings.Contains(device, ",") {
			return argumentError("devices", "a device is a UUID or an index")
		}
	}
	return nil
}
