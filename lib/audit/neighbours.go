package audit

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Neighbours needs no oracle: are the forgotten records still as near to their
// nearest retained neighbour as retained records are to theirs? It is RULER's M4
// (equations 5 to 7), a mean percentile rank.
//
// Null: 0.5; above it RULER reads memory. The floor is that of the mean of n
// uniform ranks, normal with standard deviation 1/sqrt(12 n). The oracle itself
// can be far from 0.5 here: read its row first.
//
// It cannot tell where more than one in twenty of the comparisons of a forgotten record's
// nearest neighbour with a retained one's is a tie, because ties count in full and M4 is
// higher by as much; nor where embeddings collapsed (CollapsedRows).
type Neighbours struct{}

var _ Lens = Neighbours{}

// maxTiedNeighbours is the share of ties up to which M4 is read.
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

// tooFewEvidence is the reason of too few forgotten or retained records.
func tooFewEvidence(e ruler.Evidence) Reason {
	return TooFewRecords(min(len(e.Forget), len(e.Retain)), "records in the smaller set")
}

// ReadEmbeddings is the reading of anybody's embeddings.
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
