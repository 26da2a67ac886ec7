// Readings of lenses that score every record: the AUC is a mean over records, and a report also shows
// which records stand out.

package audit

import "github.com/lethe-ml/lethe/lib/attack"

// Scores holds the scores of records, higher for records that look like members.
type Scores struct{ Forget, HeldOut Scored }

// Scored holds rows of the evidence and their scores.
type Scored struct {
	Rows   []int
	Values []float64
}

// scoresReading returns how well scores tell forgotten from held-out records, with the scores. A
// reason says why they are no evidence although they differ.
func scoresReading(l Lens, m *Arrays, forget, heldOut Scored, reason ...Reason) (*Reading, error) {
	r, err := SignedAUC(l.Name(), m.Name, attack.Samples{Members: forget.Values, Nonmembers: heldOut.Values})
	if err != nil {
		return nil, err
	}
	r.NoEvidence = firstReason(append([]Reason{r.NoEvidence}, reason...)...)
	r.Scores = &Scores{forget, heldOut}
	return r, nil
}
