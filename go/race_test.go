//go:build race

package splitprove

const raceEnabled = true
