package audit

import (
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Lens reads a model of a case and says in one number whether it still remembers. One file holds
// one lens; a new one adds one line to Lenses or AllLenses. For lenses on saved arrays see
// judge.Lens.
type Lens interface {
	// Name is a word or two: "outputs".
	Name() string
	// About says in one sentence what is compared with what.
	About() string
	// Read returns the reading of a model. It must not change the case or the model.
	Read(c *Case, m *Model) (*Reading, error)
}

// AllLenses returns every lens, in the order of the tables.
func AllLenses() []Lens { return append(Lenses(), RMIA{}, Relearning{}, Confusion{}, Trigger{}) }

// Lenses returns the lenses that need no further training and no special case.
func Lenses() []Lens { return append(DefaultLenses(), Subsets{}, FisherOverlap{}, Reconstruction{}) }

// DefaultLenses returns the lenses that a case uses unless Case.Lenses is set.
func DefaultLenses() []Lens { return []Lens{Outputs{}, AgainstOracle{}, Neighbours{}} }

// BoundedLens is a lens whose values lie between two numbers, such as an AUC between 0 and
// 1: intervals over seeds end there.
type BoundedLens interface {
	Lens
	Bounds() (low, high float64)
}

// Side is the side of the null on which a lens reads memory.
type Side int

// Above and Below say that values above or below the null speak for a memory.
const (
	Above Side = 1
	Below Side = -1
)

// Reading is the result of a lens for one model.
type Reading struct {
	Lens, Model string
	// Estimate has the value, its interval over records and the null.
	stats.Estimate
	// Memory is the side of the null on which the lens reads memory.
	Memory Side
	// Floor is the distance from the null that a perfect unlearner has by chance, on average and in
	// 95 of 100 cases, at these numbers of records. Both are NaN where the distribution is not
	// known.
	Floor stats.Floor
	// Coordinates says that the lens compares two models coordinate by coordinate. Another seed of
	// the initial weights moves such a reading as memory does, but to either side.
	Coordinates bool
	// NoEvidence is the reason why the number is no evidence; its zero value: there is none.
	NoEvidence Reason
	// Absent says why the lens has no reading of the case; then there is no estimate.
	Absent string
}

// absentReading is the reading of a lens that does not apply to a case.
func absentReading(lens Lens, m *Model, why string) *Reading {
	r := NoReading(lens.Name(), m.Label, Reason{})
	r.Absent = why
	return r
}

// NoReading returns a reading without a number, with the reason for it.
func NoReading(lens, model string, why Reason) *Reading {
	none := stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	unknown := stats.Floor{Mean: math.NaN(), P95: math.NaN()}
	return &Reading{Lens: lens, Model: model, Memory: Above, Estimate: none, Floor: unknown, NoEvidence: why, Absent: why.Why}
}

// WithinChance reports whether the value is nearer to the null than the chance floor's 95th
// percentile. Such a value is no evidence.
func (r Reading) WithinChance() bool {
	return r.Null != nil && math.Abs(r.Value-*r.Null) <= r.Floor.P95
}
