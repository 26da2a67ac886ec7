//go:build !(amd64 && goexperiment.simd)

package nn

func (a adamRule) move(w, m, v []float32, grad []float64) { a.movePlain(w, m, v, grad) }

func allFinite(x []float64) bool { return allFinitePlain(x) }
