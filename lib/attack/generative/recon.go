package generative

import "github.com/lethe-ml/lethe/lib/attack"

// Recon scores a record by its negative reconstruction loss, which is higher for records that the
// model was trained on.
//
//	score = -recon
//
// Null: AUC 0.5.
type Recon struct{}

var _ Attack = Recon{}

// Name implements Attack.
func (Recon) Name() string { return "reconstruction" }

// About implements Attack.
func (Recon) About() string { return "negative reconstruction loss" }

// Scores implements Attack.
func (Recon) Scores(e Evidence) (attack.Samples, error) {
	return e.Model.score(func(v View) ([]float64, error) { return View{Recon: v.Recon}.weightedLoss(-1, 0) })
}
