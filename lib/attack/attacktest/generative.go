// The suite of attacks on generative models, on drawn losses and codes of an autoencoder.

package attacktest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// autoencoder draws what an autoencoder gives for records: for members losses are lower by memory,
// and codes nearer to the centre.
func autoencoder(rng *rand.Rand, memory float64) generative.Evidence {
	view := func(n int, memory float64) generative.View {
		v := generative.View{}
		codes := array.New[float64](n, 3)
		for range n {
			v.Recon = append(v.Recon, 350+rng.NormFloat64()-memory)
			v.KL = append(v.KL, 10+rng.NormFloat64()-memory)
		}
		for k := range codes.Data {
			codes.Data[k] = rng.NormFloat64() / (1 + memory)
		}
		v.Codes = codes
		return v
	}
	both := func(memory float64) generative.Views {
		return generative.Views{Members: view(forgotten, memory), Nonmembers: view(heldOut, 0)}
	}
	reference := both(0)
	return generative.Evidence{Model: both(memory), Reference: &reference, Retained: view(retained, 0).Codes}
}

// RunGenerative runs the suite on an attack on a generative model.
func RunGenerative(t *testing.T, a generative.Attack) {
	t.Helper()
	judge := func(t *testing.T, e generative.Evidence) scoreReport {
		t.Helper()
		r, err := generative.Run(a, e)
		if err != nil {
			t.Fatal(err)
		}
		return scoreReport{r}
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) { checkAbove(t, "AUC", judge(t, autoencoder(random(21), 1.5)).auc()) })
	t.Run("finds none in an oracle", func(t *testing.T) {
		checkNominal(t, 600, func(k uint64) scoreReport { return judge(t, autoencoder(random(3000+k), 0)) })
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		e := autoencoder(random(22), 1.5)
		e.Model.Members, e.Model.Nonmembers = e.Model.Nonmembers, e.Model.Members
		e.Reference.Members, e.Reference.Nonmembers = e.Reference.Nonmembers, e.Reference.Members
		checkBelow(t, "AUC, members and non-members exchanged", judge(t, e).auc())
		e = autoencoder(random(22), 1.5)
		e.Model, *e.Reference = *e.Reference, e.Model
		if got := judge(t, e).auc(); got.Low > 0.5 {
			t.Errorf("with model and reference exchanged the attack works: %+v", got)
		}
	})
	t.Run("leaves the evidence alone", func(t *testing.T) {
		e := autoencoder(random(23), 1)
		before := toJSON(t, e)
		first := toJSON(t, judge(t, e).ScoreReport)
		if toJSON(t, e) != before || toJSON(t, judge(t, e).ScoreReport) != first {
			t.Error("the attack writes to the evidence, or answers anew the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for role, viewOf := range map[string]func(e *generative.Evidence) *generative.View{
			"members":     func(e *generative.Evidence) *generative.View { return &e.Model.Members },
			"non-members": func(e *generative.Evidence) *generative.View { return &e.Model.Nonmembers },
		} {
			for what, corrupt := range map[string]func(v *generative.View){
				"none": func(v *generative.View) { *v = generative.View{} },
				"NaN": func(v *generative.View) {
					v.Recon[3], v.KL[3] = math.NaN(), math.NaN()
					v.Codes.(array.Matrix[float64]).Data[7] = math.NaN()
				},
			} {
				e := autoencoder(random(24), 1)
				corrupt(viewOf(&e))
				_, err := generative.Run(a, e)
				conform.CheckRefused(t, what+", "+role, err, a.Name())
			}
		}
	})
}
