package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// A network learns the built-in Breast Cancer table: load, split, prepare, train, predict.
func Example() {
	ctx := context.Background()
	e, err := engine.Open("auto")
	check(err)
	defer e.Close()
	table, err := datasets.Load(ctx, "breast_cancer")
	check(err)
	split, err := datasets.StratifiedSplit(table.Y, 0.2, 999)
	check(err)
	data, err := datasets.Prepare(table, split)
	check(err)

	arch := tabular.MLP{Features: data.Train.X.Cols, Outputs: len(table.Classes)}
	runner, err := model.NewRunner(e, arch)
	check(err)
	config := train.Config{Epochs: 20, Batch: 64, Seed: 1}
	objective := train.Objective{{X: data.Train.X, Targets: []train.Target{train.CrossEntropy(data.Train.Y, arch.Outputs, 1)}}}
	start := model.InitialWeights(arch, config.Seed.Stream(engine.StreamInit))
	weights, history, err := train.Fit(ctx, runner, start, objective, config, train.Hooks{})
	check(err)
	out, err := runner.Predict(weights, data.Test.X)
	check(err)
	fmt.Printf("%d epochs, more than 9 of 10 held-out records right: %t\n", len(history), train.Accuracy(out.Logits(), data.Test.Y) > 0.9)
	// Output: 20 epochs, more than 9 of 10 held-out records right: true
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Exclusive or, which no linear model can learn.
func ExampleFit() {
	e, err := engine.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	arch := tabular.MLP{Features: 2, Outputs: 2, Hidden: 16, Dropout: new(0.0)}
	runner, err := model.NewRunner(e, arch)
	if err != nil {
		log.Fatal(err)
	}
	x := array.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{0, 0, 0, 1, 1, 0, 1, 1}}
	y := []int{0, 1, 1, 0}
	seed := engine.Root(1)
	objective := train.Objective{{Name: "all records", X: x, Targets: []train.Target{train.CrossEntropy(y, 2, 1)}}}
	config := train.Config{Epochs: 200, Optimizer: nn.Adam{LR: 0.02}, Seed: seed}
	p, history, err := train.Fit(context.Background(), runner, model.InitialWeights(arch, seed.Stream(engine.StreamInit)), objective, config, train.Hooks{})
	if err != nil {
		log.Fatal(err)
	}
	out, err := runner.Predict(p, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy %.0f after %d epochs, loss below 0.05: %t\n", train.Accuracy(out.Logits(), y), len(history), history[len(history)-1].Loss < 0.05)
	// Output: accuracy 1 after 200 epochs, loss below 0.05: true
}

func ExampleSoftmax() {
	logits := array.Matrix[float32]{Rows: 1, Cols: 2, Data: []float32{2, 0}}
	fmt.Printf("%.3f %.3f\n", train.Softmax(logits, 1).Row(0), train.Softmax(logits, 2).Row(0))
	// Output: [0.881 0.119] [0.731 0.269]
}

// Transforms of a gradient run without a training, too: a weight decay, then clipping.
func ExampleChain() {
	step := train.GradientStep{
		Params: nn.Params{{Name: "w", Shape: []int{2}, Data: []float32{2, 4}}},
		Grads:  [][]float64{{2, 2}},
	}
	check(train.Chain{train.Decay{Rate: 0.5}}.Apply(&step))
	fmt.Println(step.Grads)
	check(train.Chain{train.ClipNorm{Max: 1}}.Apply(&step))
	fmt.Printf("%.1f\n", step.Grads)
	// Output:
	// [[3 4]]
	// [[0.6 0.8]]
}
