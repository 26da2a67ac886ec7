// What networks that hold another one twice share.

package model

import (
	"fmt"
	"math"
	"slices"
)

// returnsTwice are the outputs of a network, and the same again with a prefix.
func returnsTwice(a Architecture, prefix string) []Output {
	out := slices.Clone(a.Returns())
	for _, o := range a.Returns() {
		out = append(out, Output{prefix + o.Name, o.Width})
	}
	return out
}

// checkTwice returns the architecture's own error, or one for a normalisation by the batch.
func checkTwice(a Architecture, why string) error {
	if HasBatchStats(a) {
		return fmt.Errorf("%s normalises by the batch: %s", a.Name(), why)
	}
	return a.Check()
}

// halfBatch is half of what the architecture allows, as there are two sets of activations.
func halfBatch(a Architecture) int {
	if c, ok := a.(MaxBatch); ok {
		return max(1, c.MaxBatch()/2)
	}
	return math.MaxInt32
}
