package splitprove

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// headerNumbers has every NAME = number of the vendored header.
func headerNumbers(t *testing.T) map[string]int64 {
	t.Helper()
	header, err := os.ReadFile("splitprove.h")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int64{}
	pattern := regexp.MustCompile(`\b(PROVER?_[A-Z0-9_]+)\s*(?:=|\s)\s*(-?[0-9]+)`)
	for _, m := range pattern.FindAllStringSubmatch(string(header), -1) {
		n, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers[m[1]] = n
	}
	return numbers
}

func TestNumbersAreTheHeaders(t *testing.T) {
	numbers := headerNumbers(t)
	is := func(name string, want int64) {
		t.Helper()
		if got, ok := numbers[name]; !ok || got != want {
			t.Errorf("%s: the header has %d (%t), this package %d", name, got, ok, want)
		}
	}
	is("PROVER_OK", int64(statusOK))
	is("PROVER_PENDING", int64(statusPending))
	known := map[string]bool{}
	for _, c := range codes {
		known["PROVER_ERR_"+c.name] = true
		is("PROVER_ERR_"+c.name, int64(c.code))
	}
	for name := range numbers {
		if len(name) > 11 && name[:11] == "PROVER_ERR_" && !known[name] {
			t.Errorf("%s is not in this package", name)
		}
	}
	is("PROVE_POREP", int64(PoRep))
	is("PROVE_SNAP", int64(Snap))
	is("PROVE_WINDOW_POST", int64(WindowPoSt))
	is("PROVE_WINNING_POST", int64(WinningPoSt))
	for name, p := range map[string]Priority{"BY_KIND": PriorityByKind, "LOW": PriorityLow, "NORMAL": PriorityNormal,
		"HIGH": PriorityHigh, "CRITICAL": PriorityCritical} {
		is("PROVE_PRIORITY_"+name, int64(p))
	}
	for name, s := range map[string]Stage{"QUEUED": StageQueued, "LOADING": StageLoading, "WITNESS": StageWitness,
		"DEVICE": StageDevice, "FINISHING": StageFinishing, "DONE": StageDone} {
		is("PROVE_STAGE_"+name, int64(s))
	}
}

func TestTypesThatNeedNoLibrary(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{PoRep.String(), "porep"}, {Snap.String(), "snap"}, {WindowPoSt.String(), "window-post"},
		{WinningPoSt.String(), "winning-post"}, {Kind(9).String(), "kind 9"},
		{PriorityByKind.String(), "by-kind"}, {PriorityLow.String(), "low"}, {PriorityNormal.String(), "normal"},
		{PriorityHigh.String(), "high"}, {PriorityCritical.String(), "critical"}, {Priority(9).String(), "priority 9"},
		{StageQueued.String(), "queued"}, {StageLoading.String(), "loading"}, {StageWitness.String(), "witness"},
		{StageDevice.String(), "device"}, {StageFinishing.String(), "finishing"}, {StageDone.String(), "done"},
		{Stage(0).String(), "stage 0"}, {ErrIDConflict.String(), "ID_CONFLICT"}, {Code(-99).String(), "code -99"},
		{Code(-99).Error(), "splitprove: code -99"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
}

func TestVersionCheck(t *testing.T) {
	for _, c := range []struct {
		loaded, header uint32
		fits           bool
	}{
		{1_000, 1_000, true}, {1_007, 1_000, true}, {1_000, 1_007, true}, {2_000, 1_000, false}, {1_000, 2_000, false},
		{1_000_000, 1_000, false}, {1_003_000, 1_002_005, true}, {1_001_000, 1_002_000, false},
		{2_002_000, 1_002_000, false}, {0, 1_000, false},
	} {
		err := checkVersion(c.loaded, c.header)
		if (err == nil) != c.fits || err != nil && !errors.Is(err, ErrABIMismatch) {
			t.Errorf("library %d, header %d: %v", c.loaded, c.header, err)
		}
	}
}

func TestFlatten(t *testing.T) {
	one := []byte{1, 2, 3}
	if flat, lens := flatten([][]byte{one}); &flat[0] != &one[0] || len(flat) != 3 || lens != nil {
		t.Error("a single proof was copied")
	}
	flat, lens := flatten([][]byte{one, {}, {4}})
	if string(flat) != "\x01\x02\x03\x04" || len(lens) != 3 || lens[0] != 3 || lens[1] != 0 || lens[2] != 1 {
		t.Error(flat, lens)
	}
	if flat, lens := flatten(nil); len(flat) != 0 || len(lens) != 0 {
		t.Error(flat, lens)
	}
}
