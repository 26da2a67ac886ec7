package gen

// dropout writes the kernel of dropout masks: four lanes of 16 bits from each finalised number
// of SplitMix64 at z, z+1, ..., as in kernels.Dropout. Groups are vectors of such numbers.
func (f *file) dropout(s set) {
	mask := func(bits string) {
		f.op("VPSUBD %s, %s, %s\n\tVPSRAD $31, %s, %s", s.reg(14), bits, bits, bits, bits)
		if s.bytes == 64 {
			f.op("VPANDND %s, %s, %s", s.reg(15), bits, bits)
			return
		}
		f.op("VPANDN %s, %s, %s", s.reg(15), bits, bits)
	}
	step := func(shift int) {
		f.op("VPSRLQ $%d, %s, %s\n\t%s %s, %s, %s", shift, s.reg(1), s.reg(2), s.xor(), s.reg(1), s.reg(2), s.reg(1))
	}
	f.line("\n// func dropout_%s(dst, lanes unsafe.Pointer, z uint64, groups int, threshold, keep uint32)", s.name)
	f.line("TEXT ·dropout_%s(SB), NOSPLIT, $0-40", s.name)
	f.op("MOVQ dst+0(FP), DI\n\tMOVQ lanes+8(FP), SI\n\tMOVQ groups+24(FP), CX")
	f.op("VPBROADCASTQ z+16(FP), %s\n\t%s (SI), %s", s.reg(0), s.load(), s.reg(1))
	f.op("VPADDQ %s, %s, %s", s.reg(1), s.reg(0), s.reg(0))
	f.op("MOVL threshold+32(FP), AX\n\tVMOVD AX, X14\n\tVPBROADCASTD X14, %s", s.reg(14))
	f.op("MOVL keep+36(FP), AX\n\tVMOVD AX, X15\n\tVPBROADCASTD X15, %s", s.reg(15))
	f.broadcast(s, 7, uint64(s.bytes/8))
	f.constant(s, 8, 0xBF58476D1CE4E5B9)
	f.constant(s, 10, 0x94D049BB133111EB)
	f.op("PCALIGN $32")
	f.line("group:")
	f.op("%s %s, %s", s.load(), s.reg(0), s.reg(1))
	step(30)
	f.multiply64(s, 8)
	step(27)
	f.multiply64(s, 10)
	step(31)
	f.op("VPADDQ %s, %s, %s", s.reg(7), s.reg(0), s.reg(0))
	half := map[int][3]string{32: {"VPMOVZXWD X1, Y3", "VEXTRACTI128 $1, Y1, X4", "VPMOVZXWD X4, Y4"},
		64: {"VPMOVZXWD Y1, Z3", "VEXTRACTI64X4 $1, Z1, Y4", "VPMOVZXWD Y4, Z4"}}[s.bytes]
	f.op("%s\n\t%s\n\t%s", half[0], half[1], half[2])
	mask(s.reg(3))
	mask(s.reg(4))
	f.op("VMOVUPS %s, (DI)\n\tVMOVUPS %s, %d(DI)\n\tADDQ $%d, DI", s.reg(3), s.reg(4), s.bytes, 2*s.bytes)
	f.op("DECQ CX\n\tJNZ group\n\tVZEROUPPER\n\tRET")
}

func (s set) xor() string {
	if s.bytes == 64 {
		return "VPXORQ"
	}
	return "VPXOR"
}

// load returns the instruction that loads a vector of integers.
func (s set) load() string {
	if s.bytes == 64 {
		return "VMOVDQU64"
	}
	return "VMOVDQU"
}

// broadcast fills register r with a number.
func (f *file) broadcast(s set, r int, x uint64) {
	f.op("MOVQ $%#x, AX\n\tVMOVQ AX, X%d\n\tVPBROADCASTQ X%d, %s", x, r, r, s.reg(r))
}

// constant prepares register r, and on AVX2 the next one, for multiply64.
func (f *file) constant(s set, r int, x uint64) {
	f.broadcast(s, r, x)
	if s.bytes == 32 {
		f.op("VPSRLQ $32, %s, %s", s.reg(r), s.reg(r+1))
	}
}

// multiply64 multiplies register 1 by the constant in r, modulo 2^64. AVX2 only has products
// of 32 bits: low low + (high low + low high) 2^32.
func (f *file) multiply64(s set, r int) {
	if s.bytes == 64 {
		f.op("VPMULLQ %s, %s, %s", s.reg(r), s.reg(1), s.reg(1))
		return
	}
	f.op("VPSRLQ $32, Y1, Y2\n\tVPMULUDQ Y%d, Y2, Y2\n\tVPMULUDQ Y%d, Y1, Y3\n\tVPADDQ Y2, Y3, Y2\n\tVPSLLQ $32, Y2, Y2", r, r+1)
	f.op("VPMULUDQ Y%d, Y1, Y1\n\tVPADDQ Y2, Y1, Y1", r)
}
