//go:build cgo

package splitprove

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// One prover and two whole proofs, for each takes as long as the parameters are large: the 2 KiB circuit has a million
// constraints.
func TestProve(t *testing.T) {
	if testing.Short() {
		t.Skip("real proofs take long")
	}
	p := newProver(t, Options{})
	public := porepPublic(t)

	q := start(t, p, porepRequest(t))
	last := followProgress(t, q)
	if last.Stage != StageDone || last.Permille != 1000 || last.Partitions != 1 || last.PartitionsDone != 1 ||
		last.WitnessTime <= 0 || last.DeviceTime <= 0 || last.TotalTime < last.WitnessTime+last.DeviceTime {
		t.Errorf("%+v", last)
	}
	t.Logf("%+v", last)

	// Poll has not taken the proof, and what Wait gives is the caller's own.
	proof, err := q.Wait(context.Background())
	if err != nil || len(proof) != 192 {
		t.Fatal(len(proof), err)
	}
	proof[0] ^= 0xff
	proof, err = q.Wait(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(public, proof); err != nil {
		t.Fatal(err)
	}
	refusesOthers(t, p, public, proof)

	cancelled := start(t, p, porepRequest(t))
	for progress, done := (Progress{}), false; progress.Stage < StageDevice; time.Sleep(time.Millisecond) {
		if progress, done, err = cancelled.Poll(); done {
			t.Fatal("over before it could be cancelled: ", err)
		}
	}
	cancelled.Cancel()
	_, err = cancelled.Wait(context.Background())
	mustBe(t, err, ErrCancelled, "")

	// The prover goes on, and blinds each proof anew.
	another, err := p.Prove(context.Background(), porepRequest(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(public, another); err != nil || bytes.Equal(proof, another) {
		t.Error(err, "or the same blinding")
	}
	stats, err := p.Stats()
	if err != nil || stats.Finished != 2 || stats.Cancelled != 1 || stats.Lanes < 1 || stats.ParamsBytes == 0 ||
		stats.BudgetBytes == 0 {
		t.Errorf("%+v %v", stats, err)
	}
}

// followProgress polls until the proof is done, and ends the test where there are no parameters.
func followProgress(t *testing.T, q *Pending) Progress {
	t.Helper()
	var last Progress
	for {
		progress, done, err := q.Poll()
		skipOrFail(t, err)
		if err != nil {
			t.Fatal(err)
		}
		if progress.Permille < last.Permille || progress.PartitionsDone < last.PartitionsDone {
			t.Fatalf("%+v after %+v", progress, last)
		}
		last = progress
		if done {
			return last
		}
		time.Sleep(time.Millisecond)
	}
}

// refusesOthers verifies other statements and other bytes.
func refusesOthers(t *testing.T, p *Prover, public Public, proof []byte) {
	t.Helper()
	for name, change := range map[string]func(*Public){
		"seed":   func(p *Public) { p.Seed[0] ^= 1 },
		"ticket": func(p *Public) { p.Ticket[31] ^= 1 },
		"comm_d": func(p *Public) { p.CommD[0] ^= 1 },
		"comm_r": func(p *Public) { p.CommR[0] ^= 1 },
		"sector": func(p *Public) { p.SectorNumber++ },
		"miner":  func(p *Public) { p.MinerID++ },
	} {
		other := public
		change(&other)
		if err := p.Verify(other, proof); err == nil {
			t.Error("verifies with another ", name)
		}
	}
	seed := public
	seed.Seed[5] ^= 4
	mustBe(t, p.Verify(seed, proof), ErrProofInvalid, "")
	for _, at := range []int{0, 47, 48, 100, 144, 191} {
		flipped := bytes.Clone(proof)
		flipped[at] ^= 1
		mustBe(t, p.Verify(public, flipped), ErrProofInvalid, "")
	}
	for _, short := range [][]byte{proof[:191], {}, nil} {
		mustBe(t, p.Verify(public, short), ErrProofInvalid, "")
	}
}
