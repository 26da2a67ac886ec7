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

// scoresReading returns how well scores tell forgotten from held-out records, with the scores. A
// reason says why they are no evidence although they differ. Records may be in groups.
func (e *Evidence) scoresReading(l Lens, m *Arrays, forget, heldOut Scored, reason ...Reason) (*Reading, error) {
	r, err := e.signedAUC(l.Name(), m.Name, forget, heldOut)
	if err != nil {
		return nil, err
	}
	r.NoEvidence = firstReason(append([]Reason{r.NoEvidence}, reason...)...)
	r.Scores = &Scores{forget, heldOut}
	return r, nil
}
