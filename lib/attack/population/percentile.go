package population

import "slices"

// Percentile is the population attack (Ye et al. 2022, "Enhanced membership inference attacks
// against machine learning models", attack P): the share of known non-members that the model fits
// less well than a record,
//
//	score(x) = ( #{z: s(z) < s(x)} + #{z: s(z) = s(x)} / 2 ) / #{z}
//
// which is 1 minus the paper's p-value. A record called a member if its score is above 1 - a is
// called so with a false-positive rate of a, for every a at once.
//
// Null: AUC 0.5. Direction: nearest to the null. The score is a monotone function of s(x), so that
// its AUC is that of the threshold attack on s, except for ties. What the attack adds is the
// threshold, which needs no member.
//
// Differences from the paper: (1) the paper smooths the population's losses; here the empirical
// distribution is used. (2) A tie counts one half, where the paper counts it as below.
type Percentile struct{}

var _ Attack = Percentile{}

// Name implements Attack.
func (Percentile) Name() string { return "population" }

// About implements Attack.
func (Percentile) About() string { return "share of known non-members that the model fits less well" }

// Scores implements Attack.
func (Percentile) Scores(e Evidence) ([]float64, error) {
	if err := e.Check(false); err != nil {
		return nil, err
	}
	sorted, out := slices.Sorted(slices.Values(e.Known.Scores)), make([]float64, len(e.Asked.Scores))
	for i, v := range e.Asked.Scores {
		below, _ := slices.BinarySearch(sorted, v)
		equal := 0
		for below+equal < len(sorted) && sorted[below+equal] == v {
			equal++
		}
		out[i] = (float64(below) + float64(equal)/2) / float64(len(sorted))
	}
	return out, nil
}
