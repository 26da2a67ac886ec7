// Data and a federation for the tests.

package federated

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

var small = tabular.OneHidden{Features: 4, Outputs: 3, Hidden: 6}

func initial() nn.Params {
	return model.InitialWeights(small, engine.Root(4).Stream(engine.StreamInit))
}

func open(t testing.TB) *model.Runner {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := model.NewRunner(e, small)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// table is a small table with labels.
type table struct {
	x array.Matrix[float32]
	y []int
}

func newTable(rows int) table {
	rng := engine.Root(7).Stream("toy")
	t := table{array.New[float32](rows, small.Features), make([]int, rows)}
	for i := range t.x.Data {
		t.x.Data[i] = float32(rng.NormFloat64())
	}
	for i := range t.y {
		t.y[i] = rng.IntN(small.Outputs)
		t.x.Row(i)[0] += float32(2 * t.y[i])
	}
	return t
}

// objective is the cross-entropy on some of the rows.
func (t table) objective(rows []int) (train.Objective, error) {
	y := make([]int, len(rows))
	for i, row := range rows {
		y[i] = t.y[row]
	}
	return train.Objective{{X: t.x.Gather(rows), Targets: []train.Target{train.CrossEntropy(y, small.Outputs, 1)}}}, nil
}

var local = train.Config{Epochs: 2, Batch: 8, Optimizer: nn.Adam{LR: 0.02}}

// federation has four users of different sizes, all of whom take part.
func federation(t testing.TB) Federation {
	t.Helper()
	data := newTable(60)
	users, err := Dirichlet{Alpha: 1, Least: 3}.Split(data.y, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	return Federation{Config: Config{Rounds: 4, Seed: 5}, Users: users, Work: LocalTraining(data.objective, local)}
}

func run(t testing.TB, f Federation) (nn.Params, []Round) {
	t.Helper()
	p, history, err := Run(t.Context(), open(t), initial(), f, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return p, history
}

func wantWords(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
