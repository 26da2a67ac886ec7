// Tests of auxiliary.go.

package unlearn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// fingerprint identifies all of some records.
func fingerprint(d Data) string { return fmt.Sprint(d) }

// Every source returns the number of records, in the model's format, with valid labels, the
// same ones for the same seed and others for another, and changes nothing in the request.
func TestEverySourceConforms(t *testing.T) {
	s, names := newServer(t), map[Auxiliary]bool{}
	for _, source := range Sources() {
		name := source.Name()
		if about := source.About(); names[name] || name == "" || about == "" || about != strings.TrimSpace(about) {
			t.Errorf("the source %q is there twice, or says %q", name, about)
		}
		names[name] = true
		t.Run(string(name), func(t *testing.T) {
			r := s.request()
			before := fingerprint(concatData(concatData(r.Forget, r.Retain), r.HeldOut)) + r.Original.Hash()
			d := recordsOf(t, name, r)
			want := len(r.Forget.IDs)
			if name == Retained {
				want = len(r.Retain.IDs)
			}
			if d.X.Rows != want || d.X.Cols != 6 || len(d.Y) != want || len(d.IDs) != want || d.X.Check("it") != nil {
				t.Fatalf("%d x %d records, %d labels and %d numbers of %d", d.X.Rows, d.X.Cols, len(d.Y), len(d.IDs), want)
			}
			if slices.Min(d.Y) < 0 || slices.Max(d.Y) > 2 || len(slices.Compact(slices.Sorted(slices.Values(d.IDs)))) != want {
				t.Errorf("labels %v, numbers %v", d.Y, d.IDs)
			}
			if see := source.Sees(); d.Synthetic != (!see.Retain && !see.HeldOut) {
				t.Errorf("made: %v, seen: %+v", d.Synthetic, see)
			}
			if fingerprint(recordsOf(t, name, r)) != fingerprint(d) {
				t.Error("the same request gives other records")
			}
			if after := fingerprint(concatData(concatData(r.Forget, r.Retain), r.HeldOut)) + r.Original.Hash(); after != before {
				t.Error("the request was written to")
			}
			r.Seed++
			if same := fingerprint(recordsOf(t, name, r)) == fingerprint(d); same != (name == Retained) {
				t.Errorf("with another seed the same records: %v", same)
			}
		})
	}
}

func recordsOf(t *testing.T, a Auxiliary, r Request) Data {
	t.Helper()
	d, err := a.records(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A source depends on what it declares to see, and on nothing else; the forget set never
// matters.
func TestASourceReadsWhatItSays(t *testing.T) {
	s := newServer(t)
	for part, c := range map[string]struct {
		change func(*Request)
		read   func(Sees) bool
	}{
		"the forget set":       {func(r *Request) { r.Forget = plain(9, 100, 1000) }, func(Sees) bool { return false }},
		"the retain set":       {func(r *Request) { r.Retain = plain(9, 300, 0) }, func(s Sees) bool { return s.Retain }},
		"the held-out records": {func(r *Request) { r.HeldOut = plain(9, 120, 2000) }, func(s Sees) bool { return s.HeldOut }},
		"the objective": {func(r *Request) {
			r.Objective = func(Data) (train.Objective, error) { return nil, fmt.Errorf("asked for") }
		}, func(Sees) bool { return false }},
		"the original": {func(r *Request) {
			r.Original = model.InitialWeights(s.runner.Arch, engine.Root(77).Stream(engine.StreamInit))
		}, func(s Sees) bool { return s.Original }},
	} {
		for _, source := range Sources() {
			r := s.request()
			r.Range = Range{-3, 3}
			before := fingerprint(recordsOf(t, source.Name(), r))
			c.change(&r)
			if read := fingerprint(recordsOf(t, source.Name(), r)) != before; read != c.read(source.Sees()) {
				t.Errorf("%s reads %s: %v", source.Name(), part, read)
			}
		}
	}
}

// The labels of inverted records are balanced, in random order, and the original predicts
// them; for the initial noise it predicts others.
func TestTheOriginalTakesInvertedRecordsForTheirClasses(t *testing.T) {
	s := newServer(t)
	r := s.request()
	r.Range = Range{-3, 3}
	d := recordsOf(t, Inverted, r)
	count := make([]int, 3)
	for _, y := range d.Y {
		count[y]++
	}
	if slices.Min(count) != 33 || slices.Max(count) != 34 || slices.IsSorted(d.Y) || slices.Equal(d.Y[:6], []int{0, 1, 2, 0, 1, 2}) {
		t.Errorf("the labels %v are counted %v", d.Y, count)
	}
	began := r.uniformRecords(d.X.Rows)
	sure := func(x array.Matrix[float32]) (mean float64) {
		said, err := s.runner.Predict(s.weights, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range train.Losses(said.Logits(), d.Y) {
			mean += math.Exp(-v) / float64(len(d.Y))
		}
		return mean
	}
	if before, after := sure(began.X), sure(d.X); before > 0.5 || after < 0.95 {
		t.Errorf("the labels have the probability %v, of the noise %v", after, before)
	}
	if low, high := slices.Min(d.X.Data), slices.Max(d.X.Data); low < -3 || high > 3 || low > -2.9 || high < 2.9 {
		t.Errorf("values from %v to %v", low, high)
	}
	same := 0
	for i, v := range d.X.Data {
		if v == began.X.Data[i] {
			same++
		}
	}
	if same > len(d.X.Data)/3 {
		t.Errorf("%d of %d values are those of the noise", same, len(d.X.Data))
	}
}

// Gradients by finite differences of the original's outputs, and every step by hand.
func TestInversionTakesTheStepsThatItSays(t *testing.T) {
	s := newServer(t)
	r := s.request()
	r.Range = Range{-1, 1.5}
	d, began := recordsOf(t, Inverted, r), r.uniformRecords(100)
	for _, i := range []int{0, 17, 99} {
		x := slices.Clone(began.X.Row(i))
		for range 100 {
			const h = 1e-2
			around := array.New[float32](12, 6)
			for k := range 12 {
				copy(around.Row(k), x)
				around.Row(k)[k/2] += float32(h * float64(1-2*(k%2)))
			}
			said, err := s.runner.Predict(s.weights, around)
			if err != nil {
				t.Fatal(err)
			}
			lost := train.Losses(said.Logits(), slices.Repeat([]int{d.Y[i]}, 12))
			for j := range x {
				x[j] = min(max(x[j]-float32(0.1*(lost[2*j]-lost[2*j+1])/(2*h)), -1), 1.5)
			}
		}
		for j, v := range d.X.Row(i) {
			if math.Abs(float64(v-x[j])) > 0.03 {
				t.Errorf("record %d of class %d is %v, by hand %v", i, d.Y[i], d.X.Row(i), x)
				break
			}
		}
	}
}

// A record is inverted alone as it is together with others, also by a network with batch
// normalisation, whose weights and statistics stay.
func TestARecordClimbsAloneAsInCompany(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	arch := ib.Bottleneck{Features: 64, Outputs: 3, Latent: 4, Compressor: ib.ResNet{Channels: 1, Width: 2}, Approximator: ib.MLP{Hidden: 8}}
	runner, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	r := Request{Runner: runner, Original: model.InitialWeights(arch, engine.Root(5).Stream(engine.StreamInit)), Seed: 6}
	before := r.Original.Hash()
	all, y := r.uniformRecords(6).X, []int{0, 1, 2, 2, 1, 0}
	alone := all.Gather([]int{2, 4})
	if err := r.invert(t.Context(), all, y); err != nil {
		t.Fatal(err)
	}
	if err := r.invert(t.Context(), alone, []int{2, 1}); err != nil {
		t.Fatal(err)
	}
	for k, i := range []int{2, 4} {
		for j, v := range alone.Row(k) {
			if math.Abs(float64(v-all.Row(i)[j])) > 1e-4 {
				t.Fatalf("feature %d of record %d is %v in company and %v alone", j, i, all.Row(i)[j], v)
			}
		}
	}
	if r.Original.Hash() != before {
		t.Error("the original was moved")
	}
}

func TestWhatNoSourceCanMakeIsNamed(t *testing.T) {
	s := newServer(t)
	cells, err := model.NewRunner(s.runner.Engine, vae.Cells{Genes: 6, Hidden: []int{4}, Latent: 2})
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for words, c := range map[string]struct {
		kind    Auxiliary
		ctx     context.Context
		corrupt func(*Request)
	}{
		`there are ["public" "inversion" "noise" "retained"]`:  {kind: "own"},
		`"public": needs records that no model was trained on`: {kind: Public, corrupt: func(r *Request) { r.HeldOut = Data{} }},
		`"inversion": model cells-vae: is not a classifier`:    {kind: Inverted, corrupt: func(r *Request) { r.Runner = cells }},
		`"noise": model cells-vae: is not a classifier`:        {kind: Noise, corrupt: func(r *Request) { r.Runner = cells }},
		"context canceled": {kind: Inverted, ctx: stopped},
	} {
		r, ctx := s.request(), t.Context()
		if c.corrupt != nil {
			c.corrupt(&r)
		}
		if c.ctx != nil {
			ctx = c.ctx
		}
		if _, err := c.kind.records(ctx, r); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	for _, bad := range []Range{{1, 0}, {float32(math.NaN()), 1}, {0, float32(math.Inf(1))}} {
		r := s.request()
		r.Range = bad
		if _, _, err := Apply(t.Context(), NoOp{}, r); err == nil || !strings.Contains(err.Error(), "features between") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if bad := (Auxiliary("own")).sees(); bad != (Sees{}) {
		t.Errorf("records that there are none of see %+v", bad)
	}
}

// A clamped optimiser moves weights like the inner one, but not out of the range; weights
// that do not move may be anywhere.
func TestAnOptimiserStaysWithinItsRange(t *testing.T) {
	p := nn.Params{nn.NewParam("a", 3), nn.NewParam("b", 1)}
	p[0].Data, p[1].Data = []float32{0.5, 0.5, 0.5}, []float32{9}
	o := clampedOptimizer{nn.SGD{LR: 0.1}, Range{0, 1}}.WithDefaults()
	grads := [][]float64{{1, 100, -100}, {1}}
	if err := o.Step(p, grads, nn.NewOptimizerState(o, p), []float64{1, 0}); err != nil {
		t.Fatal(err)
	}
	if want := []float32{0.4, 0, 1}; !slices.Equal(p[0].Data, want) || p[1].Data[0] != 9 {
		t.Errorf("%v and %v, want %v and 9", p[0].Data, p[1].Data, want)
	}
}
