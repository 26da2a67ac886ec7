// Tests of bottleneck.go.

package ib

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

var small = Bottleneck{Features: 6, Outputs: 4, Latent: 3, Compressor: MLP{Hidden: 5}, Approximator: MLP{Hidden: 5}}

// waves fills weights with 0.3 sin(1.7 k + 0.3), k counting through all of them.
func waves(p nn.Params) nn.Params {
	k := 0
	for _, w := range p {
		for i := range w.Data {
			w.Data[i] = float32(0.3 * math.Sin(1.7*float64(k)+0.3))
			k++
		}
	}
	return p
}

func cosines(rows, cols int, pace float64, f func(float64) float64) array.Matrix[float32] {
	m := array.New[float32](rows, cols)
	for k := range m.Data {
		m.Data[k] = float32(f(pace * float64(k)))
	}
	return m
}

func engineOf(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func runner(t *testing.T, a model.Architecture) *model.Runner {
	t.Helper()
	r, err := model.NewRunner(engineOf(t), a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkClose(t *testing.T, what string, got []float32, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if math.Abs(float64(v)-want[i]) > 2e-6 {
			t.Errorf("%s[%d] is %v, want %v", what, i, v, want[i])
		}
	}
}

// PyTorch 2.15.0 in float32, the same weights and records; softplus is that of
// torch.nn.functional.
func TestABottleneckSaysWhatPyTorchSays(t *testing.T) {
	p := waves(model.InitialWeights(small, engine.Root(1).Stream(engine.StreamInit)))
	x := cosines(3, 6, 0.9, math.Cos)
	pred, err := runner(t, small).Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "means", pred.Outputs[loss.LatentMean].Data,
		-0.20195471, -0.33274132, 0.44290578, -0.36605108, -0.18513767, 0.42928389, -0.46919441, -0.12211142, 0.45654207)
	checkClose(t, "log variances", pred.Outputs[loss.LatentLogVar].Data,
		-0.65725726, -1.35388637, -0.49840108, -0.84707135, -1.08912039, -0.60406280, -0.98916137, -0.95654404, -0.61861181)
	checkClose(t, "logits", pred.Logits().Data, 0.03805470, 0.19281922, -0.04142533, -0.33911255, 0.06617523, 0.17441455, -0.04738621, -0.31353083,
		0.08302607, 0.16134997, -0.04850699, -0.29911679)
	checkClose(t, "embedding", pred.Embedding.Row(0), -0.20195471, -0.33274132, 0.44290578)
	_, tail := SplitWeights(p)
	alone, err := runner(t, Approximator{small}).Predict(tail, pred.Embedding)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range alone.Logits().Data {
		if v != pred.Logits().Data[i] {
			t.Fatalf("the approximator alone says %v, in the whole %v", v, pred.Logits().Data[i])
		}
	}
}

// The same program's gradient of cross-entropy + 0.5 KLmean at labels 1, 3, 0 and
// eps = sin(2.1 k): through the draw into mean and deviation.
func TestTheGradientGoesThroughTheDraw(t *testing.T) {
	e := engineOf(t)
	p := waves(model.InitialWeights(small, engine.Root(1).Stream(engine.StreamInit)))
	x, eps, labels := cosines(3, 6, 0.9, math.Cos), cosines(3, 3, 2.1, math.Sin), loss.Labels([]int{1, 3, 0}, 4)
	value, grads := newStep(t, e, small, false).evaluate(p, x, eps, labels)
	checkClose(t, "value", []float32{value}, 1.4702430963516235)
	checkClose(t, "first row of the first weight", grads[0][:6], 0.02455345, 0.02523743, 0.00682222, -0.01675591, -0.02765350, -0.01762347)
	checkClose(t, "bias of the codes", grads[3], -0.04791588, -0.06839756, 0.07257523, -0.06798390, -0.09913669, -0.05082632)
	checkClose(t, "bias of the logits", grads[7], -0.06247312, -0.02282741, 0.23045059, -0.14515007)
}

func TestTheZeroValueIsTheNetworkOfTheProgram(t *testing.T) {
	for want, m := range map[int]Bottleneck{90636: {}, 4340: {Features: 14, Outputs: 2, Latent: 9}} {
		p := model.InitialWeights(m, engine.Root(1).Stream(engine.StreamInit))
		n := 0
		for _, w := range p {
			n += len(w.Data)
		}
		if n != want {
			t.Errorf("%+v has %d weights, the program's has %d", m, n, want)
		}
		front, back := SplitWeights(p)
		if len(front) != 4 || len(back) != 4 || front[3].Name != "compressor.head.bias" || back[0].Name != "approximator.hidden.weight" {
			t.Errorf("the halves are %v and %v", front, back)
		}
	}
}

// Far below 0 the deviation is exp(r), which float32 rounds to 0 long before its
// logarithm ends.
func TestATinyDeviationHasALogarithm(t *testing.T) {
	exec, err := NewExec(engineOf(t).Backend(), func(in []*Node) []*Node {
		out := logSquaredSoftplus(in[0])
		return []*Node{out, Gradient(ReduceAllSum(out), in[0])[0]}
	})
	if err != nil {
		t.Fatal(err)
	}
	r := []float32{-300, -40, -17.1, -16.9, -3, 0, 3, 40, 300}
	out, err := exec.Call(tensors.FromFlatDataAndDimensions(r, len(r)))
	if err != nil {
		t.Fatal(err)
	}
	values, slopes := tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
	for i, v := range r {
		x := float64(v)
		softplus := math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
		want, slope := 2*math.Log(softplus), 2/(1+math.Exp(-x))/softplus
		if x < -30 {
			want, slope = 2*x, 2
		}
		if math.Abs(float64(values[i])-want) > 1e-6*(1+math.Abs(want)) || math.Abs(float64(slopes[i])-slope) > 1e-5 {
			t.Errorf("r = %v: %v with slope %v, want %v and %v", v, values[i], slopes[i], want, slope)
		}
	}
}

// A record's draw is its own, of the mean and deviation that the compressor gives.
func TestCodesAreDrawnAboutTheirMeans(t *testing.T) {
	const n = 20_000
	mu, logvar := array.New[float32](n, 1), array.New[float32](n, 1)
	for i := range n {
		mu.Data[i], logvar.Data[i] = 2, float32(2*math.Log(3))
	}
	p := &model.Prediction{Outputs: map[string]array.Matrix[float32]{loss.LatentMean: mu, loss.LatentLogVar: logvar}}
	stream := func(i int) *rand.Rand { return engine.Root(7).Stream(engine.StreamToy, uint64(i)) }
	z, err := SampleCodes(p, stream)
	if err != nil {
		t.Fatal(err)
	}
	var sum, square float64
	for _, v := range z.Data {
		sum, square = sum+float64(v), square+float64(v)*float64(v)
	}
	mean := sum / n
	if sd := math.Sqrt(square/n - mean*mean); math.Abs(mean-2) > 0.09 || math.Abs(sd-3) > 0.07 {
		t.Errorf("the draws have mean %v and deviation %v, want 2 and 3", mean, sd)
	}
	p.Outputs[loss.LatentMean] = mu.Gather([]int{5})
	if _, err := SampleCodes(p, stream); err == nil || !strings.Contains(err.Error(), "1 x 1 means and 20000 x 1 variances") {
		t.Errorf("codes of unequal numbers: %v", err)
	}
}

func TestABottleneckThatCannotBeBuiltIsNamed(t *testing.T) {
	for words, m := range map[string]Bottleneck{
		"-1 features": {Features: -1}, "1 classes": {Outputs: 1}, "-3 latent": {Latent: -3},
		"the compressor: -2 hidden": {Compressor: MLP{Hidden: -2}}, "the approximator: -2 hidden": {Approximator: MLP{Hidden: -2}},
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v, want %q", m, err, words)
		}
	}
}
