package generative

// KL scores a record by the negative divergence of its posterior from the prior.
//
//	score = -KL(q(z|x) || N(0, I))
//
// Null: AUC 0.5. A rare kind of record has a larger divergence whether or not it was trained on. In
// "Fishing for Privacy" the AUC on the original model is 0.079; the reported advantage of 0.84 has
// lost the sign and reflects cell types.
type KL struct{}

var _ Attack = KL{}

// Name implements Attack.
func (KL) Name() string { return "kl" }

// About implements Attack.
func (KL) About() string { return "negative divergence of the posterior from the prior" }

// Scores implements Attack.
func (KL) Scores(e Evidence) ([]float64, error) { return View{KL: e.Model.KL}.weightedLoss(0, -1) }
