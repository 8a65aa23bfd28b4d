package splitprove

// flatten lays several byte strings back to back and gives their lengths. A single one is given as it is, without
// lengths.
func flatten(parts [][]byte) (flat []byte, lens []uint64) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	total := 0
	lens = make([]uint64, len(parts))
	for i, part := range parts {
		lens[i] = uint64(len(part))
		total += len(part)
	}
	flat = make([]byte, 0, total)
	for _, part := range parts {
		flat = append(flat, part...)
	}
	return flat, lens
}
