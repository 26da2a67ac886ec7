// Local regression of y on one x.

package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Loess is Cleveland's local regression (1979, 1988) of y on one x. At each place a polynomial is
// fitted to the share Span of the records that lie nearest, with weights
//
//	w = (1 - (d/h)^3)^3,  d = |x - place|, h = the distance of the farthest of them
//
// and its value at the place is the curve. The zero value is degree 2 and span 0.75, R's default.
//
// By default, as in R's loess and scikit-misc, the polynomials are fitted at the ends of the cells
// of a k-d tree, and between them the curve is the cubic with the values and slopes there
// (Cleveland and Grosse 1991). The records are halved until a cell has at most a share Cell of a
// neighbourhood. Direct fits at every record: smoother, slower, and different from published
// programs.
//
// Differences from R's loess: 1. One explanatory variable, no robustness iterations, no standard
// errors. 2. Least squares by Householder's QR without a pseudo-inverse: too few different records
// for the polynomial are
//
//	refused.
type Loess struct {
	Degree int     // 1 or 2; 0: 2
	Span   float64 // in (0, 1]; 0: 0.75
	Cell   float64 // 0: 0.2
	Direct bool    // fit at every record
}

// Fit returns the curve at the records x, in their order. It refuses different lengths, values
// that are not finite, settings out of range, and neighbourhoods with fewer different x than the
// polynomial has coefficients.
func (l Loess) Fit(x, y []float64) ([]float64, error) {
	l = l.withDefaults()
	if err := errors.Join(checkFinite("Loess", "x", x), checkFinite("Loess", "y", y)); err != nil {
		return nil, err
	}
	if err := checkSameLength("Loess", "x", len(x), "y", len(y)); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	// A span such as 0.3 is a little below three tenths; R adds the same.
	near := min(len(x), int(math.Floor(float64(float64(len(x))*l.Span)+1e-5)))
	if near <= l.Degree+1 {
		return nil, fmt.Errorf("stats.Loess: a span of %v of %d records is %d of them: too few for degree %d", l.Span, len(x), near, l.Degree)
	}
	s := smoother{degree: l.Degree, neighbours: near}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for _, i := range order {
		s.x, s.y = append(s.x, x[i]), append(s.y, y[i])
	}
	knots := slices.Compact(slices.Clone(s.x))
	if !l.Direct {
		knots = s.knots(int(math.Floor(float64(len(x)) * l.Span * l.Cell)))
	}
	curve, err := s.fitAll(knots)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(x))
	for _, i := range order { // ascending, as the curve requires
		out[i] = curve.eval(x[i])
	}
	return out, nil
}

func (l Loess) withDefaults() Loess {
	l.Degree, l.Span, l.Cell = cmp.Or(l.Degree, 2), cmp.Or(l.Span, 0.75), cmp.Or(l.Cell, 0.2)
	return l
}

func (l Loess) check() error {
	switch {
	case l.Degree != 1 && l.Degree != 2:
		return fmt.Errorf("stats.Loess: degree is %d, want 1 or 2", l.Degree)
	case !(l.Span > 0 && l.Span <= 1):
		return fmt.Errorf("stats.Loess: span is %v, want 0 < span <= 1", l.Span)
	case !(l.Cell > 0 && l.Cell <= 1):
		return fmt.Errorf("stats.Loess: cell is %v, want 0 < cell <= 1", l.Cell)
	}
	return nil
}

// smoother holds the records by ascending x.
type smoother struct {
	x, y               []float64
	degree, neighbours int
}

// knots returns the ends of the cells, ascending: the range of x, a little wider,
// cut at the median until a cell has at most full records.
func (s smoother) knots(full int) []float64 {
	n := len(s.x)
	low, high := s.x[0], s.x[n-1]
	margin := float64(0.005 * max(high-low, float64(1e-10*max(math.Abs(low), math.Abs(high)))+1e-30))
	out := []float64{low - margin, high + margin}
	var cut func(from, to int, low, high float64)
	cut = func(from, to int, low, high float64) {
		if to-from <= full {
			return
		}
		m := s.middle(from, to)
		at := s.x[m]
		if at == low || at == high { // records that are all equal cannot be divided
			return
		}
		out = append(out, at)
		cut(from, m+1, low, at)
		cut(m+1, to, at, high)
	}
	cut(0, n, out[0], out[1])
	slices.Sort(out)
	return slices.Compact(out)
}

// middle returns the last record of the lower half of from <= i < to: the median, or the nearest
// index at which x steps up, the upper one first.
func (s smoother) middle(from, to int) int {
	m := (from + to - 1) / 2
	for k := 0; ; {
		i := m + k
		if i >= to-1 || i < from {
			return m
		}
		if s.x[i] != s.x[i+1] {
			return i
		}
		if k = -k; k >= 0 {
			k++
		}
	}
}

// fitAll fits a polynomial at every knot. The knots ascend, and the neighbourhood moves to the
// right with them.
func (s smoother) fitAll(knots []float64) (*hermite, error) {
	c, from := &hermite{knots: knots}, 0
	for _, q := range knots {
		for from+s.neighbours < len(s.x) && s.x[from+s.neighbours]-q < q-s.x[from] {
			from++
		}
		value, slope, err := s.fitAt(q, from)
		if err != nil {
			return nil, err
		}
		c.value, c.slope = append(c.value, value), append(c.slope, slope)
	}
	return c, nil
}

// fitAt returns the value and the slope at q of the polynomial fitted to the neighbouring records
// that begin at from.
func (s smoother) fitAt(q float64, from int) (value, slope float64, err error) {
	x, y := s.x[from:from+s.neighbours], s.y[from:from+s.neighbours]
	h := max(q-x[0], x[s.neighbours-1]-q)
	if !(x[0] < x[s.neighbours-1]) {
		return 0, 0, fmt.Errorf("stats.Loess: the %d records nearest to %v are all at %v: take a wider span", s.neighbours, q, x[0])
	}
	a, b := mat.NewDense(s.neighbours, s.degree+1, nil), mat.NewVecDense(s.neighbours, nil)
	for i, v := range x {
		d := (v - q) / h // in [-1, 1], so that the columns are of one size
		w := math.Sqrt(math.Pow(1-math.Pow(math.Abs(d), 3), 3))
		b.SetVec(i, float64(w*y[i]))
		for k := range s.degree + 1 {
			a.Set(i, k, w)
			w = float64(w * d)
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var c mat.VecDense
	if err := qr.SolveVecTo(&c, false, b); err != nil {
		return 0, 0, fmt.Errorf("stats.Loess: the %d records nearest to %v are too few different ones for degree %d: take a wider span",
			s.neighbours, q, s.degree)
	}
	return c.AtVec(0), c.AtVec(1) / h, nil
}

// hermite is the piecewise cubic with given values and slopes at its knots. It must be evaluated
// at ascending x.
type hermite struct {
	knots, value, slope []float64
	cell                int
}

func (c *hermite) eval(x float64) float64 {
	for c.cell+2 < len(c.knots) && x > c.knots[c.cell+1] {
		c.cell++
	}
	k := c.cell
	width := c.knots[k+1] - c.knots[k]
	h := (x - c.knots[k]) / width
	g := 1 - h
	return float64(g*g*(1+2*h)*c.value[k]) + float64(h*h*(3-2*h)*c.value[k+1]) +
		float64((float64(h*g*g*c.slope[k])-float64(h*h*g*c.slope[k+1]))*width)
}
