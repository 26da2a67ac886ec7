package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// student and teacher are logits of four records; PyTorch 2.15.0 in float64
// computed, with s = student.requires_grad_() and t = teacher,
//
//	l = F.kl_div(F.log_softmax(s/T, 1), F.softmax(t/T, 1), reduction="batchmean")*T*T; l.backward()
//	l = F.cross_entropy(s, torch.tensor([0, 2, 1, 1])); l.backward()
var (
	student = [][]float64{{1.5, -0.5, 0.25}, {-2, 0.125, 3}, {10, -30, 0}, {0, 0, 0}}
	teacher = [][]float64{{0.5, 0.5, -1}, {-2, 0.125, 3}, {-4, 1, 2}, {100, -100, 0}}
)

// columns lays records out feature-major.
func columns(rows [][]float64) *tensors.Tensor {
	data := make([]float32, 3*len(rows))
	for i, r := range rows {
		for c, v := range r {
			data[c*len(rows)+i] = float32(v)
		}
	}
	return tensors.FromFlatDataAndDimensions(data, 3, len(rows))
}

func softmaxRows(rows [][]float64, temperature float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		top, total := math.Inf(-1), 0.0
		for _, v := range r {
			top = math.Max(top, v/temperature)
		}
		for _, v := range r {
			e := math.Exp(v/temperature - top)
			out[i] = append(out[i], e)
			total += e
		}
		for c := range r {
			out[i][c] /= total
		}
	}
	return out
}

// distil weighs the records and returns the summed loss and its gradient, record by record.
func distil(t *testing.T, probs [][]float64, temperature float64, weights []float32) (loss float64, grad []float64) {
	t.Helper()
	n := len(student)
	out := execute(t, func(in []*Node) []*Node {
		l, a := Distill(in[0], in[1], temperature)
		return []*Node{Mul(l, in[2]), Mul(a, in[2])}
	}, columns(student), columns(probs), tensors.FromFlatDataAndDimensions(weights, 1, n))
	for _, v := range out[0] {
		loss += v
	}
	for i := range n {
		for c := range 3 {
			grad = append(grad, out[1][c*n+i])
		}
	}
	return loss, grad
}

func TestDistillIsPyTorchsKLDivergence(t *testing.T) {
	quarter := []float32{0.25, 0.25, 0.25, 0.25}
	for _, c := range []struct {
		temperature, loss float64
		grad              []float64
	}{
		{1, 4.741853488815893, []float64{0.06337443959087494, -0.08865825537727479, 0.02528381578639981, 0, 0, 0, 0.24953644172553982, -0.06711373766311164, -0.1824227040624282, -0.16666666666666669, 0.08333333333333333, 0.08333333333333333}},
		{2, 10.78896503339763, []float64{0.06048820484916448, -0.10558477716066941, 0.04509657231150495, 0, 0, 0, 0.48162412973624263, -0.1830961071172208, -0.29852802261902184, -0.33333333333333337, 0.16666666666666666, 0.16666666666666666}},
		{5, 26.74818164421055, []float64{0.05431904350625925, -0.11394539553560856, 0.05962635202934937, 0, 0, 0, 0.9230739145305652, -0.48239004200634517, -0.44068387252422003, -0.8333333307568912, 0.41666666666666663, 0.4166666640902245}},
	} {
		loss, grad := distil(t, softmaxRows(teacher, c.temperature), c.temperature, quarter)
		checkClose(t, "loss", []float64{loss}, []float64{c.loss}, 1e-6)
		checkClose(t, "gradient", grad, c.grad, 1e-6)
	}
}

func TestDistillOfOneHotTargetsIsPyTorchsCrossEntropy(t *testing.T) {
	oneHot := [][]float64{{1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}}
	loss, grad := distil(t, oneHot, 1, []float32{0.25, 0.25, 0.25, 0.25})
	checkClose(t, "loss", []float64{loss}, []float64{10.377962398650544}, 1e-6)
	checkClose(t, "gradient", grad, []float64{-0.07417150599455652, 0.023795799037293747, 0.050375706957262734, 0.0015844239053929756, 0.01326621893759363, -0.014850642842986594, 0.2499886505328244, -0.25, 1.1349467175608588e-05, 0.08333333333333333, -0.16666666666666669, 0.08333333333333333}, 1e-6)
}

func TestDistillWeighsEveryRecordForItself(t *testing.T) {
	probs := softmaxRows(teacher, 2)
	var want float64
	var grads []float64
	weights := []float32{1, -2, 0, 0.5}
	for i, w := range weights {
		alone := make([]float32, 4)
		alone[i] = 1
		l, g := distil(t, probs, 2, alone)
		want += float64(w) * l
		for c := range 3 {
			grads = append(grads, float64(w)*g[3*i+c])
		}
	}
	loss, grad := distil(t, probs, 2, weights)
	checkClose(t, "loss", []float64{loss}, []float64{want}, 1e-6)
	checkClose(t, "gradient", grad, grads, 1e-6)
}

func TestAStudentThatEqualsItsTeacherHasNoLoss(t *testing.T) {
	loss, grad := distil(t, softmaxRows(student, 2), 2, []float32{1, 1, 1, 1})
	if math.Abs(loss) > 1e-5 {
		t.Errorf("loss %v", loss)
	}
	for _, g := range grad {
		if math.Abs(g) > 1e-6 {
			t.Errorf("gradient %v", grad)
			break
		}
	}
}

// Logits of a destroyed model: the loss stays finite and the gradient right.
func TestDistillSurvivesHugeLogits(t *testing.T) {
	data := []float32{1e30, -1e30, 0, 1000, -1000, 3e38}
	out := execute(t, func(in []*Node) []*Node {
		l, a := Distill(in[0], in[1], 1)
		return []*Node{l, a}
	}, tensors.FromFlatDataAndDimensions(data, 2, 3), tensors.FromFlatDataAndDimensions([]float32{0, 1, 0, 1, 0, 1}, 2, 3))
	for k, flat := range out {
		for i, v := range flat {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("output %d, element %d is %v", k, i, v)
			}
		}
	}
	checkClose(t, "gradient", out[1], []float64{1, -1, 0, -1, 1, 0}, 1e-6)
}
