package splitprove

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Pending is a proof on its way. Its methods may be called from any goroutine. It ends with the first Wait that gives
// an outcome, with Close, with the end of a context, or when the garbage collector finds it dropped; the outcome stays
// available as long as the Pending.
type Pending struct {
	proof *proof
	// prover is kept open while somebody holds a Pending of it.
	prover  *Prover
	cleanup runtime.Cleanup
	tag     uint64
}

// proof is what the engine and contexts hold of a Pending; it does not keep the Pending alive.
type proof struct {
	engine *engine
	id     uint64
	// done is closed once there is an outcome.
	done  chan struct{}
	woken atomic.Bool

	// mu guards the one end of the handle.
	mu sync.Mutex
	// outcome is set when the handle has ended.
	outcome atomic.Pointer[outcome]
	// release lets go of Start's context.
	release func() bool
}

type outcome struct {
	bytes    []byte
	progress Progress
	err      error
}

func newPending(ctx context.Context, prover *Prover, id, tag uint64) *Pending {
	p := &proof{engine: prover.engine, id: id, done: make(chan struct{})}
	q := &Pending{proof: p, prover: prover, tag: tag}
	q.cleanup = runtime.AddCleanup(q, (*proof).close, p)
	if ctx.Done() != nil {
		p.mu.Lock()
		p.release = context.AfterFunc(ctx, func() { p.cancel(ctx) })
		p.mu.Unlock()
	}
	p.engine.add(p)
	return q
}

// Poll says where the proof stands and whether it is over, with its failure if it failed. It does not block, costs one
// call into C, and allocates nothing while the proof runs.
func (q *Pending) Poll() (progress Progress, done bool, err error) {
	p := q.proof
	if o := p.outcome.Load(); o != nil {
		return o.progress, true, o.err
	}
	progress, code := nativePoll(p.id)
	if code == statusPending {
		runtime.KeepAlive(q)
		return progress, false, nil
	}
	p.wake()
	if code != statusOK {
		// The handle has nothing but the failure's text.
		o := p.collect()
		progress, err = o.progress, o.err
	}
	runtime.KeepAlive(q)
	return progress, true, err
}

// Wait blocks, without holding a thread, until the proof is over, and gives its bytes: 192 a partition, in partition
// order. When ctx is done first, the proof is cancelled and the error wraps ctx.Err(). Every Wait gives the same outcome.
//
// Errors: [ErrMalformedInput] naming the field; [ErrUnsupported]; [ErrUnsatisfied]; [ErrTooLarge]; [ErrParamsNotFound],
// [ErrParamsCorrupt], [ErrParamsInsecure]; [ErrIO]; [ErrOutOfMemory]; [ErrDevice]; [ErrSelfCheck]; [ErrPanic];
// [ErrTimeout] when the request's deadline or ctx's passed; [ErrCancelled]; [ErrShutdown] when the prover was closed.
func (q *Pending) Wait(ctx context.Context) ([]byte, error) {
	p := q.proof
	select {
	case <-p.done:
	default:
		select {
		case <-p.done:
		case <-ctx.Done():
			p.cancel(ctx)
		}
	}
	o := p.collect()
	runtime.KeepAlive(q)
	return bytes.Clone(o.bytes), o.err
}

// Done is closed once the proof is over and Wait no longer blocks.
func (q *Pending) Done() <-chan struct{} {
	return q.proof.done
}

// Tag is the request's.
func (q *Pending) Tag() uint64 {
	return q.tag
}

// Cancel stops the proof, which ends with [ErrCancelled]: at once while it is queued, else as soon as the work looks up.
// It does not block, and does nothing once the proof is over. Requests that joined this one by its id go on.
func (q *Pending) Cancel() {
	p := q.proof
	if p.outcome.Load() == nil {
		// An invalid handle is one that ended meanwhile.
		_ = nativeCancel(p.id)
		// Where others joined, this handle is over without an event.
		if _, code := nativePoll(p.id); code != statusPending {
			p.wake()
		}
	}
	runtime.KeepAlive(q)
}

// Close cancels the proof if it is not over and gives back what the library holds for it. It does not block. An outcome
// that a Wait has given stays; otherwise Wait and Poll give [ErrCancelled] afterwards. More calls do nothing.
func (q *Pending) Close() error {
	q.cleanup.Stop()
	q.proof.close()
	runtime.KeepAlive(q)
	return nil
}

func (p *proof) wake() {
	if p.woken.CompareAndSwap(false, true) {
		close(p.done)
	}
}

// collect takes the outcome of a proof that is over.
func (p *proof) collect() *outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.outcome.Load(); o != nil {
		return o
	}
	proof, progress, err := nativeFinish(p.id)
	return p.end(&outcome{proof, progress, p.engine.translate(err)})
}

// cancel ends the proof because ctx is done, unless it is over already.
func (p *proof) cancel(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.woken.Load() {
		p.drop(contextError(ctx))
	}
}

// close ends the proof, over or not.
func (p *proof) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome.Load() == nil {
		p.drop(&Error{Code: ErrCancelled, Message: "closed before its outcome was taken"})
	}
}

// drop ends the handle without taking its outcome. The caller holds mu and has seen no outcome.
func (p *proof) drop(err error) {
	progress, _ := nativePoll(p.id)
	nativeDrop(p.id)
	progress.Stage = StageDone
	p.end(&outcome{nil, progress, err})
}

// end notes that the handle has ended. The caller holds mu.
func (p *proof) end(o *outcome) *outcome {
	p.outcome.Store(o)
	p.engine.forget(p)
	p.wake()
	if p.release != nil {
		p.release()
	}
	return o
}
