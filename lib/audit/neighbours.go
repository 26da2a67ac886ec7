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
// Null: 0.5; RULER reads values above it as memory. The floor is that of the mean of n uniform
// ranks, normal with standard deviation 1/sqrt(12 n). The oracle itself can be far from 0.5: read
// its row first.
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

// About implements Lens.
func (Neighbours) About() string {
	return "RULER's M4: percentile of the similarity to the nearest retained record"
}

// Read implements Lens.
func (l Neighbours) Read(c *Case, m *Model) (*Reading, error) {
	u, err := c.embedding(m)
	if err != nil {
		return nil, err
	}
	return l.ReadEmbeddings(m.Label, ruler.Evidence{Unlearned: &u, Forget: c.Forget, Retain: c.Retain})
}

// tooFewEvidence returns the reason against too few forgotten or retained records.
func tooFewEvidence(e ruler.Evidence) Reason {
	return TooFewRecords(min(len(e.Forget), len(e.Retain)), "records in the smaller set")
}

// ReadEmbeddings returns the reading of given embeddings; model is the name in the reading.
func (l Neighbours) ReadEmbeddings(model string, e ruler.Evidence) (*Reading, error) {
	rank, tied, err := ruler.M4Tied(e, ruler.Options{ZeroNorm: ruler.AsPublished})
	if err != nil {
		return nil, err
	}
	var decided Reason
	if tied > maxTiedNeighbours {
		decided = Reason{CannotTell, fmt.Sprintf("%.0f %% of the comparisons of nearest neighbours are ties", 100*tied)}
	}
	sd := ruler.M4NullSD(len(e.Forget))
	return &Reading{
		Lens: l.Name(), Model: model, Memory: Above, Estimate: *rank,
		Floor:      stats.Floor{Mean: sd * math.Sqrt(2/math.Pi), P95: m4ChanceDistance(len(e.Forget))},
		NoEvidence: firstReason(tooFewEvidence(e), decided, CollapsedRows("embeddings", e.Unlearned, e.Forget, e.Retain)),
	}, nil
}

// Bounds implements BoundedLens: a percentile.
func (Neighbours) Bounds() (low, high float64) { return 0, 1 }
