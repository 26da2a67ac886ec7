package generative

// ELBO scores a record by its evidence lower bound.
//
//	score = -(recon + KL)
//
// Null: AUC 0.5. With the published program's reconstruction loss, averaged over genes and without
// library size, it is nearly equal to KL.
type ELBO struct{}

var _ Attack = ELBO{}

// Name implements Attack.
func (ELBO) Name() string { return "elbo" }

// About implements Attack.
func (ELBO) About() string { return "evidence lower bound" }

// Scores implements Attack.
func (ELBO) Scores(e Evidence) ([]float64, error) { return e.Model.weightedLoss(-1, -1) }
