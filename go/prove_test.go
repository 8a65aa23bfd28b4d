//go:build cgo

package splitprove

import (
	"bytes"
	"context"
	"testing"
)

// provePoRep proves the 2 KiB sector, or skips or fails the test without parameters.
func provePoRep(t testing.TB, p *Prover) []byte {
	t.Helper()
	proof, err := p.Prove(context.Background(), porepRequest(t))
	skipOrFail(t, err)
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func TestProveAndVerifyPoRep(t *testing.T) {
	p := newProver(t, Options{})
	proof := provePoRep(t, p)
	if len(proof) != 192 {
		t.Fatalf("%d bytes", len(proof))
	}
	public := porepPublic(t)
	if err := p.Verify(public, proof); err != nil {
		t.Fatal(err)
	}
	another := provePoRep(t, p)
	if bytes.Equal(proof, another) {
		t.Error("two proofs have the same blinding")
	}

	other := public
	other.Seed[0] ^= 1
	mustBe(t, p.Verify(other, proof), ErrProofInvalid, "")
	other = public
	other.SectorNumber++
	mustBe(t, p.Verify(other, proof), ErrProofInvalid, "")
	for _, at := range []int{0, 47, 48, 100, 144, 191} {
		flipped := bytes.Clone(proof)
		flipped[at] ^= 1
		mustBe(t, p.Verify(public, flipped), ErrProofInvalid, "")
	}
	mustBe(t, p.Verify(public, proof[:191]), ErrProofInvalid, "")
	mustBe(t, p.Verify(public, nil), ErrProofInvalid, "")

	stats, err := p.Stats()
	if err != nil || stats.Finished != 2 || stats.Lanes < 1 || stats.ParamsBytes == 0 || stats.BudgetBytes == 0 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestProgressOfAProof(t *testing.T) {
	p := newProver(t, Options{})
	q := start(t, p, porepRequest(t))
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
			break
		}
	}
	if last.Stage != StageDone || last.Permille != 1000 || last.Partitions != 1 || last.PartitionsDone != 1 ||
		last.WitnessTime <= 0 || last.DeviceTime <= 0 || last.TotalTime < last.WitnessTime+last.DeviceTime {
		t.Errorf("%+v", last)
	}
	// Poll does not take the proof.
	proof, err := q.Wait(context.Background())
	if err != nil || len(proof) != 192 {
		t.Fatal(len(proof), err)
	}
	proof[0] ^= 0xff
	again, err := q.Wait(context.Background())
	if err != nil || again[0] == proof[0] {
		t.Error("the caller's copy is the Pending's")
	}
	if err := p.Verify(porepPublic(t), again); err != nil {
		t.Error(err)
	}
}

func TestCancelDuringAProof(t *testing.T) {
	p := newProver(t, Options{})
	provePoRep(t, p) // or skip
	for _, stage := range []Stage{StageWitness, StageDevice} {
		q := start(t, p, porepRequest(t))
		for progress, done := (Progress{}), false; progress.Stage < stage; {
			var err error
			if progress, done, err = q.Poll(); done {
				t.Fatal("over before it could be cancelled: ", err)
			}
		}
		q.Cancel()
		_, err := q.Wait(context.Background())
		mustBe(t, err, ErrCancelled, "")
	}
	// The prover goes on.
	if err := p.Verify(porepPublic(t), provePoRep(t, p)); err != nil {
		t.Error(err)
	}
}
