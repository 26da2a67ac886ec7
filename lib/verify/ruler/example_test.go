package ruler_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Records 0 and 1 were to be forgotten. Record 0 still lies exactly on a
// retained record; record 1 points away from all of them.
func ExampleM4() {
	u := array.Matrix[float64]{Rows: 6, Cols: 2, Data: []float64{
		3, 4,
		-1, -1,
		3, 4,
		4, 3,
		0, 1,
		1, 0,
	}}
	m4, ranks, err := ruler.M4(ruler.Evidence{Unlearned: &u, Forget: []int{0, 1}, Retain: []int{2, 3, 4, 5}}, ruler.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ranks", ranks, "M4", m4.Value, "null", *m4.Null)
	// Output:
	// ranks [1 0] M4 0.5 null 0.5
}

func ExampleMeasure() {
	oracle := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{1, 0, 0, 1, 3, 4, 4, 3}}
	unlearned := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{4, 3, 0, 1, 3, 4, 4, 3}}
	r, err := ruler.Measure(ruler.Evidence{Unlearned: &unlearned, Oracle: &oracle, Original: &oracle, Forget: []int{0}, Retain: []int{1, 2, 3}}, ruler.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("M1 %.2f, M2 %.2f, M3 %.2f, M4 %.2f\n", r.M1.Value, r.M2.Value, r.M3.Value, r.M4.Value)
	// Output:
	// M1 0.80, M2 -0.20, M3 -0.20, M4 1.00
}

func ExampleSummarize() {
	var obs []ruler.Observation
	for d, name := range []string{"a", "b", "c", "d", "e", "f"} {
		for seed := range 3 {
			obs = append(obs, ruler.Observation{DataSet: name, Seed: seed, Value: -0.01 - 0.002*float64(d) + 0.001*float64(seed)})
		}
	}
	s, err := ruler.Summarize(obs, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %.4f, ICC %.2f, Wilcoxon p %.4f, effect %s\n", s.Mean.Value, s.Mixed.ICC, s.Wilcoxon.P, s.Effect)
	// Output:
	// mean -0.0140, ICC 0.93, Wilcoxon p 0.0312, effect large
}
