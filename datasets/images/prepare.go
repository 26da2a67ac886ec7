package images

import (
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

// Prepared is an image set ready for training: a random draw from each of its
// parts, with every channel normalised by the mean and standard deviation of the
// training images drawn. Row i of Train is the image Train.Rows[i] of the
// published part; Table has the names and planted groups, and no matrix.
type Prepared struct {
	*datasets.Prepared
	Shape  [3]int
	Norm   Normalisation
	Caveat string // see Images
}

// Prepare draws images without repetition and normalises them; 0 takes all of a
// part. Of a set whose test part is empty, the test images are drawn from the
// other images of the training part. The draw depends on rng only, and the
// images stand in the order of their rows.
//
// It fails for a nil rng, for more images than there are, and as LoadRows does.
func Prepare(ctx context.Context, name string, train, test int, rng *rand.Rand) (*Prepared, error) {
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
		set.Train, set.Test = cut(set.Train, len(rows))
		set.Planted = within(set.Planted, len(rows))
	}
	if err != nil {
		return nil, err
	}
	return prepare(set)
}

func drawRows(info datasets.Info, train, test int, rng *rand.Rand) (rows, held []int, err error) {
	all, tests := info.Rows-info.TestRows, info.TestRows
	if train == 0 {
		train = all
	}
	if test == 0 {
		test = tests
	}
	room := tests
	if tests == 0 {
		room = all - train
	}
	if train < 1 || train > all || test < 1 || test > room {
		return nil, nil, fmt.Errorf("datasets: %s: %d training and %d test images are asked for, it has %d and %d", info.Name, train, test, all, tests)
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

// cut divides a part after its first n images.
func cut(p Part, n int) (first, rest Part) {
	size := p.X.Cols
	first, rest = p, p
	first.X.Rows, first.X.Data = n, p.X.Data[:n*size:n*size]
	rest.X.Rows, rest.X.Data = p.X.Rows-n, p.X.Data[n*size:]
	first.Y, rest.Y = p.Y[:n:n], p.Y[n:]
	first.Rows, rest.Rows = p.Rows[:n:n], p.Rows[n:]
	if p.Coarse != nil {
		first.Coarse, rest.Coarse = p.Coarse[:n:n], p.Coarse[n:]
	}
	return first, rest
}

// within keeps what of the groups lies among the first n rows.
func within(groups map[string][]int, n int) map[string][]int {
	for name, rows := range groups {
		groups[name] = slices.DeleteFunc(rows, func(r int) bool { return r >= n })
	}
	return groups
}

func prepare(set *Images) (*Prepared, error) {
	norm, err := Measure(set.Train.X, set.Shape)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	h := sha256.New()
	h.Write([]byte(set.Hash))
	for _, v := range append(slices.Clone(norm.Mean), norm.SD...) {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	for _, p := range []Part{set.Train, set.Test} {
		for i := range p.X.Rows {
			if err := norm.Row(p.X.Row(i), p.X.Row(i), set.Shape); err != nil {
				return nil, fmt.Errorf("%s: %w", set.Name, err)
			}
		}
	}
	every := make([]int, set.Train.X.Rows)
	for i := range every {
		every[i] = i
	}
	return &Prepared{
		Prepared: &datasets.Prepared{
			Table: &datasets.Table{Name: set.Name, Title: set.Title, Classes: set.Classes, Sources: set.Sources,
				Hash: set.Hash, Synthetic: set.Synthetic, Planted: set.Planted},
			Train: set.Train.X, Test: set.Test.X, TrainY: set.Train.Y, TestY: set.Test.Y,
			Split: datasets.Split{Train: every}, Hash: hex.EncodeToString(h.Sum(nil)),
		},
		Shape: set.Shape, Norm: norm, Caveat: set.Caveat,
	}, nil
}
