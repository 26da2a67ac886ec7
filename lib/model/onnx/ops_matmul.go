package onnx

import (
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
)

// matMul multiplies like NumPy's matmul.
func matMul(o *op) *value {
	a, b := o.inputNode(0), o.inputNode(1)
	ra, rb := a.Rank(), b.Rank()
	if ra == 0 || rb == 0 {
		fail("a product with a single number")
	}
	if ra == 1 {
		a = graph.Reshape(a, 1, a.Shape().Dimensions[0])
	}
	if rb == 1 {
		b = graph.Reshape(b, b.Shape().Dimensions[0], 1)
	}
	y := batchMatMul(a, b)
	dims := slices.Clone(y.Shape().Dimensions)
	n := len(dims)
	if rb == 1 {
		dims = slices.Delete(dims, n-1, n)
	}
	if ra == 1 {
		dims = slices.Delete(dims, n-2, n-1)
	}
	return computedValue(o.in[0].elem, graph.Reshape(y, dims...))
}

// batchMatMul multiplies the matrices in the last two axes and broadcasts the axes before.
func batchMatMul(a, b *graph.Node) *graph.Node {
	da, db := a.Shape().Dimensions, b.Shape().Dimensions
	ra, rb := len(da), len(db)
	if da[ra-1] != db[rb-2] {
		fail("shapes %v and %v have no product", da, db)
	}
	if rb == 2 {
		checkSize(append(slices.Clone(da[:ra-1]), db[1]))
		return graph.DotGeneral(a, []int{ra - 1}, nil, b, []int{0}, nil)
	}
	outer := broadcastShape(da[:ra-2], db[:rb-2])
	checkSize(slices.Concat(outer, []int{da[ra-2], db[rb-1]}))
	a, b = broadcast(a, slices.Concat(outer, da[ra-2:])), broadcast(b, slices.Concat(outer, db[rb-2:]))
	n := len(outer)
	return graph.DotGeneral(a, []int{n + 1}, iotaList(n), b, []int{n}, iotaList(n))
}

// gemm is alpha * a * b + beta * c.
func gemm(o *op) *value {
	a, b := o.inputNode(0), o.inputNode(1)
	if a.Rank() != 2 || b.Rank() != 2 {
		fail("a product of values of %d and %d axes", a.Rank(), b.Rank())
	}
	if o.flag("transA") {
		a = permute(a, []int{1, 0})
	}
	if o.flag("transB") {
		b = permute(b, []int{1, 0})
	}
	y := batchMatMul(a, b)
	if alpha := o.float("alpha"); alpha != 1 {
		y = graph.Mul(y, constLike(y, alpha))
	}
	if !o.hasInput(2) || o.float("beta") == 0 {
		return computedValue(o.in[0].elem, y)
	}
	dims := y.Shape().Dimensions
	if o.hasAttribute("broadcast") && !o.flag("broadcast") && !slices.Equal(o.in[2].dims, dims) {
		fail("shapes %v and %v differ, and it does not ask for a broadcast", o.in[2].dims, dims)
	}
	add := broadcast(o.inputNode(2), dims)
	if beta := o.float("beta"); beta != 1 {
		add = graph.Mul(add, constLike(add, beta))
	}
	return computedValue(o.in[0].elem, graph.Add(y, add))
}

// einsumTerm is an operand of a sum of products: its axes by their letters.
type einsumTerm struct {
	x      *graph.Node
	labels []rune
}

// einsum sums products over the letters that are not in its result.
func einsum(o *op) *value {
	terms, out := o.terms()
	y := terms[0]
	for i, t := range terms[1:] {
		later := slices.Clone(out)
		for _, r := range terms[i+2:] {
			later = append(later, r.labels...)
		}
		y = y.multiply(t, later)
	}
	y = y.sumOver(func(l rune) bool { return !slices.Contains(out, l) })
	perm := make([]int, len(out))
	for i, l := range out {
		if perm[i] = slices.Index(y.labels, l); perm[i] < 0 {
			fail("its equation %q has an output letter that no input has", o.string("equation"))
		}
	}
	return computedValue(o.in[0].elem, permute(y.x, perm))
}

// terms returns the operands of an equation and the letters of its result. An ellipsis
// stands for letters of its own, the last axis first.
func (o *op) terms() (terms []einsumTerm, out []rune) {
	equation := strings.ReplaceAll(o.string("equation"), " ", "")
	left, right, named := strings.Cut(equation, "->")
	parts := strings.Split(left, ",")
	if len(parts) != len(o.in) {
		fail("its equation %q has %d inputs, the operation has %d", equation, len(parts), len(o.in))
	}
	widest := 0
	for i, p := range parts {
		t := o.diagonal(einsumTerm{o.inputNode(i), o.parseLetters(p, o.in[i].rank(), equation)})
		for _, l := range t.labels {
			if l < 0 {
				widest = max(widest, int(-l))
			}
		}
		terms = append(terms, t)
	}
	matchLengths(terms, equation)
	if named {
		return terms, o.parseLetters(right, len(strings.ReplaceAll(right, "...", ""))+widest*strings.Count(right, "..."), equation)
	}
	times := map[rune]int{}
	for _, l := range left {
		times[l]++
	}
	for i := widest; i > 0; i-- {
		out = append(out, rune(-i))
	}
	var once []rune
	for l, n := range times {
		if n == 1 && l != ',' && l != '.' {
			once = append(once, l)
		}
	}
	slices.Sort(once)
	return terms, append(out, once...)
}

func (o *op) parseLetters(text string, rank int, equation string) (out []rune) {
	free := rank - len(strings.ReplaceAll(text, "...", ""))
	if free < 0 || free > 0 && !strings.Contains(text, "...") {
		fail("its equation %q does not fit a value of %d axes", equation, rank)
	}
	before, after, _ := strings.Cut(text, "...")
	out = append(out, []rune(before)...)
	for i := free; i > 0; i-- {
		out = append(out, rune(-i))
	}
	out = append(out, []rune(after)...)
	for i, l := range out {
		plain := l < 0 || l >= 'a' && l <= 'z' || l >= 'A' && l <= 'Z'
		if !plain {
			fail("its equation %q names an axis by something other than a letter", equation)
		}
		if slices.Contains(out[:i], l) && len(out) > 16 {
			fail("its equation %q names an axis too often", equation)
		}
	}
	return out
}

// diagonal takes the diagonal of axes with the same letter.
func (o *op) diagonal(t einsumTerm) einsumTerm {
	for i, l := range t.labels {
		k := slices.Index(t.labels, l)
		if k == i {
			continue
		}
		dims := t.x.Shape().Dimensions
		if dims[i] != dims[k] {
			fail("its equation gives one letter to axes of lengths %d and %d", dims[k], dims[i])
		}
		same := graph.Equal(o.iota(dims, i), o.iota(dims, k))
		t.x = graph.ReduceSum(graph.Where(same, t.x, constLike(t.x, 0)), i)
		t.labels = slices.Delete(slices.Clone(t.labels), i, i+1)
		return o.diagonal(t)
	}
	return t
}

// matchLengths broadcasts axes with the same letter to one length.
func matchLengths(terms []einsumTerm, equation string) {
	length := map[rune]int{}
	for _, t := range terms {
		for i, l := range t.labels {
			d := t.x.Shape().Dimensions[i]
			if have := length[l]; have > 1 && d > 1 && have != d {
				fail("its equation %q gives one letter to axes of lengths %d and %d", equation, have, d)
			}
			length[l] = max(length[l], d)
		}
	}
	for i, t := range terms {
		dims := make([]int, len(t.labels))
		for k, l := range t.labels {
			dims[k] = length[l]
		}
		terms[i].x = broadcast(t.x, dims)
	}
}

// sumOver sums over some letters.
func (t einsumTerm) sumOver(gone func(rune) bool) einsumTerm {
	var axes []int
	var left []rune
	for i, l := range t.labels {
		if gone(l) {
			axes = append(axes, i)
		} else {
			left = append(left, l)
		}
	}
	if len(axes) == 0 {
		return t
	}
	return einsumTerm{graph.ReduceSum(t.x, axes...), left}
}

// multiply multiplies two terms and sums over the letters that are not needed later.
func (t einsumTerm) multiply(u einsumTerm, later []rune) einsumTerm {
	t = t.sumOver(func(l rune) bool { return !slices.Contains(later, l) && !slices.Contains(u.labels, l) })
	u = u.sumOver(func(l rune) bool { return !slices.Contains(later, l) && !slices.Contains(t.labels, l) })
	var tb, ub, ts, us []int
	var both, mine, others []rune
	for i, l := range t.labels {
		k := slices.Index(u.labels, l)
		switch {
		case k < 0:
			mine = append(mine, l)
		case slices.Contains(later, l):
			tb, ub, both = append(tb, i), append(ub, k), append(both, l)
		default:
			ts, us = append(ts, i), append(us, k)
		}
	}
	for _, l := range u.labels {
		if !slices.Contains(t.labels, l) {
			others = append(others, l)
		}
	}
	return einsumTerm{graph.DotGeneral(t.x, ts, tb, u.x, us, ub), slices.Concat(both, mine, others)}
}
