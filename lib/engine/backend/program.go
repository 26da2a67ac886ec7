package backend

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// tile is how many elements a program computes at a time: few enough that all its
// registers stay in the first-level cache.
const tile = 1024

// together are the bytes of a register that are computed at a time: of eight bytes an
// element, half a tile.
const together = 4 * tile

// near is how many elements an operand may have that the processor's own caches still hold.
const near = 1 << 16

// program computes elementwise results of one size, a tile at a time. A register
// holds a tile: one that was loaded, one in between, or a result in its place.
type program struct {
	size    int
	loads   []load
	code    []instruction
	stores  []store
	of      []dtypes.DType // the registers' types
	scratch int            // tiles between loads and results
	places  []int          // the register's tile of scratch, -1: it lies elsewhere
	keep    int            // the register that is read when a tile is done, -1: none
	step    int            // elements computed at a time
}

// load is an operand from memory.
type load struct {
	to      int
	from    view
	first   element // of from: a view is large, and asked for its address at every step
	how     loading
	dims    []int // of from, merged, with their strides
	strides []int
}

type loading int

const (
	direct   loading = iota // it lies in order
	single                  // one element for all
	gathered                // any other way
)

type instruction struct {
	run          kernel
	dst, a, b, c int
}

// store is a result that somebody else needs.
type store struct {
	from   int
	to     view
	first  element
	placed bool // the register lies where it is stored
}

// members are the nodes of a program, in their order; nodes outside are loaded.
type members struct {
	size  int
	nodes []*node
}

// programOf compiles the members of a program. Views of nodes outside are found by at; of
// the members those in results are stored, at the views given.
func programOf(m members, at func(n *node) view, results map[*node]view) (*program, map[*node]int, error) {
	w := weaving(m.size)
	w.at = at
	for _, n := range m.nodes {
		w.known[n] = -1
	}
	for _, n := range m.nodes {
		if err := w.weave(n); err != nil {
			return nil, nil, err
		}
	}
	for _, n := range m.nodes {
		if v, ok := results[n]; ok {
			w.store(w.known[n], v)
		}
	}
	return &w.program, w.known, nil
}

// weaver turns nodes into code.
type weaver struct {
	program
	known  map[*node]int // the registers of members
	loaded map[string]int
	at     func(n *node) view
}

// weaving is an empty program of that many elements.
func weaving(size int) *weaver {
	return &weaver{program: program{size: size}, known: map[*node]int{}, loaded: map[string]int{}}
}

func (w *weaver) register(of dtypes.DType) int {
	w.of = append(w.of, of)
	return len(w.of) - 1
}

func (w *weaver) weave(n *node) error {
	run, err := kernelFor(n)
	if err != nil {
		return err
	}
	i := instruction{run: run}
	for k, in := range n.in {
		*[]*int{&i.a, &i.b, &i.c}[k] = w.operand(in, n.shape.Dimensions)
	}
	i.dst = w.register(n.shape.DType)
	w.known[n], w.code = i.dst, append(w.code, i)
	return nil
}

// operand is the register of a node as an operation with a result of those dims
// takes it.
func (w *weaver) operand(n *node, dims []int) int {
	if r, ok := w.known[root(n)]; ok && n.size() == w.size {
		return r
	}
	return w.load(w.at(n).broadcast(dims))
}

// load is the register of what a view shows.
func (w *weaver) load(v view) int {
	key := fmt.Sprint(v)
	if r, ok := w.loaded[key]; ok {
		return r
	}
	l := load{to: w.register(v.of), from: v, first: v.first(), how: gathered}
	switch {
	case v.constant():
		l.how = single
	case v.dense():
		l.how = direct
	}
	d, s := merged(v.dims, v.strides)
	l.dims, l.strides = d, s[0]
	w.loads, w.loaded[key] = append(w.loads, l), l.to
	return l.to
}

func (w *weaver) store(r int, to view) {
	w.stores = append(w.stores, store{from: r, to: to, first: to.first()})
}

func kernelFor(n *node) (k kernel, err error) {
	switch n.op {
	case compute.OpTypeWhere:
		k = selections[n.shape.DType]
	case compute.OpTypeConvertDType:
		k = conversions[[2]dtypes.DType{n.in[0].shape.DType, n.shape.DType}]
	default:
		key := kernelOf{n.op, n.in[0].shape.DType}
		if k = unaryKernels[key]; k == nil {
			k = binaryKernels[key]
		}
	}
	if k == nil {
		return nil, fmt.Errorf("backend %s: %s of %s: %w", Name, n.op, n.in[0].shape.DType, compute.ErrNotImplemented)
	}
	return k, nil
}

// settle gives every register its place: results lie where they are stored, what is
// in between in as few tiles as its lives allow. keep, if not -1, stays to the end.
func (p *program) settle(keep int) {
	p.places, p.keep = slices.Repeat([]int{-1}, len(p.of)), keep
	last := make([]int, len(p.of))
	for i, c := range p.code {
		last[c.a], last[c.b], last[c.c] = i, i, i
	}
	for _, s := range p.stores {
		last[s.from] = len(p.code)
	}
	if keep >= 0 {
		last[keep] = len(p.code)
	}
	var free []int
	take := func() int {
		if n := len(free); n > 0 {
			t := free[n-1]
			free = free[:n-1]
			return t
		}
		p.scratch++
		return p.scratch - 1
	}
	for _, l := range p.loads {
		if l.how != direct {
			p.places[l.to] = take()
			last[l.to] = len(p.code) // a single element is laid out once for all tiles
		}
	}
	for i, c := range p.code {
		if c.dst == keep {
			free = nil // what is kept grows over the stretches of a tile: its place is no other register's, before or behind
		}
		if !p.stored(c.dst) {
			p.places[c.dst] = take()
		}
		for _, r := range []int{c.a, c.b, c.c} {
			if last[r] == i && p.places[r] >= 0 && !slices.Contains(free, p.places[r]) && p.places[r] != p.places[c.dst] {
				free = append(free, p.places[r])
			}
		}
	}
	for i := range p.stores {
		s := &p.stores[i]
		s.placed = p.places[s.from] < 0 && !p.loadedAt(s.from)
	}
	p.step = tile
	for _, t := range p.of {
		p.step = min(p.step, together/int(t.Size()))
	}
}

func (p *program) stored(r int) bool {
	return slices.ContainsFunc(p.stores, func(s store) bool { return s.from == r })
}

// frame is where a running program has its registers.
type frame struct {
	registers []unsafe.Pointer
	tiles     []uint64
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// open makes a frame for up to n elements; close gives it back.
func (p *program) open(x *execution, n int) *frame {
	f := frames.Get().(*frame)
	f.registers = slices.Grow(f.registers[:0], len(p.of))[:len(p.of)]
	if need := p.scratch * tile; len(f.tiles) < need {
		f.tiles = make([]uint64, need)
	}
	for r, at := range p.places {
		if at >= 0 {
			f.registers[r] = unsafe.Pointer(&f.tiles[at*tile])
		}
	}
	for _, l := range p.loads {
		if l.how == single {
			spread(l.from.of, f.registers[l.to], x.at(l.first, 0), min(n, tile))
		}
	}
	return f
}

func (f *frame) close() { frames.Put(f) }

// compute runs the program for elements from .. from+n, n at most a tile. What is kept
// lies in its register afterwards.
func (p *program) compute(x *execution, f *frame, from, n int) {
	p.stretch(x, f, from, 0, min(n, p.step))
	if n <= p.step {
		return
	}
	var kept unsafe.Pointer
	if p.keep >= 0 {
		kept = f.registers[p.keep]
	}
	for done := p.step; done < n; done += p.step {
		p.stretch(x, f, from, done, min(n-done, p.step))
	}
	if p.keep >= 0 {
		f.registers[p.keep] = kept
	}
}

// stretch computes n elements of a tile that begins at from, after those that are done.
func (p *program) stretch(x *execution, f *frame, from, done, n int) {
	if r := p.keep; r >= 0 && p.places[r] >= 0 {
		f.registers[r] = unsafe.Add(unsafe.Pointer(&f.tiles[p.places[r]*tile]), done*int(p.of[r].Size()))
	}
	from += done
	for i := range p.loads {
		switch l := &p.loads[i]; l.how {
		case direct:
			f.registers[l.to] = x.at(l.first, from)
			if rest := p.size - from - n; p.size > near && rest > 0 { // no address past the end
				kernels.Ahead(x.at(l.first, from+n), min(n, rest)*l.first.bytes)
			}
		case gathered:
			l.gather(x, f.registers[l.to], from, n)
		}
	}
	for i := range p.stores {
		if s := &p.stores[i]; s.placed {
			f.registers[s.from] = x.at(s.first, from)
		}
	}
	for i := range p.code {
		c := &p.code[i]
		c.run(n, f.registers[c.dst], f.registers[c.a], f.registers[c.b], f.registers[c.c])
	}
	for i := range p.stores {
		s := &p.stores[i]
		if to := x.at(s.first, from); to != f.registers[s.from] {
			move(s.to.of, to, f.registers[s.from], n)
		}
	}
}

func (p *program) loadedAt(r int) bool {
	return slices.ContainsFunc(p.loads, func(l load) bool { return l.to == r })
}

// run computes all elements, on the workers of an execution.
func (p *program) run(x *execution) {
	x.parallel(p.size, 16*tile, func(from, to int) {
		f := p.open(x, to-from)
		defer f.close()
		for ; from < to; from += tile {
			p.compute(x, f, from, min(tile, to-from))
		}
	})
}

// gather lays out elements from .. from+n of a view side by side.
func (l load) gather(x *execution, to unsafe.Pointer, from, n int) {
	switch base := x.at(l.first, 0); l.first.bytes {
	case 1:
		gather(of[uint8](to, n), base, l.dims, l.strides, from)
	case 2:
		gather(of[uint16](to, n), base, l.dims, l.strides, from)
	case 4:
		gather(of[uint32](to, n), base, l.dims, l.strides, from)
	default:
		gather(of[uint64](to, n), base, l.dims, l.strides, from)
	}
}

func gather[T any](to []T, base unsafe.Pointer, dims, strides []int, from int) {
	var place [16]int
	index := place[:len(dims)]
	offset := 0
	for i, rest := len(dims)-1, from; i >= 0; i-- {
		index[i] = rest % dims[i]
		rest /= dims[i]
		offset += index[i] * strides[i]
	}
	last := len(dims) - 1
	inner, step := dims[last], strides[last]
	for len(to) > 0 {
		run := min(len(to), inner-index[last])
		walk(to[:run], base, offset, step)
		to = to[run:]
		index[last] += run
		offset += run * step
		for i := last; i > 0 && index[i] == dims[i]; i-- {
			offset += strides[i-1] - dims[i]*strides[i]
			index[i] = 0
			index[i-1]++
		}
	}
}

// walk copies elements that are step apart.
func walk[T any](to []T, base unsafe.Pointer, offset, step int) {
	width := int(unsafe.Sizeof(to[0]))
	p := unsafe.Add(base, offset*width)
	switch step {
	case 1:
		copy(to, unsafe.Slice((*T)(p), len(to)))
	case 0:
		const few = 16
		for i, v := 0, *(*T)(p); i < min(few, len(to)); i++ {
			to[i] = v
		}
		for done := few; done < len(to); done *= 2 {
			copy(to[done:], to[:done])
		}
	default:
		for i := range to {
			to[i] = *(*T)(unsafe.Add(p, i*step*width))
		}
	}
}

// spread repeats an element.
func spread(t dtypes.DType, to, from unsafe.Pointer, n int) {
	switch t.Size() {
	case 1:
		walk(of[uint8](to, n), from, 0, 0)
	case 2:
		walk(of[uint16](to, n), from, 0, 0)
	case 4:
		walk(of[uint32](to, n), from, 0, 0)
	default:
		walk(of[uint64](to, n), from, 0, 0)
	}
}

func move(t dtypes.DType, to, from unsafe.Pointer, n int) {
	bytes := n * int(t.Size())
	copy(of[byte](to, bytes), of[byte](from, bytes))
}
