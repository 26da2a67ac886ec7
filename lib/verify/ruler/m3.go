package ruler

import "github.com/lethe-ml/lethe/lib/stats"

// M3 is the representation shift: whether unlearning moved the embeddings of the forget records
// towards the oracle's.
//
//	M3 = mean over x in Df of [ s(u(x), o(x)) - s(original(x), o(x)) ]      (4)
//
// The second result is the shift per forget record. The interval is over records (Student's t on
// the differences).
//
// Null: 0, nothing moved. Direction: higher is better; negative means that unlearning moved the
// records away from the oracle.
//
// Differs from the paper and the program in
//
//  1. the interval, which neither has;
//  2. refusing rows without a direction unless Options.ZeroNorm accepts them;
//  3. similarities within 2^-49 of 1, the rounding of a cosine, which count as 1; the paper only cuts them to [-1, 1].
func M3(e Evidence, opt Options) (*stats.Estimate, []float64, error) {
	if _, err := validate(opt, e.Forget, nil, false, e.unlearned(e.Forget), e.oracle(e.Forget), e.original(e.Forget)); err != nil {
		return nil, nil, err
	}
	shift := e.shift(e.OracleSimilarity(e.Forget))
	return m3(e, shift, opt), shift, nil
}

func m3(e Evidence, shift []float64, opt Options) *stats.Estimate {
	m := opt.OverRecords(e, shift, -2, 2)
	m.Null, m.Better = pointerTo(0), stats.HigherIsBetter
	return m
}

func difference(after, before []float64) []float64 {
	out := make([]float64, len(after))
	for i, v := range after {
		out[i] = v - before[i]
	}
	return out
}
