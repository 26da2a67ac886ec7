package ensemble_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/ensemble"
)

// Twelve models that a method left fit what they were to forget a little better than
// retrained ones do.
func ExampleCompare() {
	rng := rand.New(rand.NewPCG(1, 2))
	margins := func(memory float64) array.Matrix[float64] {
		m := array.New[float64](12, 30)
		for i := range m.Data {
			m.Data[i] = memory + rng.NormFloat64()
		}
		return m
	}
	e := ensemble.Evidence{Unlearned: margins(0.7), Retrained: margins(0), Second: margins(0)}
	for _, d := range ensemble.Distances() {
		j, err := ensemble.Compare(d, e, ensemble.Options{Rng: rng})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-16s %6.2f, of retraining %5.2f, p = %.3f\n", d.Name(), j.Value, *j.Null, j.P)
	}
	// Output:
	// class-membership   0.73, of retraining  0.06, p = 0.003
	// forget-quality    -1.64, of retraining -0.30, p = 0.003
	// forgetting-score   0.17, of retraining  0.23, p = 0.043
	// klom               5.61, of retraining  4.41, p = 0.005
}
