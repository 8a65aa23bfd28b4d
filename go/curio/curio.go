// Package curio offers a prover as the four proving calls of Curio's FFISelect, with the types that Curio uses and a
// leading context. A context that ends cancels its proof.
package curio

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/filecoin-project/go-state-types/abi"
	"github.com/filecoin-project/go-state-types/proof"
	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"

	splitprove "github.com/splitprove/splitprove/go"
)

// Prover makes proofs with a [splitprove.Prover], which stays the caller's to close. Its methods may be called from any
// goroutine and wait without holding a thread. Their errors are [*splitprove.Error].
type Prover struct {
	prover *splitprove.Prover
}

// New offers a prover's proofs.
func New(p *splitprove.Prover) *Prover {
	return &Prover{p}
}

// SealCommitPhase2 proves a sealed sector: phase1 is the output of seal commit phase 1, or Curio's wrapper around it. The
// result has 192 bytes a partition, 1,920 at 32 GiB. The input is refused ([splitprove.ErrMalformedInput]) when its
// sector or miner is another.
func (p *Prover) SealCommitPhase2(ctx context.Context, phase1 []byte, sector abi.SectorNumber, miner abi.ActorID) ([]byte, error) {
	registered, err := sealProof(phase1)
	if err != nil {
		return nil, err
	}
	return p.prover.Prove(ctx, splitprove.Request{
		Kind: splitprove.PoRep, RegisteredProof: uint32(registered), MinerID: uint64(miner),
		SectorNumber: uint64(sector), Vanilla: [][]byte{phase1},
	})
}

// GenerateWinningPoStWithVanilla proves a WinningPoSt from one vanilla proof a sector. The top two bits of the
// randomness' last byte are cleared, as Curio hands it over.
func (p *Prover) GenerateWinningPoStWithVanilla(ctx context.Context, proofType abi.RegisteredPoStProof, miner abi.ActorID,
	randomness abi.PoStRandomness, vanilla [][]byte) ([]proof.PoStProof, error) {
	made, err := p.post(ctx, splitprove.WinningPoSt, proofType, miner, randomness, vanilla, 0)
	if err != nil {
		return nil, err
	}
	return []proof.PoStProof{*made}, nil
}

// GenerateSinglePartitionWindowPoStWithVanilla proves one partition of a WindowPoSt from one vanilla proof a sector of
// that partition. What it gives is filecoin-ffi's PartitionProof. The top two bits of the randomness' last byte are
// cleared, as Curio hands it over.
func (p *Prover) GenerateSinglePartitionWindowPoStWithVanilla(ctx context.Context, proofType abi.RegisteredPoStProof,
	miner abi.ActorID, randomness abi.PoStRandomness, vanilla [][]byte, partition uint) (*proof.PoStProof, error) {
	if uint64(partition) > 1<<32-1 {
		return nil, argument("partition_index", fmt.Sprintf("%d does not fit", partition))
	}
	return p.post(ctx, splitprove.WindowPoSt, proofType, miner, randomness, vanilla, uint32(partition))
}

// GenerateUpdateProofWithVanilla proves a sector update from one vanilla proof a partition: key is the sealed CID before
// the update, sealed the one after it, unsealed that of the new data.
func (p *Prover) GenerateUpdateProofWithVanilla(ctx context.Context, proofType abi.RegisteredUpdateProof,
	key, sealed, unsealed cid.Cid, vanilla [][]byte) ([]byte, error) {
	request := splitprove.Request{Kind: splitprove.Snap, Vanilla: vanilla}
	if err := number(&request.RegisteredProof, int64(proofType)); err != nil {
		return nil, err
	}
	const replica, data = cid.FilCommitmentSealed, cid.FilCommitmentUnsealed
	for _, c := range []struct {
		to     *[32]byte
		field  string
		cid    cid.Cid
		codec  uint64
		hashed uint64
	}{
		{&request.CommROld, "comm_r_old", key, replica, multihash.POSEIDON_BLS12_381_A1_FC1},
		{&request.CommRNew, "comm_r_new", sealed, replica, multihash.POSEIDON_BLS12_381_A1_FC1},
		{&request.CommDNew, "comm_d_new", unsealed, data, multihash.SHA2_256_TRUNC254_PADDED},
	} {
		if err := commitment(c.to, c.field, c.cid, c.codec, c.hashed); err != nil {
			return nil, err
		}
	}
	return p.prover.Prove(ctx, request)
}

func (p *Prover) post(ctx context.Context, kind splitprove.Kind, proofType abi.RegisteredPoStProof, miner abi.ActorID,
	randomness abi.PoStRandomness, vanilla [][]byte, partition uint32) (*proof.PoStProof, error) {
	request := splitprove.Request{Kind: kind, MinerID: uint64(miner), PartitionIndex: partition, Vanilla: vanilla}
	if err := number(&request.RegisteredProof, int64(proofType)); err != nil {
		return nil, err
	}
	if len(randomness) != len(request.Randomness) {
		return nil, argument("randomness", fmt.Sprintf("%d bytes, not 32", len(randomness)))
	}
	copy(request.Randomness[:], randomness)
	made, err := p.prover.Prove(ctx, request)
	if err != nil {
		return nil, err
	}
	return &proof.PoStProof{PoStProof: proofType, ProofBytes: made}, nil
}

func number(to *uint32, registered int64) error {
	if registered < 0 || registered > 1<<32-1 {
		return argument("registered_proof", fmt.Sprintf("%d is no registered proof", registered))
	}
	*to = uint32(registered)
	return nil
}

// commitment takes the 32 bytes out of a commitment's CID.
func commitment(to *[32]byte, field string, c cid.Cid, codec, hashed uint64) error {
	if !c.Defined() {
		return argument(field, "the CID is undefined")
	}
	decoded, err := multihash.Decode(c.Hash())
	if err != nil || c.Type() != codec || decoded.Code != hashed || len(decoded.Digest) != len(to) {
		return argument(field, c.String()+" is not the CID of such a commitment")
	}
	copy(to[:], decoded.Digest)
	return nil
}

func argument(field, message string) error {
	return &splitprove.Error{Code: splitprove.ErrInvalidArgument, Field: field, Message: message}
}

// sealProofs has what filecoin-proofs' JSON calls the registered seal proofs.
var sealProofs = func() map[string]abi.RegisteredSealProof {
	names := map[string]abi.RegisteredSealProof{}
	for v, version := range []string{"V1", "V1_1", "V1_1_Feat_SyntheticPoRep", "V1_2_Feat_NonInteractivePoRep"} {
		for s, size := range []string{"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"} {
			names["StackedDrg"+size+version] = abi.RegisteredSealProof(5*v + s)
		}
	}
	return names
}()

// sealProof finds the proof type in a phase 1 output, as JSON or bincode, or in Curio's wrapper.
func sealProof(phase1 []byte) (abi.RegisteredSealProof, error) {
	// Bincode begins with the number in 32 bits, little endian; no JSON has three zero bytes there.
	if len(phase1) >= 4 && int(phase1[0]) < len(sealProofs) && bytes.Equal(phase1[1:4], []byte{0, 0, 0}) {
		return abi.RegisteredSealProof(phase1[0]), nil
	}
	name, err := topLevel(bytes.NewReader(phase1), "registered_proof")
	if err == nil && name == "" {
		var inner string
		if inner, err = topLevel(bytes.NewReader(phase1), "Phase1Out"); err == nil && inner != "" {
			name, err = topLevel(base64.NewDecoder(base64.StdEncoding, bytes.NewReader([]byte(inner))), "registered_proof")
		}
	}
	if err != nil {
		return 0, malformed("vanilla", err.Error())
	}
	registered, ok := sealProofs[name]
	if !ok {
		return 0, malformed("registered_proof", fmt.Sprintf("%q is no registered seal proof", name))
	}
	return registered, nil
}

// topLevel finds a string among an object's own values, "" if there is none. filecoin-proofs writes the proof type
// first, so that of 51 MB no more than the beginning is read.
func topLevel(from io.Reader, key string) (string, error) {
	decoder := json.NewDecoder(from)
	if token, err := decoder.Token(); err != nil {
		return "", err
	} else if token != json.Delim('{') {
		return "", fmt.Errorf("%v where an object should begin", token)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return "", err
		}
		if name == key {
			var value string
			err := decoder.Decode(&value)
			return value, err
		}
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return "", err
		}
	}
	_, err := decoder.Token()
	return "", err
}

func malformed(field, message string) error {
	return &splitprove.Error{Code: splitprove.ErrMalformedInput, Field: field, Message: message}
}
