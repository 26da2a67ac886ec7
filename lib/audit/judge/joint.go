// Verdicts taken together: which of those that accuse a model stand where many lenses were asked.

package judge

import (
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
)

// markWeak marks the verdicts that accuse a model and do not stand where all lenses are taken together. A
// verdict that accuses up to intervals of coverage 1 - p has the chance p. Families of lenses, and within them
// lenses, are taken together by Simes' test: n chances in their order stand for
//
//	min over k of n p_(k) / k
//
// so that one of ten lenses must be far out, and ten that agree need no more than one alone. Families stand by
// the step-up rule of Benjamini and Hochberg at 0.05, and lenses within a family at what the rule leaves it. A model
// without memory is accused in at most one audit of 20, if each lens errs in no more, and lenses err
// independently or together.
func (r *Report) markWeak() {
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		var of []*Verdict
		for k := range r.Verdicts {
			if r.Verdicts[k].Reading.Model == m.Name {
				of = append(of, &r.Verdicts[k])
			}
		}
		markJointly(of)
	}
	for _, name := range r.quantisedModels() {
		var of []*Verdict
		for k := range r.Quantised {
			q := &r.Quantised[k]
			if q.Reading.Model == name {
				of = append(of, &q.Verdict)
			}
			q.Unlearned.Weak = slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Weak && v.Name() == q.Name() })
		}
		markJointly(of)
	}
}

// markJointly marks the verdicts on one model.
func markJointly(verdicts []*Verdict) {
	families, chances := familiesAsked(verdicts)
	var joint []float64
	for _, of := range chances {
		joint = append(joint, simes(of))
	}
	cut := stepUp(joint, 1-level)
	standing := 0
	for _, p := range joint {
		if p <= cut {
			standing++
		}
	}
	for _, v := range verdicts {
		k := slices.Index(families, v.family())
		v.Weak = v.Call.Found() && (k < 0 || joint[k] > cut ||
			v.byChance() > stepUp(chances[k], (1-level)*float64(standing)/float64(len(joint))))
	}
}

// familiesAsked are the families of the lenses that could have accused a model, each with the chances of
// their verdicts.
func familiesAsked(verdicts []*Verdict) (families []audit.Family, chances [][]float64) {
	for _, v := range verdicts {
		switch v.Call {
		case audit.NotAsked, audit.CannotTell, audit.TooFew, Unplaced, Unmoved, Moved:
			continue
		}
		k := slices.Index(families, v.family())
		if k < 0 {
			k, families, chances = len(families), append(families, v.family()), append(chances, nil)
		}
		chances[k] = append(chances[k], v.byChance())
	}
	return families, chances
}

// leastChance is the smallest chance that is told from 0.
const leastChance = 1e-9

// byChance is the largest share of cases in which intervals may miss so that the verdict still accuses the model; 1
// for a verdict that does not.
func (v Verdict) byChance() float64 {
	accuses := func(log float64) bool { return v.atLevel(1 - math.Exp(log)).Call.Found() }
	from, to := math.Log(leastChance), math.Log(1-level)
	switch {
	case !v.Call.Found() || !accuses(to):
		return 1
	case accuses(from):
		return leastChance
	}
	for range 30 {
		if middle := (from + to) / 2; accuses(middle) {
			to = middle
		} else {
			from = middle
		}
	}
	return math.Exp(to)
}

// simes is the joint probability of Simes' test (1986).
func simes(p []float64) float64 {
	least := 1.0
	for k, v := range slices.Sorted(slices.Values(p)) {
		least = min(least, v*float64(len(p))/float64(k+1))
	}
	return least
}

// stepUp is the largest of the probabilities that stand at a level by the rule of Benjamini and Hochberg; -1: none
// does.
func stepUp(p []float64, level float64) float64 {
	cut := -1.0
	for k, v := range slices.Sorted(slices.Values(p)) {
		if v*float64(len(p)) <= level*float64(k+1) {
			cut = v
		}
	}
	return cut
}
