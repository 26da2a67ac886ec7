// Tests of the network, its loss and the sampler.

package diffusion

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

var openEngine = sync.OnceValues(func() (*engine.Engine, error) { return enginetest.Open() })

func runner(t testing.TB, arch model.Architecture) *model.Runner {
	t.Helper()
	e, err := openEngine()
	if err != nil {
		t.Fatal(err)
	}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wave(n int, phase, step float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Sin(float64(step*float64(i)) + phase)
	}
	return out
}

// waveWeights are those of golden_torch.py.
func waveWeights(arch model.Architecture) nn.Params {
	p := model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit))
	for i, v := range p {
		for j, x := range wave(len(v.Data), float64(i), 1.7) {
			switch {
			case len(v.Shape) > 1:
				x /= math.Sqrt(float64(len(v.Data) / v.Shape[0]))
			case strings.Contains(v.Name, "norm") && strings.HasSuffix(v.Name, "weight"):
				x = 1 + 0.3*x
			default:
				x *= 0.2
			}
			v.Data[j] = float32(x)
		}
	}
	return p
}

// torch.json was written by testdata/golden_torch.py with torch 2.15.0, in
// float64.
//
//go:embed testdata/torch.json
var torchJSON []byte

func TestForwardPassAndGradientsArePyTorchs(t *testing.T) {
	var want struct {
		Tensors         []string
		Output, Encoded []float64
		Gradients       map[string][]float64
	}
	if err := json.Unmarshal(torchJSON, &want); err != nil {
		t.Fatal(err)
	}
	arch := UNet{Side: 8, Width: 8}
	const rows = 5
	r, p := runner(t, arch), waveWeights(arch)
	if len(p) != len(want.Tensors) {
		t.Fatalf("%d tensors, want %d", len(p), len(want.Tensors))
	}
	x := array.New[float32](rows, arch.Inputs())
	for i, v := range wave(len(x.Data), 0.5, 0.37) {
		x.Data[i] = float32(v)
	}
	pred, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	if pred.Embedding.Cols != arch.Encoded() {
		t.Errorf("the encoding has %d values, Encoded says %d", pred.Embedding.Cols, arch.Encoded())
	}
	checkClose(t, "output", every(pred.Outputs[nn.Output].Data, 7), want.Output)
	checkClose(t, "encoding", every(pred.Embedding.Data, 7), want.Encoded)

	v := array.New[float32](rows, arch.Pixels())
	for i, s := range wave(len(v.Data), 0.1, 0.73) {
		v.Data[i] = float32(s)
	}
	for i, g := range gradients(t, r, p, x, v) {
		if p[i].Name != want.Tensors[i] {
			t.Errorf("tensor %d is called %s, want %s", i, p[i].Name, want.Tensors[i])
		}
		checkClose(t, "gradient of "+p[i].Name, every(g, max(1, len(g)/8)), want.Gradients[p[i].Name])
	}
}

// gradients are those of the sum of v times the output.
func gradients(t *testing.T, r *model.Runner, p nn.Params, x, v array.Matrix[float32]) [][]float32 {
	t.Helper()
	var in []any
	for _, w := range p {
		in = append(in, tensors.FromFlatDataAndDimensions(w.Data, w.Shape...))
	}
	for _, m := range []array.Matrix[float32]{x, v} {
		in = append(in, tensors.FromFlatDataAndDimensions(m.Transpose().Data, m.Cols, m.Rows))
	}
	out, err := graph.CallOnceN(r.Engine.Backend(), func(in []*graph.Node) []*graph.Node {
		n := len(in) - 2
		tape := &nn.Tape{Training: true}
		y := model.Forward(r.Arch, tape, in[:n], in[n], nil).Outputs[nn.Output]
		return tape.Backward(nn.Adjoints{y: in[n+1]}, in[:n])
	}, in...)
	if err != nil {
		t.Fatal(err)
	}
	grads := make([][]float32, len(out))
	for i := range out {
		grads[i] = tensors.MustCopyFlatData[float32](out[i])
	}
	return grads
}

func every(x []float32, step int) []float64 {
	var out []float64
	for i := 0; i < len(x); i += step {
		out = append(out, float64(x[i]))
	}
	return out
}

func checkClose(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	scale := 1e-3
	for _, w := range want {
		scale = math.Max(scale, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 2e-5*scale) {
			t.Errorf("%s: value %d is %v, PyTorch has %v", what, i, got[i], w)
			return
		}
	}
}

func TestEncodingAndWeightsHaveTheDocumentedSizes(t *testing.T) {
	if got := (UNet{}).Encoded(); got != 64*7*7 {
		t.Errorf("the encoder's output has %d values", got)
	}
	p := model.InitialWeights(UNet{}, engine.Root(1).Stream(engine.StreamInit))
	if p.Size() < 150_000 || p.Size() > 300_000 {
		t.Errorf("%d weights", p.Size())
	}
}

// Records must not mix, or a batch could not be cut into chunks.
func TestARecordsOutputDoesNotDependOnItsNeighbours(t *testing.T) {
	arch := UNet{Side: 8, Width: 4}
	r, p := runner(t, arch), waveWeights(arch)
	x := array.New[float32](19, arch.Inputs())
	for i, v := range wave(len(x.Data), 0.2, 0.9) {
		x.Data[i] = float32(v)
	}
	all, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	one, err := r.Predict(p, x.Gather([]int{18}))
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "output", every(one.Outputs[nn.Output].Row(0), 1), every(all.Outputs[nn.Output].Row(18), 1))
	checkClose(t, "encoding", every(one.Embedding.Row(0), 1), every(all.Embedding.Row(18), 1))
}

func TestAConfigurationThatCannotBeBuiltIsRefused(t *testing.T) {
	for want, arch := range map[string]UNet{
		"multiple of 4":        {Width: 6},
		"cannot be halved":     {Side: 30},
		"images of -1":         {Channels: -1},
		"9 levels":             {Levels: 9},
		"a side of -4 pixels":  {Side: -4},
		"width -4 is not a mu": {Width: -4},
	} {
		if err := arch.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one about %q", arch, err, want)
		}
	}
	if err := (UNet{}).Check(); err != nil {
		t.Error(err)
	}
}

func TestFreshNetworkLeavesTheSkipAsTheDenoiser(t *testing.T) {
	arch := UNet{Side: 8, Width: 4}
	d := Denoiser{Runner: runner(t, arch), Weights: model.InitialWeights(arch, engine.Root(3).Stream(engine.StreamInit))}
	x := array.New[float32](3, arch.Pixels())
	for i, v := range wave(len(x.Data), 0, 1) {
		x.Data[i] = float32(v)
	}
	y, encoded, err := d.Denoise(x, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if encoded.Rows != 3 || encoded.Cols != arch.Encoded() {
		t.Errorf("the encoding is %d x %d", encoded.Rows, encoded.Cols)
	}
	for i, v := range x.Data {
		if w := 0.5 * v; math.Abs(float64(y.Data[i]-w)) > 1e-6 { // c_skip is 1/2 where sigma is s
			t.Fatalf("value %d is %v, want %v", i, y.Data[i], w)
		}
	}
}

func TestDenoiserRefusesWhatItCannotTake(t *testing.T) {
	arch := UNet{Side: 8, Width: 4}
	d := Denoiser{Runner: runner(t, arch), Weights: waveWeights(arch)}
	x := array.New[float32](2, arch.Pixels())
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, _, err := d.Denoise(x, sigma); err == nil || !strings.Contains(err.Error(), "noise level") {
			t.Errorf("sigma %v: %v", sigma, err)
		}
	}
	if _, _, err := d.Denoise(array.New[float32](2, 5), 1); err == nil || !strings.Contains(err.Error(), "images of 5 values") {
		t.Error(err)
	}
	x.Data[70] = float32(math.NaN())
	if _, _, err := d.Denoise(x, 1); err == nil {
		t.Error("NaN was taken")
	}
	d.Condition.SigmaData = -1
	if _, _, err := d.Denoise(x, 1); err == nil || !strings.Contains(err.Error(), "standard deviation is -1") {
		t.Error(err)
	}
}

// EDM's requirements, from which its formulas follow.
func TestPreconditioningGivesInputAndTargetUnitVariance(t *testing.T) {
	for _, p := range []Precondition{{}, {SigmaData: 1.3}} {
		s := p.sigmaData()
		for _, sigma := range []float64{0.002, 0.1, s, 3, 80} {
			c := p.ScalesAt(sigma)
			for what, got := range map[string]float64{
				"variance of the input": c.In * c.In * (s*s + sigma*sigma),
				// (y - skip (y + sigma n))/out
				"variance of the target":     ((1-c.Skip)*(1-c.Skip)*s*s + c.Skip*c.Skip*sigma*sigma) / (c.Out * c.Out),
				"weight times out squared":   c.Weight * c.Out * c.Out,
				"exp(4 noise) over sigma":    math.Exp(4*c.Noise) / sigma,
				"skip against its optimum":   c.Skip / (s * s / (s*s + sigma*sigma)),
				"weight against the paper's": c.Weight / ((sigma*sigma + s*s) / (sigma * s * sigma * s)),
			} {
				if math.Abs(got-1) > 1e-9 {
					t.Errorf("sigma %v, s %v: %s is %v", sigma, s, what, got)
				}
			}
		}
	}
	low, high := Precondition{}.ScalesAt(1e-9), Precondition{}.ScalesAt(1e9)
	if math.Abs(low.Skip-1) > 1e-12 || low.Out > 1e-8 {
		t.Errorf("without noise: %+v", low)
	}
	if high.Skip > 1e-12 || math.Abs(high.Out-0.5) > 1e-12 {
		t.Errorf("with nothing but noise: %+v", high)
	}
}

func TestTheTargetMakesTheDenoiserExact(t *testing.T) {
	c := Precondition{}.ScalesAt(0.7)
	x, y := []float32{0.3, -2, 1}, []float32{0.1, -1, 0.5}
	f, back := make([]float32, 3), make([]float32, 3)
	c.Target(f, x, y)
	c.Combine(back, x, f)
	for i := range y {
		if math.Abs(float64(back[i]-y[i])) > 1e-6 {
			t.Errorf("pixel %d: %v, want %v", i, back[i], y[i])
		}
	}
}

// The denoiser of normal data of mean m and variance s^2 is known, and so is
// where the flow takes a start x: to m + s (x - m)/sqrt(max^2 + s^2).
func TestSamplerFollowsTheFlowOfNormalData(t *testing.T) {
	const m, s = 0.3, 0.5
	calls := 0
	exact := func(x array.Matrix[float32], sigma float64) (array.Matrix[float32], error) {
		calls++
		out := array.New[float32](x.Rows, x.Cols)
		for i, v := range x.Data {
			out.Data[i] = float32(m + s*s/(s*s+sigma*sigma)*(float64(v)-m))
		}
		return out, nil
	}
	worst := map[int]float64{}
	for _, levels := range []int{18, 36} {
		calls = 0
		rng := func() *rand.Rand { return engine.Root(5).Stream("test") }
		got, err := Sampler{Levels: levels}.Sample(context.Background(), 50, 3, rng(), exact)
		if err != nil {
			t.Fatal(err)
		}
		if calls != 2*levels-1 {
			t.Errorf("%d evaluations for %d levels", calls, levels)
		}
		again := rng()
		for _, v := range got.Data {
			want := m + s*(80*again.NormFloat64()-m)/math.Sqrt(80*80+s*s)
			worst[levels] = math.Max(worst[levels], math.Abs(float64(v)-want))
		}
	}
	if worst[18] > 0.1 || worst[36] > worst[18]/3 {
		t.Errorf("errors by number of levels: %v; Heun's should fall by four", worst)
	}
}

func TestNoiseLevelsAreEDMs(t *testing.T) {
	got, err := Sampler{}.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 19 || math.Abs(got[0]-80) > 1e-9 || math.Abs(got[17]-0.002) > 1e-12 || got[18] != 0 {
		t.Errorf("levels %v", got)
	}
	// Python 3: (80**(1/7) + 9/17*(0.002**(1/7) - 80**(1/7)))**7
	if want := 1.9233398370400518; math.Abs(got[9]-want) > 1e-12 {
		t.Errorf("level 9 is %.10f, want %v", got[9], want)
	}
}

func TestSamplerRefusesImpossibleLevelsAndPassesErrorsOn(t *testing.T) {
	for _, s := range []Sampler{{Levels: 1}, {SigmaMin: -1}, {SigmaMin: 90}, {SigmaMax: math.Inf(1)}, {Rho: -7}, {SigmaMax: math.NaN()}} {
		if _, err := s.Schedule(); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	broken := errors.New("broken")
	_, err := Sampler{}.Sample(context.Background(), 1, 1, engine.Root(1).Stream("test"), func(array.Matrix[float32], float64) (array.Matrix[float32], error) {
		return array.Matrix[float32]{}, broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (Sampler{}).Sample(ctx, 1, 1, engine.Root(1).Stream("test"), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestNoiseHasTheStandardDeviationAskedFor(t *testing.T) {
	x := array.New[float32](20, 500)
	y := AddNoise(x, 0.3, func(row int) *rand.Rand { return engine.Root(1).Stream("test", uint64(row)) })
	var s float64
	for _, v := range y.Data {
		s += float64(v) * float64(v)
	}
	// The standard error of a variance from 10,000 values is 1.4 %.
	if got := s / float64(len(y.Data)) / 0.09; math.Abs(got-1) > 0.05 {
		t.Errorf("variance is %v of what was asked for", got)
	}
	if y.Row(0)[0] == y.Row(1)[0] {
		t.Error("two rows have the same noise")
	}
}
