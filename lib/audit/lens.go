package audit

import (
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Lens looks at a model and says in one number whether it still remembers. One
// file holds one lens; a new one adds one line to Lenses or Every.
type Lens interface {
	// Name is a word or two: "outputs".
	Name() string
	// About says in one sentence what is compared with what.
	About() string
	// Read returns what the lens sees. It must not change anything.
	Read(c *Case, m *Model) (*Reading, error)
}

// AllLenses returns every lens, in the order in which tables show them. A new one is a line
// of Lenses or of Every.
func AllLenses() []Lens { return append(Lenses(), RMIA{}, Relearning{}, Confusion{}, Trigger{}) }

// Lenses returns those that look at the models as they are.
func Lenses() []Lens { return append(DefaultLenses(), Subsets{}, FisherOverlap{}, Reconstruction{}) }

// DefaultLenses are those that a beginner meets, and that a case looks through
// unless it is told otherwise.
func DefaultLenses() []Lens { return []Lens{Outputs{}, AgainstOracle{}, Neighbours{}} }

// Side says on which side of the null a lens reads memory.
type Side int

// The sides.
const (
	Above Side = 1
	Below Side = -1
)

// Reading is what a lens sees in one model.
type Reading struct {
	Lens, Model string
	// Estimate has the value, its interval over records and the null.
	stats.Estimate
	// Memory is the side of the null on which the lens reads memory.
	Memory Side
	// Floor is how far from the null a perfect unlearner is by chance, on
	// average and in 95 of 100 cases, at these numbers of records. Both are NaN
	// where no law is known.
	Floor stats.Floor
	// Coordinates says that the lens compares two models coordinate by coordinate, which
	// another seed of the initial weights moves as a memory does, but to either side.
	Coordinates bool
	// NoEvidence says why the number is no evidence; the zero value: nothing is against it.
	NoEvidence Reason
	// Absent says why the lens cannot look at the case; then there is no estimate.
	Absent string
}

// absentReading is the reading of a lens that cannot look at a case.
func absentReading(lens Lens, m *Model, why string) *Reading {
	r := NoReading(lens.Name(), m.Label, Reason{})
	r.Absent = why
	return r
}

// NoReading is the reading of a lens that has no number, for a reason.
func NoReading(lens, model string, why Reason) *Reading {
	none := stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	unknown := stats.Floor{Mean: math.NaN(), P95: math.NaN()}
	return &Reading{Lens: lens, Model: model, Memory: Above, Estimate: none, Floor: unknown, NoEvidence: why, Absent: why.Why}
}

// WithinChance reports whether the value is nearer to the null than the chance
// floor's 95th percentile: then it is no evidence of anything.
func (r Reading) WithinChance() bool {
	return r.Null != nil && math.Abs(r.Value-*r.Null) <= r.Floor.P95
}
