//go:build !(amd64 && goexperiment.simd)

package ruler

func dot(a, b []float64) float64 { return dotPlain(a, b) }

func maximum(x []float32) float32 { return maximumPlain(x) }

func maximumInto(tops, x []float32) float32 { return maximumIntoPlain(tops, x) }
