// What unlearning cost the neighbours of the forgotten records: over-unlearning.

package audit

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// NearAccuracy is what unlearning cost the neighbours of the forgotten records (over-unlearning,
// OU@eps): the share of the retained records within eps of a forgotten one that the model classifies
// as labelled, with Wilson's interval.
//
// eps is the 10 % quantile of the distances of retained records to the nearest forgotten one, so that the
// nearest tenth is near. Distances are those of the inputs, with columns divided by their standard
// deviation over the retained records; without inputs those of the embedding of the first retrained
// model, or of the original, so that the same records are near for every model.
//
// Null: none; a retrained model shows how accurate a model is there that never had the forgotten
// records. Below its value the model has lost what it was to keep. It is a cost and no evidence of
// memory (Info.Cost).
//
// The question is that of Ha, Park and Yoon (2025), whose paper was not at hand: the choice of neighbours and
// of eps is our own.
type NearAccuracy struct{}

var _ Lens = NearAccuracy{}

const (
	nearShare = 0.1
	// maxNeighbours bounds the retained records whose distance is computed, and the forgotten ones to which.
	maxNeighbours = 4000
)

// Name implements Lens.
func (NearAccuracy) Name() string { return "right near forgotten" }

// Info implements Lens.
func (NearAccuracy) Info() Info {
	return Info{
		Measures: "share of the retained records nearest to forgotten ones that are classified as labelled",
		Asks:     "Are retained records near forgotten ones still classified as by a retrained model?",
		How: "Share of correct answers on the tenth of the retained records that is nearest to a forgotten one, with Wilson's interval. Distances are of " +
			"standardised inputs, or of the embedding of a retrained model or the original.",
		Source: "over-unlearning (OU@eps) of Ha, Park and Yoon 2025, in a form of our own",
		Family: OutputFamily,
		Cost:   true,
		Needs:  Needs{Arrays: []Array{LabelledArray, SpaceArray}, Sets: []Set{Retain}},
		High:   1,
	}
}

// Read implements Lens.
func (l NearAccuracy) Read(e *Evidence, m *Arrays) (*Reading, error) {
	if len(e.Forget) == 0 || len(e.Retain) == 0 {
		return nil, fmt.Errorf("audit: the lens %q: there are no forgotten or no retained records", l.Name())
	}
	x, err := e.space().Read()
	if err != nil {
		return nil, err
	}
	near, err := e.nearForgotten(x)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	share, err := stats.ClusterShare([][]bool{valuesAt(m.Correct, near)}, []stats.Clusters{e.Clusters(near)}, level, e.Units())
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	r := e.readingWithoutNull(l, m, Above, share)
	r.NoEvidence = firstReason(e.tooFewForgotten(), TooFewRecords(len(near), "retained records near forgotten ones"), r.NoEvidence)
	if c, all := e.constantAnswer(m); all {
		r.NoEvidence = firstReason(r.NoEvidence, Reason{CannotTell, fmt.Sprintf("the model answers every record with class %d", c)})
	}
	return r, nil
}

// space is where distances between records are measured: the same for all models. nil: nowhere.
func (e *Evidence) space() Matrix {
	if e.Inputs != nil {
		return e.Inputs
	}
	for _, role := range []Role{Retrained, Original} {
		for _, m := range e.ModelsOf(role) {
			if m.Embedding != nil {
				return m.Embedding
			}
		}
	}
	return nil
}

// nearForgotten returns the tenth of the retained records that is nearest to a forgotten one, in
// their order.
func (e *Evidence) nearForgotten(x array.Rows) ([]int, error) {
	_, cols := x.Shape()
	retained := evenlySpaced(e.Retain, maxNeighbours)
	most := max(1, int(nearWork/float64(cols)/float64(len(retained))))
	g, err := newGallery(x, evenlySpaced(e.Forget, min(maxNeighbours, most)), retained)
	if err != nil {
		return nil, err
	}
	distances := g.nearest(retained, true)
	if err := checkNumbers(distances); err != nil {
		return nil, err
	}
	eps, err := stats.Quantile(distances, nearShare)
	if err != nil {
		return nil, err
	}
	var near []int
	for k, d := range distances {
		if d <= eps {
			near = append(near, retained[k])
		}
	}
	slices.Sort(near)
	return near, nil
}

// checkNumbers refuses distances from records that are not finite.
func checkNumbers(distances []float64) error {
	for _, d := range distances {
		if !(d < maxSquared) {
			return fmt.Errorf("the distance of a record is %v: its numbers are not finite, or too large", d)
		}
	}
	return nil
}

// maxSquared bounds squared distances.
const maxSquared = 1e200
