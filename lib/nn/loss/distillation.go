package loss

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Distillation is Hinton, Vinyals and Dean's loss (2015) against a teacher's
// probabilities p, softened by the temperature T with which they were made,
//
//	T^2 KL(p || softmax(z / T))
//
// which keeps the size of its gradient from shrinking with 1/T^2.
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
		return fmt.Errorf("its temperature is %v", l.Temperature)
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
