package attacktest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/strangers"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
)

// sight draws records whose scores depend on what is seen of them; members, where a
// model remembers, are fitted better by memory.
func sight(rng *rand.Rand, memory float64) strangers.Evidence {
	view := func(n int, memory float64) strangers.Records {
		r := strangers.Records{Seen: array.New[float64](n, 3)}
		for i := range n {
			x := r.Seen.Row(i)
			for k := range x {
				x[k] = rng.NormFloat64()
			}
			r.Scores = append(r.Scores, x[0]-x[1]/2+memory+math.Exp(x[2]/4)*rng.NormFloat64())
		}
		return r
	}
	return strangers.Evidence{Known: view(retained, 0), Members: view(forgotten, memory), Nonmembers: view(heldOut, 0)}
}

// RunStrangers runs the suite on an attack that learns from non-members.
func RunStrangers(t *testing.T, a strangers.Attack) {
	t.Helper()
	judge := func(t *testing.T, e strangers.Evidence) judged {
		t.Helper()
		r, err := strangers.Run(a, e)
		if err != nil {
			t.Fatal(err)
		}
		return judged{r}
	}
	t.Run("has a name", func(t *testing.T) { conform.Named(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) { above(t, "AUC", judge(t, sight(random(41), 2)).auc()) })
	t.Run("finds none in an oracle", func(t *testing.T) {
		nominal(t, 600, func(k uint64) judged { return judge(t, sight(random(5000+k), 0)) })
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		e := sight(random(42), 2)
		e.Members, e.Nonmembers = e.Nonmembers, e.Members
		below(t, "AUC, members and non-members exchanged", judge(t, e).auc())
		// Who takes members for strangers suspects nobody else.
		e = sight(random(42), 2)
		straight, exchanged := level(t, a, e.Known, e.Nonmembers), level(t, a, e.Members, e.Nonmembers)
		if !(exchanged < straight) {
			t.Errorf("non-members score %.3f beside strangers and %.3f beside members", straight, exchanged)
		}
	})
	t.Run("leaves the evidence alone", func(t *testing.T) {
		e := sight(random(43), 1)
		before := text(t, e)
		first := text(t, judge(t, e).ScoreReport)
		if text(t, e) != before || text(t, judge(t, e).ScoreReport) != first {
			t.Error("the attack writes to the evidence, or answers anew the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for role, of := range map[string]func(e *strangers.Evidence) *strangers.Records{
			"known non-members": func(e *strangers.Evidence) *strangers.Records { return &e.Known },
			"members":           func(e *strangers.Evidence) *strangers.Records { return &e.Members },
			"non-members":       func(e *strangers.Evidence) *strangers.Records { return &e.Nonmembers },
		} {
			for what, spoil := range map[string]func(r *strangers.Records){
				"none":     func(r *strangers.Records) { *r = strangers.Records{} },
				"NaN":      func(r *strangers.Records) { r.Scores[3] = math.NaN() },
				"infinity": func(r *strangers.Records) { r.Scores[3] = math.Inf(-1) },
			} {
				e := sight(random(44), 1)
				spoil(of(&e))
				_, err := strangers.Run(a, e)
				conform.Refused(t, what+", "+role, err, a.Name(), role)
			}
		}
	})
}

// level is the mean score.
func level(t *testing.T, a strangers.Attack, known, asked strangers.Records) float64 {
	t.Helper()
	scores, err := a.Scores(known, asked)
	if err != nil {
		t.Fatal(err)
	}
	return stats.MeanInterval(scores, 0.95, "records").Value
}
