package shadow

// ULiRA is the likelihood-ratio attack on an unlearned model (Hayes et al. 2024, "Inexact
// unlearning needs more careful evaluations to avoid a false sense of privacy", algorithm 1). The
// attacker trains shadow models with and without a record, and lets those that had it forget it by
// the method under attack. Normal distributions are fitted to both kinds,
//
//	score = log N(t; mu_unlearned, s_unlearned) - log N(t; mu_never, s_never)
//
// Evidence.Shadows.In says which models were trained on a record and have forgotten it since; the
// others never had it. Target is the model that a method left. In Models that a method has all
// unlearned (lab.ShadowModels.Weights), every model is a target and the others are its shadows. The
// same attack with shadows that were trained and have forgotten nothing is LiRA: it looks for
// traces of a member, and misses methods that replace these by other traces.
//
// Null: AUC 0.5, reached by retraining, whose models have no trace of what they forgot. Direction:
// nearest to the null. The shadows show which way each record's trace points: records that are
// forgotten too well are above 0.5 too.
//
// Differences from the paper:
//
//  1. its outcome is p = N_u/(N_u + N_n), a monotone function of ours that rounds to 0 and 1, and the call is
//     p > 1/2;
//  2. its models without the record are retrained without it; here they have forgotten other records by the same
//     method, so that an effect of the method on every record is no trace of one;
//  3. Pooled, one standard deviation for all records and a side, is LiRA's advice for fewer than about 64 models;
//     the paper has 256.
type ULiRA struct {
	Pooled bool `json:"pooled,omitempty"`
}

var _ Attack = ULiRA{}

// Name implements Attack.
func (a ULiRA) Name() string {
	if a.Pooled {
		return "u-lira-pooled"
	}
	return "u-lira"
}

// About implements Attack.
func (ULiRA) About() string {
	return "likelihood ratio of a score under models that forgot the record and models that never had it"
}

// Mutual implements Attack.
func (ULiRA) Mutual() bool { return true }

// Scores implements Attack.
func (a ULiRA) Scores(e Evidence) ([]float64, error) { return LiRA{Pooled: a.Pooled}.Scores(e) }
