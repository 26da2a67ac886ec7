// What all seeds together say of a model.

package comparison

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// minSeeds is the number of seeds from which verdicts are taken over seeds.
const minSeeds = 3

// Verdict is what a lens says of a model over all seeds.
type Verdict struct {
	Call audit.Call // "": no verdict in more than half of the seeds
	// Seeds is the number of seeds behind Call: those of Difference, or those in which it is the verdict.
	Seeds int
	// Difference is the mean over the seeds of the reading minus the mean of the two retrained models of the same seed; a
	// retrained model is compared with the other. Its interval is Student's over seeds, its null 0. NaN where verdicts
	// are those of single seeds.
	Difference stats.Estimate
	// Value is the mean of the readings behind Difference; NaN without one.
	Value float64
}

// Paired reports whether the verdict is by the differences within seeds.
func (v Verdict) Paired() bool { return !math.IsNaN(v.Difference.Value) }

// verdict places the models with a label between the original and the retrained models.
//
// With three seeds or more, readings are compared within each seed, and differences are averaged over seeds. Both retrained
// models and the one in question are read on the same records, so that what records do to all of them cancels; what a seed does
// is in the interval. Two models are alike if the interval of their difference holds 0. The rule is else that of audit.CallOf.
//
// Otherwise, and for lenses that compare a model with the retrained one coordinate by coordinate, it is the verdict of most
// seeds: the retrained model has the original's initial weights, and one of another seed differs from it for that reason alone.
func (r *Result) verdict(label string, lens int) Verdict {
	found := r.found(label)
	call, n := majority(found, lens)
	v := Verdict{Call: call, Seeds: n, Value: math.NaN(), Difference: stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}}
	sets := r.readings(label, lens)
	if len(sets) < minSeeds || 2*len(sets) <= len(found) || sets[0].model.Coordinates {
		return v
	}
	fromRetrained := overSeeds(sets, readings.fromRetrained)
	fromOriginal := overSeeds(sets, func(s readings) float64 { return s.model.Value - s.original.Value })
	ends := overSeeds(sets, func(s readings) float64 { return s.original.Value - s.reference() })
	if !fromRetrained.HasInterval() || !fromOriginal.HasInterval() || !ends.HasInterval() { // a reading is no number
		return v
	}
	alike := audit.Likeness{Original: holdsZero(fromOriginal), Oracle: holdsZero(fromRetrained), Ends: holdsZero(ends)}
	// Points without an interval: what is alike is known.
	m, original, oracle := sets[0].model, sets[0].original, sets[0].retrained[0]
	m.Estimate, original.Estimate, oracle.Estimate = point(fromRetrained.Value), point(ends.Value), point(0)
	value := overSeeds(sets, func(s readings) float64 { return s.model.Value }).Value
	return Verdict{Call: alike.Call(m, original, oracle), Seeds: len(sets), Difference: fromRetrained, Value: value}
}

// readings are those of one seed by one lens.
type readings struct {
	model, original audit.Reading
	retrained       [2]audit.Reading
	which           int // the number of the retrained model that the model is; -1: none
}

// readings returns those of the seeds in which the lens has evidence of all models.
func (r *Result) readings(label string, lens int) (out []readings) {
	for i := range r.Runs {
		run := &r.Runs[i]
		models := [4]*Model{run.find(label), &run.Models[0], run.find(oracleLabel), run.find(otherSeed)}
		s, complete := readings{which: -1}, true
		for k, to := range []*audit.Reading{&s.model, &s.original, &s.retrained[0], &s.retrained[1]} {
			if complete = complete && models[k] != nil && models[k].Missing == ""; complete {
				*to = models[k].Readings[lens]
			}
		}
		if !complete || s.model.Absent != "" || audit.WithheldReason(s.model, s.original, s.retrained[0], s.retrained[1]).Call != "" {
			continue
		}
		for k, of := range []string{oracleLabel, otherSeed} {
			if label == of {
				s.which = k
			}
		}
		out = append(out, s)
	}
	return out
}

// reference is what a model without the records is like in this seed.
func (s readings) reference() float64 { return (s.retrained[0].Value + s.retrained[1].Value) / 2 }

// fromRetrained is the difference from the retrained models, of one of these from the other.
func (s readings) fromRetrained() float64 {
	if s.which >= 0 {
		return s.model.Value - s.retrained[1-s.which].Value
	}
	return s.model.Value - s.reference()
}

// overSeeds is the mean of a number with its interval over seeds.
func overSeeds(sets []readings, of func(readings) float64) stats.Estimate {
	values := make([]float64, len(sets))
	for i, s := range sets {
		values[i] = of(s)
	}
	return stats.MeanInterval(values, 0.95, "seeds")
}

func holdsZero(e stats.Estimate) bool { return e.Low <= 0 && e.High >= 0 }

// point is an estimate without an interval.
func point(value float64) stats.Estimate {
	return stats.Estimate{Value: value, Low: value, High: value}
}

// support says what a verdict of several seeds rests on: "0.28 [0.25, 0.32] above the retrained models", "in 4 of 5 seeds".
func (r *Result) support(v Verdict, label string) string {
	if !v.Paired() {
		return fmt.Sprintf("in %d of %d seeds", v.Seeds, len(r.found(label)))
	}
	side, d := "above", v.Difference
	if d.Value < 0 {
		side, d.Value, d.Low, d.High = "below", -d.Value, -d.High, -d.Low
	}
	return report.FormatNumber(d.Value, 3) + " " + report.FormatInterval(d.Low, d.High, 3) + " " + side + " the retrained models" + r.ofSeeds(v, label)
}

// ofSeeds says in how many seeds of a model there is evidence, if not in all.
func (r *Result) ofSeeds(v Verdict, label string) string {
	if n := len(r.found(label)); v.Seeds < n {
		return fmt.Sprintf(" (%d of %d seeds)", v.Seeds, n)
	}
	return ""
}
