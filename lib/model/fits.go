package model

import "fmt"

// What a network may have at most: many times what any here has, and less than ends a
// program that asks for it.
const (
	MaxWeights = 1 << 29 // numbers: 2 GiB
	MaxRecord  = 1 << 26 // numbers of a record, or of what a layer makes of one: 256 MiB
	MaxBlocks  = 1000
)

// CheckSize refuses settings of a network by which it or what it makes of one record would be
// larger than MaxWeights and MaxRecord. Both are given as floats, which do not overflow:
// an architecture's Check works them out from its settings.
func CheckSize(name string, weights, record float64) error {
	switch {
	case !(weights <= MaxWeights):
		return fmt.Errorf("%s is too large: some %.2g weights, at most %.2g are possible", name, weights, float64(MaxWeights))
	case !(record <= MaxRecord):
		return fmt.Errorf("%s is too large: a record would become some %.2g numbers, at most %.2g are possible", name, record, float64(MaxRecord))
	}
	return nil
}
