package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// small is the network of most tests in this package.
var small = tabular.MLP{Features: 5, Outputs: 3, Hidden: 9}

func initial(arch tabular.MLP) nn.Params {
	return model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit))
}

func TestFitWithDropoutAndMiniBatchesAgreesWithTheFloat64Twin(t *testing.T) {
	r := openRunner(t, small, 32)
	o := mixed(70, 6, 5)
	for name, c := range map[string]Config{
		"full batch":   {Epochs: 8, Seed: 3},
		"mini-batches": {Epochs: 3, Batch: 16, Seed: 3, Optimizer: nn.Adam{LR: 5e-4}},
		"paired":       {Epochs: 3, Batch: 16, Seed: 3, Order: Paired},
	} {
		t.Run(name, func(t *testing.T) {
			p, history, err := Fit(context.Background(), r, initial(small), o, c, Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			want, losses := twin{small}.fit(initial(small), o, c)
			for i, h := range history {
				if math.Abs(h.Loss-losses[i]) > 1e-5 {
					t.Errorf("epoch %d: loss %v, twin %v", i+1, h.Loss, losses[i])
				}
			}
			if d := worst(float64s(p), want); !(d < 1e-5) {
				t.Errorf("weights are %g off the twin's", d)
			}
		})
	}
}

func TestFitHasTheSameBitsInEveryRunOnAnyNumberOfCores(t *testing.T) {
	o := mixed(700, 40, 5)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var want string
	for _, cores := range []int{1, 2, 4, 4, 2} {
		runtime.GOMAXPROCS(cores)
		r := openRunner(t, small, 0)
		p, history, err := Fit(context.Background(), r, initial(small), o, Config{Epochs: 2, Batch: 300, Seed: 1}, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Hash() + fmt.Sprint(history)
		if want == "" {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d cores: another result than on 1", cores)
		}
	}
}

func TestFitDependsOnItsSeedAndLeavesItsInputAlone(t *testing.T) {
	r := openRunner(t, small, 0)
	o := mixed(70, 6, 5)
	start := initial(small)
	hash := start.Hash()
	results := map[string]engine.Root{}
	for _, seed := range []engine.Root{1, 2, 100} {
		p, _, err := Fit(context.Background(), r, start, o, Config{Epochs: 2, Seed: seed}, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := results[p.Hash()]; twice {
			t.Errorf("seeds %d and %d give the same weights", seed, other)
		}
		results[p.Hash()] = seed
	}
	if start.Hash() != hash {
		t.Error("Fit wrote to the weights it started from")
	}
}

func TestTheZeroConfigIsThePapersTraining(t *testing.T) {
	got := Config{}.WithDefaults()
	want := Config{Epochs: 50, Optimizer: nn.Adam{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("defaults are %+v, want %+v", got, want)
	}
}

func TestProgressIsReportedAfterEveryEpoch(t *testing.T) {
	r := openRunner(t, small, 0)
	var seen []Epoch
	_, history, err := Fit(context.Background(), r, initial(small), mixed(70, 6, 5), Config{Epochs: 4, Batch: 32}, Hooks{Progress: func(e Epoch) { seen = append(seen, e) }})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(seen, history) || len(history) != 4 {
		t.Fatalf("progress %v, history %v", seen, history)
	}
	for i, h := range history {
		if h.Epoch != i+1 || h.Steps != 3*(i+1) {
			t.Errorf("epoch %d: %+v", i+1, h)
		}
	}
}

func TestTrainingLowersTheLoss(t *testing.T) {
	arch := tabular.MLP{Features: 5, Outputs: 3, Hidden: 32}
	r := openRunner(t, arch, 0)
	x, y := toy(1, 60, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	p, _, err := Fit(context.Background(), r, initial(arch), o, Config{Epochs: 200, Optimizer: nn.Adam{LR: 0.01}}, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	if a := Accuracy(out.Logits(), y); a < 0.9 {
		t.Errorf("60 records are fitted to an accuracy of %v", a)
	}
}

func TestEarlyStopEndsWhenTheLossStopsFalling(t *testing.T) {
	e := EarlyStop{Patience: 2, MinDelta: 0.1}
	for _, c := range []struct {
		losses []float64
		want   bool
	}{
		{nil, false},
		{[]float64{1}, false},
		{[]float64{1, 1}, false},
		{[]float64{1, 1, 1}, true},
		{[]float64{1, 1, 0.8}, false},
		{[]float64{1, 0.95, 0.92}, true},       // never more than 0.1 below the best
		{[]float64{1, 0.95, 0.85}, false},      // the slow fall counts against the best, not the last
		{[]float64{3, 2, 1, 1.5, 1.2}, true},   // two epochs since the best
		{[]float64{3, 2, 1, 1.5, 0.5}, false},  // a new best
		{[]float64{-1, -2, -3, -3, -4}, false}, // an ascending method's loss is negative
	} {
		var history []Epoch
		for _, l := range c.losses {
			history = append(history, Epoch{Loss: l})
		}
		if got := e.reached(history); got != c.want {
			t.Errorf("%v: stopped is %v", c.losses, got)
		}
	}
	if (EarlyStop{}).reached(make([]Epoch, 1000)) {
		t.Error("the zero value stops")
	}
}

func TestFitStopsEarlyAndSaysSoInItsHistory(t *testing.T) {
	r := openRunner(t, small, 0)
	c := Config{Epochs: 50, EarlyStop: EarlyStop{Patience: 3, MinDelta: 1e9}}
	_, history, err := Fit(context.Background(), r, initial(small), mixed(70, 6, 5), c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if len(history) != 4 {
		t.Errorf("%d epochs, want the first and three without a better one", len(history))
	}
}

func TestBadObjectivesAreRefusedByName(t *testing.T) {
	nan := float32(math.NaN())
	cases := map[string]struct {
		corrupt func(o Objective)
		words   []string
	}{
		"NaN data":             {func(o Objective) { o[1].X.Data[7] = nan }, []string{`"forget"`, "row 1, column 2 is NaN"}},
		"infinite target":      {func(o Objective) { o[0].Targets[1].Inputs[loss.Probabilities].Data[4] = float32(math.Inf(1)) }, []string{`"retain"`, "target 1", "row 1, column 1 is +Inf"}},
		"negative probability": {func(o Objective) { o[0].Targets[1].Inputs[loss.Probabilities].Data[4] = -0.1 }, []string{`"retain"`, "target 1", "record 1", "-0.1"}},
		"not a distribution":   {func(o Objective) { o[0].Targets[0].Inputs[loss.Probabilities].Data[3] += 1 }, []string{`"retain"`, "target 0", "record 1", "not 1"}},
		"label out of range":   {func(o Objective) { o[1].Targets[0] = CrossEntropy([]int{0, 1, 2, 3, 0, 1}, 3, 1) }, []string{`"forget"`, "record 3", "add up to 0"}},
		"negative label":       {func(o Objective) { o[1].Targets[0] = CrossEntropy([]int{0, 1, -1, 2, 0, 1}, 3, 1) }, []string{`"forget"`, "record 2", "add up to 0"}},
		"too few targets":      {func(o Objective) { o[1].Targets[0] = CrossEntropy([]int{0}, 3, 1) }, []string{`"forget"`, "1 x 3", "6 x 3"}},
		"other classes":        {func(o Objective) { o[1].Targets[0] = CrossEntropy(make([]int, 6), 2, 1) }, []string{`"forget"`, "6 x 2", "6 x 3"}},
		"no targets":           {func(o Objective) { o[0].Targets = nil }, []string{`"retain"`, "no targets"}},
		"features":             {func(o Objective) { o[0].X.Cols = 4 }, []string{`"retain"`, "4 features", "takes 5"}},
		"torn data":            {func(o Objective) { o[0].X.Data = o[0].X.Data[1:] }, []string{`"retain"`, "349 values", "70 x 5"}},
		"no records":           {func(o Objective) { o[0].X.Rows = 0 }, []string{`"retain"`, "no records"}},
		"record numbers":       {func(o Objective) { o[0].IDs = []int{1} }, []string{`"retain"`, "1 record numbers for 70"}},
		"NaN weight":           {func(o Objective) { o[1].Targets[0].Weight = math.NaN() }, []string{`"forget"`, "weight is NaN"}},
		"negative temperature": {func(o Objective) { o[0].Targets[1].Loss = loss.Distillation{Temperature: -1} }, []string{`"retain"`, "target 1", "temperature is -1"}},
		"NaN temperature":      {func(o Objective) { o[0].Targets[1].Loss = loss.Distillation{Temperature: math.NaN()} }, []string{`"retain"`, "temperature is NaN"}},
	}
	r := openRunner(t, small, 0)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := mixed(70, 6, 5)
			c.corrupt(o)
			_, _, err := Fit(context.Background(), r, initial(small), o, Config{Epochs: 1}, Hooks{})
			wantWords(t, err, c.words...)
		})
	}
}

func TestBadSettingsAndWeightsAreRefusedByName(t *testing.T) {
	r := openRunner(t, small, 0)
	o := mixed(70, 6, 5)
	fit := func(p nn.Params, o Objective, c Config, h Hooks) error {
		_, _, err := Fit(context.Background(), r, p, o, c, h)
		return err
	}
	wantWords(t, fit(initial(small), nil, Config{}, Hooks{}), "no terms")
	wantWords(t, fit(initial(small), o, Config{Epochs: -1}, Hooks{}), "-1 epochs")
	wantWords(t, fit(initial(small), o, Config{Batch: -3}, Hooks{}), "batches of -3")
	wantWords(t, fit(initial(small), o, Config{Order: 9}, Hooks{}), "order 9")
	wantWords(t, fit(initial(small), o, Config{Order: ShuffledSingle, Batch: 8}, Hooks{}), "one term, this one has 2")
	corrupted := initial(small)
	corrupted[2].Data[5] = float32(math.NaN())
	wantWords(t, fit(corrupted, o, Config{}, Hooks{}), "hidden2.weight", "element 5 is NaN")
	other := tabular.MLP{Features: 5, Outputs: 3, Hidden: 8}
	wantWords(t, fit(initial(other), o, Config{}, Hooks{}), "tensor 0", "[8 5]", "[9 5]")
	wantWords(t, fit(initial(small), o, Config{}, Hooks{Resume: &State{Params: initial(small)}}), "optimiser's part is missing")
}

func TestAnOverflowingGradientNamesItsTensor(t *testing.T) {
	r := openRunner(t, small, 0)
	o := mixed(70, 6, 5)
	o[0].Targets[0].Weight = 1e300 // finite, but not as a float32
	_, _, err := Fit(context.Background(), r, initial(small), o, Config{Epochs: 3}, Hooks{})
	wantWords(t, err, "epoch 1", "gradient of hidden1.weight", "step 1")
}

func TestAFailingSaveEndsTheFitWithItsReason(t *testing.T) {
	r := openRunner(t, small, 0)
	full := errors.New("disk full")
	h := Hooks{Save: func(*State) error { return full }, SaveEvery: 2}
	_, _, err := Fit(context.Background(), r, initial(small), mixed(70, 6, 5), Config{Epochs: 5}, h)
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	wantWords(t, err, "saving after epoch 2")
}

func wantWords(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// TestTrainingThatLeavesTheNumbersSaysWhenAndWhere takes steps that are too long
// by far, of one, and of a rate that only the second epoch cannot bear.
func TestTrainingThatLeavesTheNumbersSaysWhenAndWhere(t *testing.T) {
	r := openRunner(t, small, 32)
	o := mixed(70, 6, 5)
	for rate, epoch := range map[float64]int{1e39: 1, 1e20: 2} {
		_, _, err := Fit(context.Background(), r, initial(small), o, Config{Epochs: 8, Seed: 3, Optimizer: nn.SGD{LR: rate}}, Hooks{})
		d := (*Diverged)(nil)
		if !errors.As(err, &d) || d.Epoch != epoch || !strings.Contains(err.Error(), fmt.Sprintf("diverged in epoch %d: ", epoch)) {
			t.Errorf("rate %v: %v", rate, err)
			continue
		}
		if !slices.ContainsFunc(initial(small), func(v nn.Param) bool { return v.Name == d.Tensor }) && !strings.Contains(d.What, "the loss is") {
			t.Errorf("rate %v: the tensor is %q in %v", rate, d.Tensor, err)
		}
	}
	if err := AsDiverged(context.Canceled, 3); err != context.Canceled {
		t.Errorf("another error became %v", err)
	}
}
