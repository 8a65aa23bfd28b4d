//go:build cgo

package splitprove

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/splitprove/splitprove/go/internal/bare"
)

func TestVersionIsTheHeaders(t *testing.T) {
	number, text := Version()
	if number != headerVersion || text == "" {
		t.Errorf("%d %q, the header has %d", number, text, headerVersion)
	}
}

func TestStatusNamesAreTheLibrarys(t *testing.T) {
	for _, c := range codes {
		if got := bare.StatusName(int32(c.code)); got != "PROVER_ERR_"+c.name {
			t.Errorf("%d: the library says %q, this package %q", c.code, got, c.name)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(Options{QueueDepth: -1})
	mustBe(t, err, ErrInvalidArgument, "queue_depth")
	_, err = New(Options{SynthesisThreads: 1_000_000})
	mustBe(t, err, ErrInvalidArgument, "synthesis_threads")
}

func TestRequestsAreChecked(t *testing.T) {
	p := newProver(t, Options{})
	for _, c := range []struct {
		name, field string
		change      func(*Request)
	}{
		{"no kind", "kind", func(r *Request) { r.Kind = 0 }},
		{"unknown kind", "kind", func(r *Request) { r.Kind = 5 }},
		{"unknown priority", "priority", func(r *Request) { r.Priority = 5 }},
		{"no vanilla proof", "vanilla_count", func(r *Request) { r.Vanilla = nil }},
		{"two vanilla proofs", "vanilla_count", func(r *Request) { r.Vanilla = append(r.Vanilla, []byte{1}) }},
		{"empty vanilla proof", "vanilla_len", func(r *Request) { r.Vanilla = [][]byte{{}} }},
		{"empty among several", "vanilla_lens", func(r *Request) { r.Kind, r.RegisteredProof, r.Vanilla = Snap, 0, [][]byte{{1, 2}, {}} }},
		{"deadline before now", "deadline_ns", func(r *Request) { r.Deadline = -1 }},
		{"long id", "request_id", func(r *Request) { r.RequestID = strings.Repeat("x", 64) }},
		{"NUL in id", "request_id", func(r *Request) { r.RequestID = "a\x00b" }},
	} {
		r := badRequest()
		c.change(&r)
		q, err := p.Start(context.Background(), r)
		if q != nil {
			t.Errorf("%s: a Pending", c.name)
		}
		var failure *Error
		if !errors.As(err, &failure) || failure.Code != ErrInvalidArgument || failure.Field != c.field {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	longest := badRequest()
	longest.RequestID = strings.Repeat("x", 63)
	if err := start(t, p, longest).Close(); err != nil {
		t.Error(err)
	}
}

func TestVerifyChecks(t *testing.T) {
	p := newProver(t, Options{ParamsDir: t.TempDir()})
	mustBe(t, p.Verify(Public{Kind: 7}, nil), ErrInvalidArgument, "kind")
	mustBe(t, p.Verify(Public{Kind: WindowPoSt}, nil), ErrInvalidArgument, "sector_count")
	if err := p.Verify(Public{Kind: WinningPoSt, Sectors: make([]Sector, 3)}, make([]byte, 192)); err == nil {
		t.Error("zeros verify")
	}
}

func TestAFullQueueIsBusy(t *testing.T) {
	p := newProver(t, Options{QueueDepth: 2})
	holdQueue(t, p)
	start(t, p, badRequest())
	_, err := p.Start(context.Background(), badRequest())
	mustBe(t, err, ErrBusy, "")
	var failure *Error
	if errors.As(err, &failure); failure.RetryAfter <= 0 {
		t.Error("no hint when to try again")
	}
	if stats, err := p.Stats(); err != nil || stats.Rejected != 1 || stats.Started != 2 || stats.Queued+stats.Running != 2 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestRequestIDs(t *testing.T) {
	p := newProver(t, Options{})
	holdQueue(t, p)
	r := badRequest()
	r.RequestID = "sector-1"
	a, b := start(t, p, r), start(t, p, r)
	r.SectorNumber = 2
	_, err := p.Start(context.Background(), r)
	mustBe(t, err, ErrIDConflict, "request_id")
	// One of two that joined is cancelled: it ends at once, the other goes on.
	a.Cancel()
	within(t, 30*time.Second, "a cancelled proof", func() { _, err = a.Wait(context.Background()) })
	mustBe(t, err, ErrCancelled, "")
	_, err = b.Wait(context.Background())
	mustBe(t, err, ErrMalformedInput, "")
}

func TestCloseWithWorkInFlight(t *testing.T) {
	p := newProver(t, Options{QueueDepth: 64})
	holdQueue(t, p)
	var waiting sync.WaitGroup
	for range 20 {
		q := start(t, p, badRequest())
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			if _, err := q.Wait(context.Background()); !errors.Is(err, ErrShutdown) {
				t.Error(err)
			}
		}()
	}
	uncollected := start(t, p, badRequest())
	var closers sync.WaitGroup
	for range 4 {
		closers.Add(1)
		go func() {
			defer closers.Done()
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	within(t, 2*time.Minute, "Close", closers.Wait)
	within(t, 30*time.Second, "waiting", waiting.Wait)

	_, done, err := uncollected.Poll()
	if mustBe(t, err, ErrShutdown, ""); !done {
		t.Error("not over")
	}
	if n := p.engine.held(); n != 0 {
		t.Errorf("%d handles are left", n)
	}
	_, err = p.Start(context.Background(), badRequest())
	mustBe(t, err, ErrShutdown, "")
	_, err = p.Prove(context.Background(), badRequest())
	mustBe(t, err, ErrShutdown, "")
	_, err = p.Stats()
	mustBe(t, err, ErrShutdown, "")
	mustBe(t, p.Verify(Public{Kind: PoRep}, nil), ErrShutdown, "")
	mustBe(t, p.Drain(context.Background()), ErrShutdown, "")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestDrain(t *testing.T) {
	p := newProver(t, Options{})
	held := holdQueue(t, p)
	q := start(t, p, badRequest())
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err := p.Drain(ctx)
	if mustBe(t, err, ErrTimeout, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	_, err = p.Start(context.Background(), badRequest())
	mustBe(t, err, ErrShutdown, "")
	within(t, 2*time.Minute, "Drain", func() { err = p.Drain(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []*Pending{held, q} {
		if _, done, _ := q.Poll(); !done {
			t.Error("drained, but a proof is not over")
		}
	}
}

func TestDroppedProverCloses(t *testing.T) {
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := p.engine
	q := start(t, p, badRequest())
	p = nil
	runtime.GC()
	// A Pending keeps its prover open.
	if _, err := q.Wait(context.Background()); errors.Is(err, ErrShutdown) {
		t.Error(err)
	}
	runtime.KeepAlive(q)
	q = nil
	eventually(t, "a dropped prover closes", func() bool {
		runtime.GC()
		select {
		case <-e.reader:
			return true
		default:
			return false
		}
	})
}

type handler struct {
	level   slog.Level
	mu      sync.Mutex
	records []slog.Record
	panics  bool
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }
func (h *handler) WithAttrs([]slog.Attr) slog.Handler           { return h }
func (h *handler) WithGroup(string) slog.Handler                { return h }
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, r)
	if h.panics {
		panic("a handler's own fault")
	}
	return nil
}

func (h *handler) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.records)
}

func TestLogger(t *testing.T) {
	h := &handler{level: LevelTrace, panics: true}
	p := newProver(t, Options{Logger: slog.New(h)})
	defer func() {
		if err := SetLogger(nil); err != nil {
			t.Error(err)
		}
	}()
	for range 3 {
		if _, err := p.Prove(context.Background(), badRequest()); !errors.Is(err, ErrMalformedInput) {
			t.Fatal(err)
		}
	}
	eventually(t, "a failed proof is logged", func() bool { return h.count() >= 3 })
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.records {
		age := time.Since(r.Time)
		if r.Message == "" || r.NumAttrs() == 0 || age < -time.Minute || age > time.Minute {
			t.Errorf("%+v", r)
		}
	}
}

func TestLoggerLevels(t *testing.T) {
	h := &handler{level: slog.LevelWarn}
	logger.Store(slog.New(h))
	defer logger.Store(nil)
	for level := range uint32(8) {
		deliver(level, time.Now(), "target", "message")
	}
	if h.count() != 2 || h.records[0].Level != slog.LevelError || h.records[1].Level != slog.LevelWarn {
		t.Errorf("%+v", h.records)
	}
}

func TestParametersThatAreNotThere(t *testing.T) {
	p := newProver(t, Options{ParamsDir: filepath.Join(t.TempDir(), "nothing")})
	_, err := p.Prove(context.Background(), porepRequest(t))
	mustBe(t, err, ErrParamsNotFound, "")
	mustBe(t, p.Verify(porepPublic(t), make([]byte, 192)), ErrParamsNotFound, "")
}
