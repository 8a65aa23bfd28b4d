//go:build cgo && linux

package splitprove

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// dispositions is what the kernel does with each signal, as rt_sigaction gives it.
func dispositions(t *testing.T) (all [65][32]byte) {
	t.Helper()
	for signal := 1; signal < len(all); signal++ {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), 0,
			uintptr(unsafe.Pointer(&all[signal])), 8, 0, 0)
		if errno != 0 {
			t.Fatal(signal, errno)
		}
	}
	return all
}

// T12: a thousand SIGPROF a second, garbage collections and goroutines that come, go and change threads, while proofs are
// started, polled, waited for, cancelled and verified.
func TestT12ProfiledProgram(t *testing.T) {
	runtime.SetCPUProfileRate(1000)
	var profile bytes.Buffer
	// StartCPUProfile keeps the rate that is set, with a word on standard error.
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	before := dispositions(t)

	p, err := New(Options{QueueDepth: 64})
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(3 * time.Second)
	var group sync.WaitGroup
	for range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				runtime.GC()
				var churn sync.WaitGroup
				for range 100 {
					churn.Add(1)
					go func() {
						defer churn.Done()
						runtime.LockOSThread()
						_ = make([]byte, 10_000)
						runtime.Gosched()
						runtime.UnlockOSThread()
					}()
				}
				churn.Wait()
			}
		}()
	}
	request, public := porepRequest(t), porepPublic(t)
	expected := []Code{ErrMalformedInput, ErrCancelled, ErrTimeout, ErrBusy, ErrParamsNotFound, ErrProofInvalid}
	check := func(err error) {
		is := func(code Code) bool { return errors.Is(err, code) }
		if err != nil && !slices.ContainsFunc(expected, is) {
			t.Error(err)
		}
	}
	// A real proof may take longer than the test.
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	for i := range 6 {
		group.Add(1)
		go func() {
			defer group.Done()
			for round := 0; time.Now().Before(end); round++ {
				r := badRequest()
				if i == 0 {
					r = request
				}
				q, err := p.Start(context.Background(), r)
				if check(err); err != nil {
					continue
				}
				for range 100 {
					q.Poll()
				}
				if round%3 == 1 {
					q.Cancel()
				}
				_, err = q.Wait(ctx)
				check(err)
				check(p.Verify(public, make([]byte, 192)))
			}
		}()
	}
	group.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if after := dispositions(t); after != before {
		t.Error("the library changed what signals do")
	}
	pprof.StopCPUProfile()
	if profile.Len() == 0 {
		t.Error("no profile")
	}
}
