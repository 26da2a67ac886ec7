package fisher

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

func initial(a model.Architecture) nn.Params {
	return model.InitialWeights(a, engine.Root(1).Stream(engine.StreamInit))
}

// autoencoder is a small network of cells, with n cells to reconstruct.
func autoencoder(n int, dropout *float64) (vae.Cells, train.Objective) {
	m := vae.Cells{Genes: 6, Hidden: []int{5, 4}, Latent: 2, Dropout: dropout}
	rng := rand.New(rand.NewPCG(3, 4))
	x, library := array.New[float32](n, m.Genes), array.New[float32](n, 1)
	for i := range n {
		for j := range x.Row(i) {
			x.Row(i)[j] = float32(rng.ExpFloat64() * float64(1+(i+j)%3))
			library.Row(i)[0] += x.Row(i)[j]
		}
	}
	return m, train.Objective{{Name: "cells", X: x, Targets: []train.Target{
		{Loss: loss.LibrarySquaredError{}, Weight: 1, Inputs: map[string]array.Matrix[float32]{loss.Target: x, loss.Library: library}},
		{Loss: loss.LatentDivergence{}, Weight: 1},
	}}}
}

// classifier is a small network with n labelled records.
func classifier(n int) (tabular.MLP, train.Objective) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := array.New[float32](n, 4), make([]int, n)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = rng.IntN(3)
	}
	return tabular.MLP{Features: 4, Outputs: 3, Hidden: 6}, train.Objective{{Name: "labels", X: x, Targets: []train.Target{train.CrossEntropy(y, 3, 1)}}}
}

// record is the objective of one record, or of several.
func record(o train.Objective, rows ...int) train.Objective {
	term := o[0]
	term.X = term.X.Gather(rows)
	term.Targets = slices.Clone(term.Targets)
	for k, g := range term.Targets {
		in := map[string]array.Matrix[float32]{}
		for name, m := range g.Inputs {
			in[name] = m.Gather(rows)
		}
		term.Targets[k].Inputs = in
	}
	return train.Objective{term}
}

func checkClose(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func wantWords(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want %q", err, words)
	}
}

// The exact estimator against a loop that takes one record's gradient at a time.
func TestExactIsALoopOverRecords(t *testing.T) {
	vae, cells := autoencoder(9, nil)
	mlp, labels := classifier(9)
	for _, c := range []struct {
		arch model.Architecture
		o    train.Objective
	}{{vae, cells}, {mlp, labels}} {
		r, p := modeltest.OpenRunner(t, c.arch), initial(c.arch)
		got, err := Exact{}.Estimate(t.Context(), r, p, c.o)
		if err != nil {
			t.Fatal(err)
		}
		want := make([][]float64, len(p))
		for i := range p {
			want[i] = make([]float64, len(p[i].Data))
		}
		for i := range 9 {
			g, err := train.Gradient(t.Context(), r, p, record(c.o, i), 0, train.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			for k := range g {
				for j, v := range g[k] {
					want[k][j] += v * v / 9
				}
			}
		}
		for k, tensor := range got.Tensors {
			for j, v := range tensor.Values {
				checkClose(t, fmt.Sprintf("%s, %s[%d]", c.arch.Name(), tensor.Name, j), v, want[k][j], 1e-5*(1e-6+want[k][j]))
			}
		}
		if lengths, err := train.GradientNorms(t.Context(), r, p, c.o, train.Mode{}); err != nil || len(lengths) != 9 {
			t.Error(err)
		} else {
			sum := 0.0
			for _, v := range lengths {
				sum += v * v / 9
			}
			checkClose(t, "trace", got.Trace(), sum, 1e-5*sum)
		}
	}
}

// The coded estimator against the gradient of every batch's sum, with the draws of a
// training. Batches of one record are the exact estimator's squares, with damping.
func TestCodedSquaresTheSumOfABatch(t *testing.T) {
	m, o := autoencoder(10, nil)
	r, p := modeltest.OpenRunner(t, m), initial(m)
	got, err := Coded{Batch: 4, Seed: 7}.Estimate(t.Context(), r, p, o)
	if err != nil {
		t.Fatal(err)
	}
	want := Diagonal{}
	err = train.EachGradient(t.Context(), r, p, o, 4, train.Mode{Training: true, Seed: 7}, func(g [][]float64, records int) {
		d := newDiagonal(p, g, 0)
		for _, t := range d.Tensors {
			for j, v := range t.Values {
				t.Values[j] = v * v * float64(records*records)
			}
		}
		want = want.addScaled(d, 0.1)
	})
	if err != nil {
		t.Fatal(err)
	}
	eachPair(got, want, func(x, y float64) { checkClose(t, "coded", x, y+1e-8, 1e-9*(1+y)) })
	other, err := Coded{Batch: 4, Seed: 8}.Estimate(t.Context(), r, p, o)
	if err != nil || other.Trace() == got.Trace() {
		t.Errorf("nothing is drawn: %v", err)
	}
	mlp, labels := classifier(6)
	mlp.Dropout = new(0.0)
	r, p = modeltest.OpenRunner(t, mlp), initial(mlp)
	alone, err := Coded{Batch: 1}.Estimate(t.Context(), r, p, labels)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := Exact{}.Estimate(t.Context(), r, p, labels)
	if err != nil {
		t.Fatal(err)
	}
	eachPair(alone, exact, func(x, y float64) { checkClose(t, "batches of one", x, y+1e-8, 1e-5*(1e-6+y)) })
	whole, err := Coded{Damping: new(0.0)}.Estimate(t.Context(), r, p, labels)
	if err != nil || whole.Damping != 0 || !(math.Abs(whole.Trace()/exact.Trace()-1) > 0.05) {
		t.Errorf("one batch of six gives the trace %v, single records %v (%v)", whole.Trace(), exact.Trace(), err)
	}
}

// Draws of the latent variable are averaged; dropout is refused.
func TestExactAveragesDraws(t *testing.T) {
	m, o := autoencoder(5, new(0.0))
	r, p := modeltest.OpenRunner(t, m), initial(m)
	var sum Diagonal
	for seed := range engine.Root(3) {
		d, err := Exact{Draws: 1, Seed: 11 + seed}.Estimate(t.Context(), r, p, o)
		if err != nil {
			t.Fatal(err)
		}
		sum = sum.addScaled(d, 1.0/3)
	}
	got, err := Exact{Draws: 3, Seed: 11}.Estimate(t.Context(), r, p, o)
	if err != nil {
		t.Fatal(err)
	}
	eachPair(got, sum, func(x, y float64) { checkClose(t, "mean of draws", x, y, 1e-12*(1+y)) })
	if mean, err := (Exact{}).Estimate(t.Context(), r, p, o); err != nil || mean.Trace() == got.Trace() {
		t.Errorf("the posterior's mean is no draw: %v", err)
	}
	m.Dropout = nil
	_, err = Exact{Draws: 1}.Estimate(t.Context(), modeltest.OpenRunner(t, m), p, o)
	wantWords(t, err, "drops out units")
	_, err = Exact{Draws: -1}.Estimate(t.Context(), r, p, o)
	wantWords(t, err, "-1 draws")
	_, err = Exact{}.Estimate(t.Context(), r, p, append(o, o...))
	wantWords(t, err, "2 terms")
	_, err = Coded{Batch: -1}.Estimate(t.Context(), r, p, o)
	wantWords(t, err, "batches of -1")
}

// Of logistic regression the gradient is (p - y) x^T, in closed form.
func TestLogisticRegressionInClosedForm(t *testing.T) {
	arch := tabular.Blocks{Features: 4, Outputs: 3, Linear: true}
	_, o := classifier(8)
	r, p := modeltest.OpenRunner(t, arch), initial(arch)
	got, err := Exact{}.Estimate(t.Context(), r, p, o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Predict(p, o[0].X)
	if err != nil {
		t.Fatal(err)
	}
	prob, y := train.Softmax(out.Logits(), 1), o[0].Targets[0].Inputs[loss.Probabilities]
	for c := range 3 {
		bias := 0.0
		for k := range 4 {
			want := 0.0
			for i := range 8 {
				e := float64(prob.Row(i)[c] - y.Row(i)[c])
				want += e * e * float64(o[0].X.Row(i)[k]*o[0].X.Row(i)[k]) / 8
				if k == 0 {
					bias += e * e / 8
				}
			}
			checkClose(t, "weight", got.Tensors[0].Values[4*c+k], want, 1e-6)
		}
		checkClose(t, "bias", got.Tensors[1].Values[c], bias, 1e-6)
	}
}

// Groups of records, and what is left when one is taken out.
func TestSetsAddUp(t *testing.T) {
	m, o := classifier(12)
	r, p := modeltest.OpenRunner(t, m), initial(m)
	all, part, rest := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []int{2, 5, 11}, []int{0, 1, 3, 4, 6, 7, 8, 9, 10}
	var made []Diagonal
	err := Exact{}.Each(t.Context(), r, p, o, [][]int{all, part, rest}, func(k int, d Diagonal) error {
		if k != len(made) {
			t.Errorf("group %d after %d", k, len(made))
		}
		made = append(made, d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	left, err := made[0].Without(made[1], 12, 3)
	if err != nil {
		t.Fatal(err)
	}
	eachPair(left, made[2], func(x, y float64) { checkClose(t, "the rest", x, y, 1e-6*(1e-3+y)) })
	_, err = made[0].Without(made[1], 3, 3)
	wantWords(t, err, "3 of 3 records")
	damped := made[0]
	damped.Damping = 1e-300
	_, err = damped.Without(made[1], 12, 3)
	wantWords(t, err, "damping")
	stop := fmt.Errorf("enough")
	if err := (Exact{}).Each(t.Context(), r, p, o, [][]int{all, part}, func(int, Diagonal) error { return stop }); err != stop {
		t.Errorf("an error of each: %v", err)
	}
}

// Of a squared error the dispersion head gets no gradient: as coded its cosine is 1
// because both are the damping; ours leaves it out.
func TestADeadHeadHasTheCosineOfItsDamping(t *testing.T) {
	m, o := autoencoder(10, nil)
	r, p := modeltest.OpenRunner(t, m), initial(m)
	two := func(e Estimator) (f, rest Diagonal) {
		f, err := e.Estimate(t.Context(), r, p, record(o, 0, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		rest, err = e.Estimate(t.Context(), r, p, record(o, 3, 4, 5, 6, 7, 8, 9))
		if err != nil {
			t.Fatal(err)
		}
		return f, rest
	}
	head := func(name string) bool { return strings.HasPrefix(name, "dispersion") }
	f, rest := two(Coded{})
	if c, err := Cosine(f.Filter(head), rest.Filter(head)); err != nil || c != 1 {
		t.Errorf("as coded %v (%v), expected exactly 1", c, err)
	}
	if _, n, err := LogPearson(f, rest, true); err != nil || n != p.Size() {
		t.Errorf("with dead weights %d of %d (%v)", n, p.Size(), err)
	}
	if _, n, err := LogPearson(f, rest, false); err != nil || n > p.Size()-6*5-6 {
		t.Errorf("without dead weights %d of %d (%v)", n, p.Size(), err)
	}
	f, rest = two(Exact{})
	if _, err := Cosine(f.Filter(head), rest.Filter(head)); err != errDead {
		t.Errorf("exact: %v", err)
	}
	far := Diagonal{Tensors: []Tensor{{Name: "w", Shape: []int{2}, Values: []float64{1e200, 1}}}}
	if c, err := Cosine(far, far); err != errOverflow {
		t.Errorf("beyond float64: %v, %v", c, err)
	}
	parts, err := Compare(f, rest, m.Part)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if dead := map[string]int{"output": 36, Global: 36}[part.Name]; part.Dead != dead {
			t.Errorf("%s: %d dead weights, want %d", part.Name, part.Dead, dead)
		}
	}
	_, _, err = LogPearson(f, rest, true)
	wantWords(t, err, "no logarithm without damping")
	per, err := Compare(f, rest, ByTensor)
	if err != nil || slices.ContainsFunc(per, func(p Part) bool { return head(p.Name) }) {
		t.Errorf("the dead head is a row of its own: %v", err)
	}
}
