package audit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Of three scores one tells members, one points the other way, and one says nothing.
func TestDirectedWeightsLeaveOutWhatPointsTheOtherWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x := array.New[float64](400, 3)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1], x.Row(i)[2] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		if i < 200 {
			x.Row(i)[0]++
			x.Row(i)[1]--
		}
	}
	w, err := directedWeights(x, 200, 0)
	if err != nil || w[0] < 0.5 || w[1] != 0 || w[2] < 0 {
		t.Errorf("the weights are %v, %v", w, err)
	}
	for i := range x.Data {
		x.Data[i] = -x.Data[i]
	}
	x = array.Matrix[float64]{Rows: 400, Cols: 1, Data: column(x, 0)}
	if w, err := directedWeights(x, 200, 0); err != nil || w != nil {
		t.Errorf("a score that points the other way has the weights %v, %v", w, err)
	}
}

func column(x array.Matrix[float64], j int) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		out[i] = x.Row(i)[j]
	}
	return out
}

// What is judged took no part in the learning, and no group is on both sides.
func TestDatasetInferenceJudgesTheOtherHalf(t *testing.T) {
	const n, tokens = 120, 12
	e := &Evidence{Records: n, GroupUnit: "author"}
	rng := rand.New(rand.NewPCG(6, 2))
	m := &Arrays{Name: "original", Role: Original, Tokens: &language.Tokens{Offset: []int{0}}}
	for i := range n {
		set := []*[]int{&e.Forget, &e.Retain, &e.HeldOut}[i/4%3]
		*set = append(*set, i)
		e.Groups = append(e.Groups, i/4)
		scale := 1.0
		if i/4%3 == 1 {
			scale = 0.3 // retained texts are known
		}
		for range tokens {
			m.Tokens.LogProb = append(m.Tokens.LogProb, -scale*rng.ExpFloat64())
		}
		m.Tokens.Offset = append(m.Tokens.Offset, (i+1)*tokens)
	}
	e.Models = []*Arrays{m}
	before, err := DatasetInference{}.Read(e, m)
	if err != nil {
		t.Fatal(err)
	}
	judged := before.Scores.HeldOut.Rows
	if len(judged) != len(e.HeldOut)/2 {
		t.Fatalf("%d of %d held-out texts are judged", len(judged), len(e.HeldOut))
	}
	for _, i := range judged { // their group is judged as a whole
		for _, k := range e.HeldOut {
			if e.Groups[i] == e.Groups[k] && !slices.Contains(judged, k) {
				t.Errorf("text %d is judged, text %d of its author is not", i, k)
			}
		}
	}
	for _, i := range slices.Concat(e.Forget, judged) {
		for j := i * tokens; j < (i+1)*tokens; j++ {
			m.Tokens.LogProb[j] *= 2
		}
	}
	after, err := DatasetInference{}.Read(e, m)
	if err != nil || after.Value != before.Value {
		t.Errorf("twice the log-probability of all that is judged turns %v into %v, %v: it was learned on", before.Value, after.Value, err)
	}
}
