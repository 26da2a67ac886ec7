package language

// Reference is by how much a document is more probable under the model than under another one, which
// does not know it (Carlini et al. 2021; Ye et al. 2022):
//
//	score = mean_t l_t - mean_t l_t of the reference
//
// Needs LogProb of both, on the same tokens: the two models share a tokenizer. Direction: higher is
// more like a member. Null: see Score. Exchanging the models changes the sign.
//
// Differences from open-unlearning's mia/reference.py: (1) its score is loss less loss, of the other
// sign. mimir's reference.py is the same; the name get_ll of what it subtracts promises a
// log-likelihood and is a loss, except for its OpenAI models, where it is a log-likelihood.
type Reference struct{}

var _ Score = Reference{}

// Name implements Score.
func (Reference) Name() string { return "reference" }

// About implements Score.
func (Reference) About() string {
	return "mean log-probability less that under a reference model"
}

// Scores implements Score.
func (r Reference) Scores(e Evidence) ([]float64, error) {
	out, other, err := pairedMeans(r.Name(), "reference", e.Target, e.Reference)
	if err != nil {
		return nil, err
	}
	for d := range out {
		out[d] -= other[d]
	}
	return out, nil
}

// pairedMeans returns the mean log-probabilities of documents in two roles.
func pairedMeans(name, role string, target, second *Tokens) (a, b []float64, err error) {
	if a, err = target.perDocument(name, func(from, to int) float64 { return mean(target.LogProb[from:to]) }); err != nil {
		return nil, nil, err
	}
	if err = second.sameDocuments(name, role, target); err != nil {
		return nil, nil, err
	}
	b, err = second.perDocument(name, func(from, to int) float64 { return mean(second.LogProb[from:to]) })
	return a, b, err
}
