package gen

// sparse writes the kernel of the product of a sparse matrix's entries and rows of eight
// vectors of float32, for n columns:
//
//	sums[j, r] = fma(value, a[at, r], sums[j, r])   for the entries (at, value) of column j
//
// The entries of column j end before ends[j], where those of the next column begin. The sums
// of a column stay in registers. at counts the bytes of rows of eight vectors of AVX2.
func (f *file) sparse(s set) {
	f.line("\n// func sparse_%s(sums, a, entries unsafe.Pointer, from int, ends unsafe.Pointer, n int)", s.name)
	f.line("TEXT ·sparse_%s(SB), NOSPLIT, $0-48", s.name)
	f.op("MOVQ sums+0(FP), DI\n\tMOVQ a+8(FP), SI\n\tMOVQ entries+16(FP), R8\n\tMOVQ from+24(FP), DX\n\tMOVQ ends+32(FP), R9\n\tMOVQ n+40(FP), CX")
	f.op("LEAQ (R8)(DX*8), DX")
	f.line("column:")
	f.op("MOVLQSX (R9), AX\n\tLEAQ (R8)(AX*8), BX\n\tCMPQ DX, BX\n\tJGE next")
	for i := range 8 {
		f.op("VMOVUPS %d(DI), %s", s.bytes*i, s.reg(i))
	}
	f.op("PCALIGN $32")
	f.line("entry:")
	f.op("MOVLQSX (DX), AX\n\tVBROADCASTSS 4(DX), %s\n\tLEAQ (SI)(AX*%d), AX\n\tADDQ $8, DX", s.reg(8), s.bytes/avx2.bytes)
	for i := range 8 {
		f.op("VFMADD231PS %d(AX), %s, %s", s.bytes*i, s.reg(8), s.reg(i))
	}
	f.op("CMPQ DX, BX\n\tJLT entry")
	for i := range 8 {
		f.op("VMOVUPS %s, %d(DI)", s.reg(i), s.bytes*i)
	}
	f.line("next:")
	f.op("ADDQ $%d, DI\n\tADDQ $4, R9\n\tDECQ CX\n\tJNZ column\n\tVZEROUPPER\n\tRET", 8*s.bytes)
}

// negativeZero writes the kernel that looks for a -0 among n float32, 64 at a time.
func (f *file) negativeZero() {
	f.line("\n// func minus_avx2(x unsafe.Pointer, n int) bool")
	f.line("TEXT ·minus_avx2(SB), NOSPLIT, $0-17")
	f.op("MOVQ x+0(FP), SI\n\tMOVQ n+8(FP), CX")
	f.op("VPCMPEQD Y15, Y15, Y15\n\tVPSLLD $31, Y15, Y15\n\t%s\n\tPCALIGN $32", avx2.zero("Y0"))
	f.line("more:")
	for i := range 8 {
		f.op("VPCMPEQD %d(SI), Y15, Y%d\n\tVPOR Y%d, Y0, Y0", 32*i, 1+i, 1+i)
	}
	f.op("ADDQ $256, SI\n\tSUBQ $64, CX\n\tJG more")
	f.op("VPTEST Y0, Y0\n\tSETNE ret+16(FP)\n\tVZEROUPPER\n\tRET")
}

// nonzero writes the kernel that sets bit i of word k if element 32 k + i is not 0 (or NaN),
// for k < n.
func (f *file) nonzero() {
	f.line("\n// func nonzero_avx2(bits, x unsafe.Pointer, n int)")
	f.line("TEXT ·nonzero_avx2(SB), NOSPLIT, $0-24")
	f.op("MOVQ bits+0(FP), DI\n\tMOVQ x+8(FP), SI\n\tMOVQ n+16(FP), CX\n\t%s\n\tPCALIGN $32", avx2.zero("Y0"))
	f.line("word:")
	for i := range 4 {
		f.op("VCMPPS $4, %d(SI), Y0, Y%d", 32*i, 1+i)
	}
	f.op("VMOVMSKPS Y1, AX\n\tVMOVMSKPS Y2, R8\n\tVMOVMSKPS Y3, R9\n\tVMOVMSKPS Y4, R10")
	f.op("SHLL $8, R8\n\tSHLL $16, R9\n\tSHLL $24, R10\n\tORL R8, AX\n\tORL R9, R10\n\tORL R10, AX\n\tMOVL AX, (DI)")
	f.op("ADDQ $128, SI\n\tADDQ $4, DI\n\tDECQ CX\n\tJNZ word\n\tVZEROUPPER\n\tRET")
}
