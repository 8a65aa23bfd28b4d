//go:build cgo && linux

package splitprove

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The margin is for what the Go runtime starts when it likes: garbage collection workers and threads for goroutines
// that are runnable at the same time.
const threadMargin = 8

func TestTwoHundredWaitersHoldNoThreads(t *testing.T) {
	const proofs = 200
	p := newProver(t, Options{QueueDepth: 2 * proofs})
	held := holdQueue(t, p)
	request := porepRequest(t)
	before := threads(t)
	var waiting sync.WaitGroup
	var started, cancelled atomic.Int64
	pendings := make([]*Pending, proofs)
	for i := range proofs {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			q, err := p.Start(context.Background(), request)
			if err != nil {
				t.Error(err)
				return
			}
			pendings[i] = q
			started.Add(1)
			if _, err = q.Wait(context.Background()); errors.Is(err, ErrCancelled) {
				cancelled.Add(1)
			} else {
				t.Error(err)
			}
		}()
	}
	eventually(t, "all have started", func() bool { return started.Load() == proofs })
	most := 0
	for range 20 {
		most = max(most, threads(t))
		time.Sleep(time.Millisecond)
	}
	t.Logf("%d threads before, at most %d with %d waiting", before, most, proofs)
	if most > before+threadMargin {
		t.Errorf("%d threads before, %d with %d proofs waiting", before, most, proofs)
	}
	if stats, err := p.Stats(); err != nil || stats.Queued+stats.Running != proofs+1 {
		t.Errorf("%+v %v", stats, err)
	}
	for _, q := range pendings {
		q.Cancel()
	}
	within(t, 30*time.Second, "200 cancelled proofs", waiting.Wait)
	if cancelled.Load() != proofs {
		t.Errorf("%d cancelled", cancelled.Load())
	}
	held.Close()
}

func TestProversLeakNothing(t *testing.T) {
	round := func() {
		p, err := New(Options{QueueDepth: 100})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			start(t, p, badRequest())
		}
		if _, err := p.Prove(context.Background(), badRequest()); !errors.Is(err, ErrMalformedInput) {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	round()
	runtime.GC()
	goroutines, fds, before := runtime.NumGoroutine(), descriptors(t), threads(t)
	for range 20 {
		round()
	}
	defer func() {
		t.Logf("%d goroutines before, %d after; %d descriptors, %d", goroutines, runtime.NumGoroutine(), fds, descriptors(t))
	}()
	eventually(t, "goroutines and descriptors end", func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors(t) <= fds
	})
	if after := threads(t); after > before+threadMargin {
		t.Errorf("%d threads before, %d after 20 provers", before, after)
	}
}

func TestEventsOfManyProofsAllArrive(t *testing.T) {
	p := newProver(t, Options{QueueDepth: 1000})
	var group sync.WaitGroup
	for range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 50 {
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				_, err := p.Prove(ctx, badRequest())
				cancel()
				if !errors.Is(err, ErrMalformedInput) {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if stats, err := p.Stats(); err != nil || stats.Failed != 800 || p.engine.held() != 0 {
		t.Errorf("%+v %v, %d handles left", stats, err, p.engine.held())
	}
}
