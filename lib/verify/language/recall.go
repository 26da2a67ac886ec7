package language

// ReCaLL is the mean log-probability of a document behind a text that the model was not trained
// on, over that of the document alone (Xie et al. 2024):
//
//	score = (mean_t l_t behind the prefix)/(mean_t l_t)
//
// Members lose more by the prefix, so that the ratio of the two losses is larger. Needs LogProb of
// both, of the document's tokens alone. Direction: higher is more like a member. Null: see Score. It
// is at least 0; exchanging the two gives the reciprocal. A document that is certain, of
// log-probability 0, has no ratio and is refused.
//
// Differences from mimir's recall.py: (1) the program cuts the prefix to what fits before the text
// and goes on with what is left; the arrays say nothing of it. (2) Its ratio is that of a
// log-likelihood and a loss: minus this, so that there lower is more like a member. (3) The text's
// first token has a prediction behind a prefix and none without, so that the program's two means
// are over T and T-1 tokens; here both are over the same.
type ReCaLL struct{}

var _ Score = ReCaLL{}

// Name implements Score.
func (ReCaLL) Name() string { return "recall" }

// About implements Score.
func (ReCaLL) About() string {
	return "mean log-probability behind a non-member's text, over that of the document alone"
}

// Scores implements Score.
func (r ReCaLL) Scores(e Evidence) ([]float64, error) {
	alone, behind, err := pairedMeans(r.Name(), "prefixed", e.Target, e.Prefixed)
	if err != nil {
		return nil, err
	}
	for d, l := range alone {
		if l == 0 {
			return nil, &DocumentError{r.Name(), d, "is certain, of log-probability 0: there is no ratio"}
		}
		behind[d] /= l
	}
	return behind, nil
}
