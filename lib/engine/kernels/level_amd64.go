package kernels

import "golang.org/x/sys/cpu"

// best is the fastest level of this processor.
var best = detect()

func detect() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return Scalar
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// levels returns all levels that this processor can run.
func levels() []Level { return []Level{Scalar, AVX2, AVX512}[:best+1] }
