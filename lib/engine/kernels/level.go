package kernels

// Level is an instruction set. All levels give the same bits.
type Level int

// The supported instruction sets. Scalar is Go and runs everywhere. AVX2 needs FMA too;
// AVX512 needs F, DQ, BW and VL. NEON is that of arm64, with kernels for products and
// convolutions; the rest is Go.
const (
	Scalar Level = iota
	AVX2
	AVX512
	NEON
)

// String returns the name of the instruction set.
func (l Level) String() string {
	switch l {
	case AVX512:
		return "AVX-512"
	case AVX2:
		return "AVX2"
	case NEON:
		return "NEON"
	}
	return "scalar"
}

// Best returns the fastest level of this processor that GODEBUG does not disable
// (cpu.avx512f=off leaves AVX2, cpu.avx2=off the scalar level).
func Best() Level { return best }
