package kernels

// Level is an instruction set. All levels give the same bits; they differ in time.
type Level int

// The instruction sets that there are kernels for. Scalar is Go and runs everywhere;
// AVX2 needs FMA as well; AVX512 needs its parts F, DQ, BW and VL.
const (
	Scalar Level = iota
	AVX2
	AVX512
)

// String is the name of the instruction set.
func (l Level) String() string {
	switch l {
	case AVX512:
		return "AVX-512"
	case AVX2:
		return "AVX2"
	}
	return "scalar"
}

// Best is the fastest level that this processor has, and that GODEBUG does not switch
// off (cpu.avx512f=off leaves AVX2, cpu.avx2=off the scalar level).
func Best() Level { return best }

// levels are all levels that this processor can run.
func levels() []Level { return []Level{Scalar, AVX2, AVX512}[:best+1] }
