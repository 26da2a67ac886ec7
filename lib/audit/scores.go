// Readings of lenses that score every record: the AUC is a mean over records, and a report also shows
// which records stand out.

package audit

// Scores holds the scores of records, higher for records that look like members.
type Scores struct{ Forget, HeldOut Scored }

// Scored holds rows of the evidence and their scores.
type Scored struct {
	Rows   []int
	Values []float64
}

// ScoresReading returns how well scores tell forgotten from held-out records, with the scores: the AUC, with DeLong's
// interval or, over groups of records, that of stats.ClusterAUC, and the chance floor of its distance from 0.5. A
// reason says why the scores are no evidence although they differ. A lens of a module of your own that scores
// records (Info.PerRecord) returns its scores through it.
func (e *Evidence) ScoresReading(l Lens, m *Arrays, s Scores, reason ...Reason) (*Reading, error) {
	r, err := e.signedAUC(l.Name(), m.Name, s.Forget, s.HeldOut)
	if err != nil {
		return nil, err
	}
	r.NoEvidence = firstReason(append([]Reason{r.NoEvidence}, reason...)...)
	r.Scores = &s
	return r, nil
}
