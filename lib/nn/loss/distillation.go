package loss

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Distillation is the loss of Hinton, Vinyals and Dean (2015) against a teacher's
// probabilities p at temperature T,
//
//	T^2 KL(p || softmax(z / T))
//
// The factor T^2 keeps the gradient from shrinking with 1/T^2.
type Distillation struct {
	Temperature float64 `json:"temperature,omitempty"` // 0: 1
}

var _ Loss = Distillation{}

// Name implements Loss.
func (Distillation) Name() string { return "distillation" }

// About implements Loss.
func (Distillation) About() string {
	return "a classifier against a teacher's probabilities, softened by a temperature"
}

// Inputs implements Loss.
func (l Distillation) Inputs(outputs map[string]int) (map[string]int, error) {
	return probabilityInputs(l, outputs)
}

// Check implements Loss.
func (l Distillation) Check(in map[string]array.Matrix[float32]) error {
	if !(l.Temperature >= 0) || math.IsInf(l.Temperature, 0) {
		return fmt.Errorf("the temperature is %v", l.Temperature)
	}
	return checkDistributions(in[Probabilities])
}

// Graph implements Loss.
func (l Distillation) Graph(g Batch) Value {
	if l.Temperature == 0 {
		return distill(g, 1)
	}
	return distill(g, l.Temperature)
}
