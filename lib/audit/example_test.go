package audit_test

import (
	"context"
	"fmt"
	"os"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Train, unlearn, compare: a model that memorised a planted group, an
// unlearning method, and what the lenses call it beside original and oracle.
func Example() {
	dir, err := os.MkdirTemp("", "audit")
	check(err)
	defer os.RemoveAll(dir)
	s, err := store.Open(dir)
	check(err)
	e, err := engine.Open("auto")
	check(err)
	defer e.Close()
	ctx := context.Background()
	c, err := audit.Open(ctx, &lab.Lab{Engine: e, Store: s}, lab.Setting{Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Fit: train.Config{Epochs: 20}})
	check(err)
	m, err := c.Unlearn(ctx, unlearn.NegGrad{})
	check(err)
	c.Lenses = []audit.Lens{audit.AgainstOracle{}}
	readings, err := c.Readings(c.Original, m, c.Oracle)
	check(err)
	original, method, oracle := readings[0].Value, readings[1].Value, readings[2].Value
	fmt.Println("the original remembers:", original < -0.05)
	fmt.Println("the method came nearer to the oracle:", original < method && method < oracle)
	// All lenses side by side, with intervals, chance floors and what they call it:
	table, err := c.Compare(c.Original, m, c.Oracle)
	check(err)
	fmt.Println(len(table.Rows), "models in the table")
	// Output:
	// the original remembers: true
	// the method came nearer to the oracle: true
	// 3 models in the table
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
