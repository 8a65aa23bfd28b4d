package splitprove

import (
	"fmt"
	"time"
)

// Kind is a kind of proof.
type Kind uint32

const (
	// PoRep is a PoRep C2: the proof of a sealed sector.
	PoRep Kind = 1
	// Snap is a SnapDeals proof (empty sector update).
	Snap Kind = 2
	// WindowPoSt is a WindowPoSt, of one partition or of all.
	WindowPoSt Kind = 3
	// WinningPoSt is a WinningPoSt.
	WinningPoSt Kind = 4
)

// String is the command line's word for the kind, such as window-post.
func (k Kind) String() string {
	switch k {
	case PoRep:
		return "porep"
	case Snap:
		return "snap"
	case WindowPoSt:
		return "window-post"
	case WinningPoSt:
		return "winning-post"
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Priority says how urgent a proof is. More urgent ones go first, equals in order of arrival.
type Priority uint32

const (
	// PriorityByKind is the kind's own: normal for PoRep and Snap, high for WindowPoSt, critical for WinningPoSt.
	PriorityByKind Priority = 0
	// PriorityLow is for what can wait.
	PriorityLow Priority = 1
	// PriorityNormal is PoRep's and Snap's.
	PriorityNormal Priority = 2
	// PriorityHigh is WindowPoSt's.
	PriorityHigh Priority = 3
	// PriorityCritical is WinningPoSt's.
	PriorityCritical Priority = 4
)

// String is one word.
func (p Priority) String() string {
	switch p {
	case PriorityByKind:
		return "by-kind"
	case PriorityLow:
		return "low"
	case PriorityNormal:
		return "normal"
	case PriorityHigh:
		return "high"
	case PriorityCritical:
		return "critical"
	}
	return fmt.Sprintf("priority %d", uint32(p))
}

// Request is what is to be proved. Values that the request and its vanilla proof share (sector number, size, proof type,
// miner) must agree; a difference is [ErrMalformedInput].
type Request struct {
	// Kind of proof.
	Kind Kind
	// RegisteredProof is the number of the abi.Registered{Seal,PoSt,Update}Proof.
	RegisteredProof uint32
	// Priority among the prover's proofs.
	Priority Priority
	// MinerID is the miner's actor id.
	MinerID uint64
	// SectorNumber of a PoRep or Snap.
	SectorNumber uint64
	// PartitionIndex of a WindowPoSt: which partition Vanilla is; 0 when that is more than one partition, and for other
	// kinds.
	PartitionIndex uint32
	// Vanilla has the vanilla proofs. PoRep: one, the JSON of seal commit phase 1. PoSt: one for each sector, a
	// WindowPoSt's in the order of their sectors' numbers. Snap: one for each partition. They are copied before Start returns; a single one is handed over without another copy.
	Vanilla [][]byte
	// Randomness of a PoSt. The top two bits of the last byte do not count.
	Randomness [32]byte
	// CommROld is a Snap's replica commitment before the update.
	CommROld [32]byte
	// CommRNew is a Snap's replica commitment after the update.
	CommRNew [32]byte
	// CommDNew is a Snap's data commitment after the update.
	CommDNew [32]byte
	// Deadline is the time from now after which the proof is worthless and ends as [ErrTimeout]; 0: none.
	Deadline time.Duration
	// Tag is a number of the caller's that [Pending.Tag] gives back.
	Tag uint64
	// RequestID, if not "", names the request in at most 63 bytes: the same id with the same input joins the proof
	// that is under way, with another input it is [ErrIDConflict].
	RequestID string
}

// Sector is one sector of a PoSt statement.
type Sector struct {
	// SectorNumber of the sector.
	SectorNumber uint64
	// CommR is its replica commitment.
	CommR [32]byte
}

// Public is the public statement that a proof is verified against.
type Public struct {
	// Kind of proof.
	Kind Kind
	// RegisteredProof is the number of the abi.Registered{Seal,PoSt,Update}Proof.
	RegisteredProof uint32
	// MinerID is the miner's actor id.
	MinerID uint64
	// SectorNumber of a PoRep or Snap.
	SectorNumber uint64
	// Ticket, Seed, CommD and CommR of a PoRep.
	Ticket, Seed, CommD, CommR [32]byte
	// Randomness of a PoSt. The top two bits of the last byte do not count.
	Randomness [32]byte
	// CommROld, CommRNew and CommDNew of a Snap.
	CommROld, CommRNew, CommDNew [32]byte
	// Sectors of a PoSt. A WindowPoSt's may come in any order and each counts once, as in Filecoin's verifier.
	Sectors []Sector
}
