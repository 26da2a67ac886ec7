package loss_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// binomials are counts x under means m and log dispersions, with SciPy 1.17.1's
// nbinom.logpmf(x, d, d/(d+m)), PyTorch 2.15.0's derivatives of the same by m and
// by log d (float64, torch.lgamma), and the log-likelihood of scvi-tools' formula
// log_zinb_positive at the dropout logit 0.75, written out in NumPy 2.4.6.
var binomials = []struct{ x, m, logD, log, byMean, byLog, inflated float64 }{
	{0, 0.5, -4, -0.0612260510138, -0.035336844, -0.043557629, -0.0192372398},
	{1, 0.5, -4, -4.09720235076, 0.035336844, 0.921105527, -5.23407335},
	{3, 2, 0, -2.31500761299, 0.166666667, 0.401387711, -3.45187861},
	{0, 2, 0, -1.09861228867, -0.333333333, -0.431945622, -0.240646929},
	{1, 1024, 0, -6.93342397755, -0.000974657012, -4.93439911, -8.07029497},
	{2000, 1024, 2, -9.61686411238, 0.00682835837, -1.56223976, -10.7537351},
	{0, 64, 2, -16.7594475545, -0.103504045, -10.1351887, -0.386870981},
	{7, 8, 7, -1.97179971948, -0.124094722, 0.00272267232, -3.10867072},
	{7, 8, 14, -1.96907306579, -0.124999168, 2.49514508e-06, -3.10594406},
	{20000, 16384, 14, -373.061481578, 0.217736731, -5.27253577, -374.198353},
	{50, 0.0078125, 2, -324.535507107, 6392.24144, -34.3540176, -325.672314},
	{300, 256, -4, -9.78533564405, 1.2295997e-05, 0.936491414, -10.9222066},
}

func TestCountsHaveTheirLikelihood(t *testing.T) {
	n := len(binomials)
	outputs := map[string][]float32{loss.Proportion: make([]float32, n), loss.LogDispersion: make([]float32, n), loss.DropoutLogits: make([]float32, n)}
	inputs := map[string][]float32{loss.Target: make([]float32, n), loss.Library: make([]float32, n)}
	for i, b := range binomials {
		outputs[loss.Proportion][i], outputs[loss.LogDispersion][i], outputs[loss.DropoutLogits][i] = 0.25, float32(b.logD), 0.75
		inputs[loss.Target][i], inputs[loss.Library][i] = float32(b.x), float32(4*b.m)
	}
	near := func(i int, what string, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 2e-7*(1e-2+math.Abs(want)) {
			t.Errorf("%s of %+v is %v, want %v", what, binomials[i], got, want)
		}
	}
	nb := derived(t, loss.NegativeBinomial{}, n, outputs, inputs)
	inflated := derived(t, loss.ZeroInflated{}, n, outputs, inputs)
	for i, b := range binomials {
		near(i, "the loss", nb[""][i], -b.log)
		near(i, "the derivative by the proportion", nb[loss.Proportion][i], -4*b.m*b.byMean)
		near(i, "the derivative by the log dispersion", nb[loss.LogDispersion][i], -b.byLog)
		near(i, "the zero-inflated loss", inflated[""][i], -b.inflated)
		if b.x > 0 {
			near(i, "the inflated derivative by the proportion", inflated[loss.Proportion][i], -4*b.m*b.byMean)
			near(i, "the derivative by the dropout logit", inflated[loss.DropoutLogits][i], 1/(1+math.Exp(-0.75)))
		}
	}
}

// The loss of many cells is the sum of that of their counts, evaluated alone, as a validation
// does: the brute sum over SciPy's values above.
func TestManyCountsAddUp(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const cells = 40
	for _, genes := range []int{12, 511, 512, 513, 600, 2000} {
		values := [4][]float32{} // proportion, log dispersion, target, library
		want := 0.0
		for i := range genes * cells {
			b := binomials[i%len(binomials)]
			for k, v := range []float64{0.25, b.logD, b.x, 4 * b.m} {
				values[k] = append(values[k], float32(v))
			}
			want -= b.log
		}
		got, err := graph.CallOnce(e.Backend(), func(in []*graph.Node) *graph.Node {
			v := loss.Build(loss.NegativeBinomial{}, loss.Batch{
				Outputs: map[string]*graph.Node{loss.Proportion: in[0], loss.LogDispersion: in[1]},
				Inputs:  map[string]*graph.Node{loss.Target: in[2], loss.Library: in[3]},
			})
			return graph.ReduceAllSum(v.Losses)
		}, matrix(values[0], genes), matrix(values[1], genes), matrix(values[2], genes), matrix(values[3], genes))
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(tensors.ToScalar[float32](got)); math.Abs(v-want) > 1e-5*want {
			t.Errorf("%d genes of %d cells: %v, their sum is %v", genes, cells, v, want)
		}
	}
}

func matrix(values []float32, rows int) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(values, rows, len(values)/rows)
}

// With a large dispersion the law is Poisson's, whatever the float32 says of it.
func TestALargeDispersionIsPoissons(t *testing.T) {
	for _, logD := range []float32{18, 20, 60} {
		got := evaluate(t, loss.NegativeBinomial{}, map[string][]float32{loss.Proportion: {0.5, 0.5}, loss.LogDispersion: {logD, logD}},
			map[string][]float32{loss.Target: {3, 1000}, loss.Library: {4, 1800}})
		for i, x := range []float64{3, 1000} {
			m := []float64{2, 900}[i]
			gamma, _ := math.Lgamma(x + 1)
			if want := m - x*math.Log(m) + gamma; math.Abs(float64(got[i])-want) > 1e-4 {
				t.Errorf("log dispersion %v: %v, Poisson's is %v", logD, got[i], want)
			}
		}
	}
}

// A zero that is surely missed costs nothing, and one that is surely not the law's.
func TestInflationHasItsEnds(t *testing.T) {
	in := map[string][]float32{loss.Target: {0, 2}, loss.Library: {8, 8}}
	at := func(z float32) []float32 {
		return evaluate(t, loss.ZeroInflated{}, map[string][]float32{
			loss.Proportion: {0.5, 0.5}, loss.LogDispersion: {1, 1}, loss.DropoutLogits: {z, z}}, in)
	}
	nb := evaluate(t, loss.NegativeBinomial{}, map[string][]float32{loss.Proportion: {0.5, 0.5}, loss.LogDispersion: {1, 1}}, in)
	if always, never := at(60), at(-60); always[0] > 1e-6 || math.Abs(float64(always[1]-nb[1]-60)) > 1e-4 || never[0] != nb[0] || never[1] != nb[1] {
		t.Errorf("always missed %v, never %v, the law's %v", always, never, nb)
	}
}

func TestWhatIsNoCountIsRefused(t *testing.T) {
	outputs := map[string]int{loss.Proportion: 2, loss.LogDispersion: 2, loss.DropoutLogits: 2}
	for words, corrupt := range map[string]func(x, library array.Matrix[float32]){
		"record 1 has 0.5 at gene 0":    func(x, _ array.Matrix[float32]) { x.Row(1)[0] = 0.5 },
		"record 0 has -1 at gene 1":     func(x, _ array.Matrix[float32]) { x.Row(0)[1] = -1 },
		"library size of record 2 is 0": func(_, library array.Matrix[float32]) { library.Data[2] = 0 },
	} {
		in := map[string]array.Matrix[float32]{loss.Target: array.New[float32](3, 2), loss.Library: array.New[float32](3, 1)}
		for i := range in[loss.Library].Data {
			in[loss.Library].Data[i] = 4
		}
		corrupt(in[loss.Target], in[loss.Library])
		for _, l := range []loss.Loss{loss.NegativeBinomial{}, loss.ZeroInflated{}} {
			if err := loss.CheckInputs(l, outputs, in, 3); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: error %v, want %q", l.Name(), err, words)
			}
		}
	}
}
