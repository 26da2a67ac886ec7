package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Of three scores one tells members, one points the other way, and one says nothing. A huge value
// of one record changes nothing much.
func TestSetScoresLeaveOutWhatPointsTheOtherWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x := array.New[float64](400, 3)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1], x.Row(i)[2] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		if i < 200 {
			x.Row(i)[0]++
			x.Row(i)[1]--
		}
	}
	s, err := learnScore(x, 200, 1)
	if err != nil || s.weights[0] < 0.5 || s.weights[1] != 0 || s.weights[2] < 0 {
		t.Errorf("the weights are %+v, %v", s, err)
	}
	before := s.weights[0]
	x.Row(3)[0] = -1e30
	if s, err = learnScore(x, 200, 1); err != nil || math.Abs(s.weights[0]-before) > 0.2*before {
		t.Errorf("one value of -1e30 turns a weight of %v into %+v, %v", before, s, err)
	}
	for i := range x.Data {
		x.Data[i] = -x.Data[i]
	}
	x = array.Matrix[float64]{Rows: 400, Cols: 1, Data: column(x, 0)}
	if s, err := learnScore(x, 200, 1); err != nil || s != nil {
		t.Errorf("a score that points the other way has the weights %+v, %v", s, err)
	}
}

func column(x array.Matrix[float64], j int) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		out[i] = x.Row(i)[j]
	}
	return out
}

// inferenceFolder draws texts of 30 authors, ten in each set, in turn; the retained ones are known.
// It returns a model of each role.
func inferenceFolder(roles ...Role) *Evidence {
	const n, tokens = 120, 12
	e := &Evidence{Records: n, GroupUnit: "author"}
	rng := rand.New(rand.NewPCG(6, 2))
	for i := range n {
		set := []*[]int{&e.Forget, &e.Retain, &e.HeldOut}[i/4%3]
		*set = append(*set, i)
		e.Groups, e.Compressed = append(e.Groups, i/4), append(e.Compressed, 20+i%7)
	}
	for k, r := range roles {
		m := &Arrays{Name: fmt.Sprint(r, k), Role: r, Tokens: &language.Tokens{Offset: []int{0}}}
		for i := range n {
			scale := 1.0
			if i/4%3 == 1 {
				scale = 0.3
			}
			for range tokens {
				m.Tokens.LogProb = append(m.Tokens.LogProb, -scale*rng.ExpFloat64())
			}
			m.Tokens.Offset = append(m.Tokens.Offset, (i+1)*tokens)
		}
		e.Models = append(e.Models, m)
	}
	return e
}

// What is judged took no part in the learning, and no group is on both sides.
func TestDatasetInferenceJudgesTheOtherHalf(t *testing.T) {
	e := inferenceFolder(Original)
	learn, judge := e.halves(e.HeldOut, e.Rand(purposeInference).Perm)
	if len(judge) != len(e.HeldOut)/2 {
		t.Fatalf("%d of %d held-out texts are judged", len(judge), len(e.HeldOut))
	}
	for _, i := range judge {
		for _, k := range learn {
			if e.Groups[i] == e.Groups[k] {
				t.Errorf("text %d is judged, text %d of its author is learned on", i, k)
			}
		}
	}
	m := e.Models[0]
	before, err := DatasetInference{}.Read(e, m)
	if err != nil {
		t.Fatal(err)
	}
	if before.N != len(e.Forget)/4+len(judge)/4 {
		t.Errorf("%d authors are judged", before.N)
	}
	z, err := e.directedScore(DatasetInference{}, m, e.Retain, learn)
	if err != nil || z == nil {
		t.Fatal(z, err)
	}
	for _, i := range slices.Concat(e.Forget, judge) {
		for j := m.Tokens.Offset[i]; j < m.Tokens.Offset[i+1]; j++ {
			m.Tokens.LogProb[j] *= 2
		}
	}
	if again, err := e.directedScore(DatasetInference{}, m, e.Retain, learn); err != nil || !slices.Equal(again.weights, z.weights) {
		t.Errorf("twice the log-probability of all that is judged turns the weights %v into %v, %v", z.weights, again, err)
	}
	changed, err := DatasetInference{}.Read(e, m)
	if err != nil || changed.Value == before.Value {
		t.Errorf("other scores of what is judged leave %v, %v", changed, err)
	}
}

// All models have one model's weights, and the scores that all have: a copy reads as its original,
// whatever other arrays it has.
func TestDatasetInferenceReadsACopyAlike(t *testing.T) {
	e := inferenceFolder(Unlearned, Original, Retrained)
	e.Models[0].Tokens.LogProb = e.Models[1].Tokens.LogProb
	e.Models[0].Tokens.Mean, e.Models[0].Tokens.Deviation = make([]float64, 120*12), make([]float64, 120*12)
	for i := range e.Models[0].Tokens.Mean {
		e.Models[0].Tokens.Mean[i], e.Models[0].Tokens.Deviation[i] = -1, 1
	}
	var read []*Reading
	for _, m := range e.Models[:2] {
		r, err := DatasetInference{}.Read(e, m)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, r)
	}
	if read[0].Value != read[1].Value {
		t.Errorf("a copy reads %v, its original %v", read[0].Estimate, read[1].Estimate)
	}
	if e.teacher(e.Models[2]) != e.Models[1] {
		t.Error("the weights are not the original's")
	}
	e.Models = e.Models[:1]
	if e.teacher(e.Models[0]) != e.Models[0] {
		t.Error("the only model does not teach")
	}
}

// A model that says the same of every text is no evidence, although compressed lengths differ.
func TestDatasetInferenceOfACollapsedModel(t *testing.T) {
	e := inferenceFolder(Unlearned, Original)
	for i := range e.Models[0].Tokens.LogProb {
		e.Models[0].Tokens.LogProb[i] = -3
	}
	r, err := DatasetInference{}.Read(e, e.Models[0])
	if err != nil || r.NoEvidence.Call != CannotTell {
		t.Errorf("%+v, %v", r, err)
	}
}
