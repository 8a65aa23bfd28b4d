//go:build cgo

package curio

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/filecoin-project/go-state-types/abi"
	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"

	splitprove "github.com/splitprove/splitprove/go"
)

// fixture is a file of the repository's test inputs; SPLITPROVE_TEST_DATA names another folder.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("SPLITPROVE_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "tests", "data")
	}
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func public(t *testing.T, name string) func(field string) [32]byte {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal(fixture(t, name), &file); err != nil {
		t.Fatal(err)
	}
	return func(field string) (out [32]byte) {
		text, _ := file[field].(string)
		if n, err := hex.Decode(out[:], []byte(text)); n != 32 || err != nil {
			t.Fatalf("%s: %q", field, text)
		}
		return out
	}
}

func newProver(t *testing.T) (*splitprove.Prover, *Prover) {
	t.Helper()
	p, err := splitprove.New(splitprove.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, New(p)
}

// accepted fails the test unless the input got past the checks of the request and its bytes: it was proved, or the
// parameters are not here.
func accepted(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if errors.Is(err, splitprove.ErrParamsNotFound) && os.Getenv("SPLITPROVE_REQUIRE_PARAMS") != "1" {
		return
	}
	t.Fatal(err)
}

func mustBe(t *testing.T, err error, code splitprove.Code, field string) {
	t.Helper()
	var failure *splitprove.Error
	if !errors.As(err, &failure) || failure.Code != code || field != "" && failure.Field != field {
		t.Fatalf("%v, not %v about %q", err, code, field)
	}
}

func TestSealProofIsReadFromTheInput(t *testing.T) {
	for _, c := range []struct {
		file string
		want abi.RegisteredSealProof
	}{
		{"porep-2k/c1.json", abi.RegisteredSealProof_StackedDrg2KiBV1_1},
		{"porep-2k/c1.lotus-bench.json", abi.RegisteredSealProof_StackedDrg2KiBV1_1},
		{"porep-8m/c1.json", abi.RegisteredSealProof_StackedDrg8MiBV1_1},
		{"porep-2k-noninteractive/c1.lotus-bench.json", abi.RegisteredSealProof_StackedDrg2KiBV1_2_Feat_NiPoRep},
	} {
		if got, err := sealProof(fixture(t, c.file)); err != nil || got != c.want {
			t.Errorf("%s: %d %v", c.file, got, err)
		}
	}
	for name, want := range map[string]abi.RegisteredSealProof{
		"StackedDrg64GiBV1":                             abi.RegisteredSealProof_StackedDrg64GiBV1,
		"StackedDrg32GiBV1_1":                           abi.RegisteredSealProof_StackedDrg32GiBV1_1,
		"StackedDrg32GiBV1_1_Feat_SyntheticPoRep":       abi.RegisteredSealProof_StackedDrg32GiBV1_1_Feat_SyntheticPoRep,
		"StackedDrg512MiBV1_2_Feat_NonInteractivePoRep": abi.RegisteredSealProof_StackedDrg512MiBV1_2_Feat_NiPoRep,
	} {
		if got, ok := sealProofs[name]; !ok || got != want {
			t.Errorf("%s: %d", name, got)
		}
	}
	for input, field := range map[string]string{
		"": "vanilla", "{": "vanilla", "[]": "vanilla", `{"a":1}`: "registered_proof", `{"registered_proof":5}`: "vanilla",
		`{"registered_proof":"StackedDrg1KiBV1"}`: "registered_proof", `{"Phase1Out":"!!"}`: "vanilla",
		`{"vanilla_proofs":{"registered_proof":"StackedDrg2KiBV1"}}`: "registered_proof",
	} {
		_, err := sealProof([]byte(input))
		mustBe(t, err, splitprove.ErrMalformedInput, field)
	}
	if got, err := sealProof([]byte{8, 0, 0, 0, 1}); err != nil || got != abi.RegisteredSealProof_StackedDrg32GiBV1_1 {
		t.Error(got, err)
	}
	_, err := sealProof([]byte{20, 0, 0, 0, 1})
	mustBe(t, err, splitprove.ErrMalformedInput, "vanilla")
	if got, err := sealProof([]byte(`{"seed":[{}],"registered_proof":"StackedDrg2KiBV1"}`)); err != nil || got != 0 {
		t.Error(got, err)
	}
}

func TestSealCommitPhase2(t *testing.T) {
	engine, p := newProver(t)
	made, err := p.SealCommitPhase2(context.Background(), fixture(t, "porep-2k/c1.lotus-bench.json"), 1, 1000)
	if accepted(t, err); err == nil {
		field := public(t, "porep-2k/public.json")
		err = engine.Verify(splitprove.Public{Kind: splitprove.PoRep, RegisteredProof: 5, MinerID: 1000, SectorNumber: 1,
			Ticket: field("ticket"), Seed: field("seed"), CommD: field("comm_d"), CommR: field("comm_r")}, made)
		if err != nil || len(made) != 192 {
			t.Fatal(len(made), err)
		}
	}
	_, err = p.SealCommitPhase2(context.Background(), fixture(t, "porep-2k/c1.lotus-bench.json"), 2, 1000)
	mustBe(t, err, splitprove.ErrMalformedInput, "")
	_, err = p.SealCommitPhase2(context.Background(), []byte("{}"), 1, 1000)
	mustBe(t, err, splitprove.ErrMalformedInput, "registered_proof")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = p.SealCommitPhase2(ended, fixture(t, "porep-2k/c1.json"), 1, 1000); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPoSts(t *testing.T) {
	_, p := newProver(t)
	winning, window := public(t, "winning-2k/public.json")("randomness"), public(t, "window-2k/public.json")("randomness")
	made, err := p.GenerateWinningPoStWithVanilla(context.Background(), abi.RegisteredPoStProof_StackedDrgWinning2KiBV1,
		1000, winning[:], [][]byte{fixture(t, "winning-2k/vanilla-0.bin")})
	if accepted(t, err); err == nil && (len(made) != 1 || len(made[0].ProofBytes) != 192 ||
		made[0].PoStProof != abi.RegisteredPoStProof_StackedDrgWinning2KiBV1) {
		t.Errorf("%+v", made)
	}
	one, err := p.GenerateSinglePartitionWindowPoStWithVanilla(context.Background(),
		abi.RegisteredPoStProof_StackedDrgWindow2KiBV1_1, 1000, window[:],
		[][]byte{fixture(t, "window-2k/vanilla-0.bin"), fixture(t, "window-2k/vanilla-1.bin")}, 0)
	if accepted(t, err); err == nil && (len(one.ProofBytes) != 192 ||
		one.PoStProof != abi.RegisteredPoStProof_StackedDrgWindow2KiBV1_1) {
		t.Errorf("%+v", one)
	}

	_, err = p.GenerateWinningPoStWithVanilla(context.Background(), 0, 1000, winning[:31], nil)
	mustBe(t, err, splitprove.ErrInvalidArgument, "randomness")
	_, err = p.GenerateWinningPoStWithVanilla(context.Background(), -1, 1000, winning[:], nil)
	mustBe(t, err, splitprove.ErrInvalidArgument, "registered_proof")
	_, err = p.GenerateSinglePartitionWindowPoStWithVanilla(context.Background(), 10, 1000, window[:], nil, 1<<32)
	mustBe(t, err, splitprove.ErrInvalidArgument, "partition_index")
	_, err = p.GenerateWinningPoStWithVanilla(context.Background(), 0, 1000, winning[:], nil)
	mustBe(t, err, splitprove.ErrInvalidArgument, "vanilla_count")
}

func commitmentCID(t *testing.T, bytes [32]byte, codec, hashed uint64) cid.Cid {
	t.Helper()
	hash, err := multihash.Encode(bytes[:], hashed)
	if err != nil {
		t.Fatal(err)
	}
	return cid.NewCidV1(codec, hash)
}

func TestGenerateUpdateProof(t *testing.T) {
	_, p := newProver(t)
	field := public(t, "update-2k/public.json")
	sealed := func(name string) cid.Cid {
		return commitmentCID(t, field(name), cid.FilCommitmentSealed, multihash.POSEIDON_BLS12_381_A1_FC1)
	}
	unsealed := commitmentCID(t, field("comm_d_new"), cid.FilCommitmentUnsealed, multihash.SHA2_256_TRUNC254_PADDED)
	vanilla := [][]byte{fixture(t, "update-2k/vanilla-0.bin")}
	made, err := p.GenerateUpdateProofWithVanilla(context.Background(), abi.RegisteredUpdateProof_StackedDrg2KiBV1,
		sealed("comm_r_old"), sealed("comm_r_new"), unsealed, vanilla)
	if accepted(t, err); err == nil && len(made) != 192 {
		t.Errorf("%d bytes", len(made))
	}
	for _, c := range []struct {
		field         string
		key, new, cid cid.Cid
	}{
		{"comm_r_old", unsealed, sealed("comm_r_new"), unsealed},
		{"comm_r_new", sealed("comm_r_old"), cid.Undef, unsealed},
		{"comm_d_new", sealed("comm_r_old"), sealed("comm_r_new"), sealed("comm_r_new")},
	} {
		_, err := p.GenerateUpdateProofWithVanilla(context.Background(), 0, c.key, c.new, c.cid, vanilla)
		mustBe(t, err, splitprove.ErrInvalidArgument, c.field)
	}
	var to [32]byte
	if err := commitment(&to, "comm_d_new", unsealed, cid.FilCommitmentUnsealed, multihash.SHA2_256_TRUNC254_PADDED); err != nil ||
		to != field("comm_d_new") {
		t.Error(to, err)
	}
}
