//go:build cgo

package splitprove

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"
)

// kindFixture is a proof to make and the statement that it proves.
type kindFixture struct {
	name       string
	request    Request
	public     Public
	partitions int
}

// hex32 is 32 bytes, written as hex.
type hex32 [32]byte

func (h *hex32) UnmarshalText(text []byte) error {
	_, err := hex.Decode(h[:], text)
	return err
}

// readKind reads a folder of test inputs with so many vanilla proofs.
func readKind(t *testing.T, kind Kind, registered uint32, folder string, inputs, partitions int) kindFixture {
	t.Helper()
	var file struct {
		MinerID    uint64 `json:"miner_actor_id"`
		Sector     uint64 `json:"sector_id"`
		Randomness hex32  `json:"randomness"`
		CommROld   hex32  `json:"comm_r_old"`
		CommRNew   hex32  `json:"comm_r_new"`
		CommDNew   hex32  `json:"comm_d_new"`
		Sectors    []struct {
			Number uint64 `json:"sector_id"`
			CommR  hex32  `json:"comm_r"`
		} `json:"sectors"`
	}
	if err := json.Unmarshal(fixture(t, folder+"/public.json"), &file); err != nil {
		t.Fatal(err)
	}
	r := Request{Kind: kind, RegisteredProof: registered, MinerID: file.MinerID, SectorNumber: file.Sector,
		Randomness: file.Randomness, CommROld: file.CommROld, CommRNew: file.CommRNew, CommDNew: file.CommDNew}
	for i := range inputs {
		r.Vanilla = append(r.Vanilla, fixture(t, folder+"/vanilla-"+strconv.Itoa(i)+".bin"))
	}
	p := Public{Kind: kind, RegisteredProof: registered, MinerID: r.MinerID, SectorNumber: r.SectorNumber,
		Randomness: r.Randomness, CommROld: r.CommROld, CommRNew: r.CommRNew, CommDNew: r.CommDNew}
	for _, s := range file.Sectors {
		p.Sectors = append(p.Sectors, Sector{SectorNumber: s.Number, CommR: s.CommR})
	}
	return kindFixture{folder, r, p, partitions}
}

// part is the WindowPoSt of one partition of the sectors alone.
func (k kindFixture) part(from, to int, partition uint32) kindFixture {
	k.name += ", partition " + strconv.Itoa(int(partition))
	k.request.Vanilla, k.request.PartitionIndex = k.request.Vanilla[from:to], partition
	k.public.Sectors, k.partitions = k.public.Sectors[from:to], 1
	return k
}

// Every kind but PoRep, which TestProve proves: each proof verifies against its statement and no other.
func TestEveryOtherKind(t *testing.T) {
	if testing.Short() {
		t.Skip("real proofs take long")
	}
	p := newProver(t, Options{})
	window := readKind(t, WindowPoSt, 10, "window-2k", 3, 2)
	all := []kindFixture{
		readKind(t, WinningPoSt, 0, "winning-2k", 1, 1),
		window, window.part(0, 2, 0), window.part(2, 3, 1),
		readKind(t, Snap, 0, "update-2k", 1, 1),
	}
	proofs := make([][]byte, len(all))
	for i, k := range all {
		proof, err := p.Prove(context.Background(), k.request)
		skipOrFail(t, err)
		if err != nil || len(proof) != 192*k.partitions {
			t.Fatal(k.name, len(proof), err)
		}
		if err := p.Verify(k.public, proof); err != nil {
			t.Fatal(k.name, err)
		}
		proofs[i] = proof
		for _, at := range []int{0, 48, 191} {
			flipped := bytes.Clone(proof)
			flipped[at] ^= 1
			mustBe(t, p.Verify(k.public, flipped), ErrProofInvalid, "")
		}
		for what, other := range otherStatements(k.public) {
			if err := p.Verify(other, proof); err == nil {
				t.Error(k.name, "verifies with another", what)
			}
		}
	}
	for i, k := range all {
		for j, proof := range proofs {
			if err := p.Verify(k.public, proof); (err == nil) != (i == j) {
				t.Error(k.name, "and the proof of", all[j].name, err)
			}
		}
	}
	// Partitions one after the other are the proof of the whole.
	if err := p.Verify(window.public, append(bytes.Clone(proofs[2]), proofs[3]...)); err != nil {
		t.Error(err)
	}
	mustBe(t, p.Verify(window.public, append(bytes.Clone(proofs[3]), proofs[2]...)), ErrProofInvalid, "")
}

// otherStatements have one value each that is not the statement's.
func otherStatements(of Public) map[string]Public {
	others := map[string]Public{}
	change := func(what string, change func(*Public)) {
		other := of
		other.Sectors = append([]Sector(nil), of.Sectors...)
		change(&other)
		others[what] = other
	}
	if of.Kind == Snap {
		change("comm_r_old", func(p *Public) { p.CommROld[0] ^= 1 })
		change("comm_r_new", func(p *Public) { p.CommRNew[0] ^= 1 })
		change("comm_d_new", func(p *Public) { p.CommDNew[0] ^= 1 })
		return others
	}
	last := len(of.Sectors) - 1
	change("randomness", func(p *Public) { p.Randomness[0] ^= 1 })
	change("comm_r", func(p *Public) { p.Sectors[last].CommR[0] ^= 1 })
	change("sector", func(p *Public) { p.Sectors[last].SectorNumber++ })
	return others
}

// What a request says and its vanilla proofs do not. No parameters are needed to see that.
func TestEveryOtherKindRefuses(t *testing.T) {
	p := newProver(t, Options{})
	window := readKind(t, WindowPoSt, 10, "window-2k", 3, 2).request
	winning := readKind(t, WinningPoSt, 0, "winning-2k", 1, 1).request
	snap := readKind(t, Snap, 0, "update-2k", 1, 1).request
	const opening = "vanilla[0].vanilla_proof.sectors[0].inclusion_proofs[0]"
	for _, c := range []struct {
		of     Request
		field  string
		change func(*Request)
	}{
		{window, opening, func(r *Request) { r.Randomness[0] ^= 1 }},
		{window, "partition_index", func(r *Request) { r.PartitionIndex = 1 }},
		{window, "vanilla[1].sector_id", func(r *Request) { r.Vanilla = [][]byte{r.Vanilla[1], r.Vanilla[0]} }},
		{window, "vanilla[1].sector_id", func(r *Request) { r.Vanilla = [][]byte{r.Vanilla[0], r.Vanilla[0]} }},
		{window, "vanilla[0].vanilla_proof.sectors[0].comm_r_last",
			func(r *Request) { r.Vanilla = [][]byte{r.Vanilla[0][:len(r.Vanilla[0])-1]} }},
		{window, "registered_proof", func(r *Request) { r.RegisteredProof = 0 }},
		{window, opening + ".path", func(r *Request) { r.RegisteredProof = 11 }},
		{winning, opening, func(r *Request) { r.Randomness[0] ^= 1 }},
		{winning, "vanilla_count", func(r *Request) { r.Vanilla = [][]byte{r.Vanilla[0], r.Vanilla[0]} }},
		{winning, "registered_proof", func(r *Request) { r.RegisteredProof = 5 }},
		{snap, "comm_r_old", func(r *Request) { r.CommROld[0] ^= 1 }},
		{snap, "comm_r_new", func(r *Request) { r.CommRNew[0] ^= 1 }},
		{snap, "comm_d_new", func(r *Request) { r.CommDNew[0] ^= 1 }},
		{snap, "vanilla_count", func(r *Request) { r.RegisteredProof = 1 }},
		{snap, "vanilla[0].apex_leafs", func(r *Request) { r.Vanilla = winning.Vanilla }},
	} {
		r := c.of
		c.change(&r)
		_, err := p.Prove(context.Background(), r)
		var wrong = ErrMalformedInput
		if c.field == "registered_proof" {
			wrong = ErrInvalidArgument
		}
		mustBe(t, err, wrong, c.field)
	}
}
