// Per-example gradients against a loop over records.

package tabular

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
)

// byLoop computes every record's gradient, each in a batch of one and by the
// library's automatic differentiation.
func byLoop(t *testing.T, r *model.Runner, p nn.Params, x array.Matrix[float32], y []int) [][][]float64 {
	t.Helper()
	grads := make([][][]float64, x.Rows)
	s := newStep(t, r, x.Gather([]int{0}), y[:1])
	for i := range grads {
		s.load(x.Gather([]int{i}), y[i:i+1])
		_, grads[i] = s.run(s.auto, p, nil)
	}
	return grads
}

// labelled are records with labels of the runner's classes.
func labelled(r *model.Runner, x array.Matrix[float32], y []int) model.Examples {
	return model.LabelledExamples(x, y, model.OutputWidths(r.Arch)[nn.Logits])
}

func norm(g [][]float64) float64 {
	var sum float64
	for _, t := range g {
		for _, v := range t {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// add adds factor times f of every entry of g to sum.
func add(sum, g [][]float64, factor float64, f func(v float64) float64) [][]float64 {
	if sum == nil {
		for _, t := range g {
			sum = append(sum, make([]float64, len(t)))
		}
	}
	for i, t := range g {
		for j, v := range t {
			sum[i][j] += factor * f(v)
		}
	}
	return sum
}

func same(v float64) float64   { return v }
func square(v float64) float64 { return v * v }

func values(p nn.Params) [][]float64 {
	var out [][]float64
	for _, v := range p {
		row := make([]float64, len(v.Data))
		for j, x := range v.Data {
			row[j] = float64(x)
		}
		out = append(out, row)
	}
	return out
}

// The table is larger than a chunk, so that sums over chunks and padding enter.
const loopRows = 70

func TestPerExampleGradientsAreThoseOfALoop(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, y := toy(loopRows, 5)
		grads := byLoop(t, r, p, x, y)
		norms, err := r.GradientNorms(p, labelled(r, x, y))
		if err != nil {
			t.Fatal(err)
		}
		var clipped, empirical [][]float64
		over := 0
		clip := 0.99 * norm(grads[0]) // in the midst of them, and not quite one of them
		for i, g := range grads {
			want := norm(g)
			if math.Abs(norms[i]-want) > 1e-6*want {
				t.Errorf("record %d: norm %v, in the loop %v", i, norms[i], want)
			}
			if want > clip {
				over++
			}
			clipped = add(clipped, g, min(1, clip/want), same)
			empirical = add(empirical, g, 1.0/loopRows, square)
		}
		sum, share, err := r.ClippedSum(p, labelled(r, x, y), clip)
		if err != nil {
			t.Fatal(err)
		}
		if d, name := apart(t, p, values(sum), clipped); !(d < 1e-6) {
			t.Errorf("clipped sum: %s is %g apart", name, d)
		}
		if over == 0 || over == loopRows || share != float64(over)/loopRows {
			t.Errorf("share clipped %v, in the loop %d of %d", share, over, loopRows)
		}
		fisher, err := r.EmpiricalFisher(p, labelled(r, x, y))
		if err != nil {
			t.Fatal(err)
		}
		if d, name := apart(t, p, values(fisher), empirical); !(d < 1e-6) {
			t.Errorf("empirical Fisher: %s is %g apart", name, d)
		}
	})
}

func TestTheFisherDiagonalIsThatOfALoop(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, _ := toy(loopRows, 5)
		pred, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float64
		for c := range model.OutputWidths(r.Arch)[nn.Logits] {
			y := make([]int, x.Rows)
			for i := range y {
				y[i] = c
			}
			for i, g := range byLoop(t, r, p, x, y) {
				want = add(want, g, probability(pred.Logits().Row(i), c)/loopRows, square)
			}
		}
		got, err := r.FisherDiagonal(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if err := nn.SameShape(p, got); err != nil {
			t.Fatal(err)
		}
		if d, name := apart(t, p, values(got), want); !(d < 1e-6) {
			t.Errorf("Fisher diagonal: %s is %g apart", name, d)
		}
	})
}

func probability(z []float32, c int) float64 {
	var total float64
	for _, v := range z {
		total += math.Exp(float64(v) - float64(z[c]))
	}
	return 1 / total
}

func TestPerExampleGradientsDoNotDependOnTheChunk(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, y := toy(loopRows, 5)
		small, err := model.NewRunner(r.Engine.WithChunkRows(32), r.Arch)
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.FisherDiagonal(p, x)
		if err != nil {
			t.Fatal(err)
		}
		b, err := small.FisherDiagonal(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if d, name := apart(t, p, values(a), values(b)); !(d < 1e-6) {
			t.Errorf("%s is %g apart", name, d)
		}
		again, err := r.FisherDiagonal(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if again.Hash() != a.Hash() {
			t.Error("the same call twice gives other bits")
		}
		for _, runner := range []*model.Runner{r, small} {
			norms, err := runner.GradientNorms(p, labelled(r, x, y))
			if err != nil || len(norms) != x.Rows {
				t.Errorf("%d norms: %v", len(norms), err)
			}
		}
	})
}

func TestPerExampleInputsAreChecked(t *testing.T) {
	r := modeltest.OpenRunner(t, MLP{Features: 5, Outputs: 3, Hidden: 4})
	p := weights(r.Arch, 1)
	x, y := toy(4, 5)
	refused := func(err error, words string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	_, err := r.GradientNorms(p, labelled(r, x, y[:3]))
	refused(err, "the input probabilities is 3 x 3, not 4 x 3")
	_, err = r.EmpiricalFisher(p, labelled(r, x, []int{0, 1, 3, 0}))
	refused(err, "probabilities of record 2 add up to 0")
	_, err = r.GradientNorms(p, labelled(r, x, []int{0, -1, 2, 0}))
	refused(err, "probabilities of record 1 add up to 0")
	for _, clip := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, _, err = r.ClippedSum(p, labelled(r, x, y), clip)
		refused(err, "clipping norm")
	}
	_, err = r.FisherDiagonal(p[:3], x)
	refused(err, "tensors")
	_, err = r.FisherDiagonal(p, array.New[float32](0, 5))
	refused(err, "no rows")
	x.Data[7] = float32(math.NaN())
	_, err = r.FisherDiagonal(p, x)
	refused(err, "row 1, column 2")
}
