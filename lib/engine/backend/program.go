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

// chunkBytes are the bytes of a register that are computed at a time: of eight bytes an
// element, half a tile.
const chunkBytes = 4 * tile

// cachedElements is how many elements an operand may have that the processor's own caches still hold.
const cachedElements = 1 << 16

// program computes elementwise results of one size, a tile at a time. A register
// holds a tile: one that was loaded, one in between, or a result in its place.
type program struct {
	size    int
	loads   []load
	code    []instruction
	stores  []store
	dtypes  []dtypes.DType // the registers' types
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
	mode    loadMode
	dims    []int // of from, merged, with their strides
	strides []int
}

type loadMode int

const (
	direct   loadMode = iota // it lies in order
	single                   // one element for all
	gathered                 // any other way
)

type instruction struct {
	run          kernel
	dst, a, b, c int
}

// store is a result that somebody else needs.
type store struct {
	from    int
	to      view
	first   element
	inPlace bool // the register lies where it is stored
}

// members are the nodes of a program, in their order; nodes outside are loaded.
type members struct {
	size  int
	nodes []*node
}

// compileProgram compiles the members of a program. Views of nodes outside are found by at; of
// the members those in results are stored, at the views given.
func compileProgram(m members, at func(n *node) view, results map[*node]view) (*program, map[*node]int, error) {
	w := newProgramBuilder(m.size)
	w.viewOf = at
	for _, n := range m.nodes {
		w.registers[n] = -1
	}
	for _, n := range m.nodes {
		if err := w.addNode(n); err != nil {
			return nil, nil, err
		}
	}
	for _, n := range m.nodes {
		if v, ok := results[n]; ok {
			w.store(w.registers[n], v)
		}
	}
	return &w.program, w.registers, nil
}

// programBuilder turns nodes into code.
type programBuilder struct {
	program
	registers map[*node]int // the registers of members
	loaded    map[string]int
	viewOf    func(n *node) view
}

// newProgramBuilder is an empty program of that many elements.
func newProgramBuilder(size int) *programBuilder {
	return &programBuilder{program: program{size: size}, registers: map[*node]int{}, loaded: map[string]int{}}
}

func (w *programBuilder) register(of dtypes.DType) int {
	w.dtypes = append(w.dtypes, of)
	return len(w.dtypes) - 1
}

func (w *programBuilder) addNode(n *node) error {
	run, err := kernelFor(n)
	if err != nil {
		return err
	}
	i := instruction{run: run}
	for k, in := range n.in {
		*[]*int{&i.a, &i.b, &i.c}[k] = w.operand(in, n.shape.Dimensions)
	}
	i.dst = w.register(n.shape.DType)
	w.registers[n], w.code = i.dst, append(w.code, i)
	return nil
}

// operand is the register of a node as an operation with a result of those dims
// takes it.
func (w *programBuilder) operand(n *node, dims []int) int {
	if r, ok := w.registers[skipReorderings(n)]; ok && n.size() == w.size {
		return r
	}
	return w.load(w.viewOf(n).broadcast(dims))
}

// load is the register of what a view shows.
func (w *programBuilder) load(v view) int {
	key := fmt.Sprint(v)
	if r, ok := w.loaded[key]; ok {
		return r
	}
	l := load{to: w.register(v.dtype), from: v, first: v.first(), mode: gathered}
	switch {
	case v.constant():
		l.mode = single
	case v.dense():
		l.mode = direct
	}
	d, s := mergeAxes(v.dims, v.strides)
	l.dims, l.strides = d, s[0]
	w.loads, w.loaded[key] = append(w.loads, l), l.to
	return l.to
}

func (w *programBuilder) store(r int, to view) {
	w.stores = append(w.stores, store{from: r, to: to, first: to.first()})
}

func kernelFor(n *node) (k kernel, err error) {
	switch n.op {
	case compute.OpTypeWhere:
		k = selections[n.shape.DType]
	case compute.OpTypeConvertDType:
		k = conversions[[2]dtypes.DType{n.in[0].shape.DType, n.shape.DType}]
	default:
		key := kernelKey{n.op, n.in[0].shape.DType}
		if k = unaryKernels[key]; k == nil {
			k = binaryKernels[key]
		}
	}
	if k == nil {
		return nil, fmt.Errorf("backend %s: %s of %s: %w", Name, n.op, n.in[0].shape.DType, compute.ErrNotImplemented)
	}
	return k, nil
}

// assignRegisters gives every register its place: results lie where they are stored, what is
// in between in as few tiles as its lives allow. keep, if not -1, stays to the end.
func (p *program) assignRegisters(keep int) {
	p.places, p.keep = slices.Repeat([]int{-1}, len(p.dtypes)), keep
	last := make([]int, len(p.dtypes))
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
		if l.mode != direct {
			p.places[l.to] = take()
			last[l.to] = len(p.code) // a single element is laid out once for all tiles
		}
	}
	for i, c := range p.code {
		if c.dst == keep {
			free = nil // what is kept grows over the stretches of a tile: its place is no other register's, before or behind
		}
		if !p.isStored(c.dst) {
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
		s.inPlace = p.places[s.from] < 0 && !p.isLoaded(s.from)
	}
	p.step = tile
	for _, t := range p.dtypes {
		p.step = min(p.step, chunkBytes/int(t.Size()))
	}
}

func (p *program) isStored(r int) bool {
	return slices.ContainsFunc(p.stores, func(s store) bool { return s.from == r })
}

// frame is where a running program has its registers.
type frame struct {
	registers []unsafe.Pointer
	tiles     []uint64
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame makes a frame for up to n elements; close gives it back.
func (p *program) newFrame(x *execution, n int) *frame {
	f := frames.Get().(*frame)
	f.registers = slices.Grow(f.registers[:0], len(p.dtypes))[:len(p.dtypes)]
	if need := p.scratch * tile; len(f.tiles) < need {
		f.tiles = make([]uint64, need)
	}
	for r, at := range p.places {
		if at >= 0 {
			f.registers[r] = unsafe.Pointer(&f.tiles[at*tile])
		}
	}
	for _, l := range p.loads {
		if l.mode == single {
			broadcastElement(l.from.dtype, f.registers[l.to], x.elementPtr(l.first, 0), min(n, tile))
		}
	}
	return f
}

func (f *frame) release() { frames.Put(f) }

// compute runs the program for elements from .. from+n, n at most a tile. What is kept
// lies in its register afterwards.
func (p *program) compute(x *execution, f *frame, from, n int) {
	p.computeChunk(x, f, from, 0, min(n, p.step))
	if n <= p.step {
		return
	}
	var kept unsafe.Pointer
	if p.keep >= 0 {
		kept = f.registers[p.keep]
	}
	for done := p.step; done < n; done += p.step {
		p.computeChunk(x, f, from, done, min(n-done, p.step))
	}
	if p.keep >= 0 {
		f.registers[p.keep] = kept
	}
}

// computeChunk computes n elements of a tile that begins at from, after those that are done.
func (p *program) computeChunk(x *execution, f *frame, from, done, n int) {
	if r := p.keep; r >= 0 && p.places[r] >= 0 {
		f.registers[r] = unsafe.Add(unsafe.Pointer(&f.tiles[p.places[r]*tile]), done*int(p.dtypes[r].Size()))
	}
	from += done
	for i := range p.loads {
		switch l := &p.loads[i]; l.mode {
		case direct:
			f.registers[l.to] = x.elementPtr(l.first, from)
			if rest := p.size - from - n; p.size > cachedElements && rest > 0 { // no address past the end
				kernels.Prefetch(x.elementPtr(l.first, from+n), min(n, rest)*l.first.bytes)
			}
		case gathered:
			l.gather(x, f.registers[l.to], from, n)
		}
	}
	for i := range p.stores {
		if s := &p.stores[i]; s.inPlace {
			f.registers[s.from] = x.elementPtr(s.first, from)
		}
	}
	for i := range p.code {
		c := &p.code[i]
		c.run(n, f.registers[c.dst], f.registers[c.a], f.registers[c.b], f.registers[c.c])
	}
	for i := range p.stores {
		s := &p.stores[i]
		if to := x.elementPtr(s.first, from); to != f.registers[s.from] {
			copyElements(s.to.dtype, to, f.registers[s.from], n)
		}
	}
}

func (p *program) isLoaded(r int) bool {
	return slices.ContainsFunc(p.loads, func(l load) bool { return l.to == r })
}

// run computes all elements, on the workers of an execution.
func (p *program) run(x *execution) {
	x.parallel(p.size, 16*tile, func(from, to int) {
		f := p.newFrame(x, to-from)
		defer f.release()
		for ; from < to; from += tile {
			p.compute(x, f, from, min(tile, to-from))
		}
	})
}

// gather lays out elements from .. from+n of a view side by side.
func (l load) gather(x *execution, to unsafe.Pointer, from, n int) {
	switch base := x.elementPtr(l.first, 0); l.first.bytes {
	case 1:
		gather(sliceAt[uint8](to, n), base, l.dims, l.strides, from)
	case 2:
		gather(sliceAt[uint16](to, n), base, l.dims, l.strides, from)
	case 4:
		gather(sliceAt[uint32](to, n), base, l.dims, l.strides, from)
	default:
		gather(sliceAt[uint64](to, n), base, l.dims, l.strides, from)
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
		copyStrided(to[:run], base, offset, step)
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

// copyStrided copies elements that are step apart.
func copyStrided[T any](to []T, base unsafe.Pointer, offset, step int) {
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

// kernelDilation repeats an element.
func broadcastElement(t dtypes.DType, to, from unsafe.Pointer, n int) {
	switch t.Size() {
	case 1:
		copyStrided(sliceAt[uint8](to, n), from, 0, 0)
	case 2:
		copyStrided(sliceAt[uint16](to, n), from, 0, 0)
	case 4:
		copyStrided(sliceAt[uint32](to, n), from, 0, 0)
	default:
		copyStrided(sliceAt[uint64](to, n), from, 0, 0)
	}
}

func copyElements(t dtypes.DType, to, from unsafe.Pointer, n int) {
	bytes := n * int(t.Size())
	copy(sliceAt[byte](to, bytes), sliceAt[byte](from, bytes))
}
