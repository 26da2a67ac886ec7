package generative

import "github.com/lethe-ml/lethe/lib/attack"

// KL is the divergence of a record's posterior from the prior, negated.
//
//	score = -KL(q(z|x) || N(0, I))
//
// Null: AUC 0.5. A rare kind of record has a larger divergence, trained on or not:
// in "Fishing for Privacy" the AUC is 0.079 on the original model, and its advantage
// of 0.84, which has lost the sign, is of cell types.
type KL struct{}

var _ Attack = KL{}

// Name implements Attack.
func (KL) Name() string { return "kl" }

// About implements Attack.
func (KL) About() string { return "negative divergence of the posterior from the prior" }

// Scores implements Attack.
func (KL) Scores(e Evidence) (attack.Samples, error) {
	return e.Model.score(func(v View) ([]float64, error) { return View{KL: v.KL}.weightedLoss(0, -1) })
}
