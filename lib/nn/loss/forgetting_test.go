// The losses that language models unlearn by, against another implementation.

package loss_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Scores of two records, of three positions and five tokens: 2 sin(1 + 3 v + 5 p + 7 i), and of the
// teacher 2 cos(2 + 5 v + 3 p + 11 i). The second record has two tokens that count.
const (
	forgetVocabulary = 5
	forgetPositions  = 3
)

func forgottenScores(of func(v, p, i int) float64) (out []float32) {
	for v := range forgetVocabulary {
		for p := range forgetPositions {
			for i := range 2 {
				out = append(out, float32(of(v, p, i)))
			}
		}
	}
	return out
}

// Values and derivatives of PyTorch 2.15 in float64, by the formulas of open-unlearning (commit
// d3d7cf9e): compute_dpo_loss with win_inputs=None, SimNPO, compute_wga_loss, compute_satimp_loss,
// compute_kl_divergence and compute_undial_loss. Of the weighted ascents the derivatives are
// PyTorch's, and the value is the sum by hand; see WeightedAscent. UNDIAL's value is without the
// entropy of the teacher.
func TestForgettingLossesAreThoseOfPyTorch(t *testing.T) {
	outputs := map[string][]float32{
		loss.NextLogits:        forgottenScores(func(v, p, i int) float64 { return 2 * math.Sin(float64(1+3*v+5*p+7*i)) }),
		loss.NextTeacherLogits: forgottenScores(func(v, p, i int) float64 { return 2 * math.Cos(float64(2+5*v+3*p+11*i)) }),
	}
	tokens := []float32{1, 3, 4, 2, 0, 2}
	joint, mean := []float32{1, 1, 1, 1, 1, 0}, []float32{1. / 3, 0.5, 1. / 3, 0.5, 1. / 3, 0}
	for _, c := range []struct {
		name      string
		l         loss.Loss
		weights   []float32
		reference []float32
		want      []float64  // nil: not compared
		first     [5]float64 // by the scores of record 0 at position 0
		second    [5]float64 // and of record 1 at position 1
	}{
		{"NPO", loss.NegativePreference{Vocabulary: 5, Beta: 0.7}, joint, []float32{-4.0730620516, -5.4705638826}, []float64{0.0104172, 1.1626032},
			[5]float64{-0.0032706, 0.007145, -0.0022614, -0.0002047, -0.0014083}, [5]float64{-0.2591194, -0.062875, 0.5176794, -0.109865, -0.08582}},
		{"SimNPO", loss.NegativePreference{Vocabulary: 5, Beta: 0.7}, mean, []float32{-0.3, -0.3}, []float64{0.2025086, 0.3462845},
			[5]float64{-0.0204968, 0.0447779, -0.0141724, -0.0012831, -0.0088256}, [5]float64{-0.0442371, -0.0107341, 0.0883787, -0.0187563, -0.0146513}},
		{"WGA", loss.WeightedAscent{Vocabulary: 5, Saturation: 2.5}, mean, nil, nil,
			[5]float64{-6.9e-06, 1.5e-05, -4.7e-06, -4e-07, -3e-06}, [5]float64{-0.0046906, -0.0011382, 0.009371, -0.0019888, -0.0015535}},
		{"SatImp", loss.WeightedAscent{Vocabulary: 5, Saturation: 5, Importance: 1}, mean, nil, nil,
			[5]float64{}, [5]float64{-8.79e-05, -2.13e-05, 0.0001756, -3.73e-05, -2.91e-05}},
		{"three factors", loss.WeightedAscent{Vocabulary: 5, Saturation: 1.5, Importance: 3}, mean, nil, nil,
			[5]float64{-0.000353, 0.0007711, -0.0002441, -2.21e-05, -0.000152}, [5]float64{-0.0096462, -0.0023406, 0.0192715, -0.0040899, -0.0031948}},
		{"KL", loss.NextDistillation{Vocabulary: 5}, mean, nil, []float64{1.4422321, 1.0280353},
			[5]float64{0.1366779, -0.1298683, -0.0592368, -0.0079894, 0.0604167}, [5]float64{0.1871645, 0.032003, -0.0509176, -0.1976599, 0.02941}},
		{"UNDIAL", loss.NextDistillation{Vocabulary: 5, Penalty: 10}, mean, nil, nil,
			[5]float64{0.1276516, 0.0061159, -0.1714203, -0.0199558, 0.0576086}, [5]float64{0.1839425, 0.0246884, 0.1128482, -0.3339538, 0.0124747}},
	} {
		in := map[string][]float32{loss.NextTokens: tokens, loss.NextWeights: c.weights}
		if c.reference != nil {
			in[loss.ReferenceLogProb] = c.reference
		}
		got := derived(t, c.l, 2, outputs, in)
		for i, want := range c.want {
			if v := float64(got[""][i]); math.Abs(v-want) > 2e-6 {
				t.Errorf("%s, record %d: %v, PyTorch %v", c.name, i, v, want)
			}
		}
		for v := range forgetVocabulary {
			row := v * forgetPositions
			first, second := float64(got[loss.NextLogits][row*2]), float64(got[loss.NextLogits][(row+1)*2+1])
			if math.Abs(first-c.first[v]) > 2e-6 || math.Abs(second-c.second[v]) > 2e-6 {
				t.Errorf("%s, derivatives by token %d: %v and %v, PyTorch %v and %v", c.name, v, first, second, c.first[v], c.second[v])
			}
		}
	}
}

// The mean probability of two tokens, of 0.5 and 0.2.
func TestWeightedAscentIsTheMeanProbabilityOfTokens(t *testing.T) {
	scores := []float32{float32(math.Log(0.5)), float32(math.Log(0.8)), float32(math.Log(0.5)), float32(math.Log(0.2))}
	in := map[string][]float32{loss.NextTokens: {0, 1}, loss.NextWeights: {0.5, 0.5}}
	for _, c := range []struct {
		l    loss.WeightedAscent
		want float64
	}{
		{loss.WeightedAscent{Vocabulary: 2, Saturation: 1}, 0.35},
		{loss.WeightedAscent{Vocabulary: 2, Saturation: 2, Importance: 1}, (0.5*0.5/2 - 0.125/3 + 0.04/2 - 0.008/3) / 2},
	} {
		if got := derived(t, c.l, 1, map[string][]float32{loss.NextLogits: scores}, in)[""][0]; math.Abs(float64(got)-c.want) > 1e-6 {
			t.Errorf("%+v: %v, want %v", c.l, got, c.want)
		}
	}
}

// A text far more probable than the reference, and one far less probable: no overflow, and the slope
// is between 2 and 0.
func TestThePreferenceOfExtremeTextsIsFinite(t *testing.T) {
	for r, want := range map[float32][2]float64{-1e6: {2e6, 2}, 1e6: {0, 0}} {
		got := derived(t, loss.NegativePreference{Vocabulary: 2, Beta: 3}, 1, map[string][]float32{loss.NextLogits: {0, 0}},
			map[string][]float32{loss.NextTokens: {0}, loss.NextWeights: {1}, loss.ReferenceLogProb: {r}})
		if v := float64(got[""][0]); math.Abs(v-want[0]) > 4 || math.Abs(2*float64(got[loss.NextLogits][0])-want[1]) > 1e-6 {
			t.Errorf("reference %v: loss %v, derivative %v", r, v, got[loss.NextLogits][0])
		}
	}
}

// Activations of one token and two channels: [1, 2] against [0, 4], weight 0.5.
func TestActivationDistanceByHand(t *testing.T) {
	out := map[string][]float32{loss.TokenActivations: {1, 2}, loss.TeacherActivations: {0, 4}}
	for _, c := range []struct {
		l  loss.ActivationDistance
		in map[string][]float32
	}{
		{loss.ActivationDistance{Width: 2}, map[string][]float32{loss.Target: {0, 4}, loss.NextWeights: {0.5}}},
		{loss.ActivationDistance{Width: 2, Teacher: true}, map[string][]float32{loss.NextWeights: {0.5}}},
	} {
		got := derived(t, c.l, 1, out, c.in)
		if got[""][0] != 0.5*(1+4)/2 || got[loss.TokenActivations][0] != 0.5 || got[loss.TokenActivations][1] != -1 {
			t.Errorf("%+v: %v", c.l, got)
		}
		if by := got[loss.TeacherActivations]; c.l.Teacher != (len(by) == 2 && by[0] == -0.5 && by[1] == 1) {
			t.Errorf("%+v: by the teacher %v", c.l, by)
		}
	}
}

func TestAnActivationsWeightIsRefusedByItsRecord(t *testing.T) {
	w := array.New[float32](2, 1)
	w.Data[1] = -1
	in := map[string]array.Matrix[float32]{loss.NextWeights: w, loss.Target: array.New[float32](2, 2)}
	err := loss.CheckInputs(loss.ActivationDistance{Width: 2}, map[string]int{loss.TokenActivations: 2}, in, 2)
	if err == nil || !strings.Contains(err.Error(), "record 1, token 0: the weight is -1") {
		t.Errorf("error %v", err)
	}
}

// Two pairs: the second texts have the teacher's scores of above. Values and derivatives of PyTorch 2.15
// in float64, by compute_dpo_loss of open-unlearning (commit d3d7cf9e) with both texts.
func TestDirectPreferenceIsThatOfPyTorch(t *testing.T) {
	outputs := map[string][]float32{
		loss.NextLogits:   forgottenScores(func(v, p, i int) float64 { return 2 * math.Sin(float64(1+3*v+5*p+7*i)) }),
		loss.SecondLogits: forgottenScores(func(v, p, i int) float64 { return 2 * math.Cos(float64(2+5*v+3*p+11*i)) }),
	}
	got := derived(t, loss.DirectPreference{Vocabulary: 5, Beta: 0.7}, 2, outputs, map[string][]float32{
		loss.NextTokens: {1, 3, 4, 2, 0, 2}, loss.NextWeights: {1, 1, 1, 1, 1, 0},
		loss.SecondTokens: {2, 4, 0, 3, 1, 3}, loss.SecondWeights: {1, 1, 1, 1, 0, 1},
		loss.ReferenceLogProb: {-1.5, 2.25},
	})
	for i, want := range []float64{0.0106756, 0.8500613} {
		if v := float64(got[""][i]); math.Abs(v-want) > 2e-6 {
			t.Errorf("pair %d: %v, PyTorch %v", i, v, want)
		}
	}
	for name, want := range map[string][2][forgetVocabulary]float64{ // of pair 0 at position 0, and of pair 1 at position 1
		loss.NextLogits:   {{-0.0033515, 0.0073219, -0.0023174, -0.0002098, -0.0014431}, {-0.1994715, -0.0484015, 0.3985124, -0.0845747, -0.0660647}},
		loss.SecondLogits: {{0.0002931, 0.0030431, -0.003816, 0.0003886, 9.12e-05}, {0.0068094, 0.0154585, 0.1685876, -0.2266461, 0.0357907}},
	} {
		for v := range forgetVocabulary {
			row := v * forgetPositions
			first, second := float64(got[name][row*2]), float64(got[name][(row+1)*2+1])
			if math.Abs(first-want[0][v]) > 2e-6 || math.Abs(second-want[1][v]) > 2e-6 {
				t.Errorf("%s, derivatives by token %d: %v and %v, PyTorch %v and %v", name, v, first, second, want[0][v], want[1][v])
			}
		}
	}
}
