//go:build cgo

package bare

/*
#cgo pkg-config: splitprove
#cgo noescape prove_poll
#cgo nocallback prove_poll
#cgo noescape bare_poll_many
#cgo nocallback bare_poll_many
#include "../../splitprove.h"

static prover_status bare_poll_many(pending_proof proof, prove_progress *out, uint64_t n) {
	prover_status status = PROVER_OK;
	for (uint64_t i = 0; i < n; i++)
		status = prove_poll(proof, out);
	return status;
}
*/
import "C"

import "unsafe"

// Poll is one call of prove_poll through cgo.
func Poll(proof uint64) int32 {
	var progress C.prove_progress
	progress.struct_size = C.uint32_t(unsafe.Sizeof(progress))
	return int32(C.prove_poll(C.pending_proof{id: C.uint64_t(proof)}, &progress))
}

// PollMany is n calls of prove_poll from a loop in C.
func PollMany(proof uint64, n int) int32 {
	var progress C.prove_progress
	progress.struct_size = C.uint32_t(unsafe.Sizeof(progress))
	return int32(C.bare_poll_many(C.pending_proof{id: C.uint64_t(proof)}, &progress, C.uint64_t(n)))
}

// StatusName is the header's name of a status.
func StatusName(code int32) string {
	return C.GoString(C.prover_status_name(C.prover_status(code)))
}
