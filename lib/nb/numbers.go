package nb

// Numbers returns 0, 1, ..., n-1.
func Numbers(n int) []int {
	out := make([]int, max(0, n))
	for k := range out {
		out[k] = k
	}
	return out
}
