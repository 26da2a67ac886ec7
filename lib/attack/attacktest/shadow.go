// The suite of shadow-model attacks, on drawn log-likelihoods of 24 models with
// random training sets.

package attacktest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// The numbers of shadow models, of records that are scored, and of records in the population.
const models, scored, populationSize = 24, 80, 50

// shadows draws the log-likelihoods of records by shadow models. Each model was trained on a record
// with probability one half, and fits those records better by memory. It also returns which records
// the target was trained on.
func shadows(rng *rand.Rand, memory float64) (e shadow.Evidence, member []bool) {
	hard := array.New[float64](1, scored+populationSize).Data
	for i := range hard {
		hard[i] = -4 - 2*rng.Float64()
	}
	score := func(i int, had bool) float64 {
		v := hard[i] + 0.5*rng.NormFloat64()
		if had {
			v += memory
		}
		return min(v, 0)
	}
	nonmembers := func() []float64 {
		out := make([]float64, populationSize)
		for k := range out {
			out[k] = score(scored+k, false)
		}
		return out
	}
	e.Shadows.Scores = array.New[float64](models, scored)
	e.Population = &shadow.Population{Target: nonmembers(), Shadows: array.New[float64](models, populationSize)}
	for m := range models {
		in := make([]bool, scored)
		for i := range in {
			in[i] = rng.IntN(2) == 0
			if m < 4 {
				in[i] = m%2 == 0 // twice at least on either side
			}
			e.Shadows.Scores.Row(m)[i] = score(i, in[i])
		}
		e.Shadows.In = append(e.Shadows.In, in)
		copy(e.Population.Shadows.Row(m), nonmembers())
	}
	for i := range scored {
		member = append(member, i%2 == 0)
		e.Target = append(e.Target, score(i, member[i]))
	}
	return e, member
}

// RunShadow runs the suite on a shadow-model attack.
func RunShadow(t *testing.T, a shadow.Attack) {
	t.Helper()
	judge := func(t *testing.T, e shadow.Evidence, member []bool) scoreReport {
		t.Helper()
		r, err := shadow.Run(a, e, member)
		if err != nil {
			t.Fatal(err)
		}
		return scoreReport{r}
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) {
		e, member := shadows(random(31), 1.2)
		checkAbove(t, "AUC", judge(t, e, member).auc())
	})
	t.Run("finds none in an oracle", func(t *testing.T) {
		checkNominal(t, 600, func(k uint64) scoreReport {
			// The shadows remember, the target does not.
			e, member := shadows(random(4000+k), 0.6)
			for i, had := range member {
				if had {
					e.Target[i] -= 0.6
				}
			}
			return judge(t, e, member)
		})
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		e, member := shadows(random(32), 1.2)
		for i := range member {
			member[i] = !member[i]
		}
		checkBelow(t, "AUC, members and non-members exchanged", judge(t, e, member).auc())
		if !a.Mutual() {
			return // it uses one side of the shadows, or both in the same way
		}
		e, member = shadows(random(32), 1.2)
		for _, in := range e.Shadows.In {
			for i := range in {
				in[i] = !in[i]
			}
		}
		checkBelow(t, "AUC, models with and without a record exchanged", judge(t, e, member).auc())
	})
	t.Run("leaves the evidence alone", func(t *testing.T) {
		e, member := shadows(random(33), 1)
		before := toJSON(t, e)
		first := toJSON(t, judge(t, e, member).ScoreReport)
		if toJSON(t, e) != before || toJSON(t, judge(t, e, member).ScoreReport) != first {
			t.Error("the attack writes to the evidence, or answers anew the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for what, corrupt := range map[string]func(e *shadow.Evidence){
			"target":              func(e *shadow.Evidence) { e.Target = nil },
			"shadow scores of 0":  func(e *shadow.Evidence) { e.Shadows = shadow.Shadows{} },
			"target scores":       func(e *shadow.Evidence) { e.Target[3] = math.NaN() },
			"shadow scores: row":  func(e *shadow.Evidence) { e.Shadows.Scores.Data[3] = math.Inf(1) },
			"model 2: membership": func(e *shadow.Evidence) { e.Shadows.In[2] = e.Shadows.In[2][1:] },
			"without it": func(e *shadow.Evidence) {
				for _, in := range e.Shadows.In {
					in[5] = true
				}
			},
		} {
			e, member := shadows(random(34), 1)
			corrupt(&e)
			_, err := shadow.Run(a, e, member)
			conform.CheckRefused(t, what, err, a.Name(), what)
		}
		e, member := shadows(random(34), 1)
		_, err := shadow.Run(a, e, member[1:])
		conform.CheckRefused(t, "truth about too few records", err, "membership of 79 records")
	})
}
