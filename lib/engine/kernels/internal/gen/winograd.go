package gen

import (
	"fmt"
	"strings"
)

// transform maps one grid of arrays of float32 to another, for every index of the arrays and
// for many tiles: array (i, j) of tile k begins at k next + i row + j col of the grid. Like a
// program it is written as Go and as assembly.
type transform struct {
	program
	in, out [2]int // rows and columns of the grids
	after   []int  // number of instructions before each store
}

func (t *transform) loadAt(i, j int) value { return t.add(instruction{op: "load", n: 4*i + j}) }

func (t *transform) storeAt(i, j int, v value) {
	t.stores = append(t.stores, store{4*i + j, "", []value{v}})
	t.after = append(t.after, len(t.code))
}

func (t *transform) half(v value) value { return t.emit("mul", v, t.constant(0.5)) }

// transforms returns the transforms of Winograd's F(2x2, 3x3), which package kernels documents.
func transforms() []*transform {
	input := &transform{program: program{name: "tileInput"}, in: [2]int{1, 4}, out: [2]int{1, 4}}
	d := [4]value{input.loadAt(0, 0), input.loadAt(0, 1), input.loadAt(0, 2), input.loadAt(0, 3)}
	input.storeAt(0, 0, input.emit("sub", d[0], d[2]))
	input.storeAt(0, 1, input.emit("add", d[1], d[2]))
	input.storeAt(0, 2, input.emit("sub", d[2], d[1]))
	input.storeAt(0, 3, input.emit("sub", d[3], d[1]))

	adjoint := &transform{program: program{name: "tileAdjoint"}, in: [2]int{1, 2}, out: [2]int{1, 4}}
	v := [2]value{adjoint.loadAt(0, 0), adjoint.loadAt(0, 1)}
	adjoint.storeAt(0, 0, v[0])
	adjoint.storeAt(0, 1, adjoint.emit("add", v[0], v[1]))
	adjoint.storeAt(0, 2, adjoint.emit("sub", v[0], v[1]))
	adjoint.storeAt(0, 3, v[1])
	return []*transform{input, adjoint, tileOutput(), tileWeights(), tileGradient()}
}

// tileOutput returns (a + b) + c and (b - c) + d of each four, along both axes.
func tileOutput() *transform {
	t := &transform{program: program{name: "tileOutput"}, in: [2]int{4, 4}, out: [2]int{2, 2}}
	var s [2][4]value
	for j := range 4 {
		b, c := t.loadAt(1, j), t.loadAt(2, j)
		s[0][j] = t.emit("add", t.emit("add", t.loadAt(0, j), b), c)
		s[1][j] = t.emit("add", t.emit("sub", b, c), t.loadAt(3, j))
	}
	for i, r := range s {
		t.storeAt(i, 0, t.emit("add", t.emit("add", r[0], r[1]), r[2]))
		t.storeAt(i, 1, t.emit("add", t.emit("sub", r[1], r[2]), r[3]))
	}
	return t
}

// tileWeights returns a, ((a + c) + b)/2, ((a + c) - b)/2 and c of each three, along both axes.
func tileWeights() *transform {
	t := &transform{program: program{name: "tileWeights"}, in: [2]int{3, 3}, out: [2]int{4, 4}}
	four := func(a, b, c value) [4]value {
		ends := t.emit("add", a, c)
		return [4]value{a, t.half(t.emit("add", ends, b)), t.half(t.emit("sub", ends, b)), c}
	}
	var rows [3][4]value
	for j := range 3 {
		rows[j] = four(t.loadAt(0, j), t.loadAt(1, j), t.loadAt(2, j))
	}
	for i := range 4 {
		for j, u := range four(rows[0][i], rows[1][i], rows[2][i]) {
			t.storeAt(i, j, u)
		}
	}
	return t
}

// tileGradient returns a + (b + c)/2, (b - c)/2 and (b + c)/2 + d of each four, along both axes.
func tileGradient() *transform {
	t := &transform{program: program{name: "tileGradient"}, in: [2]int{4, 4}, out: [2]int{3, 3}}
	three := func(a, b, c, d value) [3]value {
		middle := t.half(t.emit("add", b, c))
		return [3]value{t.emit("add", a, middle), t.half(t.emit("sub", b, c)), t.emit("add", middle, d)}
	}
	var rows [4][3]value
	for j := range 4 {
		rows[j] = three(t.loadAt(0, j), t.loadAt(1, j), t.loadAt(2, j), t.loadAt(3, j))
	}
	for i := range 3 {
		for j, g := range three(rows[0][i], rows[1][i], rows[2][i], rows[3][i]) {
			t.storeAt(i, j, g)
		}
	}
	return t
}

const transformArgs = "(dst unsafe.Pointer, dcol, drow, dnext int, src unsafe.Pointer, scol, srow, snext, count, n int)"

// side has the registers of one of the grids: one for each row, the distance of columns, and
// three times that distance.
type side struct {
	name         string
	arg          int // of its first argument
	rows         []string
	step, triple string
}

var (
	sourceSide = side{"s", 32, []string{"SI", "R8", "R9", "R10"}, "R11", "R12"}
	targetSide = side{"d", 0, []string{"DI", "R13", "R14", "R15"}, "BX", "DX"}
)

func (s side) place(n int) string {
	return "(" + s.rows[n/4] + ")" + []string{"", "(" + s.step + "*1)", "(" + s.step + "*2)", "(" + s.triple + "*1)"}[n%4]
}

// begin loads the distances; rewind loads the pointers of the rows.
func (s side) begin(f *file) {
	f.op("MOVQ %scol+%d(FP), %s\n\tLEAQ (%s)(%s*2), %s", s.name, s.arg+8, s.step, s.step, s.step, s.triple)
}

func (s side) rewind(f *file, rows int) {
	f.op("MOVQ %s+%d(FP), %s", map[string]string{"s": "src", "d": "dst"}[s.name], s.arg, s.rows[0])
	if rows > 1 {
		f.op("MOVQ %srow+%d(FP), AX", s.name, s.arg+16)
	}
	for i := 1; i < rows; i++ {
		f.op("LEAQ (%s)(AX*1), %s", s.rows[i-1], s.rows[i])
	}
}

func (s side) next(f *file) {
	f.op("MOVQ %snext+%d(FP), AX\n\tADDQ AX, %s+%d(FP)", s.name, s.arg+24, map[string]string{"s": "src", "d": "dst"}[s.name], s.arg)
}

// assemble writes the kernel of a transform for n indices, in whole vectors, and count tiles.
func (t *transform) assemble(f *file, s set, c *constants) {
	a := assembler{file: f, set: s, constants: c, program: &t.program, need: t.useCounts(), reg: map[value]int{}, address: sourceSide.place}
	for r := spare - 1; r >= 0; r-- {
		a.free = append(a.free, r)
	}
	f.line("\n// func %s%s", a.name(), transformArgs)
	f.line("TEXT ·%s(SB), NOSPLIT, $0-80", a.name())
	sourceSide.begin(f)
	targetSide.begin(f)
	f.line("tile:")
	sourceSide.rewind(f, t.in[0])
	targetSide.rewind(f, t.out[0])
	f.op("MOVQ n+72(FP), CX\n\tPCALIGN $32")
	f.line("loop:")
	stored := 0
	put := func(done int) {
		for ; stored < len(t.stores) && t.after[stored] == done; stored++ {
			v := t.stores[stored].args[0]
			f.op("VMOVUPS %s, %s", s.reg(a.reg[v]), targetSide.place(t.stores[stored].array))
			a.releaseArgs(v)
		}
	}
	for v, i := range t.code {
		a.instruction(value(v), i)
		put(v + 1)
	}
	for _, r := range append(sourceSide.rows[:t.in[0]:t.in[0]], targetSide.rows[:t.out[0]]...) {
		f.op("ADDQ $%d, %s", s.bytes, r)
	}
	f.op("SUBQ $%d, CX\n\tJGT loop", s.bytes/4)
	sourceSide.next(f)
	targetSide.next(f)
	f.op("DECQ count+64(FP)\n\tJNZ tile\n\tVZEROUPPER\n\tRET")
}

// winogradAssembly returns the file with all transforms for one instruction set.
func winogradAssembly(s set) string {
	var f file
	f.line("#include \"textflag.h\"")
	c := constants{index: map[string]int{}}
	for _, t := range transforms() {
		t.assemble(&f, s, &c)
	}
	c.write(&f)
	return f.text()
}

// winogradScalars returns the Go file of the transforms.
func winogradScalars() string {
	var f file
	f.line("package kernels")
	for _, t := range transforms() {
		f.line("\nfunc %sScalar(dst, src lattice, count, from, to int) {", t.name)
		f.line("for k := range count {\nfor i := from; i < to; i++ {\nd, s := dst.data[k*dst.next+i:], src.data[k*src.next+i:]")
		stored := 0
		for v, i := range t.code {
			t.scalar(&f, v, i)
			for ; stored < len(t.stores) && t.after[stored] == v+1; stored++ {
				n := t.stores[stored].array
				f.line("d[%s] = t%d", offset("dst", n), t.stores[stored].args[0])
			}
		}
		f.line("}\n}\n}")
	}
	return f.golang()
}

func (t *transform) scalar(f *file, v int, i instruction) {
	name := func(v value) string {
		if c := t.code[v]; c.op == "const" {
			return literal(c.bits, 32)
		}
		return fmt.Sprintf("t%d", v)
	}
	switch i.op {
	case "const":
	case "load":
		f.line("t%d := s[%s]", v, offset("src", i.n))
	default:
		sign := map[string]string{"add": "+", "sub": "-", "mul": "*"}[i.op]
		f.line("t%d := float32(%s %s %s)", v, name(i.args[0]), sign, name(i.args[1]))
	}
}

// offset returns the expression for the start of array n of a grid.
func offset(grid string, n int) string {
	var terms []string
	for k, field := range []string{"row", "col"} {
		switch times := []int{n / 4, n % 4}[k]; times {
		case 0:
		case 1:
			terms = append(terms, grid+"."+field)
		default:
			terms = append(terms, fmt.Sprintf("%d*%s.%s", times, grid, field))
		}
	}
	if terms == nil {
		return "0"
	}
	return strings.Join(terms, "+")
}

// winogradDispatchers returns the Go file that runs each transform at a level.
func winogradDispatchers(sets []set) string {
	var f file
	if len(sets) == 0 {
		f.line("//go:build !amd64\n")
	}
	f.line("package kernels\n")
	if len(sets) > 0 {
		f.line("import \"unsafe\"")
	}
	for _, t := range transforms() {
		f.line("\nfunc %sAt(l Level, dst, src lattice, count, n int) {", t.name)
		f.line("dst.check(%d, %d, count, n)\nsrc.check(%d, %d, count, n)\ndone := 0", t.out[0], t.out[1], t.in[0], t.in[1])
		if len(sets) > 0 {
			f.line("switch l {")
			for _, s := range sets {
				f.line("case %s:\nif done = n &^ %d; done > 0 {", strings.ToUpper(s.name), s.bytes/4-1)
				f.line("%s_%s(ptr(dst.data), 4*dst.col, 4*dst.row, 4*dst.next,", t.name, s.name)
				f.line("ptr(src.data), 4*src.col, 4*src.row, 4*src.next, count, done)\n}")
			}
			f.line("}")
		}
		f.line("if done < n {\n%sScalar(dst, src, count, done, n)\n}\n}", t.name)
	}
	for _, t := range transforms() {
		for _, s := range sets {
			f.line("\n//go:noescape\nfunc %s_%s%s", t.name, s.name, transformArgs)
		}
	}
	return f.golang()
}
