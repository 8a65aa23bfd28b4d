package splitprove

import (
	"maps"
	"slices"
)

// read wakes the proofs whose events the library gives, until the prover is closed. Between events the goroutine sleeps
// in the network poller and holds no thread.
//
// The poller reports an edge each time the library raises the descriptor. An edge that comes while events are being
// popped is kept for the next sleep, so popping until none is left misses none.
func (e *engine) read() {
	if conn, err := e.events.SyscallConn(); err == nil {
		_ = conn.Read(func(uintptr) bool {
			for {
				id, code := nativeNextEvent(e.id)
				switch code {
				case statusOK:
					e.wake(id)
				case statusPending:
					return false
				default:
					return true
				}
			}
		})
	}
	close(e.reader)
	// Nobody will bring events any more: whoever waits asks the library itself.
	for _, p := range e.all() {
		p.wake()
	}
}

// all has the proofs whose handles have not ended.
func (e *engine) all() []*proof {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.proofs))
}

// wake tells the holder of a handle that its proof is over. An event may come before Start has added the handle; add
// looks for itself.
func (e *engine) wake(id uint64) {
	e.mu.Lock()
	p := e.proofs[id]
	e.mu.Unlock()
	if p != nil {
		p.wake()
	}
}

// add makes a proof known to the reader. If it is over already, its event may have come and gone.
func (e *engine) add(p *proof) {
	e.mu.Lock()
	e.proofs[p.id] = p
	e.mu.Unlock()
	if _, code := nativePoll(p.id); code != statusPending {
		p.wake()
	}
	select {
	case <-e.reader:
		p.wake()
		if e.closed.Load() {
			p.collect()
		}
	default:
	}
}

// forget removes a proof whose handle has ended.
func (e *engine) forget(p *proof) {
	e.mu.Lock()
	delete(e.proofs, p.id)
	e.mu.Unlock()
}
