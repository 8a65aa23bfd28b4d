package splitprove

import (
	"fmt"
	"syscall"
	"time"
)

// Code says what went wrong, as the C header numbers it (PROVER_ERR_*). Codes come in bands by what to do next: try
// again or elsewhere (-1…), mend the call or its input (-20…), mend the machine (-40…), report a bug (-60…). The numbers
// never change. A Code is an error itself, so that errors.Is(err, ErrBusy) holds for an [*Error] with that code.
type Code int32

const (
	// ErrBusy: as many proofs wait or run as may. [Error.RetryAfter] hints when to try again.
	ErrBusy Code = -1
	// ErrTimeout: the deadline passed before the proof was done.
	ErrTimeout Code = -2
	// ErrCancelled: the proof was cancelled.
	ErrCancelled Code = -3
	// ErrShutdown: the prover is draining or closed.
	ErrShutdown Code = -4

	// ErrInvalidArgument: an argument of the call is wrong; [Error.Field] names it.
	ErrInvalidArgument Code = -20
	// ErrInvalidHandle: a handle that has ended or never was.
	ErrInvalidHandle Code = -21
	// ErrABIMismatch: the loaded library does not fit the header this package was built with.
	ErrABIMismatch Code = -22
	// ErrBufferTooSmall: an output buffer is too small.
	ErrBufferTooSmall Code = -23
	// ErrMalformedInput: the input's bytes are not what they should be; [Error.Field] names the place.
	ErrMalformedInput Code = -24
	// ErrUnsupported: not offered by this library, or the package was built without cgo.
	ErrUnsupported Code = -25
	// ErrIDConflict: the request id is in use for another input.
	ErrIDConflict Code = -26
	// ErrTooLarge: the request can never fit into the memory given.
	ErrTooLarge Code = -27
	// ErrUnsatisfied: the input does not satisfy its circuit.
	ErrUnsatisfied Code = -28
	// ErrProofInvalid: a proof does not verify.
	ErrProofInvalid Code = -29

	// ErrParamsNotFound: a parameter file is not there.
	ErrParamsNotFound Code = -40
	// ErrParamsCorrupt: a parameter file's content is wrong.
	ErrParamsCorrupt Code = -41
	// ErrParamsInsecure: parameters that Filecoin does not know, for a production sector size.
	ErrParamsInsecure Code = -42
	// ErrIO: the system refused a read, a write or another call; [Error.OSCode] says why.
	ErrIO Code = -43
	// ErrOutOfMemory: memory could not be had.
	ErrOutOfMemory Code = -44
	// ErrNoDevice: there is no device to prove on.
	ErrNoDevice Code = -45
	// ErrDevice: a device failed.
	ErrDevice Code = -46

	// ErrSelfCheck: a finished proof did not verify against its own key.
	ErrSelfCheck Code = -60
	// ErrPanic: the library caught a panic.
	ErrPanic Code = -61
	// ErrInternal: another fault of the library's own.
	ErrInternal Code = -62
)

// What the C functions return when they have not failed.
const (
	statusOK      Code = 0
	statusPending Code = 1
)

// codes has every code with the header's name for it, less its prefix, and a sentence for errors that bring none.
var codes = []struct {
	code       Code
	name, text string
}{
	{ErrBusy, "BUSY", "as many proofs wait or run as may"},
	{ErrTimeout, "TIMEOUT", "the time given was over first"},
	{ErrCancelled, "CANCELLED", "the proof was cancelled"},
	{ErrShutdown, "SHUTDOWN", "the prover is draining or closed"},
	{ErrInvalidArgument, "INVALID_ARGUMENT", "an argument of the call is wrong"},
	{ErrInvalidHandle, "INVALID_HANDLE", "the handle has ended or never was"},
	{ErrABIMismatch, "ABI_MISMATCH", "the library does not fit the header"},
	{ErrBufferTooSmall, "BUFFER_TOO_SMALL", "the output buffer is too small"},
	{ErrMalformedInput, "MALFORMED_INPUT", "the input's bytes are not what they should be"},
	{ErrUnsupported, "UNSUPPORTED", "not offered"},
	{ErrIDConflict, "ID_CONFLICT", "the request id is in use for another input"},
	{ErrTooLarge, "TOO_LARGE", "the request can never fit into the memory given"},
	{ErrUnsatisfied, "UNSATISFIED", "the input does not satisfy its circuit"},
	{ErrProofInvalid, "PROOF_INVALID", "the proof does not verify"},
	{ErrParamsNotFound, "PARAMS_NOT_FOUND", "a parameter file is not there"},
	{ErrParamsCorrupt, "PARAMS_CORRUPT", "a parameter file's content is wrong"},
	{ErrParamsInsecure, "PARAMS_INSECURE", "Filecoin does not know these parameters"},
	{ErrIO, "IO", "the system refused a call"},
	{ErrOutOfMemory, "OUT_OF_MEMORY", "memory could not be had"},
	{ErrNoDevice, "NO_DEVICE", "there is no device to prove on"},
	{ErrDevice, "DEVICE", "a device failed"},
	{ErrSelfCheck, "SELF_CHECK", "a finished proof did not verify"},
	{ErrPanic, "PANIC", "the library caught a panic"},
	{ErrInternal, "INTERNAL", "the library is at fault"},
}

// String is the header's name of the code without its prefix, such as BUSY.
func (c Code) String() string {
	for _, known := range codes {
		if known.code == c {
			return known.name
		}
	}
	return fmt.Sprintf("code %d", int32(c))
}

// Error makes a Code usable as a target of errors.Is.
func (c Code) Error() string {
	for _, known := range codes {
		if known.code == c {
			return "splitprove: " + known.text
		}
	}
	return "splitprove: " + c.String()
}

// Error is every failure of this package. errors.Is matches it with its [Code]; where a context ended the proof, also
// with the context's error; for [ErrIO] and [ErrOutOfMemory] also with the syscall.Errno that the system gave.
type Error struct {
	// Code says what to do next.
	Code Code
	// Field is the field or structure at fault, "" if none.
	Field string
	// Message is a sentence for people.
	Message string
	// RetryAfter hints when to try again after [ErrBusy], else 0.
	RetryAfter time.Duration
	// OSCode is errno or the CUDA error, else 0.
	OSCode int64

	cause error
}

// Error joins the code, the field and the message.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		return e.Code.Error()
	}
	if e.Field != "" {
		message = e.Field + ": " + message
	}
	return "splitprove: " + e.Code.String() + ": " + message
}

// Is reports whether target is the error's [Code].
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap gives the context's error or the system's, or nil.
func (e *Error) Unwrap() error {
	if e.cause != nil {
		return e.cause
	}
	if e.OSCode > 0 && (e.Code == ErrIO || e.Code == ErrOutOfMemory) {
		return syscall.Errno(e.OSCode)
	}
	return nil
}

func argumentError(field, message string) error {
	return &Error{Code: ErrInvalidArgument, Field: field, Message: message}
}

// codeError is the error of a call that gives a status and no text.
func codeError(code Code) error {
	if code >= statusOK {
		return nil
	}
	return &Error{Code: code}
}
