package ruler

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

// Caps of the paper (section 4.3), and no cap.
const (
	PaperRetainCap  = 500  // retained records behind the baseline of M2
	PaperGalleryCap = 2000 // retained records that M4 searches
	NoCap           = -1   // use every retained record
)

const (
	paperSeed    = 42
	defaultReps  = 1000
	maxReps      = 1_000_000 // without a number in Options
	defaultLevel = 0.95
)

// ZeroNorm says how an embedding without a direction is treated. A network of ReLUs produces one if
// every unit of the layer is off.
type ZeroNorm int

// The treatments of a row whose norm is below 1e-12.
const (
	// RefuseZeroNorm returns an error that names the model and the row.
	RefuseZeroNorm ZeroNorm = iota
	// AsPublished divides by 1e-12 as the authors' program does: a zero row has similarity 0 with
	// every record. Result.ZeroRows counts such rows.
	AsPublished
)

// Baseline is the summary of the retained records that M2 subtracts.
type Baseline int

// The baselines of M2: the paper's, and the alternative of its Table 5.
const (
	Median Baseline = iota
	Mean
)

// TieTolerance is the distance up to which two similarities count as equal. Rounding in float32
// embeddings changes the cosine of two copies by 1e-14, and in float64 sums by less; records that a
// network distinguishes differ by at least 1e-5 in their direction.
const TieTolerance = 1e-10

// Ties says how similarities that differ by rounding alone are treated.
type Ties int

// The treatments of similarities that agree to TieTolerance.
const (
	// Equal treats them as ties, as equation (7) reads.
	Equal Ties = iota
	// LastBit is M4 *as coded*: the authors' program compares what its BLAS returns, so that
	// rounding decides among exact copies.
	LastBit
)

func (t Ties) tolerance() float64 {
	if t == LastBit {
		return 0
	}
	return TieTolerance
}

// Options are the settings of a measurement. The zero value is the paper's.
type Options struct {
	// RetainCap and GalleryCap bound the retained records that M2 and M4 use.
	// 0 is the paper's 500 and 2,000; NoCap (any negative number) uses all.
	RetainCap, GalleryCap int
	// SubsampleSeed draws the capped records; 0 is the paper's 42. Each draw is
	// NumPy's RandomState(seed).choice(len(retain), cap, replace=False) from a
	// fresh state, and its numbers are positions in the list retain. Nothing
	// is drawn when all fit under the cap.
	SubsampleSeed uint32
	// ZeroNorm is the treatment of rows without a direction.
	ZeroNorm ZeroNorm
	// Baseline is what the function M2 subtracts; Measure reports both.
	Baseline Baseline
	// Ties is how the function M4 ranks; Measure reports both.
	Ties Ties
	// PointOnly skips the intervals, for sweeps of thousands of measurements: Low and High are then
	// NaN (stats.Estimate.HasInterval) and Level is 0.
	PointOnly bool
	// Wide gives intervals that allow for more than those of the project's tables: M2's is stretched
	// for few forget records, and M4's counts that the gallery is a sample too.
	Wide bool
	// Level is the nominal coverage of the intervals; 0 is 0.95.
	Level float64
	// Reps and BootstrapSeed are those of the bootstrap behind M2's interval; 0 reps: 1,000, or more for a level
	// above 99.8 % (stats.MinResamples). Fewer than the level needs are refused.
	Reps          int
	BootstrapSeed uint64
}

func (o Options) level() float64 {
	if o.Level == 0 {
		return defaultLevel
	}
	return o.Level
}

func (o Options) reps() int {
	if o.Reps == 0 {
		return min(max(defaultReps, stats.MinResamples(o.level())), maxReps)
	}
	return o.Reps
}

// checkReps returns an error if the repetitions are too few for an interval of the level.
func (o Options) checkReps() error {
	if need := stats.MinResamples(o.level()); !o.PointOnly && o.reps() < need {
		return fmt.Errorf("ruler: %d bootstrap repetitions; an interval of level %v needs at least %d", o.reps(), o.level(), need)
	}
	return nil
}

// drawCapped returns the rows of retain that stay under the cap, in drawing order.
func (o Options) drawCapped(retain []int, limit, paper int) []int {
	if limit == 0 {
		limit = paper
	}
	if limit < 0 || len(retain) <= limit {
		return retain
	}
	seed := o.SubsampleSeed
	if seed == 0 {
		seed = paperSeed
	}
	rows := make([]int, limit)
	for i, k := range nprand.New(seed).Choice(len(retain), limit) {
		rows[i] = retain[k]
	}
	return rows
}

func (o Options) baselineRows(retain []int) []int {
	return o.drawCapped(retain, o.RetainCap, PaperRetainCap)
}

func (o Options) galleryRows(retain []int) []int {
	return o.drawCapped(retain, o.GalleryCap, PaperGalleryCap)
}
