package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Depth is the unlearning depth score, UDS (language.Depth): how much of what the original model's
// layers carry about the forgotten texts is gone. Layers of the original model get the states of the
// model that is read, and of the first retrained model other than it; the score compares how far the
// log-probability of a text drops. It needs two retrained models, as AgainstRetrained does: a
// retrained model compared with itself has 1 exactly.
//
// Null: 1, as much is gone as by retraining; 0 is intact. Memory lies below. Texts without a layer in
// which the retrained model's states cost more than 0.05 have no value and are left out. The score
// ends at 1: it does not see what lies beyond retraining, and is no evidence where most texts have 1.
type Depth struct{}

var _ Lens = Depth{}

// Name implements Lens.
func (Depth) Name() string { return "unlearning depth" }

// Info implements Lens.
func (Depth) Info() Info {
	return Info{
		Measures: "unlearning depth score: share of the retrained model's drop when the original gets the model's layers",
		Asks:     "Is what the original's layers carry about the forgotten texts gone from the model's layers?",
		How: "UDS: per text, over layers where states of another retrained model lower the original's mean log-probability by more than 0.05, " +
			"the drop with the model's states over that drop, at most 1; the mean over texts, with an interval that stays between 0 and 1.",
		Source: "gnueaj/unlearning-depth-score (2026)",
		Family: RepresentationFamily,
		Needs:  Needs{Arrays: []Array{PatchedArray, LossArray}, Original: 1, Retrained: 2},
		High:   1,
	}
}

// Read implements Lens.
func (l Depth) Read(e *Evidence, m *Arrays) (*Reading, error) {
	original := e.ModelsOf(Original)[0]
	ours, err := e.drops(original, m)
	if err != nil {
		return nil, err
	}
	theirs, err := e.drops(original, e.OtherModel(Retrained, m))
	if err != nil {
		return nil, err
	}
	d, err := language.Depth{}.Measure(language.DepthEvidence{Retrained: theirs, Unlearned: ours})
	if err != nil {
		return nil, err
	}
	rows := valuesAt(e.Forget, d.Documents)
	r := e.readingWithoutNull(l, m, Below, stats.ClusterBounded(d.Each, e.Clusters(rows), level, e.Units()).WithNull(1, stats.NearNull))
	r.NoEvidence = firstReason(TooFewRecords(len(rows), "texts with a layer that carries them"), r.NoEvidence,
		tiesWithin("drops", RowHashes(&theirs)), atTheEnd(d.Each))
	return r, nil
}

// maxAtTheEnd is the share of texts with the score 1 up to which the mean is evidence.
const maxAtTheEnd = 0.7

// atTheEnd returns the reason against scores that mostly are 1, where the score ends.
func atTheEnd(each []float64) Reason {
	n := 0
	for _, v := range each {
		if v >= 1 {
			n++
		}
	}
	if float64(n) <= maxAtTheEnd*float64(len(each)) {
		return Reason{}
	}
	return Reason{CannotTell, fmt.Sprintf("%d of %d texts have 1, where the score ends", n, len(each))}
}
