//go:build cgo

package splitprove

import (
	"testing"
	"time"

	"github.com/splitprove/splitprove/go/internal/bare"
)

// queued gives a proof that waits for a fraction of a second, and fails what takes longer: run the benchmarks with
// -benchtime=200000x.
func queued(tb testing.TB) *Pending {
	p := newProver(tb, Options{QueueDepth: 1000})
	holdQueue(tb, p)
	q := start(tb, p, badRequest())
	tb.Cleanup(func() {
		if _, done, _ := q.Poll(); done {
			tb.Error("the proof ended while it was polled")
		}
	})
	return q
}

func BenchmarkPoll(b *testing.B) {
	q := queued(b)
	b.ReportAllocs()
	for b.Loop() {
		q.Poll()
	}
}

// BenchmarkPollCgo is the thinnest call through cgo.
func BenchmarkPollCgo(b *testing.B) {
	q := queued(b)
	b.ReportAllocs()
	for b.Loop() {
		bare.Poll(q.proof.id)
	}
}

// BenchmarkPollC is a loop in C.
func BenchmarkPollC(b *testing.B) {
	q := queued(b)
	b.ResetTimer()
	bare.PollMany(q.proof.id, b.N)
}

// BenchmarkStart51MB hands over as much as a 32 GiB sector has.
func BenchmarkStart51MB(b *testing.B) {
	p := newProver(b, Options{QueueDepth: 1000})
	holdQueue(b, p)
	r := badRequest()
	r.Vanilla[0] = make([]byte, 51_000_000)
	b.SetBytes(int64(len(r.Vanilla[0])))
	for b.Loop() {
		start(b, p, r).Close()
	}
}

func TestPollAllocatesNothing(t *testing.T) {
	q := queued(t)
	if n := testing.AllocsPerRun(1000, func() { q.Poll() }); n != 0 {
		t.Errorf("%v allocations a poll", n)
	}
}

// What the package adds to a call from C: at most 200 ns, of which cgo takes most.
func TestPollCostsLittleMoreThanTheCall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own cost would be measured")
	}
	q := queued(t)
	// The best of many short rounds: between them others may have the processor.
	const calls, rounds = 1000, 200
	inC, inGo := time.Hour, time.Hour
	for range rounds {
		from := time.Now()
		bare.PollMany(q.proof.id, calls)
		inC = min(inC, time.Since(from)/calls)
		from = time.Now()
		for range calls {
			q.Poll()
		}
		inGo = min(inGo, time.Since(from)/calls)
	}
	t.Logf("prove_poll from C %v, Poll from Go %v", inC, inGo)
	if inGo-inC > 200*time.Nanosecond {
		t.Errorf("Poll takes %v, the call in C %v", inGo, inC)
	}
}
