// The lens on nearest neighbours: RULER's M4 (equations 5 to 7), a mean percentile
// rank of distances.

package audit

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Neighbours asks, without an oracle, whether the forgotten records are as close to their nearest
// retained neighbour as retained records are to theirs: RULER's M4 (equations 5 to 7), a mean
// percentile rank.
//
// Null: 0.5; RULER reads values above it as memory. The floor is normal with the standard deviation of
// ruler.M4ChanceSD, which counts that the retained records are a sample too; the interval takes them as
// given. The oracle itself can be far from 0.5: read
// its row first.
//
// A memory may lie on either side. In figures/audit/lenses M4 of memorised random records is higher than
// after retraining; that of outliers, wrong labels and backdoors, which contradict the others, is lower.
//
// The reading is no evidence where more than one in twenty comparisons of a forgotten record's
// nearest neighbour with a retained record's is a tie, because ties count in full and raise M4 by
// as much. It is no evidence either where embeddings collapsed (CollapsedRows).
type Neighbours struct{}

var _ Lens = Neighbours{}

// maxTiedNeighbours is the share of ties up to which M4 is evidence.
const maxTiedNeighbours = 0.05

// Name implements Lens.
func (Neighbours) Name() string { return "neighbours" }

// Info implements Lens.
func (Neighbours) Info() Info {
	return Info{
		Measures: "RULER's M4: percentile of the similarity to the nearest retained record",
		Asks:     "Are forgotten records as close to retained ones as these are to each other?",
		How: "M4: mean percentile of a forgotten record's similarity to its nearest retained neighbour among those of at most 2,000 retained " +
			"records, with Student's interval for these retained records. The floor is that of the Mann-Whitney statistic, which counts both samples.",
		Source: "RULER, equations 5 to 7",
		Family: RepresentationFamily,
		Needs:  Needs{Arrays: []Array{EmbeddingArray}, Sets: []Set{Retain}},
		High:   1,

		BothSides: true,
	}
}

// m4Floor returns the floor of M4's distance from 0.5 over n records and a gallery.
func m4Floor(n, gallery int) stats.Floor {
	return stats.Floor{Mean: ruler.M4ChanceSD(n, gallery) * math.Sqrt(2/math.Pi), P95: m4ChanceDistance(n, gallery)}
}

// gallerySize is the number of n retained records that M4 searches.
func gallerySize(n int) int { return min(n, ruler.PaperGalleryCap) }

// tooFewEvidence returns the reason against too few forgotten or retained records.
func tooFewEvidence(e *Evidence) Reason {
	return TooFewRecords(min(len(e.Forget), len(e.Retain)), "records in the smaller set")
}

// Read implements Lens.
func (l Neighbours) Read(e *Evidence, m *Arrays) (*Reading, error) {
	evidence, err := e.rulerEvidence(m, nil, nil)
	if err != nil {
		return nil, err
	}
	rank, tied, err := ruler.M4Tied(*evidence, ruler.Options{ZeroNorm: ruler.AsPublished})
	if err != nil {
		return nil, err
	}
	gallery := gallerySize(len(e.Retain))
	var decided Reason
	if tied > maxTiedNeighbours {
		decided = Reason{CannotTell, fmt.Sprintf("%.0f %% of the comparisons of nearest neighbours are ties", 100*tied)}
	}
	return &Reading{
		Lens: l.Name(), Model: m.Name, Memory: Above, Estimate: *rank,
		Floor: m4Floor(len(e.Forget), gallery).Clustered(rank.Clustered, m4Floor(e.CountGroups(e.Forget), min(gallery, e.CountGroups(e.Retain))), 0.5),
		NoEvidence: firstReason(tooFewEvidence(e), e.tooFewGroups(rank.Clustered), decided,
			CollapsedRows("embeddings", evidence.Unlearned, e.Forget, e.Retain)),
	}, nil
}
