// What a Go program sees of the installed library: the module builds through pkg-config, and an engine starts.
package main

import (
	"fmt"
	"log"

	splitprove "github.com/splitprove/splitprove/go"
)

func main() {
	prover, err := splitprove.New(splitprove.Options{NoGPU: true})
	if err != nil {
		log.Fatal(err)
	}
	stats, err := prover.Stats()
	if err != nil {
		log.Fatal(err)
	}
	if err := prover.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Go: splitprove with %d lane(s)\n", stats.Lanes)
}
