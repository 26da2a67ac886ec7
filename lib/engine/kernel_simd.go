//go:build goexperiment.simd && amd64

package engine

import (
	"os"
	"simd/archsimd"
	"strconv"
)

// SIMDBuild tells whether this program was built with GOEXPERIMENT=simd.
const SIMDBuild = true

// matmulKernel names the matrix-product kernel that compute's Go backend picks:
// the best one the processor has that its two environment switches allow.
func matmulKernel() string {
	switch {
	case archsimd.X86.AVX512() && allowed("GOMLX_SIMD_AVX512"):
		return "avx512"
	case archsimd.X86.AVX2() && allowed("GOMLX_SIMD_AVX2"):
		return "avx2"
	}
	return "scalar"
}

func allowed(name string) bool {
	on, err := strconv.ParseBool(os.Getenv(name))
	return err != nil || on
}
