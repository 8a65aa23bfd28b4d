package splitprove

import (
	"fmt"
	"time"
)

// Stage is what a proof is doing.
type Stage uint32

const (
	// StageQueued: waiting, or being decoded.
	StageQueued Stage = 1
	// StageLoading: parameters are being loaded.
	StageLoading Stage = 2
	// StageWitness: a partition is being synthesised.
	StageWitness Stage = 3
	// StageDevice: a partition is on the device.
	StageDevice Stage = 4
	// StageFinishing: a proof is being put together and checked.
	StageFinishing Stage = 5
	// StageDone: over, well or not.
	StageDone Stage = 6
)

// String is one word, such as witness.
func (s Stage) String() string {
	switch s {
	case StageQueued:
		return "queued"
	case StageLoading:
		return "loading"
	case StageWitness:
		return "witness"
	case StageDevice:
		return "device"
	case StageFinishing:
		return "finishing"
	case StageDone:
		return "done"
	}
	return fmt.Sprintf("stage %d", uint32(s))
}

// Progress says where a proof stands.
type Progress struct {
	// Stage it is in.
	Stage Stage
	// Permille of the work done, 0 to 1000; it never falls.
	Permille int
	// Partitions in all; 0 until the input is decoded.
	Partitions int
	// PartitionsDone of them.
	PartitionsDone int
	// QueuePosition is how many proofs go first.
	QueuePosition int
	// Device it runs on; -1: the CPU, or none yet.
	Device int
	// QueuedTime, LoadingTime, WitnessTime, DeviceTime and FinishTime were spent in each stage so far.
	QueuedTime, LoadingTime, WitnessTime, DeviceTime, FinishTime time.Duration
	// TotalTime since the start, until it is done.
	TotalTime time.Duration
}

// Stats counts what a prover has done since it was made and what it holds.
type Stats struct {
	// Lanes that prove: one for each GPU, or one for the CPU.
	Lanes int
	// Started requests were taken; each ends as Finished, Failed or Cancelled. Rejected ones were not taken.
	Started, Finished, Failed, Cancelled, Rejected uint64
	// Queued and Running proofs at this moment.
	Queued, Running uint64
	// BudgetBytes may be used, BudgetUsedBytes are, BudgetPeakBytes were at most.
	BudgetBytes, BudgetUsedBytes, BudgetPeakBytes uint64
	// ParamsBytes of parameters are loaded.
	ParamsBytes uint64
}
