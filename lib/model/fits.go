package model

import "fmt"

// The largest network that is accepted: many times the size of any built in, and below what
// would exhaust the memory of the program.
const (
	MaxWeights = 1 << 29 // numbers: 2 GiB
	MaxRecord  = 1 << 26 // numbers of a record, or of what a layer makes of one: 256 MiB
	MaxBlocks  = 1000
)

// CheckSize returns an error for a network with more than MaxWeights weights, or with an
// activation of one record larger than MaxRecord. Both numbers are floats, which do not
// overflow; an architecture's Check computes them from its settings.
func CheckSize(name string, weights, record float64) error {
	switch {
	case !(weights <= MaxWeights):
		return fmt.Errorf("%s is too large: about %.2g weights, at most %.2g are allowed", name, weights, float64(MaxWeights))
	case !(record <= MaxRecord):
		return fmt.Errorf("%s is too large: about %.2g numbers per record, at most %.2g are allowed", name, record, float64(MaxRecord))
	}
	return nil
}
