package unlearn_test

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// classesOf returns the number of classes of a request's model.
func classesOf(r unlearn.Request) int {
	n, err := r.Runner.Classes()
	if err != nil {
		panic(err)
	}
	return n
}

// toward returns a target of probabilities.
func toward(l loss.Loss, p array.Matrix[float32], weight float64) train.Target {
	return train.Target{Loss: l, Inputs: map[string]array.Matrix[float32]{loss.Probabilities: p}, Weight: weight}
}
