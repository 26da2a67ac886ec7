package loss_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/nn/loss/losstest"
)

func TestEveryLossPassesTheSuite(t *testing.T) {
	names := map[string]bool{}
	for _, l := range append(loss.All(), loss.Distillation{Temperature: 3}, loss.GaussianELBO{Beta: 4}, loss.LatentDivergence{FreeBits: 0.3}, loss.MaxLogit{Probability: true}, loss.MaskedLanguage{Vocabulary: 6},
		loss.MaskedDistillation{Vocabulary: 6, Temperature: 2}, loss.NextToken{Vocabulary: 6},
		loss.NextDistillation{Vocabulary: 6, Temperature: 2, Penalty: 3}, loss.NegativePreference{Vocabulary: 6, Beta: 2},
		loss.DirectPreference{Vocabulary: 6, Beta: 2},
		loss.WeightedAscent{Vocabulary: 6, Saturation: 5, Importance: 1}, loss.WeightedAscent{Vocabulary: 3, Saturation: 1.5, Importance: 3},
		loss.ActivationDistance{Width: 2, Teacher: true}) {
		key, err := loss.Key(l)
		if err != nil {
			t.Fatal(err)
		}
		if names[key] {
			t.Errorf("two losses have the key %s", key)
		}
		names[key] = true
		t.Run(key, func(t *testing.T) { losstest.Run(t, l, inputsOf[l.Name()]) })
	}
}

// inputsOf makes the inputs of losses that take no normal numbers.
var inputsOf = map[string]func(name string, width int) array.Matrix[float32]{
	loss.MaskedLanguage{}.Name(): maskedTokens, loss.MaskedDistillation{}.Name(): maskedTokens, loss.NextToken{}.Name(): maskedTokens,
	loss.NextDistillation{}.Name(): maskedTokens, loss.NegativePreference{}.Name(): maskedTokens, loss.WeightedAscent{}.Name(): maskedTokens,
	loss.ActivationDistance{}.Name(): maskedTokens, loss.DirectPreference{}.Name(): maskedTokens,
	loss.NegativeBinomial{}.Name(): fewCounts, loss.ZeroInflated{}.Name(): fewCounts,
}

// fewCounts are counts, many of them 0, or library sizes of five records.
func fewCounts(name string, width int) array.Matrix[float32] {
	m := array.New[float32](5, width)
	for i := range m.Data {
		m.Data[i] = float32(i * i % 7)
		if name == loss.Library {
			m.Data[i] = float32(2 * (i + 1))
		}
	}
	return m
}

// maskedTokens are tokens below 3, or weights of five records.
func maskedTokens(name string, width int) array.Matrix[float32] {
	m := array.New[float32](5, width)
	for i := range m.Data {
		m.Data[i] = float32(i * i % 3)
		if name == loss.MaskedWeights || name == loss.NextWeights || name == loss.SecondWeights {
			m.Data[i] = 0.25 * float32(i%3)
		}
	}
	return m
}

func TestAMaskedTokenThatIsNoneIsRefusedByItsRecord(t *testing.T) {
	for words, c := range map[string]struct {
		l              loss.MaskedLanguage
		token, weights float32
	}{
		"record 1, masked position 0: 3 is no token":   {loss.MaskedLanguage{Vocabulary: 3}, 3, 1},
		"record 1, masked position 0: -1 is no token":  {loss.MaskedLanguage{Vocabulary: 3}, -1, 1},
		"record 1, masked position 0: 0.5 is no token": {loss.MaskedLanguage{Vocabulary: 3}, 0.5, 1},
		"the weight is -1":                             {loss.MaskedLanguage{Vocabulary: 3}, 2, -1},
		"no whole number of positions":                 {loss.MaskedLanguage{Vocabulary: 4}, 2, 1},
		"needs the size of the vocabulary":             {loss.MaskedLanguage{}, 2, 1},
	} {
		in := map[string]array.Matrix[float32]{loss.MaskedTokens: array.New[float32](2, 1), loss.MaskedWeights: array.New[float32](2, 1)}
		in[loss.MaskedTokens].Data[1], in[loss.MaskedWeights].Data[1] = c.token, c.weights
		if err := loss.CheckInputs(c.l, map[string]int{loss.MaskedLogits: 3}, in, 2); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v", words, err)
		}
	}
}

func TestANextTokenThatIsNoneIsRefusedByItsRecord(t *testing.T) {
	for words, c := range map[string]struct {
		l             loss.NextToken
		token, weight float32
	}{
		"record 1, token 0: 3 is no token":     {loss.NextToken{Vocabulary: 3}, 3, 1},
		"record 1, token 0: -1 is no token":    {loss.NextToken{Vocabulary: 3}, -1, 1},
		"record 1, token 0: the weight is -1":  {loss.NextToken{Vocabulary: 3}, 2, -1},
		"next-token: an output of width 3 is":  {loss.NextToken{Vocabulary: 4}, 2, 1},
		"next-token needs the size of the voc": {loss.NextToken{}, 2, 1},
	} {
		in := map[string]array.Matrix[float32]{loss.NextTokens: array.New[float32](2, 1), loss.NextWeights: array.New[float32](2, 1)}
		in[loss.NextTokens].Data[1], in[loss.NextWeights].Data[1] = c.token, c.weight
		if err := loss.CheckInputs(c.l, map[string]int{loss.NextLogits: 3}, in, 2); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v", words, err)
		}
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for words, l := range map[string]loss.Loss{
		"temperature is -1": loss.Distillation{Temperature: -1}, "temperature is NaN": loss.Distillation{Temperature: math.NaN()},
		"temperature is -2": loss.MaskedDistillation{Vocabulary: 3, Temperature: -2},
		"the penalty is -1": loss.NextDistillation{Vocabulary: 3, Penalty: -1}, "the temperature is -4": loss.NextDistillation{Vocabulary: 3, Temperature: -4},
		"beta is 0": loss.NegativePreference{Vocabulary: 3}, "beta is -1": loss.DirectPreference{Vocabulary: 3, Beta: -1}, "saturation is 0": loss.WeightedAscent{Vocabulary: 3},
		"importance is 9": loss.WeightedAscent{Vocabulary: 3, Saturation: 1, Importance: 9},
		"beta is -2":      loss.GaussianELBO{Beta: -2}, "beta is +Inf": loss.GaussianELBO{Beta: math.Inf(1)},
		"free bits are -0.1": loss.LatentDivergence{FreeBits: -0.1}, "free bits are NaN": loss.LatentDivergence{FreeBits: math.NaN()},
	} {
		if err := l.Check(nil); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestAPairWithoutANegativeSampleIsRefused(t *testing.T) {
	for _, l := range []loss.Loss{loss.DonskerVaradhan{}, loss.InfoNCE{}} {
		if _, err := l.Inputs(map[string]int{loss.PairScores: 1}); err == nil || !strings.Contains(err.Error(), "at least one negative sample") {
			t.Errorf("%s: %v", l.Name(), err)
		}
	}
}

func TestALabelThatIsNoClassIsRefusedByItsRecord(t *testing.T) {
	in := map[string]array.Matrix[float32]{loss.Probabilities: loss.Labels([]int{1, -1, 2}, 3)}
	if err := loss.CheckInputs(loss.CrossEntropy{}, map[string]int{"logits": 3}, in, 3); err == nil || !strings.Contains(err.Error(), "record 1") {
		t.Errorf("error %v", err)
	}
}

// Two records by hand, in float64.
func TestLossesByHand(t *testing.T) {
	out := map[string][]float32{ // feature-major, two records
		nn.Output: {1, 0.5, -2, 0}, loss.LatentMean: {0.5, 0}, loss.LatentLogVar: {-1, 0}, nn.Logits: {2, 0, -1, 0},
		loss.Proportion: {1, 0, 0, 0.25}, loss.PairScores: {2, 0, -1, 0, 0.5, 0}, // a pair and two negative samples
		loss.MaskedLogits: {2, 0, -1, 0, 0.5, 0}, loss.TeacherLogits: {0, 0, 0, 0, 0, 2}, // one position, three tokens
		loss.NextLogits: {2, 0, -1, 0, 0.5, 0},
	}
	target, labels := []float32{0, 0.5, 1, 3}, []float32{1, 0, 0, 1} // classes 0 and 1
	kl := (0.25 + math.Exp(-1) + 1 - 1) / 2
	for _, c := range []struct {
		l      loss.Loss
		inputs map[string][]float32
		want   [2]float64
	}{
		{loss.SquaredError{}, map[string][]float32{loss.Target: target}, [2]float64{1 + 9, 9}},
		{loss.GaussianELBO{}, map[string][]float32{loss.Target: target}, [2]float64{5 + kl, 4.5}},
		{loss.LatentDivergence{}, nil, [2]float64{kl, 0}},
		{loss.LatentDivergence{FreeBits: 1}, nil, [2]float64{1, 1}},
		{loss.LatentDivergence{FreeBits: 0.2}, nil, [2]float64{kl, 0.2}},
		{loss.LatentMatch{}, map[string][]float32{loss.LatentMean: {0, 0}, loss.LatentLogVar: {0, 0}}, [2]float64{kl, 0}},
		{loss.LatentMatch{}, map[string][]float32{loss.LatentMean: {2.5, 3}, loss.LatentLogVar: {1, 2}},
			[2]float64{(2 + (math.Exp(-1)+4)/math.E - 1) / 2, (2 + 10*math.Exp(-2) - 1) / 2}},
		{loss.LibrarySquaredError{}, map[string][]float32{loss.Target: target, loss.Library: {4, -2}}, [2]float64{4*4 + 1, 0.25 + 12.25}},
		{loss.GaussianELBO{Beta: 3}, map[string][]float32{loss.Target: target}, [2]float64{5 + 3*kl, 4.5}},
		{loss.CrossEntropy{}, map[string][]float32{loss.Probabilities: labels}, [2]float64{math.Log(1 + math.Exp(-3)), math.Ln2}},
		{loss.DonskerVaradhan{}, nil, [2]float64{-2 + (math.Exp(-1)+math.Exp(0.5))/2 - 1, 0}},
		{loss.InfoNCE{}, nil, [2]float64{-2 + math.Log((math.Exp(2)+math.Exp(-1)+math.Exp(0.5))/3), 0}},
		{loss.MaskedLanguage{Vocabulary: 3}, map[string][]float32{loss.MaskedTokens: {2, 1}, loss.MaskedWeights: {0.5, 2}},
			[2]float64{0.5*math.Log(math.Exp(2)+math.Exp(-1)+math.Exp(0.5)) - 0.25, 2 * math.Log(3)}},
		{loss.MaskedDistillation{Vocabulary: 3, Temperature: 2}, map[string][]float32{loss.MaskedTokens: {2, 1}, loss.MaskedWeights: {0.5, 2}},
			[2]float64{2 * (math.Log(math.E+math.Exp(-0.5)+math.Exp(0.25)) - 0.25 - math.Log(3)), 8 * (math.E/(2+math.E) - math.Log(2+math.E) + math.Log(3))}},
		{loss.NextToken{Vocabulary: 3}, map[string][]float32{loss.NextTokens: {0, 2}, loss.NextWeights: {0.5, 2}},
			[2]float64{0.5*math.Log(math.Exp(2)+math.Exp(-1)+math.Exp(0.5)) - 1, 2 * math.Log(3)}},
		{loss.Distillation{Temperature: 3}, map[string][]float32{loss.Probabilities: labels}, [2]float64{9 * math.Log(1+math.Exp(-1)), 9 * math.Ln2}},
	} {
		got := evaluate(t, c.l, out, c.inputs)
		for i, want := range c.want {
			if math.Abs(float64(got[i])-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s, record %d: %v, by hand %v", c.l.Name(), i, got[i], want)
			}
		}
	}
}

// Codes as sharp as a bottleneck makes them for records that it has not learned: log
// variances far below those that float32 has a precision for.
func TestSharpCodesAreMatched(t *testing.T) {
	for _, c := range []struct {
		name                        string
		mean, logVar, toMean, toVar float32
		want, wantByMean, wantByVar float64
	}{
		{"with themselves", 0.5, -200, 0.5, -200, 0, 0, 0},
		{"sharper than a sharp teacher", 0.5, -1221, 0.5, -200, 0, 0, 0},
		{"beside a sharp teacher", 0.5, -200, 0.25, -200, 0.5 * 0x1p-4 * 0x1p48, 0x1p46, 0},
		{"wider than a sharp teacher", 0, -48*math.Ln2 + 1, 0, -200, 0.5 * (math.E - 2), 0, 0.5 * (math.E - 1)},
		{"sharper than a wide teacher", 0, -200, 0, 0, 0.5 * 199, 0, -0.5},
		{"at the limit", 0, -33, 0, -33.2, 0.5 * (math.Exp(0.2) - 1.2), 0, 0.5 * (math.Exp(0.2) - 1)},
	} {
		got := derived(t, loss.LatentMatch{}, 1, map[string][]float32{loss.LatentMean: {c.mean}, loss.LatentLogVar: {c.logVar}},
			map[string][]float32{loss.LatentMean: {c.toMean}, loss.LatentLogVar: {c.toVar}})
		for name, want := range map[string]float64{"": c.want, loss.LatentMean: c.wantByMean, loss.LatentLogVar: c.wantByVar} {
			if g := float64(got[name][0]); !(math.Abs(g-want) <= 1e-4*math.Abs(want)+1e-6) {
				t.Errorf("%s: %q is %v, want %v", c.name, name, g, want)
			}
		}
	}
}

// evaluate gives the losses of two records.
func evaluate(t *testing.T, l loss.Loss, outputs, inputs map[string][]float32) []float32 {
	t.Helper()
	return derived(t, l, 2, outputs, inputs)[""]
}

// derived gives the losses of n records, under no name, and their derivatives by
// the outputs.
func derived(t *testing.T, l loss.Loss, n int, outputs, inputs map[string][]float32) map[string][]float32 {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	names := []string{""}
	got, err := graph.CallOnceN(e.Backend(), func(in []*graph.Node) []*graph.Node {
		nodes := func(from map[string][]float32) map[string]*graph.Node {
			to := map[string]*graph.Node{}
			for name, v := range from {
				to[name] = graph.Const(in[0].Graph(), tensors.FromFlatDataAndDimensions(v, len(v)/n, n))
			}
			return to
		}
		v := loss.Build(l, loss.Batch{Outputs: nodes(outputs), Inputs: nodes(inputs)})
		out := []*graph.Node{v.Losses}
		for name, d := range v.Adjoints {
			names, out = append(names, name), append(out, d)
		}
		return out
	}, tensors.FromScalar(float32(0)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float32{}
	for k, tensor := range got {
		if err := tensors.ConstFlatData(tensor, func(flat []float32) { out[names[k]] = append(out[names[k]], flat...) }); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// OnOutput has the loss and the derivative of another output only; NoGradient has the value and
// no derivative.
func TestOnOutputAndNoGradient(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	exec, err := graph.NewExec(e.Backend(), func(in []*graph.Node) []*graph.Node {
		outputs := map[string]*graph.Node{nn.Logits: in[0], "other": in[1]}
		inputs := map[string]*graph.Node{loss.Probabilities: in[2]}
		plain := loss.Build(loss.CrossEntropy{}, loss.Batch{Outputs: map[string]*graph.Node{nn.Logits: in[1]}, Inputs: inputs})
		there := loss.Build(loss.OnOutput{Output: "other", Of: loss.CrossEntropy{}}, loss.Batch{Outputs: outputs, Inputs: inputs})
		held := loss.Build(loss.NoGradient{Of: loss.CrossEntropy{}}, loss.Batch{Outputs: outputs, Inputs: inputs})
		both := loss.OnOutput{Output: "other", Of: loss.NoGradient{Of: loss.CrossEntropy{}}}
		if v := loss.Build(both, loss.Batch{Outputs: outputs, Inputs: inputs}); len(v.Adjoints) != 0 {
			t.Errorf("%s has derivatives by %d outputs", both.Name(), len(v.Adjoints))
		}
		own := loss.Build(loss.CrossEntropy{}, loss.Batch{Outputs: outputs, Inputs: inputs})
		if len(there.Adjoints) != 1 || len(held.Adjoints) != 0 {
			t.Errorf("%d and %d outputs have derivatives, want 1 and none", len(there.Adjoints), len(held.Adjoints))
		}
		return []*graph.Node{
			graph.Sub(there.Losses, plain.Losses), graph.Sub(there.Adjoints["other"], plain.Adjoints[nn.Logits]), graph.Sub(held.Losses, own.Losses),
			graph.Sub(there.Losses, own.Losses),
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	column := func(v ...float32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(v, 3, 1) }
	out, err := exec.Call(column(1, 2, 3), column(0.5, -1, 2), column(0.2, 0.3, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	for k, o := range out[:3] {
		for _, v := range tensors.MustCopyFlatData[float32](o) {
			if v != 0 {
				t.Errorf("difference %d is %v", k, v)
			}
		}
	}
	if v := tensors.MustCopyFlatData[float32](out[3])[0]; v == 0 {
		t.Error("the loss on the other output is that of the logits")
	}
	if _, err := (loss.OnOutput{Output: "nowhere", Of: loss.CrossEntropy{}}).Inputs(map[string]int{nn.Logits: 3}); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Errorf("an output that is not there: %v", err)
	}
}

// ZeroOne is 1 if another logit than the label's is the largest; a tie counts as correct. It has
// no gradient.
func TestZeroOneCountsErrors(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	logits := [][]float32{{1, 2, -3}, {1, 2, -3}, {1, 2, -3}, {-4, -4, -5}, {0, 0, 0}, {1e30, -1e30, 5}}
	labels, want := []int{0, 1, 2, 0, 2, 2}, []float32{1, 0, 1, 0, 0, 1}
	exec, err := graph.NewExec(e.Backend(), func(in []*graph.Node) []*graph.Node {
		v := loss.Build(loss.ZeroOne{}, loss.Batch{
			Outputs: map[string]*graph.Node{nn.Logits: in[0]}, Inputs: map[string]*graph.Node{loss.Probabilities: in[1]},
		})
		return []*graph.Node{v.Losses, v.Adjoints[nn.Logits]}
	})
	if err != nil {
		t.Fatal(err)
	}
	z, p := array.New[float32](3, len(labels)), loss.Labels(labels, 3).Transpose()
	for i, row := range logits {
		for c, v := range row {
			z.Row(c)[i] = v
		}
	}
	out, err := exec.Call(tensors.FromFlatDataAndDimensions(z.Data, 3, len(labels)), tensors.FromFlatDataAndDimensions(p.Data, 3, len(labels)))
	if err != nil {
		t.Fatal(err)
	}
	if got := tensors.MustCopyFlatData[float32](out[0]); !slices.Equal(got, want) {
		t.Errorf("mistakes %v, want %v", got, want)
	}
	for _, v := range tensors.MustCopyFlatData[float32](out[1]) {
		if v != 0 {
			t.Errorf("a gradient of %v", v)
		}
	}
	if err := (loss.ZeroOne{}).Check(map[string]array.Matrix[float32]{loss.Probabilities: loss.Labels([]int{0, 7}, 3)}); err == nil {
		t.Error("a label that is none is admitted")
	}
}
