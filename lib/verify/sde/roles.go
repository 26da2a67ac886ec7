package sde

// References holds the two sets that a target is compared with: activations of records known to be
// in the training set of the model, and of records known not to be. Both have as many rows as a
// target set.
type References struct{ In, Out *Matrix }

// Draws holds values of the statistic, or of anything else that is one number per draw, of both
// references.
type Draws struct{ In, Out []float64 }

// Targets are subsets of a pool.
type Targets struct {
	Pool    *Pool
	Subsets [][]int
}

// KnownTargets are targets whose truth is known: subsets of records that were in the training set,
// and of records that were not.
type KnownTargets struct{ Inside, Outside Targets }
