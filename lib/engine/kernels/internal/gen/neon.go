package gen

import (
	"fmt"
	"strings"
)

// neon is the instruction set of arm64: 32 registers of 16 bytes.
var neon = set{"neon", "V", 16, 12}

// arranged returns a register as a vector of elements, in Go's syntax.
func (e element) arranged(r int) string {
	return fmt.Sprintf("V%d.%s", r, map[int]string{4: "S4", 8: "D2"}[e.bytes])
}

// list returns n registers from r on, in the syntax of loads and stores.
func (e element) list(r, n int) string {
	var all []string
	for i := range n {
		all = append(all, e.arranged(r+i))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// neonAssembly returns the assembly for arm64: the micro-kernels and the packing.
func neonAssembly() string {
	var f file
	f.line("#include \"textflag.h\"")
	for _, e := range []element{single, double} {
		for mr := 1; mr <= neon.rows; mr++ {
			for nv := 1; nv <= 2; nv++ {
				f.neonMicro(e, mr, nv)
			}
		}
	}
	for _, width := range []int{32, 48, 96} {
		f.neonPacked(width)
	}
	return f.text()
}

// neonMicro is micro for NEON. Every row of a has a pointer, from R0 on. The sums are in V0 to
// V23, the vectors of b in V24 and V25, the numbers of a in the others. Bit 1 of add is
// ignored.
func (f *file) neonMicro(e element, mr, nv int) {
	const b, a, turn = 24, 26, 6
	name := microName(neon, e, mr, nv)
	f.line("\n// func %s%s", name, microArgs)
	f.line("TEXT ·%s(SB), NOSPLIT, $0-72", name)
	f.op("MOVD a+0(FP), R0\n\tMOVD ars+8(FP), R21\n\tMOVD acs+16(FP), R12\n\tMOVD b+24(FP), R13\n\tMOVD bks+32(FP), R14")
	f.op("MOVD c+40(FP), R15\n\tMOVD crs+48(FP), R19\n\tMOVD k+56(FP), R20\n\tMOVD add+64(FP), R22")
	for r := 1; r < mr; r++ {
		f.op("ADD R21, R%d, R%d", r-1, r)
	}
	f.op("TBZ $0, R22, zero\n\tMOVD R15, R21")
	for r := range mr {
		f.op("VLD1 (R21), %s\n\tADD R19, R21", e.list(r*nv, nv))
	}
	f.op("B start")
	f.line("zero:")
	for i := range mr * nv {
		f.op("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	f.line("start:")
	f.op("CBZ R20, done")
	f.line("term:")
	f.op("VLD1.P (R13)(R14), %s", e.list(b, nv))
	for r := range mr {
		number := e.arranged(a + r%turn)
		f.op("VLD1R.P (R%d)(R12), [%s]", r, number)
		for v := range nv {
			f.op("VFMLA %s, %s, %s", e.arranged(b+v), number, e.arranged(r*nv+v))
		}
	}
	f.op("SUB $1, R20\n\tCBNZ R20, term")
	f.line("done:")
	for r := range mr {
		f.op("VST1 %s, (R15)\n\tADD R19, R15", e.list(r*nv, nv))
	}
	f.op("RET")
}

// neonPacked writes the kernel that copies rows of panels of width bytes: row i of panel n to
// dst + n step + i widths.
func (f *file) neonPacked(width int) {
	name := fmt.Sprintf("pack%d_neon", width)
	f.line("\n// func %s(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)", name)
	f.line("TEXT ·%s(SB), NOSPLIT, $0-48", name)
	f.op("MOVD dst+0(FP), R0\n\tMOVD step+8(FP), R1\n\tMOVD src+16(FP), R2\n\tMOVD stride+24(FP), R3\n\tMOVD panels+32(FP), R4\n\tMOVD rows+40(FP), R5")
	f.line("row:")
	f.op("MOVD R2, R6\n\tMOVD R0, R7\n\tMOVD R4, R8")
	f.line("panel:")
	vectors := single
	moves := []int{width / 16}
	if width > 64 {
		moves = []int{width / 32, width / 32}
	}
	at := 0
	for _, n := range moves {
		f.op("VLD1.P %d(R6), %s", 16*n, vectors.list(at, n))
		at += n
	}
	at = 0
	f.op("MOVD R7, R9")
	for _, n := range moves {
		f.op("VST1.P %s, %d(R9)", vectors.list(at, n), 16*n)
		at += n
	}
	f.op("ADD R1, R7\n\tSUB $1, R8\n\tCBNZ R8, panel")
	f.op("ADD R3, R2\n\tADD $%d, R0\n\tSUB $1, R5\n\tCBNZ R5, row\n\tRET", width)
}
