// The suite of population attacks, on drawn scores that depend on the features of the records.

package attacktest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
)

// populationEvidence draws records whose scores depend on their features; members are fitted better
// by memory.
func populationEvidence(rng *rand.Rand, memory float64) population.Evidence {
	view := func(n int, memory float64) population.Records {
		r := population.Records{Features: array.New[float64](n, 3)}
		for i := range n {
			x := r.Features.Row(i)
			for k := range x {
				x[k] = rng.NormFloat64()
			}
			r.Scores = append(r.Scores, x[0]-x[1]/2+memory+math.Exp(x[2]/4)*rng.NormFloat64())
		}
		return r
	}
	return population.Evidence{Known: view(retained, 0), Members: view(forgotten, memory), Nonmembers: view(heldOut, 0)}
}

// RunPopulation runs the suite on an attack that learns from non-members.
func RunPopulation(t *testing.T, a population.Attack) {
	t.Helper()
	judge := func(t *testing.T, e population.Evidence) scoreReport {
		t.Helper()
		r, err := population.Run(a, e)
		if err != nil {
			t.Fatal(err)
		}
		return scoreReport{r}
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) { checkAbove(t, "AUC", judge(t, populationEvidence(random(41), 2)).auc()) })
	t.Run("finds none in an oracle", func(t *testing.T) {
		checkNominal(t, 600, func(k uint64) scoreReport { return judge(t, populationEvidence(random(5000+k), 0)) })
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		e := populationEvidence(random(42), 2)
		e.Members, e.Nonmembers = e.Nonmembers, e.Members
		checkBelow(t, "AUC, members and non-members exchanged", judge(t, e).auc())
		// An attacker that learns from members suspects no other record.
		e = populationEvidence(random(42), 2)
		straight, exchanged := meanScore(t, a, e.Known, e.Nonmembers), meanScore(t, a, e.Members, e.Nonmembers)
		if !(exchanged < straight) {
			t.Errorf("non-members score %.3f beside non-members and %.3f beside members", straight, exchanged)
		}
	})
	t.Run("leaves the evidence alone", func(t *testing.T) {
		e := populationEvidence(random(43), 1)
		before := toJSON(t, e)
		first := toJSON(t, judge(t, e).ScoreReport)
		if toJSON(t, e) != before || toJSON(t, judge(t, e).ScoreReport) != first {
			t.Error("the attack writes to the evidence, or answers anew the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for role, recordsOf := range map[string]func(e *population.Evidence) *population.Records{
			"known non-members": func(e *population.Evidence) *population.Records { return &e.Known },
			"members":           func(e *population.Evidence) *population.Records { return &e.Members },
			"non-members":       func(e *population.Evidence) *population.Records { return &e.Nonmembers },
		} {
			for what, corrupt := range map[string]func(r *population.Records){
				"none":     func(r *population.Records) { *r = population.Records{} },
				"NaN":      func(r *population.Records) { r.Scores[3] = math.NaN() },
				"infinity": func(r *population.Records) { r.Scores[3] = math.Inf(-1) },
			} {
				e := populationEvidence(random(44), 1)
				corrupt(recordsOf(&e))
				_, err := population.Run(a, e)
				conform.CheckRefused(t, what+", "+role, err, a.Name(), role)
			}
		}
	})
}

// meanScore returns the mean score of records, given known non-members.
func meanScore(t *testing.T, a population.Attack, known, asked population.Records) float64 {
	t.Helper()
	scores, err := a.Scores(known, asked)
	if err != nil {
		t.Fatal(err)
	}
	return stats.MeanInterval(scores, 0.95, "records").Value
}
