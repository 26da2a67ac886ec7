package ruler

import "github.com/lethe-ml/lethe/lib/stats"

// M1 is the oracle-comparison similarity: how close the unlearned model's embeddings of the forget
// records are to those of a model that never saw them.
//
//	M1 = mean over x in Df of s(u(x), o(x))                               (2)
//
// The second result is s(u(x), o(x)) per forget record, in the order of Evidence.Forget. The
// interval is over records (Student's t).
//
// Null: none, because a perfect unlearner's value depends on data and seed; M2 has one. Direction:
// higher is better, at most 1.
//
// Errors name the matrix and row or the index: shapes that differ, NaN, a row without a direction,
// a row number outside or named twice.
//
// Differs from the paper and the program in
//
//  1. the interval, which neither has;
//  2. refusing rows without a direction unless Options.ZeroNorm accepts them;
//  3. similarities within 2^-49 of 1, the rounding of a cosine, which count as 1; the paper only cuts them to [-1, 1].
func M1(e Evidence, opt Options) (*stats.Estimate, []float64, error) {
	if _, err := validate(opt, e.Forget, nil, false, e.unlearned(e.Forget), e.oracle(e.Forget)); err != nil {
		return nil, nil, err
	}
	s := e.OracleSimilarity(e.Forget)
	return m1(e, s, opt), s, nil
}

func m1(e Evidence, similarity []float64, opt Options) *stats.Estimate {
	m := opt.OverRecords(e, similarity, -1, 1)
	m.Better = stats.HigherIsBetter
	return m
}
