package sde

// JudgeBy is Judge by any method. It returns the distances of the target set from both references;
// Distances.Verdict says which is closer. For SDE it gives what Judge gives, bit for bit. The order
// of the target's rows decides the halves. It refuses what JudgeSubsets refuses.
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
