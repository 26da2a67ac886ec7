// Tests of critic_model.go.

package unlearn

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// criticFixture asks a network of cells to forget 4 of 40 cells, which are of another type;
// 20 more are held out, of both types.
func criticFixture(t *testing.T) Request {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	arch := vae.Cells{Genes: 6, Hidden: []int{7}, Latent: 2}
	runner, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	rng := engine.Root(8).Stream(engine.StreamToy)
	draw := func(first, n int, shift float64) Data {
		d := Data{X: array.New[float32](n, 6)}
		for i := range n {
			d.IDs = append(d.IDs, first+i)
			for j := range d.X.Row(i) {
				d.X.Row(i)[j] = float32(math.Abs(rng.NormFloat64()) + shift*float64(j%2))
			}
		}
		return d
	}
	r := Request{
		Runner: runner, Original: model.InitialWeights(arch, engine.Root(2).Stream(engine.StreamInit)), Seed: 4,
		Forget: draw(0, 4, 2), Retain: draw(4, 36, 0), HeldOut: draw(0, 20, 0.3),
		Objective: func(d Data) (train.Objective, error) {
			library := array.New[float32](d.X.Rows, 1)
			for i := range library.Data {
				for _, v := range d.X.Row(i) {
					library.Data[i] += v
				}
			}
			in := map[string]array.Matrix[float32]{loss.Target: d.X, loss.Library: library}
			return train.Objective{{X: d.X, IDs: d.IDs, Targets: []train.Target{
				{Loss: loss.LibrarySquaredError{}, Inputs: in, Weight: 1}, {Loss: loss.LatentDivergence{}, Weight: 0.5},
			}}}, nil
		},
	}
	r.HeldOut.NonMembers = true
	return r
}

var little = CriticConfig{Hidden: 6, Steps: 60, Batch: 16, LR: 1e-2, Decay: new(0.0)}

func before(t *testing.T, r Request, others Data, standardised, frozen bool) *criticGame {
	t.Helper()
	w, err := r.newCriticGame(context.Background(), defaults.Fill(little), others, standardised, frozen)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The features in the graph are package features' of the autoencoder's outputs.
func TestTheFeaturesInTheGraphAreThoseOutside(t *testing.T) {
	r := criticFixture(t)
	w, err := r.newFeatureModel()
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.features(w.start, r.Retain)
	if err != nil {
		t.Fatal(err)
	}
	pred, err := r.Runner.Predict(r.Original, r.Retain.X)
	if err != nil {
		t.Fatal(err)
	}
	p := features.Posterior{Mu: pred.Outputs[loss.LatentMean], LogVar: pred.Outputs[loss.LatentLogVar]}
	for i := range r.Retain.X.Rows {
		recon, kl, library := 0.0, 0.0, 0.0
		for _, v := range r.Retain.X.Row(i) {
			library += float64(v)
		}
		for j, v := range r.Retain.X.Row(i) {
			recon += math.Pow(library*float64(pred.Outputs[loss.Proportion].Row(i)[j])-float64(v), 2)
		}
		for j, s := range pred.Outputs[loss.LatentLogVar].Row(i) {
			mu := float64(pred.Outputs[loss.LatentMean].Row(i)[j])
			kl += (mu*mu + math.Exp(float64(s)) - float64(s) - 1) / 2
		}
		p.Recon, p.KL = append(p.Recon, recon), append(p.KL, kl)
	}
	for k, f := range []func(features.Posterior) (array.Matrix[float64], error){features.Full, features.WithoutNorms, features.Losses} {
		want, err := f(p)
		if err != nil {
			t.Fatal(err)
		}
		full, withoutNorms, losses := features.Counts(2)
		if want.Cols != []int{full, withoutNorms, losses}[k] || got.Cols != full {
			t.Fatalf("%d columns of %d", want.Cols, got.Cols)
		}
		for i := range want.Rows {
			for j, v := range want.Row(i) {
				if math.Abs(got.Row(i)[j]-v) > 1e-4*(1+math.Abs(v)) {
					t.Errorf("record %d, feature %d: %v, outside %v", i, j, got.Row(i)[j], v)
				}
			}
		}
	}
}

// The critics' scores have derivatives with respect to every part of the autoencoder, equal
// to finite differences.
func TestACriticsAnswerHasADerivativeByTheModel(t *testing.T) {
	r := criticFixture(t)
	for _, frozen := range []bool{false, true} {
		w := before(t, r, r.HeldOut, true, frozen)
		term, err := w.term("forget", r.Forget, true, train.Target{Loss: loss.MaxLogit{}, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		o := train.Objective{term}
		grads, err := train.Gradient(context.Background(), w.runner, w.start, o, 0, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		at := func(i, j int, by float32) float64 {
			p := w.start.Clone()
			p[i].Data[j] += by
			v, err := train.Evaluate(context.Background(), w.runner, p, o)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		parts := map[string]bool{}
		for i, v := range r.Original {
			j := steepest(grads[i])
			if strings.HasPrefix(v.Name, "dispersion") {
				continue
			}
			const h = 2e-3
			slope := (at(i, j, h) - at(i, j, -h)) / (2 * h)
			if math.Abs(slope-grads[i][j]) > 0.03*math.Abs(slope)+2e-3 {
				t.Errorf("frozen %v, %s, element %d: the derivative is %v, by differences %v", frozen, v.Name, j, grads[i][j], slope)
			}
			if math.Abs(grads[i][j]) > 1e-3 {
				parts[vae.Cells{}.Part(v.Name)] = true
			}
		}
		if !parts["encoder"] || !parts["bottleneck"] || !parts["decoder"] || !parts["output"] {
			t.Errorf("frozen %v: only %v have a derivative", frozen, parts)
		}
	}
}

func steepest(g []float64) int {
	best := 0
	for j, v := range g {
		if math.Abs(v) > math.Abs(g[best]) {
			best = j
		}
	}
	return best
}

// logits returns the critics' scores of records.
func (w *criticGame) logits(t *testing.T, p nn.Params, d Data) array.Matrix[float32] {
	t.Helper()
	x, err := w.appendTargets(d)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.runner.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	return out.Logits()
}

// Frozen critics keep their scores, with their spectral norms, and do not move.
func TestFrozenCriticsStay(t *testing.T) {
	r := criticFixture(t)
	alive, frozen := before(t, r, r.Retain, false, false), before(t, r, r.Retain, false, true)
	a, b := alive.logits(t, alive.start, r.Forget), frozen.logits(t, frozen.start, r.Forget)
	if a.Cols != 3 {
		t.Fatalf("%d critics", a.Cols)
	}
	for i, v := range a.Data {
		if math.Abs(float64(v-b.Data[i])) > 1e-4*(1+math.Abs(float64(v))) {
			t.Errorf("answer %d is %v and, frozen, %v", i, v, b.Data[i])
		}
	}
	o, err := defaults.Fill(FrozenCritics{}).objective(frozen)
	if err != nil {
		t.Fatal(err)
	}
	game := &train.Game{Players: []train.Player{frozen.modelPlayer(o, 1e-2)}}
	p, _, err := train.FitPlan(context.Background(), frozen.runner, frozen.start, train.Plan{Game: game}, train.Config{Epochs: 2}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p[len(r.Original):] {
		at := len(r.Original) + i
		if (nn.Params{p[at]}).Hash() != (nn.Params{frozen.start[at]}).Hash() {
			t.Errorf("%s has moved", p[at].Name)
		}
	}
}

// Members are the forget set: critics score them higher than the records that they were
// trained against. The latter matter to the scores.
func TestWhomCriticsCallMembers(t *testing.T) {
	r := criticFixture(t)
	mean := func(w *criticGame, d Data) float64 {
		sum, z := 0.0, w.logits(t, w.start, d)
		for _, v := range z.Data {
			sum += float64(v) / float64(len(z.Data))
		}
		return sum
	}
	against, nonMembers := before(t, r, r.Retain, true, false), before(t, r, r.HeldOut, true, false)
	if yes, no := mean(against, r.Forget), mean(against, r.Retain); !(yes > no+0.5) {
		t.Errorf("critics say %v of the forget set and %v of the retain set", yes, no)
	}
	if yes, no := mean(nonMembers, r.Forget), mean(nonMembers, r.HeldOut); !(yes > no+0.5) {
		t.Errorf("critics say %v of the forget set and %v of non-members", yes, no)
	}
	o, err := nonMembers.criticObjective(r.HeldOut)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float32{1, 0} {
		got := o[k].Targets[0].Inputs[loss.Probabilities]
		if rows := []int{4, 20}[k]; got.Rows != rows || got.Data[0] != want || !(o[k].Targets[0].Weight > 0) {
			t.Errorf("term %d: %d records to which the answer is %v", k, got.Rows, got.Data[0])
		}
	}
}

// surest is the mean over the forget set of the frozen critics' loss.
func surest(t *testing.T, w *criticGame, p nn.Params) float64 {
	t.Helper()
	term, err := w.term("forget", w.Forget, true, train.Target{Loss: loss.MaxLogit{}, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := train.Evaluate(context.Background(), w.runner, append(p.Clone(), w.start[len(p):]...), train.Objective{term})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Each method makes its critics less confident of the forget set.
func TestCriticsAreLedAstray(t *testing.T) {
	r := criticFixture(t)
	for _, nonMembers := range []bool{false, true} {
		m := FrozenCritics{Lambda: 1e-3, Epochs: 20, LR: 1e-2, NonMembers: nonMembers, Sum: nonMembers, Critics: little}
		p, rep, err := Apply(context.Background(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		others := r.Retain
		if nonMembers {
			others = r.HeldOut
		}
		w := before(t, r, others, nonMembers, true)
		if from, to := surest(t, w, r.Original), surest(t, w, p); !(to < 0.9*from) {
			t.Errorf("frozen critics, NonMembers %v: their loss was %v and is %v", nonMembers, from, to)
		}
		if want := "20 steps of the model, all of its 20 epochs"; rep.Note != want {
			t.Errorf("the note is %q, want %q", rep.Note, want)
		}
	}
	// The surest probability falls in the game as coded.
	m := ExtraGradient{Lambda: 1e-3, Epochs: 20, LR: 1e-2, Rising: -1, Critics: little}
	_, rep, err := Apply(context.Background(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	if from, to := rep.History[0].Players[0], rep.History[19].Players[0]; !(to < 0.95*from) {
		t.Errorf("as coded the model's objective was %v and is %v", from, to)
	}
	// Critics that do not learn are misled by the game as printed.
	still := ExtraGradientTrue{Lambda: 1000, Epochs: 10, LR: 1e-2, Faster: 1e-9, Critics: little}
	_, rep, err = Apply(context.Background(), still, r)
	if err != nil {
		t.Fatal(err)
	}
	if from, to := rep.History[0].Players[1], rep.History[9].Players[1]; !(to > 1.1*from) {
		t.Errorf("as printed the critics' loss was %v and is %v", from, to)
	}
}

// The game as coded ends at the first three rising values, and its note says so; an epoch
// is one step of the model and two of its critics.
func TestExtraGradientStopsOnNoiseAsCoded(t *testing.T) {
	r := criticFixture(t)
	m := ExtraGradient{Epochs: 60, LR: 1e-6, Critics: little}
	_, rep, err := Apply(context.Background(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	rises := func(end int) bool {
		v := func(i int) float64 { return *rep.History[i].Valid }
		return end >= 2 && v(end) > v(end-1) && v(end-1) > v(end-2)
	}
	n := len(rep.History)
	for end := range n {
		if rises(end) != (end == n-1) {
			t.Errorf("value %d of %d: it is the third that rises: %v", end+1, n, rises(end))
		}
	}
	if n == 60 || !strings.Contains(rep.Note, "stopped by 3 rising values") || rep.Steps != 3*n {
		t.Errorf("%d epochs, %d steps: %q", n, rep.Steps, rep.Note)
	}
}

// The game as printed is Korpelevich's: its look-ahead is in the result.
func TestExtraGradientTrueLooksAhead(t *testing.T) {
	r := criticFixture(t)
	m := ExtraGradientTrue{Epochs: 3, LR: 1e-2, Critics: little}
	got, rep, err := Apply(context.Background(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	play := func(rule train.Rule) nn.Params {
		w := before(t, r, r.HeldOut, true, false)
		down, err := w.utilityTerm(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		x, err := w.appendTargets(r.Forget)
		if err != nil {
			t.Fatal(err)
		}
		y, err := w.appendTargets(r.HeldOut)
		if err != nil {
			t.Fatal(err)
		}
		answers := func(n int, a float32) map[string]array.Matrix[float32] {
			return map[string]array.Matrix[float32]{loss.Probabilities: learned.ConstantTargets(n, 3, a)}
		}
		both := func(weight float64) train.Objective {
			return train.Objective{
				{X: x, IDs: r.Forget.IDs, Whole: true, Targets: []train.Target{{Loss: loss.BinaryCrossEntropy{}, Inputs: answers(4, 1), Weight: weight / 6}}},
				{X: y, IDs: r.HeldOut.IDs, Targets: []train.Target{{Loss: loss.BinaryCrossEntropy{}, Inputs: answers(20, 0), Weight: weight / 6}}},
			}
		}
		game := &train.Game{Rule: rule, Players: []train.Player{
			w.modelPlayer(append(train.Objective{down}, both(-10)...), 1e-2),
			{Name: "c", Owns: []string{"critic"}, Objective: both(1), Optimizer: nn.Adam{LR: 5e-2}},
		}}
		p, _, err := train.FitPlan(context.Background(), w.runner, w.start, train.Plan{Game: game}, train.Config{Epochs: 3, Batch: 256, Seed: r.Seed}, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		return p[:len(r.Original)]
	}
	if got.Hash() != play(train.ExtraGradient).Hash() {
		t.Error("it is not the game written out")
	}
	if got.Hash() == play(train.Simultaneous).Hash() {
		t.Error("it is the game without looking ahead")
	}
	if rep.Steps != 6 || !strings.HasPrefix(rep.Note, "3 steps of the model") {
		t.Errorf("%d steps, %q", rep.Steps, rep.Note)
	}
}

// Other models, other trainings and invalid settings are refused by name.
func TestCriticsRefuseNonsense(t *testing.T) {
	refused := func(m Method, corrupt func(*Request), words string) {
		t.Helper()
		r := criticFixture(t)
		corrupt(&r)
		if _, _, err := Apply(context.Background(), m, r); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", m, err, words)
		}
	}
	nothing := func(*Request) {}
	refused(FrozenCritics{Lambda: -1}, nothing, "weight -1 of the utility")
	refused(FrozenCritics{Samples: -1}, nothing, "-1 samples")
	refused(FrozenCritics{Clip: new(-1.0), Critics: little}, nothing, "maximal gradient norm")
	refused(FrozenCritics{Critics: CriticConfig{Steps: -1}}, nothing, "-1 steps")
	refused(ExtraGradient{CriticSteps: -2}, nothing, "-2 steps of the critics")
	refused(ExtraGradient{Rising: 1, Critics: little}, nothing, "after 1 rising values")
	refused(ExtraGradientTrue{Lambda: -3}, nothing, "weight -3 of the critics")
	refused(ExtraGradientTrue{}, func(r *Request) {
		r.Augment = train.AugmentFunc(func(dst, src []float32, _, _ int) error { copy(dst, src); return nil })
	}, "the request augments them")
	refused(ExtraGradientTrue{}, func(r *Request) {
		r.Objective = func(d Data) (train.Objective, error) {
			return train.Objective{{X: d.X, IDs: d.IDs, Targets: []train.Target{{Loss: loss.LatentDivergence{}, Weight: 1}}}}, nil
		}
	}, "one reconstruction, not 1 terms with 0")
}
