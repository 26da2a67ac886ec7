package stats

import "errors"

// AdjustedRandIndex returns Hubert and Arabie's (1985) agreement of two partitions of the same
// records, corrected for chance: 1 for the same partition, 0 on average for random ones (the
// null), down to -1/2. Renaming labels does not change it. Two partitions that are trivial in the
// same way (one cluster, or one cluster per record) have 1. It refuses empty or unequal lengths.
func AdjustedRandIndex(a, b []int) (float64, error) {
	if len(a) == 0 || len(b) == 0 {
		return 0, errors.New("stats.AdjustedRandIndex: a or b is empty")
	}
	if err := checkSameLength("AdjustedRandIndex", "a", len(a), "b", len(b)); err != nil {
		return 0, err
	}
	inA, inB, inBoth := map[int]int{}, map[int]int{}, map[[2]int]int{}
	for i := range a {
		inA[a[i]]++
		inB[b[i]]++
		inBoth[[2]int{a[i], b[i]}]++
	}
	together, pairsA, pairsB := pairsWithin(inBoth), pairsWithin(inA), pairsWithin(inB)
	all := float64(len(a)) * float64(len(a)-1) / 2
	onlyA, onlyB := pairsA-together, pairsB-together
	neither := all - together - onlyA - onlyB
	if onlyA == 0 && onlyB == 0 {
		return 1, nil
	}
	num := 2 * (float64(together*neither) - float64(onlyA*onlyB))
	return num / (float64(pairsA*(onlyA+neither)) + float64(pairsB*(onlyB+neither))), nil
}

// pairsWithin counts the pairs of records that share a label. The sum is over
// integers, so the order of the map does not matter.
func pairsWithin[K comparable](counts map[K]int) float64 {
	pairs := 0
	for _, c := range counts {
		pairs += c * (c - 1) / 2
	}
	return float64(pairs)
}
