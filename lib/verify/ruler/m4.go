// M4, the oracle-free percentile rank of forget records among retained ones (equations 5 to 7).

package ruler

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/lethe-ml/lethe/lib/stats"
)

// M4 is the oracle-free percentile rank: whether a forget record is closer to its nearest retained
// neighbour than retained records are to theirs.
//
//	p(f)  = max over r in G of s(u(f), u(r))                                (5)
//	q(r)  = max over r' in G, r' not r, of s(u(r), u(r'))                   (6)
//	M4    = mean over f in Df of |{r in G: q(r) <= p(f)}| / |G|             (7)
//
// G is Evidence.Retain, or 2,000 rows drawn from it if it is longer (Options.GalleryCap; NoCap
// searches everything, in memory that grows with the number of records and not with its square).
// Ties count by "<=", and values that agree to [TieTolerance] are ties (Options.Ties). The second
// result is the rank per forget record. The interval is over forget records with the gallery given
// (Student's t). With Options.Wide it allows for another gallery too: to the square of each half it adds
// that of Student's interval for the mean, over G, of the share of forget records with p(f) >= q(r).
//
// Null: 0.5, with standard deviation [M4ChanceSD]. Direction: nearest to the
// null; above it the paper reads residual memory, below it over-displacement. A model that never
// saw the forget set can be away from 0.5 too: report the oracle's own M4 beside it.
//
// Differs from the paper and the program in
//
//  1. the interval, which neither has;
//  2. refusing rows without a direction unless Options.ZeroNorm accepts them;
//  3. ties. A forget record with an exact copy in the retain set has p = 1, and so has every retained record with a copy of
//     its own: equation (7) ranks it at the top. In the program, and here with Options.Ties = LastBit, the last bit of a
//     similarity decides between them. Permuting the columns of an embedding changes that bit, and M4 with it (by 0.014 on
//     Wine Quality, where a fifth of the records have a copy).
func M4(e Evidence, opt Options) (*stats.Estimate, []float64, error) {
	n, err := validateNeighbours(e, opt)
	if err != nil {
		return nil, nil, err
	}
	return n.m4(e, opt), n.ranks(opt.Ties), nil
}

// M4Tied is M4 with the share of its comparisons of p(f) with q(r) that are ties, to
// [TieTolerance]. Ties count as "<=", so that they raise M4 by as much as that share: 1 if every
// record has a copy.
func M4Tied(e Evidence, opt Options) (m *stats.Estimate, tied float64, err error) {
	n, err := validateNeighbours(e, opt)
	if err != nil {
		return nil, 0, err
	}
	return n.m4(e, opt), mean(n.shareBelow(TieTolerance)) - mean(n.shareBelow(-TieTolerance)), nil
}

func validateNeighbours(e Evidence, opt Options) (*nearest, error) {
	rows := opt.galleryRows(e.Retain)
	if _, err := validate(opt, e.Forget, e.Retain, true, e.unlearned(concat(e.Forget, rows))); err != nil {
		return nil, err
	}
	return neighbours(e, rows, opt)
}

// M4NullSD is the standard deviation of M4 over n forget records if their ranks
// were independent and uniform: 1/sqrt(12 n), as with a gallery without end. See M4ChanceSD.
func M4NullSD(n int) float64 { return 1 / math.Sqrt(12*float64(n)) }

// M4ChanceSD is the standard deviation of M4 over n forget records and a gallery of g retained ones, if all
// similarities p(f) and q(r) were drawn independently from one distribution, that of the Mann-Whitney
// statistic:
//
//	sqrt((n + g + 1) / (12 n g))
//
// Similarities to nearest neighbours are not independent, because records share neighbours: of normal
// embeddings of 8 dimensions the standard deviation is 1.2 times as large (0.073 for 50 and 50 records,
// where this is 0.058 and M4NullSD 0.041; 0.035 for 200 and 200, where they are 0.029 and 0.020).
func M4ChanceSD(n, g int) float64 {
	return math.Sqrt(float64(n+g+1) / (12 * float64(n) * float64(g)))
}

func m4(e Evidence, ranks []float64, opt Options) *stats.Estimate {
	m := opt.OverRecords(e, ranks, 0, 1)
	m.Null, m.Better = pointerTo(0.5), stats.NearNull
	return m
}

// m4 is M4, by the options' rule for ties, with the interval that they ask for.
func (n *nearest) m4(e Evidence, opt Options) *stats.Estimate {
	m := m4(e, n.ranks(opt.Ties), opt)
	if !opt.Wide || !m.HasInterval() {
		return m
	}
	slack := opt.Ties.tolerance()
	sorted, shares := slices.Sorted(slices.Values(n.forget)), make([]float64, len(n.gallery))
	for k, q := range n.gallery {
		below := sort.SearchFloat64s(sorted, q-slack)
		shares[k] = 1 - float64(below)/float64(len(sorted))
	}
	g := stats.ClusterInterval(shares, e.clusters(n.rows), opt.level(), e.GroupUnit)
	half := (g.High - g.Low) / 2
	m.Low, m.High = m.Value-math.Hypot(m.Value-m.Low, half), m.Value+math.Hypot(m.High-m.Value, half)
	*m = m.ClampedTo(0, 1)
	return m
}

// countCopies counts the forget records with a copy among the retained ones.
func (n *nearest) countCopies() (count int) {
	for _, p := range n.forget {
		if p >= 1-TieTolerance {
			count++
		}
	}
	return count
}

// nearest holds p(f) and q(r), with the rows of the gallery.
type nearest struct {
	forget, gallery []float64
	rows            []int
}

func neighbours(e Evidence, gallery []int, opt Options) (*nearest, error) {
	if len(gallery) < 2 {
		return nil, fmt.Errorf("ruler: M4 needs 2 retained records to compare neighbours, got %d", len(gallery))
	}
	_, cols := e.Unlearned.Shape()
	find := newFinder(cols)
	retained := newCloud(e.Unlearned, gallery)
	q, err := find.nearestWithin(retained)
	if err != nil {
		return nil, err
	}
	p, err := find.nearestAcross(newCloud(e.Unlearned, e.Forget), retained)
	if err != nil {
		return nil, err
	}
	return &nearest{p, q, gallery}, nil
}

// ranks returns, for each p, the share of q at or below it, by the rule for ties.
func (n *nearest) ranks(t Ties) []float64 { return n.shareBelow(t.tolerance()) }

// shareBelow returns, for each p, the share of q at or below p plus the slack.
func (n *nearest) shareBelow(slack float64) []float64 {
	sorted := slices.Sorted(slices.Values(n.gallery))
	out := make([]float64, len(n.forget))
	for i, p := range n.forget {
		below := sort.Search(len(sorted), func(k int) bool { return sorted[k] > p+slack })
		out[i] = float64(below) / float64(len(sorted))
	}
	return out
}
