// The main job of the package on a built-in data set: a trained model is asked to forget.

package unlearn_test

import (
	"context"
	"fmt"
	"os"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Points on two half moons, and an island of points with the other label, which a model can only
// memorise. Methods are applied to a request: the trained model, the records to forget, and those
// to keep. Each is shown only what it says that it Sees.
func Example() {
	l, done := temporaryLab()
	defer done()
	ctx := context.Background()
	c, err := l.Case(ctx, lab.Setting{
		Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"),
		Fit: train.Config{Epochs: 150, Optimizer: nn.Adam{LR: 5e-3}},
	})
	must(err)
	for _, m := range []unlearn.Method{unlearn.NoOp{}, unlearn.NegGrad{LR: 0.002}, unlearn.SCRUB{LR: 0.002}} {
		request, err := c.Request(ctx, m)
		must(err)
		weights, report, err := unlearn.Apply(ctx, m, request)
		must(err)
		accuracy, err := c.Accuracy(c.NewModel(m.Info().Name, weights))
		must(err)
		fmt.Printf("%s, %d epochs: knows the island %t, knows the moons %t\n",
			m.Info().Name, report.Epochs, accuracy.Forget.Value > 0.5, accuracy.Test.Value > 0.9)
	}
	// Output:
	// do-nothing, 0 epochs: knows the island true, knows the moons true
	// neggrad, 10 epochs: knows the island false, knows the moons true
	// scrub, 10 epochs: knows the island false, knows the moons true
}

// temporaryLab opens a lab whose results go when done is called.
func temporaryLab() (l *lab.Lab, done func()) {
	dir, err := os.MkdirTemp("", "unlearn")
	must(err)
	s, err := store.Open(dir)
	must(err)
	e, err := engine.Open("auto")
	must(err)
	return &lab.Lab{Engine: e, Store: s}, func() { e.Close(); must(os.RemoveAll(dir)) }
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
