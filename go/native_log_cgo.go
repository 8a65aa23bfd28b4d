//go:build cgo

package splitprove

// #include "splitprove.h"
import "C"

import (
	"time"
	"unsafe"
)

// splitproveGoLog is called on the library's log thread; the record is the library's and lives as long as the call.
//
//export splitproveGoLog
func splitproveGoLog(_ unsafe.Pointer, record *C.prover_log_record) {
	message := C.GoStringN(record.message, C.int(record.message_len))
	deliver(uint32(record.level), time.Unix(0, int64(record.unix_ns)), C.GoString(record.target), message)
}
