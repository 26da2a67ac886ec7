// The conformance suite of data sets.

package labtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
)

// Data is the conformance suite of data of another module. It tests that they are what Info says
// (their sizes, classes and shape), have a label and an ID of their own for every record and finite
// numbers; that they are the same when they are prepared again; and that, without a test part of their
// own, the shift divides them differently and gives no record another label or other features: what Norm did to
// them is undone before they are compared. Data whose columns are chosen on the train part (other names in
// About.Features) are not compared.
func Data(t *testing.T, d lab.Data) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(t *testing.T, d lab.Data) error
	}{
		{"is what its description says", checkDescribed},
		{"is the same when it is prepared again", checkAgain},
		{"is divided by the shift", checkShift},
	} {
		right := t.Run(c.name, func(t *testing.T) {
			if err := c.check(t, d); err != nil {
				t.Error(err)
			}
		})
		if !right {
			return // what follows takes the sizes for granted
		}
	}
}

// checkDescribed makes problems of the data, of two shifts, which refuses what a network cannot be trained on.
func checkDescribed(t *testing.T, d lab.Data) error {
	e, err := enginetest.Open()
	if err != nil {
		return err
	}
	defer e.Close()
	for shift := range 2 {
		if _, err = (&lab.Lab{Engine: e, Shift: shift}).Problem(t.Context(), lab.Setting{Data: d}); err != nil && shift > 0 {
			err = fmt.Errorf("with the shift %d: %w", shift, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkAgain(t *testing.T, d lab.Data) error {
	one, err := prepared(t, d, 0)
	if err != nil {
		return err
	}
	before := one.Sum()
	again, err := prepared(t, d, 0)
	switch {
	case err != nil:
		return err
	case one.Sum() != before:
		return fmt.Errorf("a second Prepare changes what the first one returned")
	case again.Sum() != before || !slices.Equal(again.Train.IDs, one.Train.IDs) || !slices.Equal(again.Test.IDs, one.Test.IDs):
		return fmt.Errorf("its Prepare returns other records, labels or IDs when it is called again; the same value prepares the same records")
	}
	return nil
}

func checkShift(t *testing.T, d lab.Data) error {
	info, err := d.Info()
	if err != nil || info.TestRows > 0 && !info.Estimated {
		return err
	}
	one, err := prepared(t, d, 0)
	if err != nil {
		return err
	}
	other, err := prepared(t, d, 1)
	switch {
	case err != nil:
		return err
	case info.TestRows == 0 && slices.Equal(sorted(one.Test.IDs), sorted(other.Test.IDs)):
		return fmt.Errorf("the shift is ignored: with 1 the test part has the records that it has with 0; shift is added to the seed of the split")
	}
	labels := map[int]int{}
	for _, p := range []datasets.Part{one.Train, one.Test} {
		for i, id := range p.IDs {
			labels[id] = p.Y[i]
		}
	}
	for _, p := range []datasets.Part{other.Train, other.Test} {
		for i, id := range p.IDs {
			if y, is := labels[id]; is && y != p.Y[i] {
				return fmt.Errorf("the record of the ID %d has class %d, and with another shift class %d; an ID is of one record", id, y, p.Y[i])
			}
		}
	}
	return checkSameFeatures(one, other)
}

// checkSameFeatures returns an error for a record whose features, as they were before they were normalised, are others
// with another shift. Features that say in which part a record is differ too.
func checkSameFeatures(one, other *datasets.Prepared) error {
	if one.Train.X.Cols != other.Train.X.Cols || !slices.EqualFunc(one.About.Features, other.About.Features,
		func(a, b datasets.Feature) bool { return a.Name == b.Name }) {
		return nil
	}
	records := map[int][]float32{}
	for _, p := range []datasets.Part{one.Train, one.Test} {
		for i, id := range p.IDs {
			records[id] = p.X.Row(i)
		}
	}
	for _, p := range []datasets.Part{other.Train, other.Test} {
		for i, id := range p.IDs {
			for j, x := range records[id] { // nothing for a record that the other shift leaves out
				before, rounding := undone(one, j, x)
				after, more := undone(other, j, p.X.Row(i)[j])
				if math.Abs(before-after) > rounding+more {
					return fmt.Errorf("feature %d of the record of the ID %d is %v, and with another shift %v, before normalisation (x * SD + Mean of "+
						"Norm); an ID is of one record, whose features do not depend on the part that it is in; what is fitted to the train part "+
						"stands in Norm", j, id, before, after)
				}
			}
		}
	}
	return nil
}

// undone returns a feature as it was before it was normalised, and by how much rounding may have moved it.
func undone(p *datasets.Prepared, j int, x float32) (value, rounding float64) {
	if p.Norm.Mean == nil {
		return float64(x), 1e-6 * math.Abs(float64(x))
	}
	if s := p.About.Shape; s[0] > 0 {
		j /= s[1] * s[2]
	}
	scaled, mean := float64(x)*p.Norm.SD[j], p.Norm.Mean[j]
	return scaled + mean, 1e-5*(math.Abs(scaled)+p.Norm.SD[j]) + 1e-6*math.Abs(mean)
}

// prepared prepares the data.
func prepared(t *testing.T, d lab.Data, shift int) (*datasets.Prepared, error) {
	p, err := d.Prepare(t.Context(), shift)
	if err == nil && p == nil {
		err = fmt.Errorf("its Prepare returned nothing")
	}
	return p, err
}

func sorted(list []int) []int { return slices.Sorted(slices.Values(list)) }
