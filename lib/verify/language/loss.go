package language

// Loss is the mean log-probability of a document's tokens, minus the loss (Yeom et al. 2018):
//
//	score = mean_t l_t
//
// Needs LogProb. Direction: higher is more like a member. Null: see Score.
//
// Differences from open-unlearning's mia/loss.py and mimir's loss.py: (1) the programs' score is the
// loss, higher for non-members; open-unlearning labels forgotten documents 0, so that its AUC, too,
// is near 1 if they are remembered. (2) open-unlearning divides the sum over the tokens that have a
// predecessor by the number of all labelled tokens. This is the mean unless a text is labelled from
// its first token on, which has no prediction; then the program's loss is too small by (T-1)/T.
type Loss struct{}

var _ Score = Loss{}

// Name implements Score.
func (Loss) Name() string { return "loss" }

// About implements Score.
func (Loss) About() string { return "mean log-probability of the tokens" }

// Scores implements Score.
func (l Loss) Scores(e Evidence) ([]float64, error) {
	return e.Target.perDocument(l.Name(), func(from, to int) float64 { return mean(e.Target.LogProb[from:to]) })
}
