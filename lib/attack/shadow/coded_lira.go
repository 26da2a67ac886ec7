package shadow

import (
	"math"
	"slices"
)

// CodedLiRA is LiRA as the authors' published program computes it (tensorflow/privacy,
// mi_lira_2021). It differs from the paper:
//
//  1. the centre of a distribution is the median; its standard deviation has the divisor n and 1e-30 added;
//  2. every record has as many models on a side as the record with the fewest, the first ones;
//  3. FixedVariance is one standard deviation over all scores, including the differences between records, and
//     online that of the models with the record is used on both sides;
//  4. offline the score is -log N(t; mu_out, s_out), which is the same above and below the centre, where the
//     paper's test is one-sided. Records that fit worse than any non-member count as members.
type CodedLiRA struct {
	Offline       bool `json:"offline,omitempty"`
	FixedVariance bool `json:"fixed_variance,omitempty"`
}

var _ Attack = CodedLiRA{}

// Name implements Attack.
func (a CodedLiRA) Name() string {
	if a.Offline {
		return "lira-coded-offline"
	}
	return "lira-coded"
}

// About implements Attack.
func (a CodedLiRA) About() string {
	if a.Offline {
		return "the program's LiRA without models that had the record, two-sided"
	}
	return "the program's LiRA, centred at medians"
}

// Mutual implements Attack.
func (a CodedLiRA) Mutual() bool { return !a.Offline }

// Scores implements Attack.
func (a CodedLiRA) Scores(e Evidence) ([]float64, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	var in, out [][]float64
	for i := range e.Target {
		with, without := e.Shadows.scoresFor(i)
		in, out = append(in, with), append(out, without)
	}
	nonmembers, err := a.fitNormals(out, "without")
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(e.Target))
	if a.Offline {
		for i, t := range e.Target {
			scores[i] = -nonmembers[i].logDensity(t) + halfLogTau
		}
		return scores, nil
	}
	members, err := a.fitNormals(in, "with")
	if err != nil {
		return nil, err
	}
	for i, t := range e.Target {
		if a.FixedVariance {
			nonmembers[i].sd = members[i].sd
		}
		scores[i] = members[i].logDensity(t) - nonmembers[i].logDensity(t)
	}
	return scores, nil
}

// halfLogTau is log sqrt(2 pi).
var halfLogTau = math.Log(2*math.Pi) / 2

func (a CodedLiRA) fitNormals(samples [][]float64, side string) ([]normal, error) {
	size := math.MaxInt
	for _, x := range samples {
		size = min(size, len(x))
	}
	if size == 0 {
		return nil, inapplicable("a record has no shadow model %s it", side)
	}
	out := make([]normal, len(samples))
	var all []float64
	for i, x := range samples {
		x = x[:size]
		all = append(all, x...)
		out[i] = normal{median(x), deviation(x) + 1e-30}
	}
	if a.FixedVariance {
		for i := range out {
			out[i].sd = deviation(all) + 1e-30
		}
	}
	return out, nil
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// deviation has the divisor n.
func deviation(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(squares / float64(len(x)))
}
