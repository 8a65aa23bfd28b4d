// Package splitprove makes and verifies Filecoin's Groth16 proofs (PoRep, SnapDeals, WindowPoSt, WinningPoSt) inside
// the calling process, through the C library libsplitprove.
//
//	prover, err := splitprove.New(splitprove.Options{})
//	if err != nil { ... }
//	defer prover.Close()
//	proof, err := prover.Prove(ctx, splitprove.Request{
//		Kind: splitprove.PoRep, RegisteredProof: 8, // abi.RegisteredSealProof_StackedDrg32GiBV1_1
//		MinerID: 1000, SectorNumber: 1, Vanilla: [][]byte{c1},
//	})
//
// # Waiting
//
// [Prover.Start] hands a request over and returns a [Pending]. Waiting for it holds no operating system thread: the
// library raises an event descriptor, one goroutine for each [Prover] sleeps on it in Go's network poller, and wakes
// the [Pending] that is over. 200 goroutines in [Pending.Wait] are 200 goroutines and no more threads.
//
// # Cancellation
//
// The context given to [Prover.Start] lives as long as the proof: when it is done first, the proof is cancelled. So does
// the context given to [Pending.Wait]. The error then wraps the context's own. A [Pending] that the program drops is
// cancelled and its memory returned when the garbage collector finds it; [Pending.Close] does the same at once.
//
// # Errors
//
// Every error of the library is an [*Error] whose [Code] errors.Is matches:
//
//	var e *splitprove.Error
//	switch {
//	case errors.Is(err, splitprove.ErrBusy) && errors.As(err, &e):
//		time.Sleep(e.RetryAfter)
//	case errors.Is(err, splitprove.ErrMalformedInput): // e.Field names the place
//	}
//
// # Building
//
// With cgo the package finds the library through pkg-config (splitprove.pc). Without cgo it still builds, and every
// call returns [ErrUnsupported].
package splitprove
