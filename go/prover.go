package splitprove

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Version is the loaded library's version as a number (major · 1,000,000 + minor · 1,000 + patch) and as text. Both are
// zero without cgo.
func Version() (number uint32, text string) {
	return nativeVersion()
}

// Prover is a proving engine: its threads, queues and loaded parameters. One a process is enough. Its methods may be
// called from any goroutine.
type Prover struct {
	engine  *engine
	cleanup runtime.Cleanup
}

// engine is what the reader goroutine and the proofs hold of a Prover; it does not keep the Prover alive.
type engine struct {
	id     uint64
	events *os.File
	// reader is closed when the goroutine that reads events has ended.
	reader chan struct{}
	// calls has a place for each call that may copy or compute in C for milliseconds. Without it, 200 goroutines
	// starting proofs at once would hold 200 threads.
	calls chan struct{}

	once   sync.Once
	closed atomic.Bool

	mu sync.Mutex
	// proofs has those whose handles have not ended, by handle.
	proofs map[uint64]*proof
}

// New starts a prover. It compares the loaded library's version with the header's before anything else. It blocks for
// milliseconds, while threads start and devices are looked at. Close ends it.
//
// Errors: [ErrABIMismatch] when the library's major version, or before 1.0 its minor one, is not the header's or its
// minor version is older; [ErrInvalidArgument] naming the option; [ErrNoDevice]; [ErrIO]; [ErrOutOfMemory];
// [ErrUnsupported] without cgo.
func New(o Options) (*Prover, error) {
	loaded, _ := nativeVersion()
	if err := checkVersion(loaded, headerVersion); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Logger != nil {
		if err := SetLogger(o.Logger); err != nil {
			return nil, err
		}
	}
	id, err := nativeCreate(&o)
	if err != nil {
		return nil, err
	}
	fd := nativeEventFD(id)
	if fd < 0 {
		_ = nativeDestroy(id)
		return nil, &Error{Code: ErrIO, Field: "event fd", Message: "the library gave no event descriptor"}
	}
	e := &engine{
		id:     id,
		events: os.NewFile(uintptr(fd), "splitprove events"),
		reader: make(chan struct{}),
		calls:  make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
		proofs: make(map[uint64]*proof),
	}
	go e.read()
	p := &Prover{engine: e}
	p.cleanup = runtime.AddCleanup(p, func(e *engine) { go e.close() }, e)
	return p, nil
}

// checkVersion refuses a library that may lay out structs differently or lack functions.
func checkVersion(loaded, header uint32) error {
	loadedMajor, loadedMinor := loaded/1_000_000, loaded/1000%1000
	major, minor := header/1_000_000, header/1000%1000
	if loadedMajor == major && (loadedMinor == minor || major > 0 && loadedMinor > minor) {
		return nil
	}
	return &Error{Code: ErrABIMismatch, Field: "version", Message: fmt.Sprintf(
		"the loaded library is %d.%d, this package was built for %d.%d", loadedMajor, loadedMinor, major, minor)}
}

// Start hands a request over. It blocks while the vanilla proofs are copied (at most 20 ms for 51 MB), and before that
// while as many other goroutines copy as there are processors. The library touches nothing of r afterwards. What is
// wrong inside the vanilla proofs comes from the Pending. When ctx is done before the proof, the proof is cancelled.
//
// Errors: [ErrBusy] with RetryAfter; [ErrInvalidArgument] and [ErrUnsupported] naming the field; [ErrIDConflict];
// [ErrTooLarge]; [ErrOutOfMemory]; [ErrShutdown] on a draining or closed prover; [ErrCancelled] or [ErrTimeout] wrapping
// ctx.Err().
func (p *Prover) Start(ctx context.Context, r Request) (*Pending, error) {
	// The struct's array has 64 bytes, the last one NUL.
	if len(r.RequestID) > 63 || strings.ContainsRune(r.RequestID, 0) {
		return nil, argumentError("request_id", "more than 63 bytes, or a NUL byte among them")
	}
	e := p.engine
	defer runtime.KeepAlive(p)
	if err := e.enter(ctx); err != nil {
		return nil, err
	}
	id, err := nativeStart(e.id, &r)
	e.leave()
	if err != nil {
		return nil, e.translate(err)
	}
	return newPending(ctx, p, id, r.Tag), nil
}

// Prove is Start and Wait: it gives the proof's bytes, 192 a partition in partition order.
func (p *Prover) Prove(ctx context.Context, r Request) ([]byte, error) {
	q, err := p.Start(ctx, r)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	return q.Wait(ctx)
}

// Verify checks a proof against its public statement with the verifying key of the prover's parameters. It blocks while
// the library reads the key and computes, milliseconds a partition, and before that while as many other goroutines call
// as there are processors.
//
// Errors: [ErrProofInvalid] when the proof does not verify; [ErrInvalidArgument] naming the field;
// [ErrParamsNotFound]; [ErrParamsCorrupt]; [ErrShutdown] on a closed prover.
func (p *Prover) Verify(what Public, proof []byte) error {
	e := p.engine
	defer runtime.KeepAlive(p)
	if err := e.enter(context.Background()); err != nil {
		return err
	}
	defer e.leave()
	return e.translate(nativeVerify(e.id, &what, proof))
}

// Stats counts proofs and bytes. It does not block. Errors: [ErrShutdown] on a closed prover.
func (p *Prover) Stats() (Stats, error) {
	defer runtime.KeepAlive(p)
	stats, err := nativeStats(p.engine.id)
	return stats, p.engine.translate(err)
}

// Metrics are the prover's numbers in Prometheus' text format; empty on a closed prover. It does not block.
func (p *Prover) Metrics() string {
	defer runtime.KeepAlive(p)
	return nativeMetrics(p.engine.id)
}

// StatusJSON is the prover's state as one JSON object: version, device, the fields of [Stats], and its large buffers by
// class and stage; empty on a closed prover. It does not block.
func (p *Prover) StatusJSON() string {
	defer runtime.KeepAlive(p)
	return nativeStatus(p.engine.id)
}

// StartTrace records a timeline of all work from here on, for Chrome's and Perfetto's viewers. The file is made now and
// written by StopTrace. Errors: [ErrIO]; [ErrInvalidArgument] while one is being recorded; [ErrShutdown].
func (p *Prover) StartTrace(path string) error {
	defer runtime.KeepAlive(p)
	if strings.IndexByte(path, 0) >= 0 {
		return &Error{Code: ErrInvalidArgument, Field: "path", Message: "it has a zero byte"}
	}
	return p.engine.translate(nativeTraceStart(p.engine.id, path))
}

// StopTrace ends the timeline and writes its file. Errors: [ErrIO]; [ErrInvalidArgument] when none is being recorded;
// [ErrShutdown].
func (p *Prover) StopTrace() error {
	defer runtime.KeepAlive(p)
	return p.engine.translate(nativeTraceStop(p.engine.id))
}

// Drain makes the prover refuse requests from here on with [ErrShutdown], and waits, holding no thread, until those it
// has are over. When ctx is done first, the error wraps ctx.Err(); the prover goes on draining.
func (p *Prover) Drain(ctx context.Context) error {
	defer runtime.KeepAlive(p)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		switch code := nativeDrain(p.engine.id, 0); code {
		case statusOK:
			return nil
		case ErrTimeout, statusPending:
		default:
			return p.engine.translate(codeError(code))
		}
		select {
		case <-ctx.Done():
			return contextError(ctx)
		case <-time.After(pause):
		}
	}
}

// Close stops all work, whose Pendings end with [ErrShutdown], joins the library's threads and frees its memory. Proofs
// that were done before keep their bytes. It blocks until partitions under way notice. More calls wait for the first
// and do nothing.
func (p *Prover) Close() error {
	p.cleanup.Stop()
	p.engine.close()
	return nil
}

func (e *engine) close() {
	e.once.Do(func() {
		e.closed.Store(true)
		// The only failure is an id that is none, and this one was made by New and ends here.
		_ = nativeDestroy(e.id)
		_ = e.events.Close()
		<-e.reader
		// All proofs are over. Taking their outcomes ends their handles: the library holds nothing any more.
		for _, p := range e.all() {
			p.collect()
		}
	})
}

// enter takes a place among the calls that may hold a thread for milliseconds; leave gives it back.
func (e *engine) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	if e.closed.Load() {
		return closedError()
	}
	select {
	case e.calls <- struct{}{}:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

func (e *engine) leave() {
	<-e.calls
}

// translate says ErrShutdown where a handle is invalid because the prover is closed.
func (e *engine) translate(err error) error {
	if failure, ok := err.(*Error); ok && failure.Code == ErrInvalidHandle && e.closed.Load() {
		return closedError()
	}
	return err
}

func closedError() error {
	return &Error{Code: ErrShutdown, Message: "the prover is closed"}
}

// contextError wraps the error of a context that is done.
func contextError(ctx context.Context) error {
	code := ErrCancelled
	if ctx.Err() == context.DeadlineExceeded {
		code = ErrTimeout
	}
	return &Error{Code: code, Message: context.Cause(ctx).Error(), cause: ctx.Err()}
}
