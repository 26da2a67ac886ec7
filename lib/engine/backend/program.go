// Fused elementwise programs: compilation of nodes to registers, and execution tile by tile.

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

// tile is the number of elements that a program computes at a time, so that its registers
// stay in the first-level cache.
const tile = 1024

// chunkBytes is the number of bytes of a register that are computed at a time: half a tile
// of 8-byte elements.
const chunkBytes = 4 * tile

// cachedElements is the number of elements of an operand that fits the processor's caches.
const cachedElements = 1 << 16

// program computes elementwise results of one size, a tile at a time. A register has one tile:
// a loaded operand, an intermediate value, or a result.
type program struct {
	size    int
	loads   []load
	code    []instruction
	stores  []store
	dtypes  []dtypes.DType // the registers' types
	scratch int            // number of tiles for intermediate values
	places  []int          // scratch tile of each register; -1: none
	keep    int            // the register that is read after each tile; -1: none
	step    int            // elements computed at a time
}

// load is an operand in memory.
type load struct {
	to      int
	from    view
	first   element // first element of from, kept because it is needed at every tile
	mode    loadMode
	dims    []int // merged axes of from, with their strides
	strides []int
}

type loadMode int

const (
	direct   loadMode = iota // contiguous, in order
	single                   // one element for all
	gathered                 // any other strides
)

type instruction struct {
	run          kernel
	dst, a, b, c int
}

// store is a result that is written to memory.
type store struct {
	from    int
	to      view
	first   element
	inPlace bool // whether the register lies in the destination
}

// members are the nodes of a program in order. Values of other nodes are loaded.
type members struct {
	size  int
	nodes []*node
}

// compileProgram compiles the members of a program. at returns the views of other nodes; the
// members in results are stored at the given views.
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

// programBuilder compiles nodes to code.
type programBuilder struct {
	program
	registers map[*node]int // the registers of members
	loaded    map[string]int
	viewOf    func(n *node) view
}

// newProgramBuilder returns an empty program of the given size.
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

// operand returns the register of a node as an operand of an operation whose result has the
// given dims.
func (w *programBuilder) operand(n *node, dims []int) int {
	if r, ok := w.registers[skipReorderings(n)]; ok && n.size() == w.size {
		return r
	}
	return w.load(w.viewOf(n).broadcast(dims))
}

// load returns the register with the elements of a view.
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

// assignRegisters assigns memory to every register: results lie in their destination,
// intermediate values in as few scratch tiles as their lifetimes allow. Register keep, if not
// -1, stays valid to the end.
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
			last[l.to] = len(p.code) // a single element is broadcast once for all tiles
		}
	}
	for i, c := range p.code {
		if c.dst == keep {
			free = nil // the kept register is filled chunk by chunk: no other register may share its tile
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

// frame has the registers of a running program.
type frame struct {
	registers []unsafe.Pointer
	tiles     []uint64
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame returns a frame for up to n elements; release returns it to the pool.
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

// compute runs the program for elements from ... from+n-1, n at most a tile. Afterwards the
// kept register has its values.
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

// computeChunk computes n elements of a tile that begins at from, after the first done
// elements.
func (p *program) computeChunk(x *execution, f *frame, from, done, n int) {
	if r := p.keep; r >= 0 && p.places[r] >= 0 {
		f.registers[r] = unsafe.Add(unsafe.Pointer(&f.tiles[p.places[r]*tile]), done*int(p.dtypes[r].Size()))
	}
	from += done
	for i := range p.loads {
		switch l := &p.loads[i]; l.mode {
		case direct:
			f.registers[l.to] = x.elementPtr(l.first, from)
			if rest := p.size - from - n; p.size > cachedElements && rest > 0 { // no address beyond the end
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

// run computes all elements on the workers of an execution.
func (p *program) run(x *execution) {
	x.parallel(p.size, 16*tile, func(from, to int) {
		f := p.newFrame(x, to-from)
		defer f.release()
		for ; from < to; from += tile {
			p.compute(x, f, from, min(tile, to-from))
		}
	})
}

// gather copies elements from ... from+n-1 of a view to contiguous memory.
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
	if strides[0] == 0 { // rows that repeat, as those of a bias
		if period := product(dims[1:]); period < len(to) {
			gather(to[:period], base, dims, strides, from)
			repeat(to, period)
			return
		}
	}
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
		repeat(to, few)
	default:
		for i := range to {
			to[i] = *(*T)(unsafe.Add(p, i*step*width))
		}
	}
}

// repeat fills the rest of to with copies of its first n elements.
func repeat[T any](to []T, n int) {
	for ; n < len(to); n *= 2 {
		copy(to[n:], to[:n])
	}
}

// broadcastElement fills n elements with one.
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
