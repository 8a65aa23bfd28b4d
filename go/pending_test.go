//go:build cgo

package splitprove

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestAFailureComesThroughWaitAndPoll(t *testing.T) {
	p := newProver(t, Options{})
	r := badRequest()
	r.Tag = 77
	q := start(t, p, r)
	<-q.Done()
	progress, done, err := q.Poll()
	mustBe(t, err, ErrMalformedInput, "")
	if !done || progress.Stage != StageDone || progress.TotalTime <= 0 || q.Tag() != 77 {
		t.Errorf("%+v", progress)
	}
	// The outcome stays, whatever is done with the Pending afterwards.
	for range 2 {
		proof, again := q.Wait(context.Background())
		if proof != nil || again != err {
			t.Error(proof, again)
		}
		if after, done, again := q.Poll(); !done || again != err || after != progress {
			t.Errorf("%+v %v", after, again)
		}
		q.Cancel()
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := p.engine.held(); n != 0 {
		t.Errorf("%d handles are left", n)
	}
}

func TestCancel(t *testing.T) {
	p := newProver(t, Options{})
	holdQueue(t, p)
	q := start(t, p, badRequest())
	if progress, done, err := q.Poll(); done || err != nil || progress.Stage != StageQueued || progress.QueuePosition == 0 {
		t.Fatalf("%+v %t %v", progress, done, err)
	}
	q.Cancel()
	q.Cancel()
	var err error
	within(t, 30*time.Second, "a cancelled proof in the queue", func() { _, err = q.Wait(context.Background()) })
	mustBe(t, err, ErrCancelled, "")
	q.Cancel()
}

func TestWaitsContextCancels(t *testing.T) {
	p := newProver(t, Options{})
	holdQueue(t, p)
	for _, c := range []struct {
		ctx   func() (context.Context, context.CancelFunc)
		cause error
		code  Code
	}{
		{func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(10*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled, ErrCancelled},
		{func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 10*time.Millisecond)
		}, context.DeadlineExceeded, ErrTimeout},
	} {
		q := start(t, p, badRequest())
		ctx, cancel := c.ctx()
		defer cancel()
		_, err := q.Wait(ctx)
		if mustBe(t, err, c.code, ""); !errors.Is(err, c.cause) {
			t.Error(err)
		}
		if progress, done, again := q.Poll(); !done || again != err || progress.Stage != StageDone {
			t.Errorf("%+v %v", progress, again)
		}
	}
	if n := p.engine.held(); n != 1 {
		t.Errorf("%d handles, not only the one that holds the queue", n)
	}
	if stats, err := p.Stats(); err != nil || stats.Cancelled != 2 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestStartsContextCancels(t *testing.T) {
	p := newProver(t, Options{})
	held := holdQueue(t, p)
	ctx, cancel := context.WithCancel(context.Background())
	q, err := p.Start(ctx, badRequest())
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	within(t, 30*time.Second, "a proof whose context has ended", func() { _, err = q.Wait(context.Background()) })
	if mustBe(t, err, ErrCancelled, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err = p.Start(ctx, badRequest())
	if mustBe(t, err, ErrCancelled, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err = p.Prove(ctx, badRequest())
	mustBe(t, err, ErrCancelled, "")
	held.Close()

	// A context that ends after the proof changes nothing.
	ctx, cancel = context.WithCancel(context.Background())
	q, err = p.Start(ctx, badRequest())
	if err != nil {
		t.Fatal(err)
	}
	<-q.Done()
	cancel()
	time.Sleep(10 * time.Millisecond)
	_, err = q.Wait(ctx)
	mustBe(t, err, ErrMalformedInput, "")
}

func TestDeadline(t *testing.T) {
	p := newProver(t, Options{})
	holdQueue(t, p)
	r := badRequest()
	r.Deadline = 10 * time.Millisecond
	_, err := p.Prove(context.Background(), r)
	mustBe(t, err, ErrTimeout, "")
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("no context has ended")
	}
}

func TestCloseBeforeTheEnd(t *testing.T) {
	p := newProver(t, Options{})
	holdQueue(t, p)
	q := start(t, p, badRequest())
	var waiting sync.WaitGroup
	waiting.Add(1)
	go func() {
		defer waiting.Done()
		if _, err := q.Wait(context.Background()); !errors.Is(err, ErrCancelled) {
			t.Error(err)
		}
	}()
	time.Sleep(10 * time.Millisecond)
	for range 2 {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}
	within(t, 30*time.Second, "waiting for a closed Pending", waiting.Wait)
	_, done, err := q.Poll()
	if mustBe(t, err, ErrCancelled, ""); !done {
		t.Error("not over")
	}
	if n := p.engine.held(); n != 1 {
		t.Errorf("%d handles, not only the one that holds the queue", n)
	}
}

func TestDroppedPendingsLeakNothing(t *testing.T) {
	p := newProver(t, Options{QueueDepth: 100})
	held := holdQueue(t, p)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range 50 {
		// A context that lives on must not keep a proof alive.
		if _, err := p.Start(ctx, badRequest()); err != nil {
			t.Fatal(i, err)
		}
	}
	eventually(t, "dropped proofs end", func() bool {
		runtime.GC()
		return p.engine.held() == 1
	})
	if stats, err := p.Stats(); err != nil || stats.Cancelled+stats.Failed != 50 {
		t.Errorf("%+v %v", stats, err)
	}
	runtime.KeepAlive(held)
}

func TestManyGoroutinesOnOnePending(t *testing.T) {
	p := newProver(t, Options{QueueDepth: 1000})
	for range 50 {
		q := start(t, p, badRequest())
		var group sync.WaitGroup
		for range 8 {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 5 {
					switch rand.IntN(6) {
					case 0:
						q.Cancel()
					case 1:
						q.Close()
					case 2, 3:
						if _, done, err := q.Poll(); err != nil && !done {
							t.Error(err)
						}
					default:
						if _, err := q.Wait(context.Background()); err == nil {
							t.Error("a proof of nothing")
						}
					}
				}
			}()
		}
		group.Wait()
		q.Close()
	}
	if n := p.engine.held(); n != 0 {
		t.Errorf("%d handles are left", n)
	}
}
