package fisher

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Tensor is the part of a diagonal for a named weight tensor, in row-major order.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float64
}

// Diagonal is the diagonal Fisher information of a set of records, tensor by tensor. Values include
// Damping, which is added to every entry. An entry that is no larger is dead: the loss of the
// records does not depend on its weight.
type Diagonal struct {
	Tensors []Tensor
	Damping float64
}

// newDiagonal copies values that have the shape of a gradient with respect to p, and adds damping.
func newDiagonal(p nn.Params, values [][]float64, damping float64) Diagonal {
	d := Diagonal{Damping: damping}
	for i, v := range p {
		if v.State {
			continue
		}
		t := Tensor{Name: v.Name, Shape: v.Shape, Values: make([]float64, len(v.Data))}
		for j := range t.Values {
			t.Values[j] = values[i][j] + damping
		}
		d.Tensors = append(d.Tensors, t)
	}
	return d
}

// Size is the number of weights.
func (d Diagonal) Size() int {
	n := 0
	for _, t := range d.Tensors {
		n += len(t.Values)
	}
	return n
}

// Trace is the sum of the entries without damping: for the exact information, the mean squared
// length of a record's gradient.
func (d Diagonal) Trace() float64 {
	sum := 0.0
	for _, t := range d.Tensors {
		for _, v := range t.Values {
			sum += v - d.Damping
		}
	}
	return sum
}

// Tensor returns the tensor of that name.
func (d Diagonal) Tensor(name string) (Tensor, error) {
	for _, t := range d.Tensors {
		if t.Name == name {
			return t, nil
		}
	}
	return Tensor{}, fmt.Errorf("fisher: there is no tensor %s", name)
}

// Filter keeps the tensors whose name is wanted.
func (d Diagonal) Filter(want func(name string) bool) Diagonal {
	out := Diagonal{Damping: d.Damping}
	for _, t := range d.Tensors {
		if want(t.Name) {
			out.Tensors = append(out.Tensors, t)
		}
	}
	return out
}

// Without returns the exact information of a set of n records without a part of it, of m records
// whose information is part. Means over disjoint sets add up:
//
//	F(S - P) = (n F(S) - m F(P)) / (n - m)
//
// That holds only for each record's own squares, so that damping is refused. An entry that rounding
// brings below 0 is 0. An entry to which the part contributed everything may keep a rounding error
// of one ten millionth of it, because the records of a chunk are added in float32.
func (d Diagonal) Without(part Diagonal, n, m int) (Diagonal, error) {
	if err := checkSameTensors(d, part); err != nil {
		return Diagonal{}, err
	}
	if d.Damping != 0 || part.Damping != 0 || !(0 < m && m < n) {
		return Diagonal{}, fmt.Errorf("fisher: %d of %d records cannot be taken out, with a damping of %v and %v", m, n, d.Damping, part.Damping)
	}
	out := Diagonal{}
	for i, t := range d.Tensors {
		left := Tensor{Name: t.Name, Shape: t.Shape, Values: make([]float64, len(t.Values))}
		for j, v := range t.Values {
			left.Values[j] = math.Max(0, (float64(float64(n)*v)-float64(float64(m)*part.Tensors[i].Values[j]))/float64(n-m))
		}
		out.Tensors = append(out.Tensors, left)
	}
	return out, nil
}

// Check reports the first entry that is below the damping or not finite, and tensors with the wrong
// number of values.
func (d Diagonal) Check() error {
	if len(d.Tensors) == 0 {
		return fmt.Errorf("fisher: there are no weights")
	}
	if !(d.Damping >= 0) || math.IsInf(d.Damping, 1) {
		return fmt.Errorf("fisher: the damping is %v", d.Damping)
	}
	for _, t := range d.Tensors {
		n := 1
		for _, s := range t.Shape {
			n *= s
		}
		if n != len(t.Values) || n == 0 {
			return fmt.Errorf("fisher: tensor %s: %d values in the shape %v", t.Name, len(t.Values), t.Shape)
		}
		for j, v := range t.Values {
			if !(v >= d.Damping) || math.IsInf(v, 1) {
				return fmt.Errorf("fisher: tensor %s: element %d is %v, with a damping of %v", t.Name, j, v, d.Damping)
			}
		}
	}
	return nil
}

// checkSameTensors refuses two diagonals that cannot be compared.
func checkSameTensors(a, b Diagonal) error {
	for _, d := range []Diagonal{a, b} {
		if err := d.Check(); err != nil {
			return err
		}
	}
	if len(a.Tensors) != len(b.Tensors) {
		return fmt.Errorf("fisher: %d tensors against %d", len(a.Tensors), len(b.Tensors))
	}
	for i, t := range a.Tensors {
		if u := b.Tensors[i]; t.Name != u.Name || fmt.Sprint(t.Shape) != fmt.Sprint(u.Shape) {
			return fmt.Errorf("fisher: tensor %d is %s %v in one and %s %v in the other", i, t.Name, t.Shape, u.Name, u.Shape)
		}
	}
	return nil
}

// eachPair calls visit with every entry of both.
func eachPair(a, b Diagonal, visit func(x, y float64)) {
	for i, t := range a.Tensors {
		for j, v := range t.Values {
			visit(v, b.Tensors[i].Values[j])
		}
	}
}

// Columns returns the columns from, ..., to-1 of a matrix. In a conditional decoder's output layer
// they are the columns of the hidden units, or of the clusters.
func (t Tensor) Columns(from, to int) (Tensor, error) {
	if err := checkMatrix(t); err != nil {
		return Tensor{}, err
	}
	if !(0 <= from && from < to && to <= t.Shape[1]) {
		return Tensor{}, fmt.Errorf("fisher: tensor %s: columns %d to %d of %d", t.Name, from, to, t.Shape[1])
	}
	out := Tensor{Name: t.Name, Shape: []int{t.Shape[0], to - from}}
	for i := range t.Shape[0] {
		out.Values = append(out.Values, t.Values[i*t.Shape[1]+from:i*t.Shape[1]+to]...)
	}
	return out, nil
}

// Split cuts a named matrix into its first columns, which keep the name, and the others, which are
// named SecondPartName(name).
func (d Diagonal) Split(name string, columns int) (Diagonal, error) {
	t, err := d.Tensor(name)
	if err != nil {
		return d, err
	}
	first, err := t.Columns(0, columns)
	if err != nil {
		return d, err
	}
	second, err := t.Columns(columns, t.Shape[1])
	if err != nil {
		return d, err
	}
	second.Name = SecondPartName(name)
	out := d.Filter(func(n string) bool { return n != name })
	out.Tensors = append(out.Tensors, first, second)
	return out, nil
}

// SecondPartName is the name that Split gives the second part of a tensor.
func SecondPartName(name string) string { return name + ", second part" }
