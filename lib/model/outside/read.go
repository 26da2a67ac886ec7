// Reading records from npy files.

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
	// Input are the axes without the one that counts records.
	Input() []int
}

// Read reads the records to run networks on: an npy file with finite numbers and at least
// one record. Records may be flat, one per row. If they have axes these must be the
// network's, apart from axes of length 1: images of shape (side, side, channels) have as
// many numbers as those of shape (channels, side, side) but mean something else. Errors
// name the file.
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
			return nil, fmt.Errorf("%s: an array of shape %s, and the network takes %s: as many numbers in another order",
				path, shapeText(axes), shapeText(want))
		}
	}
	return x, nil
}

// recordSize returns the number of values of a record.
func recordSize(axes []int) int {
	n := 1
	for _, d := range axes {
		n *= d
	}
	return n
}

// sameLayout reports whether records of one shape, in row-major order, are also records of
// the other. Flat records have no axes and always match.
func sameLayout(found, want []int) bool {
	one := func(d int) bool { return d == 1 }
	longer := func(axes []int) []int { return slices.DeleteFunc(slices.Clone(axes), one) }
	return len(found) == 1 || slices.Equal(longer(found), longer(want))
}

// shapeText returns a record's shape in NumPy's notation.
func shapeText(axes []int) string {
	return "(records, " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(axes)), ", "), "[]") + ")"
}
