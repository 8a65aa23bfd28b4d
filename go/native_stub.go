//go:build !cgo

package splitprove

import "time"

const headerVersion = 0

func noCgo() error {
	return &Error{Code: ErrUnsupported, Message: "built without cgo: there is no library to call"}
}

func nativeVersion() (uint32, string)               { return headerVersion, "" }
func nativeSetLog(uint32) error                     { return noCgo() }
func nativeCreate(*Options) (uint64, error)         { return 0, noCgo() }
func nativeDestroy(uint64) error                    { return noCgo() }
func nativeDrain(uint64, time.Duration) Code        { return ErrUnsupported }
func nativeStats(uint64) (Stats, error)             { return Stats{}, noCgo() }
func nativeMetrics(uint64) string                   { return "" }
func nativeStatus(uint64) string                    { return "" }
func nativeTraceStart(uint64, string) error         { return noCgo() }
func nativeTraceStop(uint64) error                  { return noCgo() }
func nativeEventFD(uint64) int                      { return -1 }
func nativeNextEvent(uint64) (uint64, Code)         { return 0, ErrUnsupported }
func nativeStart(uint64, *Request) (uint64, error)  { return 0, noCgo() }
func nativePoll(uint64) (Progress, Code)            { return Progress{}, ErrUnsupported }
func nativeCancel(uint64) error                     { return noCgo() }
func nativeFinish(uint64) ([]byte, Progress, error) { return nil, Progress{}, noCgo() }
func nativeDrop(uint64)                             {}
func nativeVerify(uint64, *Public, []byte) error    { return noCgo() }
