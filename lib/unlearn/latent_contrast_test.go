// Tests of latent_contrast.go.

package unlearn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// The objective in the note is its formula, term by term with weights, at the weights after
// the epoch before.
func TestLatentContrastsObjectiveIsItsFormula(t *testing.T) {
	r := unlearntest.NewGenerativeToy(t).Request
	r.Batch = r.Retain.X.Rows // one step an epoch
	for _, m := range []unlearn.LatentContrast{{}, {Gamma: 2.5}, {Keep: new(40.0)}, {Keep: new(40.0), Spread: new(3.0)}, {Gamma: 0.4, Keep: new(100.0), Spread: new(0.9)}} {
		m.LR, m.Untuned, m.Epochs = 0.02, true, 1
		after, _ := apply(t, m, r)
		m.Epochs = 2
		_, rep := apply(t, m, r)
		codes := func(p nn.Params, d unlearn.Data) (mean, spread array.Matrix[float32]) {
			out, err := r.Runner.Predict(p, d.X)
			if err != nil {
				t.Fatal(err)
			}
			return out.Outputs[loss.LatentMean], out.Outputs[loss.LatentLogVar]
		}
		mu, s := codes(after, r.Forget)
		want, w := 0.0, defaults.Fill(m)
		for i, v := range mu.Data {
			want += w.Gamma * (float64(v)*float64(v) + math.Exp(float64(s.Data[i])) - float64(s.Data[i]) - 1) / 2 / float64(mu.Rows)
		}
		mu, s = codes(after, r.Retain)
		mu0, s0 := codes(r.Original, r.Retain)
		for i := range mu.Data {
			want += *w.Keep * (math.Pow(float64(mu.Data[i]-mu0.Data[i]), 2) + (*w.Spread)*math.Pow(float64(s.Data[i]-s0.Data[i]), 2)) / float64(len(mu.Data))
		}
		var said float64
		if _, err := fmt.Sscanf(rep.Note, "the objective came to %g in 2 epochs", &said); err != nil || math.Abs(said-want) > 2e-3*want {
			t.Errorf("%+v: %q, by hand %v (%v)", m, rep.Note, want, err)
		}
	}
}
