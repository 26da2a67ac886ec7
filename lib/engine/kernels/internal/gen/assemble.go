package gen

import (
	"fmt"
	"slices"
	"strings"
)

// constants are the constants of a file's programs in memory, each repeated to fill a vector.
type constants struct {
	order []string // eight bytes in hexadecimal
	index map[string]int
}

func (c *constants) operand(bits uint64, wide bool) string {
	if !wide {
		bits |= bits << 32
	}
	key := fmt.Sprintf("%#016x", bits)
	if _, known := c.index[key]; !known {
		c.index[key] = len(c.order)
		c.order = append(c.order, key)
	}
	return fmt.Sprintf("constants<>+%d(SB)", 64*c.index[key])
}

func (c *constants) write(f *file) {
	f.line("")
	for i, bits := range c.order {
		for k := range 8 {
			f.line("DATA constants<>+%d(SB)/8, $%s", 64*i+8*k, bits)
		}
	}
	f.line("GLOBL constants<>(SB), RODATA|NOPTR, $%d", 64*len(c.order))
}

// assembly returns the file with all programs for one instruction set.
func assembly(s set, all []*program) string {
	var f file
	f.line("#include \"textflag.h\"")
	c := constants{index: map[string]int{}}
	for _, p := range all {
		a := assembler{file: &f, set: s, constants: &c, program: p, need: p.useCounts(), reg: map[value]int{}}
		a.write()
	}
	c.write(&f)
	return f.text()
}

// assembler writes one program. A value is in a register from its instruction to its last
// use; constants and parameters are read from memory if an instruction can. The last register
// is a temporary of instructions.
type assembler struct {
	*file
	set
	*constants
	*program
	need []int
	reg  map[value]int
	free []int
	temp []int // registers to be freed after the current instruction

	address func(n int) string // address of the current elements of array n; nil: its pointer
}

const spare = 15

var pointers = []string{"DI", "SI", "DX", "BX", "R8", "R9"}

// lanes returns the number of elements that are computed at a time.
func (a *assembler) lanes() int {
	if a.wide {
		return a.bytes / 8
	}
	return a.bytes / 4
}

func (a *assembler) write() {
	for r := spare - 1; r >= 0; r-- {
		a.free = append(a.free, r)
	}
	name := a.name()
	a.line("\n// func %s%s", name, a.signature())
	words := len(a.arrays) + 1
	if a.params > 0 {
		words++
	}
	a.line("TEXT ·%s(SB), NOSPLIT, $0-%d", name, 8*words)
	for i, x := range a.arrays {
		a.op("MOVQ %s+%d(FP), %s", x.name, 8*i, pointers[i])
	}
	if a.params > 0 {
		a.op("MOVQ p+%d(FP), R10", 8*len(a.arrays))
	}
	a.op("MOVQ n+%d(FP), CX\n\tXORQ AX, AX\n\tPCALIGN $32", 8*(words-1))
	a.line("loop:")
	for v, i := range a.code {
		a.instruction(value(v), i)
	}
	for _, s := range a.stores {
		a.storeResult(s)
	}
	a.op("ADDQ $%d, AX\n\tCMPQ AX, CX\n\tJLT loop\n\tVZEROUPPER\n\tRET", a.lanes())
}

func (a *assembler) name() string { return a.program.name + "_" + a.set.name }

// suffix returns PD or PS.
func (a *assembler) suffix() string {
	if a.wide {
		return "PD"
	}
	return "PS"
}

func (a *assembler) allocReg() int {
	if len(a.free) == 0 {
		panic(a.name() + " needs more registers")
	}
	r := a.free[len(a.free)-1]
	a.free = a.free[:len(a.free)-1]
	return r
}

func (a *assembler) freeReg(r int) { a.free = append(a.free, r) }

// memory returns the address of a constant or a parameter, otherwise "".
func (a *assembler) memory(v value) string {
	switch i := a.code[v]; i.op {
	case "const":
		return a.operand(i.bits, a.wide)
	case "param":
		return fmt.Sprintf("%d(R10)", 64*i.n)
	}
	return ""
}

// operandOrMemory returns v as an operand that may be in memory.
func (a *assembler) operandOrMemory(v value) string {
	if m := a.memory(v); m != "" {
		return m
	}
	return a.set.reg(a.reg[v])
}

func (a *assembler) registerOperand(v value) string {
	m := a.memory(v)
	if m == "" {
		return a.set.reg(a.reg[v])
	}
	r := a.allocReg()
	a.temp = append(a.temp, r)
	a.op("VMOVU%s %s, %s", a.suffix(), m, a.set.reg(r))
	return a.set.reg(r)
}

// releaseArgs counts a use of each of args, and frees the registers that are no longer needed.
func (a *assembler) releaseArgs(args ...value) {
	for _, v := range args {
		a.need[v]--
		if a.need[v] == 0 && a.memory(v) == "" {
			a.freeReg(a.reg[v])
		}
	}
	for _, r := range a.temp {
		a.freeReg(r)
	}
	a.temp = nil
}

// result returns a register for v; it may be one of its arguments'.
func (a *assembler) result(v value, args []value) string {
	a.releaseArgs(args...)
	a.reg[v] = a.allocReg()
	return a.set.reg(a.reg[v])
}

func (a *assembler) instruction(v value, i instruction) {
	sz := a.suffix()
	switch i.op {
	case "const", "param":
	case "load":
		if a.address != nil || a.arrays[i.n].kind != "bool" {
			a.loadArray(v, i.n)
		} else {
			a.reg[v] = a.allocReg()
			a.op("VPMOVZXBD (%s)(AX*1), %s", pointers[i.n], a.set.reg(a.reg[v]))
		}
	case "add", "mul", "and", "or", "xor", "addbits", "sub", "subbits", "div", "min", "max":
		x, y := i.args[0], i.args[1]
		if a.memory(x) != "" && strings.Contains("add mul and or xor addbits", i.op) {
			x, y = y, x
		}
		name := map[string]string{"addbits": "VPADDQ", "subbits": "VPSUBQ"}[i.op]
		if name == "" {
			name = "V" + strings.ToUpper(i.op) + sz
		}
		second, first := a.operandOrMemory(y), a.registerOperand(x)
		a.op("%s %s, %s, %s", name, second, first, a.result(v, i.args))
	case "left", "right":
		name := map[string]string{"left": "VPSLLQ", "right": "VPSRLQ"}[i.op]
		from := a.registerOperand(i.args[0])
		a.op("%s $%d, %s, %s", name, i.n, from, a.result(v, i.args))
	case "sqrt":
		from := a.operandOrMemory(i.args[0])
		a.op("VSQRT%s %s, %s", sz, from, a.result(v, i.args))
	case "fma":
		a.fma(v, i.args)
	case "choose":
		mask := a.set.reg(a.reg[i.args[0]])
		if a.bytes == 64 {
			a.op("VPTESTMD %s, %s, K1", mask, mask)
		} else {
			a.op("VPSLLD $31, %s, %s", mask, mask)
		}
		a.blend(v, mask, i.args[1], i.args[2], i.args)
	default:
		a.blend(v, a.compare(i.op, i.args[0], i.args[1]), i.args[2], i.args[3], i.args)
	}
}

// loadArray loads the next elements of an array of numbers.
func (a *assembler) loadArray(v value, n int) {
	a.reg[v] = a.allocReg()
	r := a.reg[v]
	if a.address != nil {
		a.op("VMOVUPS %s, %s", a.address(n), a.set.reg(r))
		return
	}
	p := pointers[n]
	switch kind := a.arrays[n].kind; {
	case kind == "float32" && a.wide:
		a.op("VCVTPS2PD (%s)(AX*4), %s", p, a.set.reg(r))
	case kind == "float32":
		a.op("VMOVUPS (%s)(AX*4), %s", p, a.set.reg(r))
	case a.wide:
		a.op("VMOVUPD (%s)(AX*8), %s", p, a.set.reg(r))
	case a.bytes == 64:
		a.op("VCVTPD2PS (%s)(AX*8), Y%d\n\tVCVTPD2PS 64(%s)(AX*8), Y%d\n\tVINSERTF64X4 $1, Y%d, Z%d, Z%d", p, r, p, spare, spare, r, r)
	default:
		a.op("VCVTPD2PSY (%s)(AX*8), X%d\n\tVCVTPD2PSY 32(%s)(AX*8), X%d\n\tVINSERTF128 $1, X%d, Y%d, Y%d", p, r, p, spare, spare, r, r)
	}
}

// storeResult stores a value, or a relation as bytes of 0 and 1.
func (a *assembler) storeResult(s store) {
	p := pointers[s.array]
	switch {
	case s.relation != "" && a.bytes == 64:
		a.compare(s.relation, s.args[0], s.args[1])
		a.op("VMOVDQU8.Z %s, K1, X%d\n\tVMOVUPS X%d, (%s)(AX*1)", a.operand(0x0101010101010101, true), spare, spare, p)
	case s.relation != "":
		a.compare(s.relation, s.args[0], s.args[1])
		high := a.allocReg()
		a.op("VEXTRACTF128 $1, Y%d, X%d\n\tVPACKSSDW X%d, X%d, X%d\n\tVPACKSSWB X%d, X%d, X%d", spare, high, high, spare, spare, spare, spare, spare)
		a.op("VPAND %s, X%d, X%d\n\tVMOVQ X%d, (%s)(AX*1)", a.operand(0x0101010101010101, true), spare, spare, spare, p)
		a.freeReg(high)
	case !a.wide:
		a.op("VMOVUPS %s, (%s)(AX*4)", a.registerOperand(s.args[0]), p)
	case a.arrays[s.array].kind == "float64":
		a.op("VMOVUPD %s, (%s)(AX*8)", a.registerOperand(s.args[0]), p)
	case a.bytes == 64:
		a.op("VCVTPD2PS %s, Y%d\n\tVMOVUPS Y%d, (%s)(AX*4)", a.registerOperand(s.args[0]), spare, spare, p)
	default:
		a.op("VCVTPD2PSY %s, X%d\n\tVMOVUPS X%d, (%s)(AX*4)", a.registerOperand(s.args[0]), spare, spare, p)
	}
	a.releaseArgs(s.args...)
}

// compare computes a mask in K1 or in the spare register and returns its name.
func (a *assembler) compare(relation string, x, y value) string {
	mask := a.set.reg(spare)
	if a.bytes == 64 {
		mask = "K1"
	}
	second, first := a.operandOrMemory(y), a.registerOperand(x)
	a.op("VCMP%s $%d, %s, %s, %s", a.suffix(), relations[relation].imm, second, first, mask)
	return mask
}

func (a *assembler) blend(v value, mask string, yes, no value, args []value) {
	second, first := a.operandOrMemory(yes), a.registerOperand(no)
	to := a.result(v, args)
	if a.bytes == 64 {
		a.op("VBLENDM%s %s, %s, K1, %s", a.suffix(), second, first, to)
		return
	}
	a.op("VBLENDV%s %s, %s, %s, %s", a.suffix(), mask, second, first, to)
}

// fma writes x y + z. The instruction overwrites one of its operands: z (231) if it is in a
// register, x (213) if z is in memory.
func (a *assembler) fma(v value, args []value) {
	x, y, z := args[0], args[1], args[2]
	if a.memory(x) != "" {
		x, y = y, x
	}
	name, over := "VFMADD231", z
	if a.memory(z) != "" {
		name, over = "VFMADD213", x
		if a.need[x] > 1 && a.need[y] == 1 && a.memory(y) == "" {
			x, y, over = y, x, y
		}
	}
	var other, first string
	if over == z {
		other, first = a.operandOrMemory(y), a.registerOperand(x)
	} else {
		other, first = a.operandOrMemory(z), a.registerOperand(y)
	}
	to := a.reg[over]
	if a.need[over] > count(args, over) {
		to = a.allocReg()
		a.op("VMOVAP%s %s, %s", a.suffix()[1:], a.set.reg(a.reg[over]), a.set.reg(to))
		a.op("%s%s %s, %s, %s", name, a.suffix(), other, first, a.set.reg(to))
		a.releaseArgs(args...)
	} else {
		a.op("%s%s %s, %s, %s", name, a.suffix(), other, first, a.set.reg(to))
		a.releaseArgs(args...)
		a.free = slices.DeleteFunc(a.free, func(r int) bool { return r == to })
	}
	a.reg[v] = to
}

func count(args []value, v value) int {
	n := 0
	for _, w := range args {
		if w == v {
			n++
		}
	}
	return n
}
