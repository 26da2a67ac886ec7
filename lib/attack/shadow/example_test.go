package shadow_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
)

// Thirty models, each trained on a random half of forty cells of one kind, which they
// remember or do not. Nobody has to find non-members that look like members.
func ExampleModels_Attack() {
	for _, memory := range []float64{0, 1} {
		rng := rand.New(rand.NewPCG(1, 2))
		f := shadow.Models{Scores: array.New[float64](30, 40)}
		for m := range 30 {
			in := make([]bool, 40)
			for k, i := range rng.Perm(40) {
				in[i] = k < 20
			}
			f.In = append(f.In, in)
			for i := range in {
				f.Scores.Row(m)[i] = float64(i) + rng.NormFloat64() // some cells are harder than others
				if in[i] {
					f.Scores.Row(m)[i] += memory
				}
			}
		}
		s, err := f.Attack(shadow.LiRA{Pooled: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("memory %v: AUC %.2f [%.2f, %.2f]\n", memory, s.AUC.Value, s.AUC.Low, s.AUC.High)
	}
	// Output:
	// memory 0: AUC 0.47 [0.43, 0.51]
	// memory 1: AUC 0.76 [0.72, 0.80]
}
