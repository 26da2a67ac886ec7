package representation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/stats"
)

// persons are 180, one in three of whom has the attribute, told by codes and records
// as far apart.
func persons(seed uint64, inCodes, inRaw float64) Persons {
	rng := rand.New(rand.NewPCG(seed, 3))
	raw := array.New[float64](180, 5)
	p := Persons{Codes: array.New[float64](180, 3), Raw: &raw}
	for i := range 180 {
		has := i%3 == 0
		p.Has = append(p.Has, has)
		for j := range 3 {
			p.Codes.Row(i)[j] = rng.NormFloat64()
		}
		for j := range 5 {
			raw.Row(i)[j] = rng.NormFloat64()
		}
		if has {
			p.Codes.Row(i)[1] += inCodes
			raw.Row(i)[4] += inRaw
		}
	}
	return p
}

func infer(t *testing.T, a Attribute, p Persons) *AttributeResult {
	t.Helper()
	r, err := a.Run(background, nil, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An attribute is told by whatever tells it, and by nothing else.
func TestAnAttributeIsFoundWhereItIs(t *testing.T) {
	clear, none := func(i *Inference) bool { return i.AUC.Low > 0.8 && i.Balanced.Low > 0.7 }, func(i *Inference) bool { return i.AUC.Low < 0.6 }
	p := persons(1, 3, 0)
	before := fmt.Sprint(p.Has, p.Codes, *p.Raw)
	r := infer(t, Attribute{}, p)
	if !clear(&r.Codes) || !none(r.Raw) || r.Majority != 2./3 || r.Codes.NMembers != 60 || r.Codes.NNonmembers != 120 {
		t.Errorf("in codes: %+v, raw %+v, majority %v", r.Codes, r.Raw, r.Majority)
	}
	if r.Codes.Accuracy < r.Majority {
		t.Errorf("the accuracy is %v, of the commoner answer %v", r.Codes.Accuracy, r.Majority)
	}
	if fmt.Sprint(p.Has, p.Codes, *p.Raw) != before {
		t.Error("the attack writes to its evidence")
	}
	r = infer(t, Attribute{Folds: 3}, persons(2, 0, 3))
	if !none(&r.Codes) || !clear(r.Raw) {
		t.Errorf("in records: %+v, raw %+v", r.Codes, r.Raw)
	}
	p.Raw = nil
	if r := infer(t, Attribute{}, p); r.Raw != nil {
		t.Error("an attack on records that are not given")
	}
}

// The share that is called right, counted anew.
func TestCallsAreCounted(t *testing.T) {
	report := &learned.Report{}
	report.NMembers, report.NNonmembers = 2, 6
	for i, score := range []float64{0.9, 0.3} {
		report.Scores = append(report.Scores, learned.RecordScore{Record: i, Member: true, Score: score})
	}
	for i, score := range []float64{0.8, 0.7, 0.6, 0.5, 0.2, 0.1} {
		report.Scores = append(report.Scores, learned.RecordScore{Record: i, Score: score})
	}
	r := newInference(report) // above 0.75: one with the attribute, one without
	checkClose(t, "balanced accuracy and accuracy", []float64{r.Balanced.Value, r.Accuracy}, []float64{(0.5 + 5./6) / 2, 6. / 8}, 1e-12)
}

func TestTheNullOfAttributesIsCalibrated(t *testing.T) {
	const trials = 300
	held := 0
	var values []float64
	for k := range uint64(trials) {
		p := persons(500+k, 0, 0)
		p.Raw = nil
		r := infer(t, Attribute{}, p).Codes.Balanced
		values = append(values, r.Value)
		if r.Low <= 0.5 && 0.5 <= r.High {
			held++
		}
	}
	if c := float64(held) / trials; math.Abs(c-0.95) > 0.01+3*math.Sqrt(0.95*0.05/trials) {
		t.Errorf("%.3f of the intervals hold 0.5", c)
	}
	if e := stats.MeanInterval(values, 0.999, "trials"); e.Low > 0.5 || e.High < 0.5 {
		t.Errorf("the balanced accuracy is %v on average", e)
	}
}

func TestNonsenseHasNoAttribute(t *testing.T) {
	for words, corrupt := range map[string]func(p *Persons){
		"179 persons, 180 codes":                func(p *Persons) { p.Has = p.Has[1:] },
		"180 persons, 2 raw records":            func(p *Persons) { *p.Raw = array.New[float64](2, 5) },
		"codes: row 1, column 1 is NaN":         func(p *Persons) { p.Codes.Data[4] = math.NaN() },
		"raw records: row 0, column 4 is +Inf":  func(p *Persons) { p.Raw.Data[4] = math.Inf(1) },
		"codes: cross-fitted-logistic: learned": func(p *Persons) { clear(p.Has) },
	} {
		p := persons(1, 1, 1)
		corrupt(&p)
		_, err := Attribute{}.Run(background, nil, p, 1)
		refused(t, err, words)
	}
}
