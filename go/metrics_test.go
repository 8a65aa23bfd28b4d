//go:build cgo && linux

package splitprove

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMetricsStatusAndTrace(t *testing.T) {
	p, err := New(Options{SynthesisThreads: 1, CPUThreads: 1, HostMemoryLimit: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	metrics := p.Metrics()
	for _, want := range []string{
		"splitprove_proofs_total{outcome=\"finished\"} 0\n",
		"splitprove_budget_bytes{value=\"total\"} 4294967296\n",
		"splitprove_buffer_bytes{class=\"witness\",stage=\"reclaiming\"} 0\n",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics have no %q", want)
		}
	}
	var status struct {
		BudgetBytes uint64 `json:"budget_bytes"`
		Buffers     map[string]map[string]struct{ Count, Bytes uint64 }
	}
	if err := json.Unmarshal([]byte(p.StatusJSON()), &status); err != nil {
		t.Fatal(err)
	}
	if status.BudgetBytes != 4<<30 || len(status.Buffers) != 6 || len(status.Buffers["witness"]) != 7 {
		t.Errorf("status: %+v", status)
	}

	path := filepath.Join(t.TempDir(), "trace.json")
	if err := p.StopTrace(); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
	if err := p.StartTrace(filepath.Join(path, "no")); !errors.Is(err, ErrIO) {
		t.Error(err)
	}
	if err := p.StartTrace("a\x00b"); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
	if err := p.StartTrace(path); err != nil {
		t.Fatal(err)
	}
	if err := p.StopTrace(); err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(bytes, &trace); err != nil || len(trace.TraceEvents) == 0 {
		t.Error(err, trace)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Metrics() != "" || p.StatusJSON() != "" || !errors.Is(p.StartTrace(path), ErrShutdown) {
		t.Error("a closed prover has metrics")
	}
}
