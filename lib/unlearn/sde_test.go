package unlearn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

func apply(t *testing.T, m unlearn.Method, r unlearn.Request) (nn.Params, *unlearn.Report) {
	t.Helper()
	p, rep, err := unlearn.Apply(context.Background(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	return p, rep
}

// The zero values against every setting written out: Descent's, the published
// programs' learning rates, and what each method has of its own.
func TestTheZeroValueOfSDEsMethodsIsTheProgramsSetting(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	full := unlearn.Descent{Momentum: 0.9, WeightDecay: 5e-4, Batch: 256}
	for _, c := range []struct {
		zero, written, other unlearn.Method
		steps                int
	}{
		{unlearn.RandomLabel{}, unlearn.RandomLabel{Epochs: 10, LR: 0.013, Descent: full}, unlearn.RandomLabel{LR: 0.02}, 20},
		{unlearn.RandomLabel{}, unlearn.RandomLabel{Descent: full}, unlearn.RandomLabel{Descent: unlearn.Descent{Momentum: unlearn.Off}}, 20},
		{unlearn.RandomLabel{Together: true}, unlearn.RandomLabel{Together: true, Descent: full}, unlearn.RandomLabel{}, 10},
		{unlearn.SalUn{}, unlearn.SalUn{Epochs: 10, LR: 0.013, Ratio: 0.5, Descent: full}, unlearn.SalUn{Ratio: 0.25}, 20},
		{unlearn.SalUn{}, unlearn.SalUn{Descent: full}, unlearn.SalUn{Restore: true}, 20},
		{unlearn.L1Sparsity{}, unlearn.L1Sparsity{Epochs: 10, LR: 0.01, Gamma: 5e-4, Descent: full}, unlearn.L1Sparsity{Gamma: unlearn.Off}, 10},
		{unlearn.Unroll{}, unlearn.Unroll{LR: 0.01, Batch: 32, Times: 1}, unlearn.Unroll{Times: 2}, 0},
		{unlearn.FineTuning{SGD: &unlearn.Descent{}}, unlearn.FineTuning{Epochs: 10, LR: 0.01, SGD: &full}, unlearn.FineTuning{SGD: &unlearn.Descent{WeightDecay: unlearn.Off}}, 10},
		{unlearn.GradientAscent{SGD: &unlearn.Descent{}}, unlearn.GradientAscent{Epochs: 5, LR: 1e-4, SGD: &full}, unlearn.GradientAscent{LR: 1e-4}, 5},
	} {
		zero, rep := apply(t, c.zero, r)
		written, _ := apply(t, c.written, r)
		other, _ := apply(t, c.other, r)
		if zero.Hash() != written.Hash() {
			t.Errorf("%+v: is not %+v", c.zero, c.written)
		}
		if zero.Hash() == other.Hash() {
			t.Errorf("%+v has no influence", c.other)
		}
		if rep.Steps != c.steps {
			t.Errorf("%+v: %d steps, want %d", c.zero, rep.Steps, c.steps)
		}
	}
}

// The settings are part of store keys: one flat object, zeros left out.
func TestTheSettingsOfSDEsMethodsAreFlatJSON(t *testing.T) {
	for want, m := range map[string]unlearn.Method{
		`{"lr":0.1,"ratio":0.3,"restore":true,"momentum":-1,"batch":64}`: unlearn.SalUn{LR: 0.1, Ratio: 0.3, Restore: true, Descent: unlearn.Descent{Momentum: unlearn.Off, Batch: 64}},
		`{"sgd":{}}`:   unlearn.FineTuning{SGD: &unlearn.Descent{}},
		`{"times":50}`: unlearn.Unroll{Times: 50},
	} {
		if b, err := json.Marshal(m); err != nil || string(b) != want {
			t.Errorf("%s (%v), want %s", b, err, want)
		}
	}
}

// With batches: every epoch a sweep over the forget set under the labels of the
// documented rule, then one over the retain set; a request's batch goes before
// the method's. Sparsity is the retain set with a falling L1 term.
func TestSDEsMethodsAreTheFitsOfTheirPlans(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	classes := r.Runner.Arch.Classes()
	term := func(d unlearn.Data, y []int) train.Term {
		return train.Term{X: d.X, IDs: d.IDs, Targets: []train.Target{{Probs: labels(unlearn.Data{Y: y}, classes), Weight: 1}}}
	}
	random := func(epoch int) []int {
		var y []int
		for _, id := range r.Forget.IDs {
			y = append(y, int(r.Seed.Counter("random-label", uint64(epoch), uint64(id))%uint64(classes)))
		}
		return y
	}
	apart := func(epoch int) ([]train.Objective, error) {
		return []train.Objective{{term(r.Forget, random(epoch))}, {term(r.Retain, r.Retain.Y)}}, nil
	}
	together := func(epoch int) ([]train.Objective, error) {
		all := unlearn.Data{X: array.New[float32](48, r.Forget.X.Cols)}
		copy(all.X.Data[copy(all.X.Data, r.Forget.X.Data):], r.Retain.X.Data)
		all.IDs = append(append(all.IDs, r.Forget.IDs...), r.Retain.IDs...)
		return []train.Objective{{term(all, append(random(epoch), r.Retain.Y...))}}, nil
	}
	retain := func(int) ([]train.Objective, error) { return []train.Objective{{term(r.Retain, r.Retain.Y)}}, nil }
	for _, c := range []struct {
		method unlearn.Method
		plan   train.Plan
		lr     float64
	}{
		{unlearn.RandomLabel{}, train.Plan{Passes: apart}, 0.013},
		{unlearn.RandomLabel{Together: true}, train.Plan{Passes: together}, 0.013},
		{unlearn.L1Sparsity{}, train.Plan{Passes: retain, L1: &train.L1{Weight: 5e-4, Falling: true}}, 0.01},
		{unlearn.FineTuning{SGD: &unlearn.Descent{Batch: 3}}, train.Plan{Passes: retain}, 0.01},
	} {
		for _, batch := range []int{16, 5} {
			r := r
			r.Batch = batch
			got, rep := apply(t, c.method, r)
			config := train.Config{Epochs: 10, Batch: batch, SGD: &nn.SGD{LR: c.lr, Momentum: 0.9, WeightDecay: 5e-4}, Seed: r.Seed}
			want, history, err := train.FitPlan(context.Background(), r.Runner, r.Original, c.plan, config, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash() != want.Hash() || fmt.Sprint(rep.History) != fmt.Sprint(history) {
				t.Errorf("%s in batches of %d: is not the fit of its plan", c.method.Name(), batch)
			}
		}
	}
}

// 8 records in 400 epochs: the true label comes as often as any other, and no
// epoch repeats another. Counts have a standard deviation of 27.
func TestRandomLabelsAreUniformAndFresh(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	var counts [3]int
	truth, epochs := 0, map[string]bool{}
	const n = 400
	for epoch := range n {
		y := drawn(r, epoch)
		epochs[fmt.Sprint(y)] = true
		for i, v := range y {
			counts[v]++
			if v == r.Forget.Y[i] {
				truth++
			}
		}
	}
	for _, k := range append(counts[:], truth) {
		if math.Abs(float64(k)-8*n/3.) > 4*27 {
			t.Errorf("classes %v times, the truth %d times, of %d", counts, truth, 8*n)
		}
	}
	if len(epochs) < n*9/10 {
		t.Errorf("%d different epochs of %d", len(epochs), n)
	}
}

// drawn repeats the documented rule, which the test above ties to the method.
func drawn(r unlearn.Request, epoch int) []int {
	var y []int
	for _, id := range r.Forget.IDs {
		y = append(y, int(r.Seed.Counter("random-label", uint64(epoch), uint64(id))%3))
	}
	return y
}

// The planted effect, with an original that knows the forget set by heart: random
// labels undo what was fitted there, and descent on the retain set alone at the
// same rate hardly does.
func TestRandomLabelsDriveTheAccuracyOnTheForgetSetDown(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	term := func(d unlearn.Data) train.Term {
		return train.Term{X: d.X, IDs: d.IDs, Targets: []train.Target{train.CrossEntropy(d.Y, 3, 1)}, Whole: true}
	}
	long := train.Config{Epochs: 400, Optimizer: nn.Adam{LR: 0.02}, Seed: 3}
	var err error
	// The forget set counts as much as the retain set, so that it is fitted.
	r.Original, _, err = train.Fit(context.Background(), r.Runner, r.Original, train.Objective{term(r.Forget), term(r.Retain)}, long, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	r.Batch = 8
	accuracy := func(p nn.Params) float64 {
		out, err := r.Runner.Predict(p, r.Forget.X)
		if err != nil {
			t.Fatal(err)
		}
		return train.Accuracy(out.Logits, r.Forget.Y)
	}
	before := accuracy(r.Original)
	var after, tuned float64
	for seed := range engine.Root(8) {
		r.Seed = seed
		p, _ := apply(t, unlearn.RandomLabel{}, r)
		q, _ := apply(t, unlearn.FineTuning{LR: 0.013, SGD: &unlearn.Descent{}}, r)
		after, tuned = after+accuracy(p)/8, tuned+accuracy(q)/8
	}
	t.Logf("accuracy on the forget set: original %.3f, mean over 8 seeds of random labels %.3f, of fine-tuning %.3f", before, after, tuned)
	if !(after < before-0.2) || !(after < tuned-0.1) {
		t.Errorf("accuracy %v before and %v after random labels, %v after fine-tuning", before, after, tuned)
	}
}

// The null: a mask of everything holds nothing back.
func TestSalUnWithAMaskOfEverythingIsRandomLabelling(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, batch := range []int{0, 16} {
		r.Batch = batch
		want, _ := apply(t, unlearn.RandomLabel{}, r)
		for _, restore := range []bool{false, true} {
			if got, _ := apply(t, unlearn.SalUn{Ratio: 1, Restore: restore}, r); got.Hash() != want.Hash() {
				t.Errorf("batches of %d, restore %t: another result", batch, restore)
			}
		}
	}
}

// The mask by brute force: of the sum over batches of the gradients, each weight
// counts how many go before it. What the method moves must be exactly what is in
// the mask, and the rest keeps its bits (Restore) or shrinks as decay says.
func TestSalUnMovesTheMostSalientHalf(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, batch := range []int{0, 3} {
		for _, ratio := range []float64{0.5, 0.1} {
			r.Batch = batch
			open := bruteMask(t, r, ratio)
			restored, rep := apply(t, unlearn.SalUn{Ratio: ratio, Restore: true}, r)
			free, _ := apply(t, unlearn.SalUn{Ratio: ratio}, r)
			shrunk, momentum := 1.0, 0.0
			for range rep.Steps {
				momentum = 0.9*momentum + 5e-4*shrunk
				shrunk -= 0.013 * momentum
			}
			still := 0
			for i, v := range r.Original {
				for j, w := range v.Data {
					if moved := restored[i].Data[j] != w; moved && !open[i][j] {
						t.Fatalf("%s element %d is not in the mask and moved", v.Name, j)
					} else if !moved && open[i][j] {
						still++
					}
					if want := shrunk * float64(w); !open[i][j] && math.Abs(float64(free[i].Data[j])-want) > 1e-6 {
						t.Fatalf("%s element %d is not in the mask: %v became %v, decay alone makes it %v", v.Name, j, w, free[i].Data[j], want)
					}
				}
			}
			if still > 0 {
				t.Errorf("%d weights in the mask did not move", still)
			}
		}
	}
}

func bruteMask(t *testing.T, r unlearn.Request, ratio float64) [][]bool {
	t.Helper()
	size := r.Batch
	if size == 0 {
		size = 256
	}
	var sum [][]float64
	for first := 0; first < len(r.Forget.Y); first += size {
		last := min(first+size, len(r.Forget.Y))
		var rows []int
		for i := first; i < last; i++ {
			rows = append(rows, i)
		}
		y := labels(unlearn.Data{Y: r.Forget.Y[first:last]}, 3)
		o := train.Objective{{X: r.Forget.X.Gather(rows), Targets: []train.Target{{Probs: y, Weight: 1}}}}
		g, err := train.Gradient(context.Background(), r.Runner, r.Original, o, 0, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		if sum == nil {
			sum = g
			continue
		}
		for i := range g {
			for j, v := range g[i] {
				sum[i][j] += v
			}
		}
	}
	type weight struct {
		tensor, element int
	}
	var all []weight
	for i := range sum {
		for j := range sum[i] {
			all = append(all, weight{i, j})
		}
	}
	sort.SliceStable(all, func(a, b int) bool {
		return math.Abs(sum[all[a].tensor][all[a].element]) > math.Abs(sum[all[b].tensor][all[b].element])
	})
	open := make([][]bool, len(sum))
	for i := range sum {
		open[i] = make([]bool, len(sum[i]))
	}
	for _, w := range all[:int(ratio*float64(len(all)))] {
		open[w.tensor][w.element] = true
	}
	return open
}

func TestSparsityShrinksTheWeights(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	sparse, _ := apply(t, unlearn.L1Sparsity{Gamma: 5e-2}, r)
	plain, _ := apply(t, unlearn.L1Sparsity{Gamma: unlearn.Off}, r)
	tuned, _ := apply(t, unlearn.FineTuning{SGD: &unlearn.Descent{}}, r)
	if plain.Hash() != tuned.Hash() {
		t.Error("without gamma it is not fine-tuning")
	}
	if a, b := magnitudes(sparse), magnitudes(plain); !(a < 0.95*b) {
		t.Errorf("magnitudes add up to %v with the term and to %v without", a, b)
	}
}

// Unrolling is linear in what scales it, and m defaults to the epochs since the
// checkpoint.
func TestUnrollScalesWithItsFactors(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	_, one := apply(t, unlearn.Unroll{}, r)
	for _, c := range []struct {
		m      unlearn.Unroll
		batch  int
		epoch  int
		factor float64
	}{
		{unlearn.Unroll{Times: 40}, 0, 39, 40},
		{unlearn.Unroll{LR: 0.1}, 0, 39, 10},
		{unlearn.Unroll{Batch: 8}, 0, 39, 4},
		{unlearn.Unroll{Batch: 8}, 64, 39, 0.5},
		{unlearn.Unroll{}, 0, 0, 40},
	} {
		r := r
		r.Batch = c.batch
		r.Earlier = &unlearn.Checkpoint{Params: r.Earlier.Params, Epoch: c.epoch}
		if _, rep := apply(t, c.m, r); math.Abs(rep.Displacement/one.Displacement-c.factor) > 1e-3*c.factor {
			t.Errorf("%+v, batch %d, epoch %d: %v times as far, want %v", c.m, c.batch, c.epoch, rep.Displacement/one.Displacement, c.factor)
		}
	}
}

func TestSettingsOutOfRangeAreRefusedByName(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, c := range []struct {
		m     unlearn.Method
		words []string
	}{
		{unlearn.SalUn{Ratio: 1.5}, []string{"unlearn salun", "1.5"}},
		{unlearn.SalUn{Ratio: math.NaN()}, []string{"unlearn salun", "NaN"}},
		{unlearn.RandomLabel{Epochs: -2}, []string{"unlearn random-label", "-2 epochs"}},
		{unlearn.RandomLabel{LR: -0.1}, []string{"learning rate -0.1"}},
		{unlearn.RandomLabel{Descent: unlearn.Descent{Momentum: 1.5}}, []string{"momentum 1.5"}},
		{unlearn.RandomLabel{Descent: unlearn.Descent{Batch: -3}}, []string{"batches of -3"}},
		{unlearn.L1Sparsity{Gamma: -2}, []string{"unlearn l1-sparsity", "L1 term is -2"}},
		{unlearn.L1Sparsity{Descent: unlearn.Descent{WeightDecay: -2}}, []string{"weight decay -2"}},
		{unlearn.Unroll{LR: -1}, []string{"unlearn unroll", "learning rate -1"}},
		{unlearn.Unroll{Times: -1}, []string{"-1 times"}},
		{unlearn.Unroll{Batch: -1}, []string{"batch -1"}},
	} {
		_, _, err := unlearn.Apply(context.Background(), c.m, r)
		if err == nil {
			t.Errorf("%+v: no error", c.m)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q does not say %q", err, w)
			}
		}
	}
}
