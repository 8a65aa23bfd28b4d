package splitprove

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// LevelTrace is the slog level of the library's most detailed records, below slog.LevelDebug.
const LevelTrace = slog.LevelDebug - 4

// levels has the slog level of each of the library's: 1 error to 5 trace. 0 is no record at all.
var levels = [...]slog.Level{1: slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug, LevelTrace}

var (
	logger    atomic.Pointer[slog.Logger]
	setLogger sync.Mutex
)

// SetLogger sends the library's log records to l, or nowhere when l is nil, as at the start. The log is the process's:
// a later call replaces an earlier one for every [Prover]. The library delivers records one after the other on a
// thread of its own, on which l's handler runs: a slow one delays records, no proof. The handler must not call
// SetLogger, which blocks until a running handler returns. How verbose the library is is
// settled here, by l.Enabled. Each record has the attribute target: the part of the library that speaks.
// Errors: [ErrUnsupported] without cgo.
func SetLogger(l *slog.Logger) error {
	setLogger.Lock()
	defer setLogger.Unlock()
	maxLevel := 0
	if l != nil {
		for level := 1; level < len(levels) && l.Enabled(context.Background(), levels[level]); level++ {
			maxLevel = level
		}
	}
	logger.Store(l)
	return nativeSetLog(uint32(maxLevel))
}

// deliver hands a record to the logger. A handler's panic ends here: the caller is C.
func deliver(level uint32, at time.Time, target, message string) {
	defer func() { _ = recover() }()
	l := logger.Load()
	if l == nil || level == 0 || int(level) >= len(levels) || !l.Enabled(context.Background(), levels[level]) {
		return
	}
	record := slog.NewRecord(at, levels[level], message, 0)
	record.AddAttrs(slog.String("target", target))
	_ = l.Handler().Handle(context.Background(), record)
}
