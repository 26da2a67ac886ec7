package generative

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
func (Recon) Scores(e Evidence) ([]float64, error) {
	return View{Recon: e.Model.Recon}.weightedLoss(-1, 0)
}
