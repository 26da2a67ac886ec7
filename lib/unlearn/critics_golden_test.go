// Comparison of the adversarial methods with PyTorch.

package unlearn

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// testdata/critics.json was made by testdata/critics_torch.py with PyTorch 2.15.0.
//
//go:embed testdata/critics.json
var criticsJSON []byte

// goldenCells repeats the formula of critics_torch.py.
func goldenCells(first, n, offset int, shift float64) Data {
	d := Data{X: array.New[float32](n, 6)}
	for i := range d.X.Data {
		v := float64((i*i*7+i*23+offset)%89) / 32
		if i%6%2 == 1 {
			v += shift
		}
		d.X.Data[i] = float32(v)
	}
	for i := range n {
		d.IDs = append(d.IDs, first+i)
	}
	return d
}

// goldenWatch is the case of critics_torch.py: posteriors so narrow that random numbers do
// not matter, and untrained critics.
func goldenWatch(t *testing.T, frozen bool) *criticGame {
	t.Helper()
	r := criticFixture(t)
	arch := vae.Cells{Genes: 6, Hidden: []int{7}, Latent: 2, Dropout: new(0.0)}
	r.Forget, r.Retain, r.HeldOut = goldenCells(0, 4, 3, 2), goldenCells(4, 36, 11, 0), goldenCells(0, 20, 29, 0.25)
	r.HeldOut.NonMembers = true
	watcher := criticModel{Of: arch, Recon: loss.LibrarySquaredError{}}
	full, withoutNorms, losses := features.Counts(2)
	for _, n := range []int{full, withoutNorms, losses} {
		watcher.Critics = append(watcher.Critics, learned.Network{Features: n, Hidden: []int{6, 6}, Spectral: !frozen})
	}
	own, start := model.InitialWeights(arch, engine.Root(0).Stream("init")), model.InitialWeights(watcher, engine.Root(0).Stream("init"))
	for k, v := range start {
		goldenWeights(v, k)
	}
	r.Original = start[:len(own)].Clone()
	var err error
	if r.Runner, err = model.NewRunner(r.Runner.Engine, arch); err != nil {
		t.Fatal(err)
	}
	runner, err := model.NewRunner(r.Runner.Engine, watcher)
	if err != nil {
		t.Fatal(err)
	}
	return &criticGame{Request: r, runner: runner, start: start}
}

func goldenWeights(v nn.Param, k int) {
	length := 0.0
	for i := range v.Data {
		w := float64((i*i*13+i*29+k*53+7)%97-42) / 64
		length += w * w
		switch {
		case strings.HasSuffix(v.Name, "norm.weight"), v.Name == "view.factor":
			w = 1 + 0.3*w
		case v.Name == "log_variance.bias":
			w -= 30
		}
		v.Data[i] = float32(w)
	}
	if strings.HasSuffix(v.Name, "_u") || strings.HasSuffix(v.Name, "_v") {
		for i := range v.Data {
			v.Data[i] /= float32(math.Sqrt(length))
		}
	}
}

// Each method's weights after a few steps are those of another implementation.
func TestAdversarialMethodsArePyTorchs(t *testing.T) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(criticsJSON, &want); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]interface {
		playCritics(context.Context, *criticGame) (*Outcome, error)
	}{
		"frozen":               defaults.Fill(FrozenCritics{Lambda: 0.5, Epochs: 4, LR: 1e-2}),
		"frozen, unclipped":    defaults.Fill(FrozenCritics{Lambda: 0.5, Epochs: 4, LR: 1e-2, Clip: new(0.0)}),
		"frozen, sum":          defaults.Fill(FrozenCritics{Lambda: 3, Epochs: 4, LR: 1e-2, Sum: true}),
		"extra-gradient":       defaults.Fill(ExtraGradient{Lambda: 0.3, Epochs: 5, LR: 1e-2, CriticLR: 0.3, Rising: -1}),
		"extra-gradient, true": defaults.Fill(ExtraGradientTrue{Epochs: 3, LR: 1e-2}),
	} {
		t.Run(name, func(t *testing.T) {
			var golden struct {
				After map[string][]float64 `json:"after"`
			}
			if err := json.Unmarshal(want[name], &golden); err != nil {
				t.Fatal(err)
			}
			out, err := m.playCritics(t.Context(), goldenWatch(t, strings.HasPrefix(name, "frozen")))
			if err != nil {
				t.Fatal(err)
			}
			if len(golden.After) != len(out.Params) {
				t.Errorf("%d tensors, PyTorch has %d", len(out.Params), len(golden.After))
			}
			for _, v := range out.Params {
				for i, w := range golden.After[v.Name] {
					if !(math.Abs(float64(v.Data[i])-w) <= 2e-5*(1+math.Abs(w))) {
						t.Errorf("%s[%d] is %v, PyTorch has %v", v.Name, i, v.Data[i], w)
					}
				}
			}
		})
	}
}

// The attacker that stops the coded game is evaluated on the forget set twice: against
// held-out records, and against the retained ones that it was trained on. Where non-members
// resemble the forget set it can distinguish only the latter.
func TestWhomTheShadowTellsApart(t *testing.T) {
	r := criticFixture(t)
	r.HeldOut.X = r.HeldOut.X.Gather([]int{0, 1, 2, 3})
	r.HeldOut.IDs = r.HeldOut.IDs[:4]
	copy(r.HeldOut.X.Data, r.Forget.X.Data)
	for i := range r.Forget.X.Data { // far from what is retained
		r.Forget.X.Data[i] *= 3
		r.HeldOut.X.Data[i] *= 3
	}
	w, err := r.newFeatureModel()
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.newStopAttacker()
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.epochValue(t.Context(), w.start, 1)
	if err != nil || v != 0.75 {
		t.Errorf("the attacker's value is %v, %v: want the mean of 1/2 and 1", v, err)
	}
}

// Zero values are what section 4.2 and the program have.
func TestSettingsOfTheAdversarialMethods(t *testing.T) {
	critics := CriticConfig{Hidden: 256, Steps: 100, Batch: 64, LR: 1e-3, Decay: new(1e-4)}
	for _, c := range []struct{ got, want Method }{
		{FrozenCritics{}, FrozenCritics{Lambda: 10, Epochs: 30, LR: 1e-4, Samples: 4, Clip: new(1.0), Batch: 256, Critics: critics}},
		{ExtraGradient{}, ExtraGradient{Lambda: 10, Epochs: 50, LR: 1e-4, CriticLR: 1e-5, CriticSteps: 2, Rising: 3, Batch: 256, Critics: critics}},
		{ExtraGradientTrue{}, ExtraGradientTrue{Lambda: 10, Epochs: 50, LR: 1e-4, Faster: 5, Batch: 256, Critics: critics}},
	} {
		if got := defaults.Fill(c.got); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// Frozen critics are trained on the forget set against held-out records with NonMembers,
// and against retained ones without.
func TestFromWhomFrozenCriticsLearn(t *testing.T) {
	for _, nonMembers := range []bool{false, true} {
		m := FrozenCritics{Epochs: 1, NonMembers: nonMembers, Critics: little}
		hash := func(move func(*Request)) string {
			r := criticFixture(t)
			move(&r)
			p, _, err := Apply(t.Context(), m, r)
			if err != nil {
				t.Fatal(err)
			}
			return p.Hash()
		}
		was := hash(func(*Request) {})
		if moved := hash(func(r *Request) { r.HeldOut.X.Data[0] += 2 }); (moved != was) != nonMembers {
			t.Errorf("NonMembers %v: other held-out records change the result: %v", nonMembers, moved != was)
		}
	}
}
