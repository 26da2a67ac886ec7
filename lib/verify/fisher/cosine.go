// The cosine of two diagonals of the Fisher information, over all weights or row by row.

package fisher

import (
	"errors"
	"math"
)

var (
	errDead     = errors.New("fisher: every weight is dead: there is no direction")
	errOverflow = errors.New("fisher: float64 does not hold the squares of the entries: divide them by a number first")
)

// Cosine is the paper's overlap of two diagonals, including damping,
//
//	<a, b> / (||a|| ||b||)
//
// in [0, 1]: 1 if they are proportional, 0 if no weight matters to both. It has no null of its own
// (see the package). The largest entries dominate: of several tensors, those with the largest
// gradients. It refuses diagonals of different tensors and one that is 0 everywhere.
func Cosine(a, b Diagonal) (float64, error) {
	if err := checkSameTensors(a, b); err != nil {
		return 0, err
	}
	var s products
	eachPair(a, b, s.add)
	return s.cosine()
}

// products holds the sums behind a cosine.
type products struct{ xx, yy, xy float64 }

func (s *products) add(x, y float64) {
	s.xx += float64(x * x)
	s.yy += float64(y * y)
	s.xy += float64(x * y)
}

func (s *products) cosine() (float64, error) {
	if s.xx == 0 || s.yy == 0 {
		return 0, errDead
	}
	if math.IsInf(s.xx, 1) || math.IsInf(s.yy, 1) {
		return 0, errOverflow
	}
	return math.Min(1, s.xy/(math.Sqrt(s.xx)*math.Sqrt(s.yy))), nil
}

// cosineOf returns the cosine of two lists of entries.
func cosineOf(x, y []float64) (float64, error) {
	var s products
	for i, v := range x {
		s.add(v, y[i])
	}
	return s.cosine()
}

// RowCosines returns the cosines of two tensors row by row: for the weights of an output layer, one
// per gene. A row that is dead in either tensor has none, NaN. Use tensors without damping, which
// would give rows of silent genes a cosine of 1.
func RowCosines(a, b Tensor) ([]float64, error) {
	if err := checkSameTensors(Diagonal{Tensors: []Tensor{a}}, Diagonal{Tensors: []Tensor{b}}); err != nil {
		return nil, err
	}
	n := a.Shape[0]
	width, out := len(a.Values)/n, make([]float64, n)
	for i := range out {
		c, err := cosineOf(a.Values[i*width:(i+1)*width], b.Values[i*width:(i+1)*width])
		if out[i] = c; err != nil {
			out[i] = math.NaN()
		}
	}
	return out, nil
}
