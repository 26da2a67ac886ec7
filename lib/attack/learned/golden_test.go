package learned

import (
	"context"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

func open(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func checkClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func wave(data []float32, at float64) {
	for k := range data {
		data[k] = float32(math.Sin(at + 1.7*float64(k)))
	}
}

func unit(data []float32) {
	square := 0.0
	for _, v := range data {
		square += float64(v) * float64(v)
	}
	for k := range data {
		data[k] = float32(float64(data[k]) / math.Sqrt(square))
	}
}

// PyTorch 2.15.0: three Linear layers under torch.nn.utils.spectral_norm, weights
// and directions as below, six full-batch steps of Adam(lr=0.05, weight_decay=0.01)
// on binary_cross_entropy_with_logits, then eval.
func TestTheAttackerTrainsAsPyTorchsWithSpectralNorm(t *testing.T) {
	arch := Network{Features: 3, Hidden: []int{4, 2}, Spectral: true}
	r, err := model.NewRunner(open(t), arch)
	if err != nil {
		t.Fatal(err)
	}
	p := model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit))
	for l := range 3 {
		for k, at := range []float64{0, 0.5, 0.1, 0.2} {
			wave(p[4*l+k].Data, float64(l)+at)
		}
		unit(p[4*l+2].Data)
		unit(p[4*l+3].Data)
	}
	x := array.New[float32](6, 3)
	wave(x.Data, 0.3)
	known := Records{array.Convert[float64](x.Gather([]int{0, 1, 2})), array.Convert[float64](x.Gather([]int{3, 4, 5}))}
	plan := train.Plan{
		Passes:     func(int) ([]train.Objective, error) { return []train.Objective{MLP{}.objective(known)}, nil },
		Transforms: train.Chain{train.Decay{Rate: 0.01}},
	}
	p, history, err := train.FitPlan(context.Background(), r, p, plan, train.Config{Epochs: 6, Optimizer: nn.Adam{LR: 0.05}}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	for _, h := range history {
		losses = append(losses, h.Loss)
	}
	checkClose(t, "losses", losses, []float64{0.9644467830657959, 0.8993959426879883, 0.842876136302948,
		0.7916809916496277, 0.7466554045677185, 0.7055045962333679}, 2e-6)
	out, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "logits", array.Convert[float64](out.Logits()).Data, []float64{0.29597029089927673, 0.8184728622436523,
		1.0197954177856445, 0.6214830875396729, 0.4154362678527832, 0.2165711224079132}, 5e-6)
	of := func(i int) []float64 {
		return array.Convert[float64](array.Matrix[float32]{Rows: 1, Cols: len(p[i].Data), Data: p[i].Data}).Data
	}
	checkClose(t, "u", of(2), []float64{0.1629420667886734, 0.899227499961853, 0.35491013526916504, -0.19717669486999512}, 2e-6)
	checkClose(t, "v", of(3), []float64{-0.7087288498878479, 0.3633342981338501, 0.6047243475914001}, 2e-6)
	checkClose(t, "weights", of(8), []float64{0.6114147901535034, -0.8175047039985657}, 5e-6)
}

// scikit-learn 1.9.1, LogisticRegression(C=1 and 0.1, solver="newton-cholesky").
func TestLogisticRegressionIsScikitLearns(t *testing.T) {
	x := array.New[float64](20, 3)
	for k := range x.Data {
		x.Data[k] = math.Sin(0.3 + float64(1.7*float64(k)))
	}
	for i := range 8 {
		for j, d := range []float64{0.5, -0.3, 0.2} {
			x.Row(i)[j] += d
		}
	}
	known := Records{array.Matrix[float64]{Rows: 8, Cols: 3, Data: x.Data[:24]}, array.Matrix[float64]{Rows: 12, Cols: 3, Data: x.Data[24:]}}
	unitVectors := array.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}}
	for ridge, want := range map[float64][]float64{ // intercept, then weights
		0:  {-0.7277828455857589, 1.235689954373772, 0.20934033176582315, 1.161524931384759},
		10: {-0.4455017126440814, 0.1611093324164455, 0.0055657853274607896, 0.12972842363570702},
	} {
		score, err := Logistic{Ridge: ridge}.Fit(context.Background(), nil, known, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := score(unitVectors)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			got[k+1] -= got[0]
		}
		checkClose(t, "intercept and weights", got, want, 1e-8)
	}
}
