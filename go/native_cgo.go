//go:build cgo

package splitprove

/*
#cgo pkg-config: splitprove

// The log callback is called from a thread of the library, never from within these.
#cgo noescape prove_poll
#cgo nocallback prove_poll
#cgo noescape prover_next_event
#cgo nocallback prover_next_event
#cgo noescape finish_pending_proof
#cgo nocallback finish_pending_proof
#cgo nocallback prove_cancel
#cgo nocallback drop_pending_proof
#cgo noescape splitprove_go_start
#cgo nocallback splitprove_go_start
#cgo noescape splitprove_go_verify
#cgo nocallback splitprove_go_verify
#cgo noescape prover_stats_get
#cgo nocallback prover_stats_get
#cgo nocallback prover_drain

#include <stdlib.h>
#include "splitprove.h"

// Go memory handed to C must not hold Go pointers. So these take each Go pointer as an argument of its own and put it
// into a copy of the struct on the C stack.
static inline prover_status splitprove_go_start(prover p, const prove_request *request, const uint8_t *vanilla,
		const uint64_t *lens, pending_proof *out, prover_error *err) {
	prove_request r = *request;
	r.vanilla = vanilla;
	r.vanilla_lens = lens;
	return prove_start(p, &r, out, err);
}

static inline prover_status splitprove_go_verify(prover p, const prover_public *what, const prover_sector *sectors,
		const uint8_t *proof, size_t len, prover_error *err) {
	prover_public w = *what;
	w.sectors = sectors;
	return prover_verify(p, &w, proof, len, err);
}

void splitproveGoLog(void *userdata, prover_log_record *record);

static inline prover_status splitprove_go_set_log(uint32_t max_level) {
	return prover_set_log(max_level, max_level == 0 ? NULL : (prover_log_fn)splitproveGoLog, NULL);
}
*/
import "C"

import (
	"strings"
	"time"
	"unsafe"
)

// headerVersion is the version of the header this package was built with.
const headerVersion = uint32(C.PROVER_VERSION_NUMBER)

func nativeVersion() (uint32, string) {
	return uint32(C.prover_version_number()), C.GoString(C.prover_version_string())
}

func nativeSetLog(maxLevel uint32) error {
	return codeError(Code(C.splitprove_go_set_log(C.uint32_t(maxLevel))))
}

func nativeCreate(o *Options) (uint64, error) {
	var options C.prover_options
	options.struct_size = C.uint32_t(unsafe.Sizeof(options))
	for _, f := range []struct {
		on  bool
		bit C.uint32_t
	}{
		{o.NoGPU, C.PROVER_NO_GPU}, {o.NoSelfCheck, C.PROVER_NO_SELF_CHECK},
		{o.AllowInsecureParams, C.PROVER_ALLOW_INSECURE_PARAMS},
	} {
		if f.on {
			options.flags |= f.bit
		}
	}
	options.synthesis_threads = C.uint32_t(o.SynthesisThreads)
	options.cpu_threads = C.uint32_t(o.CPUThreads)
	options.queue_depth = C.uint32_t(o.QueueDepth)
	options.host_memory_limit = C.uint64_t(o.HostMemoryLimit)
	options.pinned_memory_limit = C.uint64_t(o.PinnedMemoryLimit)
	options.device_memory_limit = C.uint64_t(o.DeviceMemoryLimit)
	for _, s := range []struct {
		to   **C.char
		from string
	}{
		{&options.params_dir, o.ParamsDir}, {&options.circuit_cache_dir, o.CircuitCacheDir},
		{&options.devices, strings.Join(o.Devices, ",")},
	} {
		if s.from != "" {
			*s.to = C.CString(s.from)
			defer C.free(unsafe.Pointer(*s.to))
		}
	}
	var out C.prover
	failure := newError()
	status := C.prover_create(&options, &out, &failure)
	return uint64(out.id), toError(status, &failure)
}

func nativeDestroy(prover uint64) error {
	return codeError(Code(C.prover_destroy(C.prover{id: C.uint64_t(prover)})))
}

func nativeDrain(prover uint64, timeout time.Duration) Code {
	return Code(C.prover_drain(C.prover{id: C.uint64_t(prover)}, C.int64_t(timeout)))
}

func nativeStats(prover uint64) (Stats, error) {
	var s C.prover_stats
	s.struct_size = C.uint32_t(unsafe.Sizeof(s))
	if status := C.prover_stats_get(C.prover{id: C.uint64_t(prover)}, &s); status < 0 {
		return Stats{}, codeError(Code(status))
	}
	return Stats{
		Lanes:   int(s.lanes),
		Started: uint64(s.started), Finished: uint64(s.finished), Failed: uint64(s.failed),
		Cancelled: uint64(s.cancelled), Rejected: uint64(s.rejected),
		Queued: uint64(s.queued), Running: uint64(s.running),
		BudgetBytes: uint64(s.budget_bytes), BudgetUsedBytes: uint64(s.budget_used_bytes),
		BudgetPeakBytes: uint64(s.budget_peak_bytes), ParamsBytes: uint64(s.params_bytes),
	}, nil
}

// nativeText gives what a text function of the header writes; empty when it fails.
func nativeText(write func(buf *C.char, size C.size_t) C.size_t) string {
	for size := write(nil, 0); size > 0; {
		buf := make([]byte, size+1)
		// It may have grown meanwhile: then once more.
		now := write((*C.char)(unsafe.Pointer(&buf[0])), C.size_t(len(buf)))
		if now <= size {
			return string(buf[:now])
		}
		size = now
	}
	return ""
}

func nativeMetrics(prover uint64) string {
	return nativeText(func(buf *C.char, size C.size_t) C.size_t {
		return C.prover_metrics_text(C.prover{id: C.uint64_t(prover)}, buf, size)
	})
}

func nativeStatus(prover uint64) string {
	return nativeText(func(buf *C.char, size C.size_t) C.size_t {
		return C.prover_status_json(C.prover{id: C.uint64_t(prover)}, buf, size)
	})
}

func nativeTraceStart(prover uint64, path string) error {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	failure := newError()
	return toError(C.prover_trace_start(C.prover{id: C.uint64_t(prover)}, text, &failure), &failure)
}

func nativeTraceStop(prover uint64) error {
	return codeError(Code(C.prover_trace_stop(C.prover{id: C.uint64_t(prover)})))
}

// nativeEventFD gives a non-blocking descriptor that the caller closes, or a negative number.
func nativeEventFD(prover uint64) int {
	return int(C.prover_event_fd(C.prover{id: C.uint64_t(prover)}))
}

// nativeNextEvent pops the handle of a proof that is over; statusPending when none waits.
func nativeNextEvent(prover uint64) (proof uint64, code Code) {
	var event C.prover_event
	event.struct_size = C.uint32_t(unsafe.Sizeof(event))
	status := C.prover_next_event(C.prover{id: C.uint64_t(prover)}, &event)
	return uint64(event.proof.id), Code(status)
}

// nativeStart copies the vanilla proofs; several are laid back to back first.
func nativeStart(prover uint64, r *Request) (uint64, error) {
	var request C.prove_request
	request.struct_size = C.uint32_t(unsafe.Sizeof(request))
	request.kind = C.uint32_t(r.Kind)
	request.registered_proof = C.uint32_t(r.RegisteredProof)
	request.priority = C.uint32_t(r.Priority)
	request.partition_index = C.uint32_t(r.PartitionIndex)
	request.vanilla_count = C.uint32_t(len(r.Vanilla))
	request.miner_id = C.uint64_t(r.MinerID)
	request.sector_number = C.uint64_t(r.SectorNumber)
	request.randomness = bytes32(&r.Randomness)
	request.comm_r_old = bytes32(&r.CommROld)
	request.comm_r_new = bytes32(&r.CommRNew)
	request.comm_d_new = bytes32(&r.CommDNew)
	request.deadline_ns = C.int64_t(r.Deadline)
	request.tag = C.uint64_t(r.Tag)
	for i := range len(r.RequestID) {
		request.request_id[i] = C.char(r.RequestID[i])
	}
	vanilla, lens := flatten(r.Vanilla)
	request.vanilla_len = C.uint64_t(len(vanilla))

	var out C.pending_proof
	failure := newError()
	status := C.splitprove_go_start(C.prover{id: C.uint64_t(prover)}, &request,
		(*C.uint8_t)(unsafe.SliceData(vanilla)), (*C.uint64_t)(unsafe.SliceData(lens)), &out, &failure)
	return uint64(out.id), toError(status, &failure)
}

func nativePoll(proof uint64) (Progress, Code) {
	var progress C.prove_progress
	progress.struct_size = C.uint32_t(unsafe.Sizeof(progress))
	status := C.prove_poll(C.pending_proof{id: C.uint64_t(proof)}, &progress)
	return toProgress(&progress), Code(status)
}

func nativeCancel(proof uint64) error {
	return codeError(Code(C.prove_cancel(C.pending_proof{id: C.uint64_t(proof)})))
}

// nativeFinish takes the bytes or the failure of a proof that is over, and ends its handle.
func nativeFinish(proof uint64) ([]byte, Progress, error) {
	// Ten partitions have 1,920 bytes, the sixteen of a Snap 3,072.
	buffer := make([]byte, 4096)
	for {
		var length C.size_t
		var progress C.prove_progress
		progress.struct_size = C.uint32_t(unsafe.Sizeof(progress))
		failure := newError()
		status := C.finish_pending_proof(C.pending_proof{id: C.uint64_t(proof)},
			(*C.uint8_t)(unsafe.SliceData(buffer)), C.size_t(len(buffer)), &length, &progress, &failure)
		if status == C.PROVER_ERR_BUFFER_TOO_SMALL && uint64(length) > uint64(len(buffer)) {
			buffer = make([]byte, length)
			continue
		}
		if status == C.PROVER_ERR_INVALID_ARGUMENT {
			// What the proof failed with: the one failure that leaves the handle.
			nativeDrop(proof)
		}
		if status != C.PROVER_OK {
			return nil, toProgress(&progress), toError(status, &failure)
		}
		return buffer[:length:length], toProgress(&progress), nil
	}
}

func nativeDrop(proof uint64) {
	C.drop_pending_proof(C.pending_proof{id: C.uint64_t(proof)})
}

func nativeVerify(prover uint64, p *Public, proof []byte) error {
	var what C.prover_public
	what.struct_size = C.uint32_t(unsafe.Sizeof(what))
	what.kind = C.uint32_t(p.Kind)
	what.registered_proof = C.uint32_t(p.RegisteredProof)
	what.sector_count = C.uint32_t(len(p.Sectors))
	what.miner_id = C.uint64_t(p.MinerID)
	what.sector_number = C.uint64_t(p.SectorNumber)
	what.ticket = bytes32(&p.Ticket)
	what.seed = bytes32(&p.Seed)
	what.comm_d = bytes32(&p.CommD)
	what.comm_r = bytes32(&p.CommR)
	what.randomness = bytes32(&p.Randomness)
	what.comm_r_old = bytes32(&p.CommROld)
	what.comm_r_new = bytes32(&p.CommRNew)
	what.comm_d_new = bytes32(&p.CommDNew)
	sectors := make([]C.prover_sector, len(p.Sectors))
	for i := range p.Sectors {
		sectors[i].sector_number = C.uint64_t(p.Sectors[i].SectorNumber)
		sectors[i].comm_r = bytes32(&p.Sectors[i].CommR)
	}
	if proof == nil {
		proof = []byte{} // has an address
	}
	failure := newError()
	status := C.splitprove_go_verify(C.prover{id: C.uint64_t(prover)}, &what, unsafe.SliceData(sectors),
		(*C.uint8_t)(unsafe.SliceData(proof)), C.size_t(len(proof)), &failure)
	return toError(status, &failure)
}

// bytes32 is b as C's array type.
func bytes32(b *[32]byte) [32]C.uint8_t {
	return *(*[32]C.uint8_t)(unsafe.Pointer(b))
}

func newError() C.prover_error {
	var e C.prover_error
	e.struct_size = C.uint32_t(unsafe.Sizeof(e))
	return e
}

// toError is nil for a status that is no failure.
func toError(status C.prover_status, e *C.prover_error) error {
	if status >= 0 {
		return nil
	}
	return &Error{
		Code: Code(status), Field: text(e.field[:]), Message: text(e.message[:]),
		RetryAfter: time.Duration(e.retry_after_ns), OSCode: int64(e.os_code),
	}
}

// text is a C string up to its NUL or the array's end.
func text(chars []C.char) string {
	var b strings.Builder
	for _, c := range chars {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}

func toProgress(p *C.prove_progress) Progress {
	return Progress{
		Stage: Stage(p.stage), Permille: int(p.permille), Partitions: int(p.partitions),
		PartitionsDone: int(p.partitions_done), QueuePosition: int(p.queue_position), Device: int(p.device),
		QueuedTime: time.Duration(p.queued_ns), LoadingTime: time.Duration(p.loading_ns),
		WitnessTime: time.Duration(p.witness_ns), DeviceTime: time.Duration(p.device_ns),
		FinishTime: time.Duration(p.finish_ns), TotalTime: time.Duration(p.total_ns),
	}
}
