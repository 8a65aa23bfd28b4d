//go:build !cgo

package splitprove

import (
	"errors"
	"log/slog"
	"testing"
)

func TestWithoutCgoEverythingIsUnsupported(t *testing.T) {
	if p, err := New(Options{}); p != nil || !errors.Is(err, ErrUnsupported) {
		t.Error(p, err)
	}
	if err := SetLogger(slog.Default()); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if number, text := Version(); number != 0 || text != "" {
		t.Error(number, text)
	}
}
