package splitprove_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	splitprove "github.com/splitprove/splitprove/go"
)

func Example() {
	prover, err := splitprove.New(splitprove.Options{QueueDepth: 20, Logger: slog.Default()})
	if err != nil {
		log.Fatal(err)
	}
	defer prover.Close()
	c1, err := os.ReadFile("c1.json")
	if err != nil {
		log.Fatal(err)
	}
	request := splitprove.Request{
		Kind: splitprove.PoRep, RegisteredProof: 8, MinerID: 1000, SectorNumber: 1, Vanilla: [][]byte{c1},
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	proof, err := prover.Prove(ctx, request)
	var failure *splitprove.Error
	if errors.Is(err, splitprove.ErrBusy) && errors.As(err, &failure) {
		time.Sleep(failure.RetryAfter)
		proof, err = prover.Prove(ctx, request)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(proof), "bytes")
}
