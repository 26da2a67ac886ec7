// Tests of cells.go.

package vae

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// The counts of the paper's models, by part.
func TestTheNetworkHasThePapersWeights(t *testing.T) {
	for _, c := range []struct {
		name                                      string
		m                                         Cells
		all, encoder, bottleneck, decoder, output int
	}{
		{"the paper's", Cells{}, 7_349_984, 2_642_816, 8_256, 598_912, 4_100_000},
		{"8 latent variables", Cells{Latent: 8}, 7_340_720, 2_642_816, 2_064, 595_840, 4_100_000},
		{"conditional", Cells{Clusters: 14}, 7_377_984, 2_642_816, 8_256, 598_912, 4_128_000},
	} {
		p := model.InitialWeights(c.m, engine.Root(1).Stream(engine.StreamInit))
		got := map[string]int{}
		for _, v := range p {
			got[c.m.Part(v.Name)] += len(v.Data)
		}
		if p.Size() != c.all || got["encoder"] != c.encoder || got["bottleneck"] != c.bottleneck || got["decoder"] != c.decoder || got["output"] != c.output {
			t.Errorf("%s: %d weights, %v", c.name, p.Size(), got)
		}
	}
}

// small are networks of every kind.
var small = map[string]Cells{
	"plain":         {Genes: 6, Hidden: []int{5, 4, 3}, Latent: 2},
	"per gene":      {Genes: 6, Hidden: []int{5, 4}, Latent: 2, Dispersion: PerGene},
	"zero-inflated": {Genes: 6, Hidden: []int{5}, Latent: 2, ZeroInflated: true, Dropout: new(0.0)},
	"conditional":   {Genes: 6, Hidden: []int{5, 4, 3}, Latent: 2, Clusters: 3},
}

// waves gives element k of weight tensor i the value 0.8 sin(0.7 k + 1.3 i + 0.5).
func waves(m Cells) nn.Params {
	p := model.InitialWeights(m, engine.Root(1).Stream(engine.StreamInit))
	for i, v := range p {
		for k := range v.Data {
			v.Data[k] = float32(0.8 * math.Sin(0.7*float64(k)+1.3*float64(i)+0.5))
		}
	}
	return p
}

// expressed are cells with the expression 1 + cos(1.1 k + 0.2) of element k, and
// behind it, in a conditional network, the cluster i mod 3 of cell i.
func expressed(m Cells, cells int) (x, genes array.Matrix[float32]) {
	genes = array.New[float32](cells, m.Genes)
	for k := range genes.Data {
		genes.Data[k] = float32(1 + math.Cos(1.1*float64(k)+0.2))
	}
	x = array.New[float32](cells, m.Inputs())
	for i := range cells {
		copy(x.Row(i), genes.Row(i))
		if m.Clusters > 0 {
			x.Row(i)[m.Genes+i%m.Clusters] = 1
		}
	}
	return x, genes
}

// elbo is the paper's objective of cells, as coded.
func elbo(x, genes array.Matrix[float32], beta, freeBits float64) train.Objective {
	library := array.New[float32](genes.Rows, 1)
	for i := range genes.Rows {
		for _, v := range genes.Row(i) {
			library.Data[i] += v
		}
	}
	inputs := map[string]array.Matrix[float32]{loss.Target: genes, loss.Library: library}
	return train.Objective{{Name: "cells", X: x, Targets: []train.Target{
		{Loss: loss.LibrarySquaredError{}, Inputs: inputs, Weight: 1},
		{Loss: loss.LatentDivergence{FreeBits: freeBits}, Weight: beta},
	}}}
}

// golden is PyTorch 2.15.0's in float64 for 4 cells of 6 genes with the weights of
// waves, blocks of 5, 4 and 3 units and 2 latent variables, dropout off and eps 0.
type golden struct {
	m              Cells
	beta, freeBits float64
	proportions    []float64 // of cell 0
	mu, s          []float64 // of cell 0
	logDispersion  []float64 // of cell 0
	loss           float64
	norms          []float64 // of the gradient, by weight tensor
}

var goldens = []golden{
	{
		m: small["plain"], beta: 0.45, freeBits: 0.7,
		proportions: []float64{0.3662991, 0.05281602, 0.3828375, 0.06746093, 0.07431323, 0.05627321},
		mu:          []float64{-1.530652, -0.5032091}, s: []float64{1.164409, 1.160299},
		logDispersion: []float64{-1.019273, 0.6956729, -1.951099, 0.2971449, -1.009126, 0.5773826},
		loss:          10.4912449,
		norms: []float64{0.1137641, 0.03687712, 0.04409602, 0.06012224, 0.1703111, 0.1656141, 0.3564727, 0.3220512, 0.3077646, 0.4599921, 0.681779, 0.6686997,
			0.6484712, 0.662272, 0.4685831, 0.4784804, 0.1285258, 0.08176417, 0.1947304, 0.2711407, 0.4495225, 0.3080929, 1.067037, 1.031329,
			2.052604, 1.73535, 4.867098, 4.404417, 8.353622, 7.381852, 0, 0},
	},
	{
		m: small["conditional"], beta: 1,
		proportions: []float64{0.2601641, 0.4315859, 0.2369458, 0.05633578, 0.01113576, 0.003832704},
		mu:          []float64{-1.530652, -0.5032091}, s: []float64{1.164409, 1.160299},
		logDispersion: []float64{-1.019273, 0.6956729, -1.951099, 0.2971449, -1.009126, 0.5773826},
		loss:          12.9211921,
		norms: []float64{0.3207479, 0.1039716, 0.1243304, 0.1695022, 0.4802216, 0.466954, 1.005142, 0.9080905, 0.8677883, 1.29703, 1.922366, 1.885497,
			1.538662, 1.571561, 1.470706, 1.501828, 0.06266688, 0.03984204, 0.1122496, 0.1466941, 0.2258617, 0.1547997, 0.2971311, 0.5276128, 0.6068221,
			0.5130304, 0.7171068, 1.514622, 7.040742, 5.40186, 0, 0},
	},
}

func TestTheNetworkIsPyTorchs(t *testing.T) {
	for _, want := range goldens {
		r, p := modeltest.OpenRunner(t, want.m), waves(want.m)
		x, genes := expressed(want.m, 4)
		pred, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 2e-5*(1+math.Abs(want)) {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		for name, values := range map[string][]float64{
			loss.Proportion: want.proportions, loss.LatentMean: want.mu, loss.LatentLogVar: want.s, loss.LogDispersion: want.logDispersion,
		} {
			for j, v := range values {
				near(name, float64(pred.Outputs[name].Row(0)[j]), v)
			}
		}
		for j, v := range want.mu {
			near("the embedding", float64(pred.Embedding.Row(0)[j]), v)
		}
		o := elbo(x, genes, want.beta, want.freeBits)
		value, err := train.Evaluate(context.Background(), r, p, o)
		if err != nil {
			t.Fatal(err)
		}
		near("the loss", value, want.loss)
		grads, err := train.Gradient(context.Background(), r, p, o, 0, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.norms {
			near("the gradient's norm of "+p[i].Name, math.Sqrt(squares(grads[i:i+1])), v)
		}
	}
}

func squares(grads [][]float64) float64 {
	total := 0.0
	for _, g := range grads {
		for _, v := range g {
			total += v * v
		}
	}
	return total
}

// counted is the objective of counts under the law that a network has heads for.
func counted(m Cells, x array.Matrix[float32]) train.Objective {
	counts, library := array.New[float32](x.Rows, m.Genes), array.New[float32](x.Rows, 1)
	for i := range x.Rows {
		for j := range m.Genes {
			counts.Row(i)[j] = float32(int(3*x.Row(i)[j]*x.Row(i)[j])) * float32(j%3)
			library.Data[i] += counts.Row(i)[j]
		}
	}
	law := loss.Loss(loss.NegativeBinomial{})
	if m.ZeroInflated {
		law = loss.ZeroInflated{}
	}
	inputs := map[string]array.Matrix[float32]{loss.Target: counts, loss.Library: library}
	return train.Objective{{Name: "cells", X: x, Targets: []train.Target{
		{Loss: law, Inputs: inputs, Weight: 1}, {Loss: loss.LatentDivergence{}, Weight: 1},
	}}}
}

// The gradient of every kind of network is its objective's slope in a random
// direction, by part of the network.
func TestTheGradientOfCellsIsTheSlope(t *testing.T) {
	const h = 1e-3 // small, because units switch on and off
	for name, m := range small {
		r, p := modeltest.OpenRunner(t, m), waves(m)
		x, genes := expressed(m, 5)
		for _, o := range []train.Objective{elbo(x, genes, 1, 0), counted(m, x)} {
			grads, err := train.Gradient(context.Background(), r, p, o, 0, train.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			at := func(part string, by float64) float64 {
				q := p.Clone()
				for i, v := range q {
					for j := range v.Data {
						if m.Part(v.Name) == part {
							v.Data[j] += float32(by * direction(i, j))
						}
					}
				}
				v, err := train.Evaluate(context.Background(), r, q, o)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			want := map[string]float64{}
			for i, g := range grads {
				for j, v := range g {
					want[m.Part(p[i].Name)] += v * direction(i, j)
				}
			}
			for part, want := range want {
				if got := (at(part, h) - at(part, -h)) / (2 * h); math.Abs(got-want) > 2e-2*(1+math.Abs(want)) {
					t.Errorf("%s, %s: the slope is %v, the gradient says %v", name, part, got, want)
				}
			}
		}
	}
}

// direction is element j of weight tensor i of a direction without a pattern.
func direction(i, j int) float64 { return math.Sin(12.9898*float64(i) + 78.233*float64(j)) }

func TestEveryCellHasItsOwnGradient(t *testing.T) {
	for name, m := range small {
		r, p := modeltest.OpenRunner(t, m), waves(m)
		x, _ := expressed(m, 5)
		target := counted(m, x)[0].Targets[0]
		norms, err := train.GradientNorms(t.Context(), r, p, train.Objective{{X: x, Targets: []train.Target{target}}}, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range norms {
			one := train.Objective{{Name: "one", X: x.Gather([]int{i}), Targets: []train.Target{target}}}
			one[0].Targets[0].Inputs = map[string]array.Matrix[float32]{}
			for name, in := range target.Inputs {
				one[0].Targets[0].Inputs[name] = in.Gather([]int{i})
			}
			g, err := train.Gradient(context.Background(), r, p, one, 0, train.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			if want := math.Sqrt(squares(g)); math.Abs(got-want) > 1e-4*want {
				t.Errorf("%s, cell %d: norm %v, of a batch of one %v", name, i, got, want)
			}
		}
	}
}

// Only the proportions see the cluster, and a cell without one is allowed.
func TestTheClusterIsSeenByTheProportionsAlone(t *testing.T) {
	m := small["conditional"]
	r, p := modeltest.OpenRunner(t, m), waves(m)
	x, _ := expressed(m, 3)
	copy(x.Row(1), x.Row(0))
	x.Row(1)[m.Genes], x.Row(1)[m.Genes+1] = 0, 1
	copy(x.Row(2), x.Row(0))
	x.Row(2)[m.Genes] = 0
	pred, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range pred.Outputs {
		for i := 1; i < 3; i++ {
			same := true
			for j, v := range o.Row(i) {
				same = same && v == o.Row(0)[j]
			}
			if same == (name == loss.Proportion) {
				t.Errorf("%s of the cell in another cluster is the same: %v", name, same)
			}
		}
	}
}

// In training eps and the dropout are drawn.
func TestCellsAreDrawn(t *testing.T) {
	x, genes := expressed(small["plain"], 40)
	at := func(m Cells, seed engine.Root, training bool) float64 {
		g, err := train.Gradient(context.Background(), modeltest.OpenRunner(t, m), waves(m), elbo(x, genes, 1, 0), 0, train.Mode{Training: training, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return squares(g)
	}
	m, still := small["plain"], small["plain"]
	still.Dropout = new(0.0)
	if at(m, 1, true) != at(m, 1, true) || at(m, 1, true) == at(m, 2, true) || at(m, 1, true) == at(m, 1, false) {
		t.Error("the draws do not follow the seed, or are there in inference")
	}
	if at(m, 1, true) == at(still, 1, true) || at(m, 1, false) != at(still, 1, false) {
		t.Error("dropout changes nothing in training, or something in inference")
	}
	if len(model.RandomInputs(m)) != 7 || model.RandomInputs(m)[3].Name != "eps" || model.RandomInputs(m)[4].Units != 3 {
		t.Errorf("draws %+v", model.RandomInputs(m))
	}
}

func TestCellsThatCannotBeAreRefused(t *testing.T) {
	for words, m := range map[string]Cells{
		"-1 genes":              {Genes: -1},
		"-2 latent variables":   {Latent: -2},
		"-3 clusters":           {Clusters: -3},
		"0 units in block 1":    {Hidden: []int{4, 0}},
		"dropout 1 is not":      {Dropout: new(1.0)},
		"dropout -0.5 is not":   {Dropout: new(-0.5)},
		`dispersion "batch" is`: {Dispersion: "batch"},
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", m, err, words)
		}
	}
	for name, m := range small {
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutputsMayBeLeftOut(t *testing.T) {
	m := small["plain"]
	r, p := modeltest.OpenRunner(t, m), waves(m)
	x, _ := expressed(m, 70)
	all, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	some, err := r.PredictOutputs(p, x, loss.LatentLogVar)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(some.Outputs[loss.LatentLogVar], all.Outputs[loss.LatentLogVar]) || !reflect.DeepEqual(some.Embedding, all.Embedding) {
		t.Error("the output that was asked for, or the embedding, is another")
	}
	if some.Outputs[loss.Proportion].Data != nil {
		t.Error("an output that was not asked for is there")
	}
	if _, err := r.PredictOutputs(p, x, "weather"); err == nil || !strings.Contains(err.Error(), `there is no output "weather"`) {
		t.Errorf("error %v", err)
	}
}
