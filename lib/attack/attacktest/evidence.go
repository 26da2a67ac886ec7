// The suite of attacks that score records (attack.Attack), on drawn evidence of every kind.

package attacktest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/stats"
)

// kind says how evidence of one kind of attack is drawn and corrupted.
type kind[E any] struct {
	seed, oracles uint64 // the first seeds of the tests and of the oracles
	memory        float64
	// planted draws evidence in which members are fitted better by memory, and who is a member.
	planted func(rng *rand.Rand, memory float64) (e E, member []bool)
	// oracle draws evidence on a model that does not remember; nil: planted, without memory.
	oracle   func(rng *rand.Rand) (e E, member []bool)
	nonsense []nonsense[E]
	// exchange checks what else changes if roles are exchanged.
	exchange func(t *testing.T, auc func(e E, member []bool) stats.Estimate)
}

// nonsense is a corruption of evidence, and the words that the error must hold.
type nonsense[E any] struct {
	words   string
	corrupt func(e *E)
}

// runKind runs the suite on an attack by evidence of a kind.
func runKind[E any](t *testing.T, a attack.Attack[E], k kind[E]) {
	t.Helper()
	judge := func(t *testing.T, e E, member []bool) scoreReport {
		t.Helper()
		r, err := attack.Run(a, e, member)
		if err != nil {
			t.Fatal(err)
		}
		return scoreReport{r}
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) {
		e, member := k.planted(random(k.seed), k.memory)
		checkAbove(t, "AUC", judge(t, e, member).auc())
	})
	t.Run("finds none in an oracle", func(t *testing.T) {
		checkNominal(t, 600, func(i uint64) scoreReport {
			if k.oracle == nil {
				e, member := k.planted(random(k.oracles+i), 0)
				return judge(t, e, member)
			}
			e, member := k.oracle(random(k.oracles + i))
			return judge(t, e, member)
		})
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		e, member := k.planted(random(k.seed+1), k.memory)
		for i := range member {
			member[i] = !member[i]
		}
		checkBelow(t, "AUC, members and non-members exchanged", judge(t, e, member).auc())
		k.exchange(t, func(e E, member []bool) stats.Estimate { return judge(t, e, member).auc() })
	})
	t.Run("leaves the evidence alone", func(t *testing.T) {
		e, member := k.planted(random(k.seed+2), 1)
		before := toJSON(t, e)
		first := toJSON(t, judge(t, e, member).ScoreReport)
		if toJSON(t, e) != before || toJSON(t, judge(t, e, member).ScoreReport) != first {
			t.Error("the attack writes to the evidence, or answers anew the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for i, n := range k.nonsense {
			e, member := k.planted(random(k.seed+3), 1)
			n.corrupt(&e)
			_, err := attack.Run(a, e, member)
			conform.CheckRefused(t, fmt.Sprintf("nonsense %d, %s", i, n.words), err, a.Name(), n.words)
		}
		e, member := k.planted(random(k.seed+3), 1)
		_, err := attack.Run(a, e, member[1:])
		conform.CheckRefused(t, "truth about too few records", err, fmt.Sprintf("membership of %d records", len(member)-1))
	})
}

// firstAreMembers says that the first of n records are members.
func firstAreMembers(members, n int) []bool {
	out := make([]bool, n)
	for i := range members {
		out[i] = true
	}
	return out
}

// RunGenerative runs the suite on an attack on a generative model.
func RunGenerative(t *testing.T, a generative.Attack) {
	t.Helper()
	runKind(t, a, kind[generative.Evidence]{
		seed: 21, oracles: 3000, memory: 1.5, planted: autoencoder,
		nonsense: []nonsense[generative.Evidence]{
			{"", func(e *generative.Evidence) { e.Model = generative.View{} }},
			{"", func(e *generative.Evidence) { spoilRecord(e.Model, 3) }},
			{"", func(e *generative.Evidence) { spoilRecord(e.Model, forgotten+3) }},
		},
		exchange: func(t *testing.T, auc func(generative.Evidence, []bool) stats.Estimate) {
			e, member := autoencoder(random(22), 1.5)
			e.Model, *e.Reference = *e.Reference, e.Model
			if got := auc(e, member); got.Low > 0.5 {
				t.Errorf("with model and reference exchanged the attack works: %+v", got)
			}
		},
	})
}

// autoencoder draws what an autoencoder gives for records: for members losses are lower by memory,
// and codes nearer to the centre.
func autoencoder(rng *rand.Rand, memory float64) (generative.Evidence, []bool) {
	view := func(n, members int, memory float64) generative.View {
		v, codes := generative.View{}, array.New[float64](n, 3)
		for i := range n {
			m := 0.0
			if i < members {
				m = memory
			}
			v.Recon, v.KL = append(v.Recon, 350+rng.NormFloat64()-m), append(v.KL, 10+rng.NormFloat64()-m)
			for k := range codes.Row(i) {
				codes.Row(i)[k] = rng.NormFloat64() / (1 + m)
			}
		}
		v.Codes = codes
		return v
	}
	const n = forgotten + heldOut
	member := firstAreMembers(forgotten, n)
	reference := view(n, forgotten, 0)
	return generative.Evidence{
		Model: view(n, forgotten, memory), Member: member, Reference: &reference, Retained: view(retained, 0, 0).Codes,
	}, member
}

// spoilRecord makes every output for a record NaN.
func spoilRecord(v generative.View, i int) {
	v.Recon[i], v.KL[i] = math.NaN(), math.NaN()
	v.Codes.(array.Matrix[float64]).Row(i)[1] = math.NaN()
}

// RunPopulation runs the suite on an attack that learns from non-members.
func RunPopulation(t *testing.T, a population.Attack) {
	t.Helper()
	k := kind[population.Evidence]{
		seed: 41, oracles: 5000, memory: 2, planted: drawPopulation,
		exchange: func(t *testing.T, _ func(population.Evidence, []bool) stats.Estimate) {
			// An attacker that learns from members suspects no other record.
			e, _ := drawPopulation(random(42), 2)
			members, others := partOf(e.Asked, 0, forgotten), partOf(e.Asked, forgotten, len(e.Asked.Scores))
			straight := meanScore(t, a, population.Evidence{Known: e.Known, Asked: others})
			exchanged := meanScore(t, a, population.Evidence{Known: members, Asked: others})
			if !(exchanged < straight) {
				t.Errorf("non-members score %.3f beside non-members and %.3f beside members", straight, exchanged)
			}
		},
	}
	for role, recordsOf := range map[string]func(e *population.Evidence) *population.Records{
		"known non-members":    func(e *population.Evidence) *population.Records { return &e.Known },
		"records under attack": func(e *population.Evidence) *population.Records { return &e.Asked },
	} {
		k.nonsense = append(k.nonsense,
			nonsense[population.Evidence]{role, func(e *population.Evidence) { *recordsOf(e) = population.Records{} }},
			nonsense[population.Evidence]{role, func(e *population.Evidence) { recordsOf(e).Scores[3] = math.NaN() }},
			nonsense[population.Evidence]{role, func(e *population.Evidence) { recordsOf(e).Scores[3] = math.Inf(-1) }})
	}
	runKind(t, a, k)
}

// drawPopulation draws records whose scores depend on their features; members are fitted better by
// memory.
func drawPopulation(rng *rand.Rand, memory float64) (population.Evidence, []bool) {
	view := func(n, members int) population.Records {
		r := population.Records{Features: array.New[float64](n, 3)}
		for i := range n {
			x, m := r.Features.Row(i), 0.0
			for k := range x {
				x[k] = rng.NormFloat64()
			}
			if i < members {
				m = memory
			}
			r.Scores = append(r.Scores, x[0]-x[1]/2+m+math.Exp(x[2]/4)*rng.NormFloat64())
		}
		return r
	}
	return population.Evidence{Known: view(retained, 0), Asked: view(forgotten+heldOut, forgotten)}, firstAreMembers(forgotten, forgotten+heldOut)
}

// partOf returns records from to to-1.
func partOf(r population.Records, from, to int) population.Records {
	f := r.Features
	f.Rows, f.Data = to-from, f.Data[from*f.Cols:to*f.Cols]
	return population.Records{Scores: r.Scores[from:to], Features: f}
}

// meanScore returns the mean score of records, given known non-members.
func meanScore(t *testing.T, a population.Attack, e population.Evidence) float64 {
	t.Helper()
	var scores []float64
	err := panics.Catch("Scores of "+a.Name(), func() (err error) {
		scores, err = a.Scores(e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stats.MeanInterval(scores, 0.95, "records").Value
}

// RunShadow runs the suite on a shadow-model attack.
func RunShadow(t *testing.T, a shadow.Attack) {
	t.Helper()
	runKind(t, a, kind[shadow.Evidence]{
		seed: 31, oracles: 4000, memory: 1.2, planted: shadows,
		oracle: func(rng *rand.Rand) (shadow.Evidence, []bool) { // the shadows remember, the target does not
			e, member := shadows(rng, 0.6)
			for i, had := range member {
				if had {
					e.Target[i] -= 0.6
				}
			}
			return e, member
		},
		nonsense: []nonsense[shadow.Evidence]{
			{"target", func(e *shadow.Evidence) { e.Target = nil }},
			{"shadow", func(e *shadow.Evidence) { e.Shadows = shadow.Shadows{} }},
			{"target", func(e *shadow.Evidence) { e.Target[3] = math.NaN() }},
			{"shadow", func(e *shadow.Evidence) { e.Shadows.Scores.Data[3] = math.Inf(1) }},
			{"model 2", func(e *shadow.Evidence) { e.Shadows.In[2] = e.Shadows.In[2][1:] }},
			{"without it", func(e *shadow.Evidence) {
				for _, in := range e.Shadows.In {
					in[5] = true
				}
			}},
		},
		exchange: func(t *testing.T, auc func(shadow.Evidence, []bool) stats.Estimate) {
			if !a.Mutual() {
				return // it uses one side of the shadows, or both in the same way
			}
			e, member := shadows(random(32), 1.2)
			for _, in := range e.Shadows.In {
				for i := range in {
					in[i] = !in[i]
				}
			}
			checkBelow(t, "AUC, models with and without a record exchanged", auc(e, member))
		},
	})
}

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
