// DotGeneral: a batch of matrix products of views, by kernels for floats and by loops for integers.

package backend

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// dotAxes are the axes of a product's operands.
type dotAxes struct{ lhsSum, lhsBatch, rhsSum, rhsBatch []int }

// DotGeneral implements compute.Function.
func (f *function) DotGeneral(lhs compute.Value, lhsSum, lhsBatch []int, rhs compute.Value, rhsSum, rhsBatch []int,
	config compute.DotGeneralConfig) (compute.Value, error) {
	in, err := f.operands(compute.OpTypeDotGeneral, []compute.Value{lhs, rhs})
	if err != nil {
		return nil, err
	}
	t := in[0].shape.DType
	shape, err := shapeinference.DotGeneral(in[0].shape, lhsSum, lhsBatch, in[1].shape, rhsSum, rhsBatch, config)
	if err == nil && (products[t] == nil || shape.DType != t || (config.AccumulatorDType != dtypes.InvalidDType && config.AccumulatorDType != t)) {
		err = missing(compute.OpTypeDotGeneral)
	}
	axes := dotAxes{slices.Clone(lhsSum), slices.Clone(lhsBatch), slices.Clone(rhsSum), slices.Clone(rhsBatch)}
	return f.result(compute.OpTypeDotGeneral, shape, err, axes, in...)
}

// dot is the step c = a b^T for every index of the batch.
type dot struct {
	a, b, c matrixView
	batch   []int
	dtype   dtypes.DType
	m, n, k int
}

// matrixView is a matrix for every index of the batch: element (i, j) is at row i + col j
// from the matrix's start.
type matrixView struct {
	view
	batch    []int // strides
	row, col int
}

func init() {
	stepMakers[compute.OpTypeDotGeneral] = func(p *planner, n *node) (steps []step, scratch map[int]int, err error) {
		axes := n.attr.(dotAxes)
		scratch = map[int]int{}
		d := &dot{dtype: n.shape.DType}
		for _, i := range axes.lhsBatch {
			d.batch = append(d.batch, n.in[0].shape.Dimensions[i])
		}
		operand := func(in *node, batch, sum []int) (f matrixView, free, along int, err error) {
			f, free, along, ok := asMatrix(p.views[in], batch, sum)
			if ok {
				return f, free, along, nil
			}
			v := p.views[in].permuted(slices.Concat(batch, otherAxes(len(p.views[in].dims), batch, sum), sum))
			to := denseView(p.newSlot(), v.dtype, v.dims)
			scratch[to.slot] = v.size() * int(v.dtype.Size())
			steps = append(steps, denseCopy(v, to))
			first := make([]int, len(batch))
			for i := range first {
				first[i] = i
			}
			last := make([]int, len(sum))
			for i := range last {
				last[i] = len(v.dims) - len(sum) + i
			}
			f, free, along, ok = asMatrix(to, first, last)
			if !ok {
				return f, free, along, fmt.Errorf("backend %s: a product of %s", Name, in.shape)
			}
			return f, free, along, nil
		}
		if d.a, d.m, d.k, err = operand(n.in[0], axes.lhsBatch, axes.lhsSum); err != nil {
			return nil, nil, err
		}
		if d.b, d.n, d.k, err = operand(n.in[1], axes.rhsBatch, axes.rhsSum); err != nil {
			return nil, nil, err
		}
		d.c = matrixView{view: p.views[n], batch: rowMajor(d.batch), row: d.n, col: 1}
		for i := range d.c.batch {
			d.c.batch[i] *= d.m * d.n
		}
		return append(steps, d), scratch, nil
	}
}

// otherAxes returns the axes that are in neither list.
func otherAxes(rank int, a, b []int) (out []int) {
	for i := range rank {
		if !slices.Contains(a, i) && !slices.Contains(b, i) {
			out = append(out, i)
		}
	}
	return out
}

// permuted returns the view with its axes in another order.
func (v view) permuted(order []int) view {
	out := v
	out.dims, out.strides = nil, nil
	for _, i := range order {
		out.dims, out.strides = append(out.dims, v.dims[i]), append(out.strides, v.strides[i])
	}
	return out
}

// asMatrix returns a view as a matrix of its free axes by the axes to be summed over. ok is
// false if either have no single stride, or a negative one.
func asMatrix(v view, batch, sum []int) (f matrixView, free, along int, ok bool) {
	f.view = v
	for _, i := range batch {
		f.batch = append(f.batch, v.strides[i])
	}
	even := func(axes []int) (n, step int, ok bool) {
		w := v.permuted(axes)
		dims, strides := mergeAxes(w.dims, w.strides)
		switch len(dims) {
		case 0:
			return product(w.dims), 1, true
		case 1:
			return dims[0], strides[0][0], strides[0][0] >= 0
		}
		return product(w.dims), 0, false
	}
	free, f.row, ok = even(otherAxes(len(v.dims), batch, sum))
	if !ok {
		return f, free, 0, false
	}
	along, f.col, ok = even(sum)
	return f, free, along, ok
}

func (d *dot) run(x *execution) {
	count := product(d.batch)
	one := *x
	if count >= x.workers {
		one.workers = 1 // each worker has its own index of the batch
	}
	x.parallel(count, max(1, grain/max(1, d.m*d.n*d.k)), func(from, to int) {
		for i := from; i < to; i++ {
			products[d.dtype](&one, d, d.a.matrixPtr(x, d.batch, i), d.b.matrixPtr(x, d.batch, i), d.c.matrixPtr(x, d.batch, i))
		}
	})
}

// matrixPtr returns the address of a matrix of the batch.
func (f matrixView) matrixPtr(x *execution, batch []int, i int) unsafe.Pointer {
	offset := 0
	for k := len(batch) - 1; k >= 0; k-- {
		offset += i % batch[k] * f.batch[k]
		i /= batch[k]
	}
	return x.viewPtr(f.view, offset)
}

// products has the matrix product of each type, for matrices at three addresses.
var products = map[dtypes.DType]func(x *execution, d *dot, a, b, c unsafe.Pointer){
	dtypes.Float32: kernelProduct[float32], dtypes.Float64: kernelProduct[float64],
	dtypes.Int8: loopProduct[int8], dtypes.Int16: loopProduct[int16], dtypes.Int32: loopProduct[int32], dtypes.Int64: loopProduct[int64],
	dtypes.Uint8: loopProduct[uint8], dtypes.Uint16: loopProduct[uint16], dtypes.Uint32: loopProduct[uint32], dtypes.Uint64: loopProduct[uint64],
}

// kernelProduct is the product of package kernels.
func kernelProduct[T kernels.Float](x *execution, d *dot, a, b, c unsafe.Pointer) {
	sees := func(p unsafe.Pointer, rows, cols, row, col int) kernels.Matrix[T] {
		return kernels.Matrix[T]{Data: sliceAt[T](p, (rows-1)*row+(cols-1)*col+1), Rows: rows, Cols: cols, RowStride: row, ColStride: col}
	}
	if d.m*d.n == 0 {
		return
	}
	if d.k == 0 {
		clear(sliceAt[T](c, d.m*d.n))
		return
	}
	x.check(kernels.Multiply(x.pool(), sees(c, d.m, d.n, d.n, 1),
		sees(a, d.m, d.k, d.a.row, d.a.col), sees(b, d.k, d.n, d.b.col, d.b.row), false))
}

// loopProduct is the product as a loop.
func loopProduct[T number](x *execution, d *dot, a, b, c unsafe.Pointer) {
	var zero T
	width := int(unsafe.Sizeof(zero))
	at := func(p unsafe.Pointer, i int) T { return *(*T)(unsafe.Add(p, i*width)) }
	x.parallel(d.m, max(1, grain/max(1, d.n*d.k)), func(from, to int) {
		for i := from; i < to; i++ {
			out := sliceAt[T](unsafe.Add(c, i*d.n*width), d.n)
			for j := range out {
				var sum T
				for k := range d.k {
					sum += at(a, i*d.a.row+k*d.a.col) * at(b, j*d.b.row+k*d.b.col)
				}
				out[j] = sum
			}
		}
	})
}
