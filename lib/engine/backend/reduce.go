// Reductions over axes, computed from the tiles of a fused program and joined in a fixed order.

package backend

import (
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
)

// reductions are the operations of reduce; their attribute is the axes.
var reductions = map[compute.OpType]bool{
	compute.OpTypeReduceSum: true, compute.OpTypeReduceProduct: true, compute.OpTypeReduceMax: true, compute.OpTypeReduceMin: true,
	compute.OpTypeReduceLogicalAnd: true, compute.OpTypeReduceLogicalOr: true,
}

func (f *function) reduce(op compute.OpType, x compute.Value, axes []int) (compute.Value, error) {
	in, err := f.operands(op, []compute.Value{x})
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		for i := range in[0].shape.Rank() {
			axes = append(axes, i)
		}
	}
	shape, err := shapeinference.Reduce(in[0].shape, axes)
	if err == nil && folds[kernelKey{op, in[0].shape.DType}] == nil {
		err = missing(op)
	}
	return f.result(op, shape, err, slices.Clone(axes), in...)
}

// ReduceSum implements compute.Function.
func (f *function) ReduceSum(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceSum, x, axes)
}

// ReduceProduct implements compute.Function.
func (f *function) ReduceProduct(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceProduct, x, axes)
}

// ReduceMax implements compute.Function.
func (f *function) ReduceMax(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceMax, x, axes)
}

// ReduceMin implements compute.Function.
func (f *function) ReduceMin(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceMin, x, axes)
}

// ReduceLogicalAnd implements compute.Function.
func (f *function) ReduceLogicalAnd(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalAnd, x, axes)
}

// ReduceLogicalOr implements compute.Function.
func (f *function) ReduceLogicalOr(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalOr, x, axes)
}

// fold has the functions of a reduction of a type. Accumulators have eight bytes each.
type fold struct {
	// start sets accumulators to the identity of the reduction.
	start func(acc []uint64)
	// along reduces n elements into one accumulator, in an order that depends on n only.
	along func(acc *uint64, from unsafe.Pointer, n int)
	// across reduces rows of elements, one after the other, into one accumulator per
	// column.
	across func(acc []uint64, from unsafe.Pointer, rows int)
	// join reduces accumulators into others.
	join func(acc, other []uint64)
	// end stores accumulators as elements.
	end func(to unsafe.Pointer, acc []uint64)
}

var folds = map[kernelKey]*fold{}

// newFold returns the fold of elements T with an accumulator A.
func newFold[T, A any](zero A, take func(acc A, v T) A, join func(a, b A) A, end func(acc A) T) *fold {
	in := func(acc *uint64) *A { return (*A)(unsafe.Pointer(acc)) }
	return &fold{
		start: func(acc []uint64) {
			for i := range acc {
				*in(&acc[i]) = zero
			}
		},
		along: func(acc *uint64, from unsafe.Pointer, n int) {
			var lanes [lanes]A
			for i := range lanes {
				lanes[i] = zero
			}
			x := sliceAt[T](from, n)
			for len(x) >= len(lanes) {
				for i := range lanes {
					lanes[i] = take(lanes[i], x[i])
				}
				x = x[len(lanes):]
			}
			for i, v := range x {
				lanes[i] = take(lanes[i], v)
			}
			for _, l := range lanes {
				*in(acc) = join(*in(acc), l)
			}
		},
		across: func(acc []uint64, from unsafe.Pointer, rows int) {
			x := sliceAt[T](from, rows*len(acc))
			for ; len(x) > 0; x = x[len(acc):] {
				for i, v := range x[:len(acc)] {
					*in(&acc[i]) = take(*in(&acc[i]), v)
				}
			}
		},
		join: func(acc, other []uint64) {
			for i := range acc {
				*in(&acc[i]) = join(*in(&acc[i]), *in(&other[i]))
			}
		},
		end: func(to unsafe.Pointer, acc []uint64) {
			out := sliceAt[T](to, len(acc))
			for i := range acc {
				out[i] = end(*in(&acc[i]))
			}
		},
	}
}

// lanes is the number of partial results along a row.
const lanes = 8

// grain is about the number of elements of one piece of work of a reduction. Pieces of the
// same output are joined in order.
const grain = 1 << 16

// reduction is the step of a reduction over the elements of a program.
type reduction struct {
	source *program
	result int // the register that is reduced
	fold   *fold
	to     view
	groups []group // axes, the outermost first, merged
	dtype  dtypes.DType
}

// group is a group of neighbouring axes that are all reduced or all kept.
type group struct {
	n    int
	kept bool
}

func mergeGroups(dims []int, axes []int) (out []group) {
	for i, n := range dims {
		kept := !slices.Contains(axes, i)
		switch last := len(out) - 1; {
		case n == 1:
		case last >= 0 && out[last].kept == kept:
			out[last].n *= n
		default:
			out = append(out, group{n, kept})
		}
	}
	return out
}

// run computes the outputs. The innermost group is reduced along, or across if it is kept;
// the groups before it are counted over, kept and reduced ones separately.
func (r *reduction) run(x *execution) {
	inner := group{1, false}
	outer := r.groups
	if n := len(outer); n > 0 {
		inner, outer = outer[n-1], outer[:n-1]
	}
	kept, folded := splitGroups(outer, inner.n)
	width, segments := 1, folded.size()
	if inner.kept {
		width = inner.n
	}
	if !inner.kept && segments == 1 && inner.n <= tile/2 && kept.dense(inner.n) {
		r.rows(x, kept.size(), inner.n)
		return
	}
	pieces := r.pieces(segments, inner.n)
	x.parallel(kept.size(), max(1, grain/max(1, segments*inner.n)), func(from, to int) {
		acc := make([]uint64, width)
		for k := from; k < to; k++ {
			r.output(x, acc, k, kept.offset(k), folded, inner, pieces)
		}
	})
}

// rows reduces short contiguous rows, as many at a time as fit a tile.
func (r *reduction) rows(x *execution, count, n int) {
	size := int(r.dtype.Size())
	at := tile / n
	x.parallel(count, max(1, grain/n), func(from, to int) {
		f := r.source.newFrame(x, (to-from)*n)
		defer f.release()
		acc := make([]uint64, at)
		for ; from < to; from += at {
			now := min(at, to-from)
			r.source.compute(x, f, from*n, now*n)
			r.fold.start(acc[:now])
			for i := range now {
				r.fold.along(&acc[i], unsafe.Add(f.registers[r.result], i*n*size), n)
			}
			r.fold.end(x.viewPtr(r.to, from), acc[:now])
		}
	})
}

// pieces returns the number of pieces into which the segments of an output are cut.
func (r *reduction) pieces(segments, inner int) int {
	return max(1, min(segments, segments*inner/grain))
}

func (r *reduction) output(x *execution, acc []uint64, k, base int, folded walker, inner group, pieces int) {
	width, segments := len(acc), folded.size()
	if pieces == 1 {
		r.piece(x, acc, base, folded, 0, segments, inner)
		r.fold.end(x.viewPtr(r.to, k*width), acc)
		return
	}
	parts := make([]uint64, pieces*width)
	x.parallel(pieces, 1, func(from, to int) {
		for i := from; i < to; i++ {
			r.piece(x, parts[i*width:(i+1)*width], base, folded, i*segments/pieces, (i+1)*segments/pieces, inner)
		}
	})
	total := parts[:width]
	for i := 1; i < pieces; i++ {
		r.fold.join(total, parts[i*width:(i+1)*width])
	}
	r.fold.end(x.viewPtr(r.to, k*width), total)
}

// piece reduces some segments into accumulators.
func (r *reduction) piece(x *execution, acc []uint64, base int, folded walker, from, to int, inner group) {
	r.fold.start(acc)
	f := r.source.newFrame(x, inner.n*max(1, to-from))
	defer f.release()
	rows := 1
	if len(folded) == 1 && folded[0].step == inner.n {
		rows = max(1, tile/inner.n) // segments lie side by side
	}
	for s := from; s < to; s += rows {
		now := min(rows, to-s)
		at := base + folded.offset(s)
		for done := 0; done < now*inner.n; done += tile {
			n := min(tile, now*inner.n-done)
			r.source.compute(x, f, at+done, n)
			r.accumulate(acc, f.registers[r.result], done, n, inner)
		}
	}
}

// accumulate reduces a tile: whole segments, or elements from done on of a longer one.
func (r *reduction) accumulate(acc []uint64, from unsafe.Pointer, done, n int, inner group) {
	if !inner.kept {
		r.fold.along(&acc[0], from, n)
		return
	}
	if inner.n > tile {
		r.fold.across(acc[done:done+n], from, 1)
		return
	}
	r.fold.across(acc, from, n/inner.n)
}

// walker counts over groups of axes and returns the offset of each count in the source.
type walker []stride

type stride struct{ n, step int }

// splitGroups returns the walkers over the kept and the reduced groups before the innermost
// one, which has inner elements.
func splitGroups(outer []group, inner int) (kept, folded walker) {
	step := inner
	for i := len(outer) - 1; i >= 0; i-- {
		g := outer[i]
		if g.kept {
			kept = append(walker{{g.n, step}}, kept...)
		} else {
			folded = append(walker{{g.n, step}}, folded...)
		}
		step *= g.n
	}
	return kept, folded
}

// dense reports whether consecutive counts are n elements apart.
func (w walker) dense(n int) bool {
	for i := len(w) - 1; i >= 0; i-- {
		if w[i].step != n {
			return false
		}
		n *= w[i].n
	}
	return true
}

func (w walker) size() int {
	n := 1
	for _, s := range w {
		n *= s.n
	}
	return n
}

func (w walker) offset(count int) (at int) {
	for i := len(w) - 1; i >= 0; i-- {
		at += count % w[i].n * w[i].step
		count /= w[i].n
	}
	return at
}

func init() {
	addFloatFolds[float32](dtypes.Float32)
	addFloatFolds[float64](dtypes.Float64)
	addIntegerFolds[int8](dtypes.Int8)
	addIntegerFolds[int16](dtypes.Int16)
	addIntegerFolds[int32](dtypes.Int32)
	addIntegerFolds[int64](dtypes.Int64)
	addIntegerFolds[uint8](dtypes.Uint8)
	addIntegerFolds[uint16](dtypes.Uint16)
	addIntegerFolds[uint32](dtypes.Uint32)
	addIntegerFolds[uint64](dtypes.Uint64)
	and := func(a, b bool) bool { return a && b }
	or := func(a, b bool) bool { return a || b }
	self := func(a bool) bool { return a }
	folds[kernelKey{compute.OpTypeReduceLogicalAnd, dtypes.Bool}] = newFold(true, and, and, self)
	folds[kernelKey{compute.OpTypeReduceLogicalOr, dtypes.Bool}] = newFold(false, or, or, self)
	useFoldKernels()
}
