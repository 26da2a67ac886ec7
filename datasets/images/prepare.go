// Drawing and normalisation of images for training.

package images

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
)

// Prepare draws images from each part of a set without repetition, 0 for all of a part, and
// normalises every channel with the mean and the standard deviation of the drawn training images.
// If the set has no test part, the test images are drawn from the other training images; 0 of them are a
// fifth of all that are drawn. The draw depends on rng only; the images are in the order of their rows.
//
// It refuses a nil rng, more images than there are, and what LoadRows refuses.
func Prepare(ctx context.Context, name string, train, test int, rng *rand.Rand) (*datasets.Prepared, error) {
	set, err := loadDrawn(ctx, name, train, test, rng)
	if err != nil {
		return nil, err
	}
	return prepare(set)
}

// Pixels is Prepare without normalisation: 0 is black and 1 is white.
func Pixels(ctx context.Context, name string, train, test int, rng *rand.Rand) (*datasets.Prepared, error) {
	set, err := loadDrawn(ctx, name, train, test, rng)
	if err != nil {
		return nil, err
	}
	norm := datasets.Normalisation{Mean: make([]float64, set.Shape[0]), SD: slices.Repeat([]float64{1}, set.Shape[0])}
	return newPrepared(set, norm), nil
}

// loadDrawn draws rows and loads them.
func loadDrawn(ctx context.Context, name string, train, test int, rng *rand.Rand) (*Images, error) {
	info, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	if rng == nil {
		return nil, fmt.Errorf("datasets: %s: the generator of random numbers is nil", name)
	}
	rows, held, err := drawRows(info, train, test, rng)
	if err != nil {
		return nil, err
	}
	var set *Images
	if info.TestRows > 0 {
		set, err = LoadRows(ctx, name, rows, held)
	} else if set, err = LoadRows(ctx, name, append(slices.Clone(rows), held...), []int{}); err == nil {
		set.Train, set.Test = set.Train.SplitAt(len(rows))
		set.Planted = groupsAmong(set.Planted, rows)
	}
	return set, err
}

// Sizes returns how many images a request for at most so many training and test images takes, 0: all. Of a set without a
// test part a fifth is held out, or a quarter as many as the training images that are requested.
func Sizes(info datasets.Info, train, test int) (inTrain, inTest int, err error) {
	all, tests := info.Rows-info.TestRows, info.TestRows
	if tests == 0 {
		return partSizes(info.Name, all, train, test)
	}
	train, test = cmp.Or(train, all), cmp.Or(test, tests)
	if train < 1 || train > all || test < 1 || test > tests {
		return 0, 0, fmt.Errorf("datasets: %s: %d training and %d test images are requested, it has %d and %d", info.Name, train, test, all, tests)
	}
	return train, test, nil
}

// partSizes is Sizes for a set that has no test part.
func partSizes(name string, all, train, test int) (inTrain, inTest int, err error) {
	switch {
	case test == 0 && train == 0:
		test = (all + 4) / 5
	case test == 0:
		test = min((train+3)/4, all-train)
	}
	train = cmp.Or(train, all-test)
	if train < 1 || test < 1 || train+test > all {
		return 0, 0, fmt.Errorf("datasets: %s: %d training and %d test images are requested, it has %d in all and no test part", name, train, test, all)
	}
	return train, test, nil
}

func drawRows(info datasets.Info, train, test int, rng *rand.Rand) (rows, held []int, err error) {
	all, tests := info.Rows-info.TestRows, info.TestRows
	if train, test, err = Sizes(info, train, test); err != nil {
		return nil, nil, err
	}
	drawn := rng.Perm(all)
	rows = drawn[:train:train]
	if tests > 0 {
		held = rng.Perm(tests)[:test]
	} else {
		held = drawn[train : train+test]
	}
	slices.Sort(rows)
	slices.Sort(held)
	return rows, held, nil
}

func prepare(set *Images) (*datasets.Prepared, error) {
	norm, err := MeasureChannels(set.Train.X, set.Shape)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	for _, p := range []datasets.Part{set.Train, set.Test} {
		for i := range p.X.Rows {
			if err := Normalise(norm, p.X.Row(i), p.X.Row(i), set.Shape); err != nil {
				return nil, fmt.Errorf("%s: %w", set.Name, err)
			}
		}
	}
	return newPrepared(set, norm), nil
}

// newPrepared returns a normalised set as a datasets.Prepared.
func newPrepared(set *Images, norm datasets.Normalisation) *datasets.Prepared {
	h := sha256.New()
	h.Write([]byte(set.Hash))
	for _, v := range append(slices.Clone(norm.Mean), norm.SD...) {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	return &datasets.Prepared{
		About: set.About, Train: set.Train, Test: set.Test, Norm: norm, Hash: hex.EncodeToString(h.Sum(nil)),
	}
}
