// Example of a federation with a user who leaves.

package federated_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Five users with different mixtures of classes train together, three of five in a round;
// user 2 leaves.
func Example() {
	e, err := engine.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	net := tabular.OneHidden{Features: 2, Outputs: 2, Hidden: 4}
	r, err := model.NewRunner(e, net)
	if err != nil {
		log.Fatal(err)
	}
	x, y := array.New[float32](100, 2), make([]int, 100)
	for i := range y {
		y[i] = i % 2
		x.Row(i)[0] = float32(y[i])
		x.Row(i)[1] = float32(i) / 100
	}
	users, err := federated.Dirichlet{Alpha: 1, Least: 1}.Split(y, 5, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, u := range users {
		fmt.Println("user", u.ID, "has", len(u.Rows), "records")
	}
	objective := func(rows []int) (train.Objective, error) {
		labels := make([]int, len(rows))
		for i, row := range rows {
			labels[i] = y[row]
		}
		return train.Objective{{X: x.Gather(rows), Targets: []train.Target{train.CrossEntropy(labels, 2, 1)}}}, nil
	}
	f := federated.Federation{
		Config:   federated.Config{Rounds: 4, Fraction: 0.6, Seed: 3},
		Users:    users,
		Work:     federated.LocalTraining(objective, train.Config{Epochs: 1, Batch: 10, Optimizer: nn.Adam{LR: 0.01}}),
		Requests: federated.Schedule{{Round: 3, User: 2, Leaves: true}},
	}
	_, history, err := federated.Run(context.Background(), r, model.InitialWeights(net, engine.Root(1).Stream(engine.StreamInit)), f, federated.Hooks{})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range history {
		fmt.Println("round", h.Round, "users", h.Answered)
	}
	// Output:
	// user 0 has 6 records
	// user 1 has 47 records
	// user 2 has 20 records
	// user 3 has 9 records
	// user 4 has 18 records
	// round 1 users [0 1 4]
	// round 2 users [1 2 3]
	// round 3 users [0 1]
	// round 4 users [3 4]
}
