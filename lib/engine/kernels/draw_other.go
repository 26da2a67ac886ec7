//go:build !amd64

package kernels

func dropoutGroups(Level, []float32, uint64, uint32, uint32) int { return 0 }
