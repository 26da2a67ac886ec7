package language_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Two answers, of four tokens and of one; the last token of the first is a surprise.
func ExampleScores() {
	t := &language.Tokens{Offset: []int{0, 4, 5}, LogProb: []float64{-0.1, -0.2, -0.1, -4}, Correct: []bool{true, true, true, false, true}}
	fmt.Println(t.Check())
	t.LogProb = append(t.LogProb, -0.3)
	for _, s := range []language.Score{language.Loss{}, language.MinK{}, language.ExactMemorisation{}, language.ExtractionStrength{}} {
		values, err := s.Scores(language.Evidence{Target: t})
		fmt.Printf("%s: %.2f %v\n", s.Name(), values, err)
	}
	// Output:
	// 5 marks of correct tokens for 4 log-probabilities
	// the last offset is 5, and there are 4 tokens
	// loss: [-1.10 -0.30] <nil>
	// min-k: [-4.00 -0.30] <nil>
	// exact-memorisation: [0.75 1.00] <nil>
	// extraction-strength: [0.00 1.00] <nil>
}

// Six authors with two questions each. The unlearned model prefers right answers a little more than
// the retrained one, to nearly every question.
func ExamplePairedQuality() {
	e := language.PairedEvidence{
		Unlearned: []float64{-1.3, -0.2, 0.4, -0.9, -2.2, -1.1, -0.6, 0.1, -1.0, -0.4, -0.8, -1.7},
		Retrained: []float64{-1.0, 0.1, 0.5, -0.7, -1.8, -0.9, -0.5, 0.0, -0.8, -0.1, -0.7, -1.4},
		Group:     []int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5},
	}
	r, err := language.PairedQuality{}.Test(e, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Difference)
	fmt.Printf("p = %.4f, at least %.4f with %d authors\n", r.Test.P, r.Test.Smallest, r.Test.Clusters)
	// Output:
	// -0.2000 [-0.3197, -0.0803] (95% over groups, n = 6)
	// p = 0.0625, at least 0.0312 with 6 authors
}
