package outside

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// Shaped is a network that knows the axes of a record.
type Shaped interface {
	// Input are the axes, without the one that counts records.
	Input() []int
}

// Read reads the records that networks are to be run on: an npy file with finite
// numbers and a record at least. Records may lie flat, a row each. If they have axes,
// those must be the network's, but for axes of length 1: images saved as (side, side,
// channels) have as many numbers as those of (channels, side, side), and mean nothing
// to a network that takes the latter. Errors name the file.
func Read(path string, networks ...Network) (array.Rows, error) {
	x, axes, err := npy.ReadRecords(path)
	if err != nil {
		return nil, err
	}
	n, cols := x.Shape()
	if n == 0 {
		return nil, fmt.Errorf("%s: there is no record in it", path)
	}
	if err := x.Check(path); err != nil {
		return nil, err
	}
	for _, m := range networks {
		s, ok := m.(Shaped)
		if !ok {
			continue
		}
		if want := s.Input(); cols == recordSize(want) && !sameLayout(axes, want) {
			return nil, fmt.Errorf("%s: an array of shape %s, and the network takes %s: as many numbers in another order", path, shapeText(axes), shapeText(want))
		}
	}
	return x, nil
}

// recordSize is the number of a record's values.
func recordSize(axes []int) int {
	n := 1
	for _, d := range axes {
		n *= d
	}
	return n
}

// sameLayout reports whether records of one shape, laid out as NumPy does, are records
// of the other. Flat ones say nothing of their axes and are taken at their word.
func sameLayout(found, want []int) bool {
	one := func(d int) bool { return d == 1 }
	longer := func(axes []int) []int { return slices.DeleteFunc(slices.Clone(axes), one) }
	return len(found) == 1 || slices.Equal(longer(found), longer(want))
}

// shapeText is a record's shape in NumPy's words.
func shapeText(axes []int) string {
	return "(records, " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(axes)), ", "), "[]") + ")"
}
