package sde

// JudgeBy is Judge by any method: it returns how far the target set is from both
// references, and Distances.Verdict says which is nearer. By SDE it gives what
// Judge gives, bit for bit. The order of the target's rows decides who is in
// which half. It refuses what JudgeSubsets refuses.
func JudgeBy(m Method, target *Matrix, refs References, opt Options) (Distances, error) {
	pool, err := NewPool("target", target)
	if err != nil {
		return Distances{}, err
	}
	rows := make([]int, target.Rows)
	for i := range rows {
		rows[i] = i
	}
	j, err := JudgeSubsets(m, Targets{pool, [][]int{rows}}, refs, opt)
	if err != nil {
		return Distances{}, err
	}
	return j.Distances[0], nil
}
