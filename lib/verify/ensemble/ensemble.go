// Package ensemble compares many unlearned models with many retrained models. A model's output for
// a record varies with its seed; unlearning succeeded if the outputs of unlearned models vary as
// those of retrained models do. Everything is on plain arrays: a row per model, a column per
// record.
//
// No distance between finite ensembles is 0, and the distance of two ensembles of retrained models
// depends on their size. Compare therefore measures every distance together with that of retraining
// from retraining.
package ensemble

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Distance is a number between two ensembles. One file holds one distance, and its zero value is
// the setting of the paper named there.
type Distance interface {
	// Name is the distance's short name, such as "klom".
	Name() string
	// About says in one line what is compared, and the value of equal ensembles.
	About() string
	// Better is the direction in which ensembles are more alike.
	Better() stats.Direction
	// Between compares unlearned models with retrained ones. each holds the values whose mean, or
	// other summary, is the distance: one per record unless the comment says otherwise. It refuses
	// values that are not finite, none, and models with values of different numbers of records.
	Between(unlearned, retrained array.Matrix[float64]) (value float64, each []float64, err error)
}

// Distances returns every distance at its zero value; a new one adds one line.
func Distances() []Distance {
	return []Distance{ClassMembership{}, ForgetQuality{}, ForgettingScore{}, KLoM{}}
}

// Evidence holds the outputs of models on the same records, in the same order: margins, as of
// shadow.ScaledConfidences, unless a distance needs something else. Every matrix has at least two
// rows.
type Evidence struct {
	Unlearned array.Matrix[float64] // unlearned by the method
	Retrained array.Matrix[float64] // models that never had the forgotten records: the reference
	Second    array.Matrix[float64] // more of these, as many as unlearned: the null
}

// Result is a distance compared with that of retraining.
type Result struct {
	Distance string `json:"distance"`
	// Estimate is the distance of the unlearned models from the retrained ones; its null is the
	// distance of Second from them. The half-width of the interval is the 95th percentile of the
	// absolute difference of the two when all models are exchanged at random: for exchangeable
	// models 95 of 100 such intervals hold the null.
	stats.Estimate
	// P is the share of such exchanges whose difference is at least as large as the observed one,
	// on the side that is worse: a permutation test.
	P float64 `json:"p"`
	// Each are the values behind the distance.
	Each []float64 `json:"each,omitempty"`
}

// Options are the options of Compare.
type Options struct {
	Draws int        // of models that change places, 0: 399
	Rng   *rand.Rand // draws them
}

// Compare measures how far unlearned models are from retrained ones.
func Compare(d Distance, e Evidence, opt Options) (*Result, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	draws := opt.Draws
	if draws == 0 {
		draws = 399
	}
	if opt.Rng == nil || draws < 19 {
		return nil, fmt.Errorf("%s: %d draws without a generator, or fewer than 19", d.Name(), draws)
	}
	task := progress.Begin(d.Name(), draws)
	defer task.Done()
	value, each, err := d.Between(e.Unlearned, e.Retrained)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	null, _, err := d.Between(e.Second, e.Retrained)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	worse, reach := 1, []float64{math.Abs(value - null)}
	for range draws {
		difference, err := exchangedDifference(d, e, opt.Rng)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name(), err)
		}
		if worseSign(d)*difference >= worseSign(d)*(value-null) {
			worse++
		}
		reach = append(reach, math.Abs(difference))
		task.Add(1)
	}
	slices.Sort(reach)
	far := reach[int(math.Ceil(0.95*float64(len(reach))))-1]
	return &Result{
		Distance: d.Name(), Each: each, P: float64(worse) / float64(draws+1),
		Estimate: stats.Estimate{
			Value: value, Low: value - far, High: value + far, Level: 0.95, Over: stats.OverModels, N: e.Unlearned.Rows,
		}.WithNull(null, d.Better()),
	}, nil
}

// worseSign is 1 where a larger distance is worse and -1 where a smaller one is.
func worseSign(d Distance) float64 {
	if d.Better() == stats.LowerIsBetter {
		return 1
	}
	return -1
}

// exchangedDifference returns the difference of the two distances from retraining after the
// unlearned and the second retrained models have been exchanged at random.
func exchangedDifference(d Distance, e Evidence, rng *rand.Rand) (float64, error) {
	pool, order, n := stackRows(e.Unlearned, e.Second), rng.Perm(2*e.Unlearned.Rows), e.Unlearned.Rows
	var values [2]float64
	for half, rows := range [][]int{order[:n], order[n:]} {
		v, _, err := d.Between(pool.Gather(rows), e.Retrained)
		if err != nil {
			return 0, err
		}
		values[half] = v
	}
	return values[0] - values[1], nil
}

func stackRows(a, b array.Matrix[float64]) array.Matrix[float64] {
	return array.Matrix[float64]{Rows: a.Rows + b.Rows, Cols: a.Cols, Data: slices.Concat(a.Data, b.Data)}
}

func (e Evidence) check() error {
	for _, m := range []struct {
		name string
		of   array.Matrix[float64]
	}{{"unlearned", e.Unlearned}, {"retrained", e.Retrained}, {"second retrained", e.Second}} {
		if m.of.Rows < 2 || m.of.Cols == 0 {
			return fmt.Errorf("%s models: %d x %d values, at least two models and a record are needed", m.name, m.of.Rows, m.of.Cols)
		}
		if err := m.of.Check(m.name + " models"); err != nil {
			return err
		}
	}
	if e.Second.Rows != e.Unlearned.Rows {
		return fmt.Errorf("%d unlearned models and %d second retrained ones: as many are needed", e.Unlearned.Rows, e.Second.Rows)
	}
	if e.Unlearned.Cols != e.Retrained.Cols || e.Second.Cols != e.Retrained.Cols {
		return errors.New("the unlearned, the retrained and the second retrained models have values of different numbers of records")
	}
	return nil
}

// checkPair refuses what a distance between two groups of models cannot read.
func checkPair(unlearned, retrained array.Matrix[float64]) error {
	for _, m := range []struct {
		name string
		of   array.Matrix[float64]
	}{{"unlearned models", unlearned}, {"retrained models", retrained}} {
		if m.of.Rows < 1 || m.of.Cols < 1 {
			return fmt.Errorf("%s: %d x %d values, at least a model and a record are needed", m.name, m.of.Rows, m.of.Cols)
		}
		if err := m.of.Check(m.name); err != nil {
			return err
		}
	}
	if unlearned.Cols != retrained.Cols {
		return fmt.Errorf("the unlearned models have values of %d records, the retrained ones of %d", unlearned.Cols, retrained.Cols)
	}
	return nil
}

// column returns all models' values for a record.
func column(m array.Matrix[float64], k int) []float64 {
	out := make([]float64, m.Rows)
	for i := range out {
		out[i] = m.Row(i)[k]
	}
	return out
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
