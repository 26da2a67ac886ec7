// Elementwise functions as programs: their operations, their Go code, and the dispatch to assembly.

package gen

import (
	"fmt"
	"go/format"
	"math"
	"strconv"
	"strings"
)

// program is an elementwise function: a sequence of operations on one element of each array.
// Every processor rounds each operation in the same way. The program is written as Go and as
// assembly for AVX2 and AVX-512.
type program struct {
	name   string
	wide   bool // computes in float64, between float32 in memory
	arrays []array
	params int
	code   []instruction
	stores []store
}

// array is an argument; its kind is float32, float64 or bool.
type array struct{ name, kind string }

// value is the result of an instruction, by its number.
type value int

// instruction is an operation on earlier values. bits is the value of a constant; n is the
// number of a load's array or of a parameter, or the distance of a shift.
type instruction struct {
	op   string
	args []value
	bits uint64
	n    int
}

// store writes a value, or (for a bool array) whether a relation of two values holds.
type store struct {
	array    int
	relation string
	args     []value
}

func (p *program) emit(op string, args ...value) value { return p.add(instruction{op: op, args: args}) }

func (p *program) add(i instruction) value {
	p.code = append(p.code, i)
	return value(len(p.code) - 1)
}

// load returns the current element of the named array.
func (p *program) load(name string) value { return p.add(instruction{op: "load", n: p.index(name)}) }

// param returns a new parameter, a number that is the same for all elements.
func (p *program) param() value {
	p.params++
	return p.add(instruction{op: "param", n: p.params - 1})
}

func (p *program) index(name string) int {
	for i, a := range p.arrays {
		if a.name == name {
			return i
		}
	}
	panic("no array " + name)
}

func (p *program) store(name string, v value) {
	p.stores = append(p.stores, store{p.index(name), "", []value{v}})
}

func (p *program) storeRelation(name, relation string, x, y value) {
	p.stores = append(p.stores, store{p.index(name), relation, []value{x, y}})
}

// constant returns a constant; bits returns one with the given representation.
func (p *program) constant(x float64) value {
	if p.wide {
		return p.bits(math.Float64bits(x))
	}
	return p.bits(uint64(math.Float32bits(float32(x))))
}

func (p *program) bits(b uint64) value { return p.add(instruction{op: "const", bits: b}) }

// shiftLeft and right shift the bits of v by n.
func (p *program) shiftLeft(v value, n int) value {
	return p.add(instruction{op: "left", args: []value{v}, n: n})
}

func (p *program) right(v value, n int) value {
	return p.add(instruction{op: "right", args: []value{v}, n: n})
}

// horner returns c[0] + x (c[1] + x (c[2] + ...)) by fused multiply-adds.
func (p *program) horner(x value, c ...float64) value {
	sum := p.constant(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		sum = p.emit("fma", sum, x, p.constant(c[i]))
	}
	return sum
}

// choose returns a if the relation holds between x and y, otherwise b.
func (p *program) choose(relation string, x, y, a, b value) value {
	return p.emit(relation, x, y, a, b)
}

// relations are the conditions by name: their Go expression and the immediate of VCMP.
var relations = map[string]struct {
	golang string
	imm    int
}{
	"lt": {"%s < %s", 0x11}, "le": {"%s <= %s", 0x12}, "eq": {"%s == %s", 0x00}, "ne": {"%s != %s", 0x04},
	"unordered": {"%[1]s != %[1]s || %[2]s != %[2]s", 0x03},
}

// useCounts returns the number of uses of each value.
func (p *program) useCounts() []int {
	n := make([]int, len(p.code))
	for _, i := range p.code {
		for _, a := range i.args {
			n[a]++
		}
	}
	for _, s := range p.stores {
		for _, a := range s.args {
			n[a]++
		}
	}
	return n
}

// golang returns the program as a Go function of slices.
func (p *program) golang() string {
	var f file
	kind, size := "float32", 32
	if p.wide {
		kind, size = "float64", 64
	}
	var args []string
	for _, a := range p.arrays {
		args = append(args, a.name+" []"+a.kind)
	}
	if p.params > 0 {
		args = append(args, fmt.Sprintf("p *[%d][16]float32", p.params))
	}
	f.line("\nfunc %sScalar(%s) {", p.name, strings.Join(args, ", "))
	for _, a := range p.arrays[1:] {
		f.line("%s = %s[:len(%s)]", a.name, a.name, p.arrays[0].name)
	}
	f.line("for i := range %s {", p.arrays[0].name)
	name := func(v value) string {
		i := p.code[v]
		switch {
		case i.op == "param":
			return fmt.Sprintf("p[%d][0]", i.n)
		case i.op != "const":
			return fmt.Sprintf("t%d", v)
		}
		return literal(i.bits, size)
	}
	raw := func(v value) string {
		if i := p.code[v]; i.op == "const" {
			return fmt.Sprintf("%#x", i.bits)
		}
		return fmt.Sprintf("math.Float%dbits(%s)", size, name(v))
	}
	for v, i := range p.code {
		var e string
		arg := func(k int) string { return name(i.args[k]) }
		switch i.op {
		case "const", "param":
			continue
		case "load":
			e = fmt.Sprintf("%s[i]", p.arrays[i.n].name)
			if from := p.arrays[i.n].kind; from != kind && from != "bool" {
				e = kind + "(" + e + ")"
			}
		case "add", "sub", "mul", "div":
			e = fmt.Sprintf("%s(%s %s %s)", kind, arg(0), map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/"}[i.op], arg(1))
		case "fma":
			e = fmt.Sprintf("math.FMA(%s, %s, %s)", arg(0), arg(1), arg(2))
		case "sqrt":
			e = fmt.Sprintf("%s(math.Sqrt(float64(%s)))", kind, arg(0))
		case "and", "or", "xor", "addbits", "subbits":
			sign := map[string]string{"and": "&", "or": "|", "xor": "^", "addbits": "+", "subbits": "-"}[i.op]
			e = fmt.Sprintf("math.Float%dfrombits(%s %s %s)", size, raw(i.args[0]), sign, raw(i.args[1]))
		case "left", "right":
			e = fmt.Sprintf("math.Float%dfrombits(%s %s %d)", size, raw(i.args[0]), map[string]string{"left": "<<", "right": ">>"}[i.op], i.n)
		case "min", "max":
			sign := map[string]string{"min": "<", "max": ">"}[i.op]
			f.line("t%d := %s\nif %s %s %s { t%d = %s }", v, arg(1), arg(0), sign, arg(1), v, arg(0))
			continue
		case "choose":
			f.line("t%d := %s\nif %s { t%d = %s }", v, arg(2), arg(0), v, arg(1))
			continue
		default:
			condition := fmt.Sprintf(relations[i.op].golang, arg(0), arg(1))
			first := arg(3)
			if p.code[i.args[3]].op == "const" {
				first = kind + "(" + first + ")"
			}
			f.line("t%d := %s\nif %s { t%d = %s }", v, first, condition, v, arg(2))
			continue
		}
		f.line("t%d := %s", v, e)
	}
	for _, s := range p.stores {
		to := p.arrays[s.array]
		switch {
		case s.relation != "":
			f.line("%s[i] = %s", to.name, fmt.Sprintf(relations[s.relation].golang, name(s.args[0]), name(s.args[1])))
		case to.kind != kind:
			f.line("%s[i] = %s(%s)", to.name, to.kind, name(s.args[0]))
		default:
			f.line("%s[i] = %s", to.name, name(s.args[0]))
		}
	}
	f.line("}\n}")
	return f.b.String()
}

func literal(bits uint64, size int) string {
	x := math.Float64frombits(bits)
	if size == 32 {
		x = float64(math.Float32frombits(uint32(bits)))
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("math.Float%dfrombits(%#x)", size, bits)
	}
	return strconv.FormatFloat(x, 'g', -1, size)
}

// golang returns the file's text, formatted by gofmt.
func (f *file) golang() string {
	text, err := format.Source([]byte(f.text()))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// scalars returns the Go file with all programs.
func scalars(all []*program) string {
	var f file
	f.line("package kernels\n\nimport \"math\"")
	for _, p := range all {
		f.b.WriteString(p.golang())
	}
	return f.golang()
}

// dispatchers returns the Go file that runs each program at a level: whole vectors in assembly,
// the rest in Go, or everything in Go without assembly.
func dispatchers(all []*program, sets []set) string {
	var f file
	if len(sets) == 0 {
		f.line("//go:build !amd64\n")
	}
	f.line("package kernels\n")
	if len(sets) > 0 {
		f.line("import \"unsafe\"")
	}
	for _, p := range all {
		p.dispatch(&f, sets)
	}
	for _, p := range all {
		for _, s := range sets {
			f.line("\n//go:noescape\nfunc %s_%s%s", p.name, s.name, p.signature())
		}
	}
	return f.golang()
}

func (p *program) dispatch(f *file, sets []set) {
	args, last := "", ""
	if p.params > 0 {
		args, last = fmt.Sprintf(", p *[%d][16]float32", p.params), ", p"
	}
	each := func(format string) string {
		var out []string
		for _, a := range p.arrays {
			out = append(out, fmt.Sprintf(format, a.name))
		}
		return strings.Join(out, ", ")
	}
	var typed []string
	for _, a := range p.arrays {
		typed = append(typed, a.name+" []"+a.kind)
	}
	f.line("\nfunc %sAt(l Level, %s%s) {", p.name, strings.Join(typed, ", "), args)
	if len(sets) == 0 {
		f.line("%sScalar(%s%s)\n}", p.name, each("%s"), last)
		return
	}
	f.line("for n := len(%s); n > 0; n = len(%[1]s) {\nn, done := min(n, atOnce), 0\nswitch l {", p.arrays[0].name)
	for _, s := range sets {
		lanes := s.bytes / 4
		if p.wide {
			lanes = s.bytes / 8
		}
		pointers := each("ptr(%s)")
		if p.params > 0 {
			pointers += ", unsafe.Pointer(p)"
		}
		f.line("case %s:\nif done = n &^ %d; done > 0 { %s_%s(%s, done) }", strings.ToUpper(s.name), lanes-1, p.name, s.name, pointers)
	}
	f.line("}\nif done < n {\n%sScalar(%s%s)\n}\n%s = %s\n}\n}", p.name, each("%s[done:n]"), last, each("%s"), each("%s[n:]"))
}

func (p *program) signature() string {
	var names []string
	for _, a := range p.arrays {
		names = append(names, a.name)
	}
	if p.params > 0 {
		names = append(names, "p")
	}
	return "(" + strings.Join(names, ", ") + " unsafe.Pointer, n int)"
}
