package splitprove

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEveryCodeMatchesItselfAlone(t *testing.T) {
	for _, c := range codes {
		err := codeError(c.code)
		var failure *Error
		if !errors.As(err, &failure) || failure.Code != c.code {
			t.Errorf("%v is not an Error with code %v", err, c.code)
		}
		for _, other := range codes {
			if errors.Is(err, other.code) != (other.code == c.code) {
				t.Errorf("errors.Is(%v, %v)", err, other.code)
			}
		}
		if !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v does not say %q", err, c.text)
		}
		full := &Error{Code: c.code, Field: "field", Message: "a message"}
		if want := "splitprove: " + c.name + ": field: a message"; full.Error() != want {
			t.Errorf("%q, not %q", full, want)
		}
	}
	if codeError(statusOK) != nil || codeError(statusPending) != nil {
		t.Error("no failure is no error")
	}
}

func TestErrorsUnwrap(t *testing.T) {
	missing := &Error{Code: ErrIO, Message: "no", OSCode: int64(syscall.ENOENT)}
	if !errors.Is(missing, fs.ErrNotExist) || !errors.Is(missing, syscall.ENOENT) || !errors.Is(missing, ErrIO) {
		t.Error("the system's error is lost")
	}
	if device := (&Error{Code: ErrDevice, OSCode: 2}); errors.Is(device, syscall.ENOENT) {
		t.Error("a CUDA error is not an errno")
	}
	cause := errors.New("the operator said so")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	err := contextError(ctx)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrCancelled) || !strings.Contains(err.Error(), cause.Error()) {
		t.Error(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Nanosecond)
	defer stop()
	<-ctx.Done()
	if err := contextError(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrTimeout) {
		t.Error(err)
	}
}

func TestOptionsThatCFieldsCannotCarry(t *testing.T) {
	for _, c := range []struct {
		field string
		o     Options
	}{
		{"synthesis_threads", Options{SynthesisThreads: -1}},
		{"cpu_threads", Options{CPUThreads: 1 << 32}},
		{"queue_depth", Options{QueueDepth: -5}},
		{"params_dir", Options{ParamsDir: "a\x00b"}},
		{"circuit_cache_dir", Options{CircuitCacheDir: "\x00"}},
		{"devices", Options{Devices: []string{"0\x00"}}},
		{"devices", Options{Devices: []string{""}}},
		{"devices", Options{Devices: []string{"0,1"}}},
	} {
		var failure *Error
		if err := c.o.check(); !errors.As(err, &failure) || failure.Code != ErrInvalidArgument || failure.Field != c.field {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	o := Options{SynthesisThreads: 3, Devices: []string{"0", "GPU-1"}, ParamsDir: "/x"}
	if err := o.check(); err != nil {
		t.Error(err)
	}
}
