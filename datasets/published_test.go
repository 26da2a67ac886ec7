package datasets_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// mlp is a published model: x -> relu -> relu -> two logits.
type mlp struct{ w1, b1, w2, b2, w3, b3 []float32 }

func readMLP(t *testing.T, dir, name string) mlp {
	t.Helper()
	f, err := safetensors.Read(filepath.Join(dir, "ruler_checkpoints", name+".safetensors"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no published weights: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	get := func(name string) []float32 {
		tensor, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := tensor.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return mlp{get("hidden1.weight"), get("hidden1.bias"), get("hidden2.weight"), get("hidden2.bias"), get("head.weight"), get("head.bias")}
}

func linear(x, w, b []float32, relu bool) []float32 {
	out := make([]float32, len(b))
	for k := range out {
		sum, row := b[k], w[k*len(x):][:len(x)]
		for j, v := range x {
			sum += row[j] * v
		}
		if relu && sum < 0 {
			sum = 0
		}
		out[k] = sum
	}
	return out
}

// losses returns the cross-entropy of every row and the share of right answers.
func (m mlp) losses(x array.Matrix[float32], y []int) ([]float64, float64) {
	out, right := make([]float64, x.Rows), 0.0
	for i := range out {
		z := linear(linear(linear(x.Row(i), m.w1, m.b1, true), m.w2, m.b2, true), m.w3, m.b3, false)
		other := float64(z[1-y[i]] - z[y[i]])
		out[i] = math.Log1p(math.Exp(-math.Abs(other))) + math.Max(other, 0)
		if other < 0 {
			right++
		}
	}
	return out, right / float64(x.Rows)
}

// contrast is the t value of "the rows that the retrained model never saw lost
// more by the retraining than the others did".
func contrast(original, retrained []float64, forget []int) float64 {
	in := make([]bool, len(original))
	for _, i := range forget {
		in[i] = true
	}
	var sumF, sumR, squareR float64
	for i := range original {
		d := retrained[i] - original[i]
		if in[i] {
			sumF += d
			continue
		}
		sumR += d
		squareR += d * d
	}
	nF, nR := float64(len(forget)), float64(len(original)-len(forget))
	meanR := sumR / nR
	return (sumF/nF - meanR) / math.Sqrt((squareR/nR-meanR*meanR)/nF)
}

// published holds what the published models of seed 0 must reach on our rows.
// least is a floor under the accuracy on all rows a little below what was
// measured (in brackets), and far from what a wrong reading gives:
// exchanged classes turn it upside down, the other category orders and row
// orders that were tried are named in the loaders' comments. The diabetes model
// answers the larger class for every row, so its accuracy is that class's share.
var published = []struct {
	name  string
	least float64
}{
	{"adult", 0.825},          // 0.829; the larger class 0.761
	{"diabetes130", 0.888},    // 0.888; the larger class 0.888
	{"breast_cancer", 0.97},   // 0.975; 0.627
	{"heart_disease", 0.88},   // 0.894; 0.545
	{"german_credit", 0.77},   // 0.774; 0.700
	{"bank_marketing", 0.885}, // 0.886; 0.883
	{"wine_quality", 0.76},    // 0.768; 0.535
	{"phoneme", 0.80},         // 0.803; 0.707
	{"magic", 0.83},           // 0.832; 0.648
	{"electricity", 0.775},    // 0.780; 0.576
}

// The contrast tells whether rows, order, codes, target and split are the
// published ones: for the wrong readings that were tried it lies between -2 and 3.
func TestPublishedModelsFitOurRows(t *testing.T) {
	dir := datatest.Dir(t)
	for _, c := range published {
		t.Run(c.name, func(t *testing.T) {
			p := prepare(t, c.name)
			m := readMLP(t, dir, c.name+"_seed0_orig")
			original, train := m.losses(p.Train.X, p.Train.Y)
			_, test := m.losses(p.Test.X, p.Test.Y)
			n := float64(p.Train.X.Rows + p.Test.X.Rows)
			all := (train*float64(p.Train.X.Rows) + test*float64(p.Test.X.Rows)) / n
			if all < c.least {
				t.Errorf("the published original is right on %.4f of the rows, less than %v", all, c.least)
			}
			oracle, _ := readMLP(t, dir, c.name+"_seed0_oracle_ff10").losses(p.Train.X, p.Train.Y)
			forget, _, err := datasets.ForgetSet(p.Train.X.Rows, 0.10, 999)
			if err != nil {
				t.Fatal(err)
			}
			value := contrast(original, oracle, forget)
			if value < 3.5 {
				t.Errorf("t = %.2f: the rows that this forget set names are not the ones the published oracle missed", value)
			}
			t.Logf("accuracy %.4f (train %.4f, test %.4f), contrast t = %.2f", all, train, test, value)
		})
	}
}

func TestAllTenBreastCancerOriginalsAreAccurate(t *testing.T) {
	dir := datatest.Dir(t)
	p := prepare(t, "breast_cancer")
	for seed := range 10 {
		m := readMLP(t, dir, fmt.Sprintf("breast_cancer_seed%d_orig", seed))
		_, train := m.losses(p.Train.X, p.Train.Y)
		_, test := m.losses(p.Test.X, p.Test.Y)
		if train < 0.98 || test < 0.93 { // measured: 0.982 to 0.987 and 0.939 to 0.974
			t.Errorf("seed %d: accuracy %.4f on train, %.4f on test rows", seed, train, test)
		}
	}
}

func TestTheOtherTargetOfDiabetesIsNotThePublishedOne(t *testing.T) {
	dir := datatest.Dir(t)
	p := prepare(t, "diabetes130_any")
	_, accuracy := readMLP(t, dir, "diabetes130_seed0_orig").losses(p.Test.X, p.Test.Y)
	if accuracy > 0.5 { // measured 0.461
		t.Errorf("the published original is right on %.4f of the rows read as readmitted or not", accuracy)
	}
}
