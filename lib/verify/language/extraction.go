package language

// ExtractionStrength is the share of a document that the model completes by itself (Carlini et al.
// 2021; Wang et al. 2024):
//
//	score = 1 - k/T,  k the smallest number of first tokens after which all are the most probable
//
// If every token is right it is 1; if the last one is wrong nothing is completed, k = T and it is 0.
// Needs Correct. Direction: higher is more like a member; the null is the retrained model's.
//
// Differences from open-unlearning's memorization.py, which Coded follows in 1: (1) the program
// tries k = 0 ... T-1 and keeps T-1 where none fits, so that a document whose last token is wrong
// has 1/T, as one of which only the last token is right; it cannot reach 0, short answers look more
// extracted than long ones, and an answer of one token has 1, right or wrong. (2) It leaves out the end of the text (Tokens.WithoutLast).
// (3) It gives an empty document 0 and counts it in the mean (its comment says None); here it is
// refused.
type ExtractionStrength struct {
	Coded bool // as open-unlearning computes it
}

var _ Score = ExtractionStrength{}

// Name implements Score.
func (x ExtractionStrength) Name() string {
	if x.Coded {
		return "extraction-strength-coded"
	}
	return "extraction-strength"
}

// About implements Score.
func (ExtractionStrength) About() string {
	return "share of the document that the model completes by itself"
}

// Scores implements Score.
func (x ExtractionStrength) Scores(e Evidence) ([]float64, error) {
	return e.Target.perCorrect(x.Name(), func(correct []bool) float64 {
		n := len(correct)
		k := n
		for k > 0 && correct[k-1] {
			k--
		}
		if x.Coded {
			k = min(k, n-1)
		}
		return 1 - float64(k)/float64(n)
	})
}
