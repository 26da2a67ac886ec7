package kernels

// Level is an instruction set. All levels give the same bits; they differ in time.
type Level int

// The instruction sets that there are kernels for. Scalar is Go and runs everywhere;
// AVX2 needs FMA as well; AVX512 needs its parts F, DQ, BW and VL. NEON is that of arm64:
// there are kernels for products and convolutions, the rest is Go.
const (
	Scalar Level = iota
	AVX2
	AVX512
	NEON
)

// String is the name of the instruction set.
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

// Best is the fastest level that this processor has, and that GODEBUG does not switch
// off (cpu.avx512f=off leaves AVX2, cpu.avx2=off the scalar level).
func Best() Level { return best }
