//go:build cgo

package splitprove

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fixture is a file of the repository's test inputs; SPLITPROVE_TEST_DATA names another folder.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("SPLITPROVE_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "tests", "data")
	}
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// porepRequest asks for the proof of the 2 KiB sector.
func porepRequest(t testing.TB) Request {
	t.Helper()
	return Request{Kind: PoRep, RegisteredProof: 5, MinerID: 1000, SectorNumber: 1,
		Vanilla: [][]byte{fixture(t, "porep-2k/c1.json")}}
}

// porepPublic is the statement that porepRequest's proof proves.
func porepPublic(t testing.TB) Public {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal(fixture(t, "porep-2k/public.json"), &file); err != nil {
		t.Fatal(err)
	}
	field := func(name string) (out [32]byte) {
		text, _ := file[name].(string)
		if n, err := hex.Decode(out[:], []byte(text)); n != 32 || err != nil {
			t.Fatalf("%s: %q", name, text)
		}
		return out
	}
	return Public{Kind: PoRep, RegisteredProof: 5, MinerID: 1000, SectorNumber: 1, Ticket: field("ticket"),
		Seed: field("seed"), CommD: field("comm_d"), CommR: field("comm_r")}
}

// badRequest fails when it is decoded.
func badRequest() Request {
	return Request{Kind: PoRep, RegisteredProof: 5, MinerID: 1000, SectorNumber: 1, Vanilla: [][]byte{[]byte(`{"a":`)}}
}

func newProver(t testing.TB, o Options) *Prover {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func start(t testing.TB, p *Prover, r Request) *Pending {
	t.Helper()
	q, err := p.Start(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// padded is the input after 128 MiB of white space; made once for the input that all tests use.
var padded = func() func(string) []byte {
	var once sync.Once
	var bytes []byte
	return func(input string) []byte {
		once.Do(func() {
			bytes = make([]byte, 128<<20, 128<<20+len(input))
			for i := range bytes {
				bytes[i] = ' '
			}
			bytes = append(bytes, input...)
		})
		return bytes
	}
}()

// holdQueue gives the prover an input of so much white space that those behind it wait for a fraction of a second.
func holdQueue(t testing.TB, p *Prover) *Pending {
	t.Helper()
	r := porepRequest(t)
	r.Vanilla = [][]byte{padded(string(r.Vanilla[0]))}
	return start(t, p, r)
}

// within fails the test when f takes longer.
func within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s takes more than %v", what, limit)
	}
}

// eventually waits for a condition that others bring about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// mustBe checks an error's code and, if it is not "", field.
func mustBe(t testing.TB, err error, code Code, field string) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || !errors.Is(err, code) || field != "" && failure.Field != field {
		t.Fatalf("%v (%+v), not %v about %q", err, failure, code, field)
	}
}

func (e *engine) held() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.proofs)
}

// threads of this process.
func threads(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nThreads:")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// descriptors open in this process.
func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// skipOrFail ends a test that needs the 2 KiB parameters when they are not there. Where SPLITPROVE_REQUIRE_PARAMS is 1,
// as in the repository's checks, that is a failure.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, ErrParamsNotFound) {
		return
	}
	if os.Getenv("SPLITPROVE_REQUIRE_PARAMS") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
}
