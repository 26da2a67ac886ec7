package unlearn

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// PrivateRelease says how what leaves a user is made private: shortened to Clip, with noise
// centred at 0 (privacy.Laplace, privacy.Gaussian). Any two gradients, or records, are
// neighbours.
//
// Table IV of BlindU has such rows with epsilon = 2 and says nothing of length, number
// of releases or delta; the program holds stubs, whose noise is centred at 1. Here
// epsilon is that of all that a user ever releases.
type PrivateRelease struct {
	Normal  bool    `json:"normal,omitempty"`  // normal noise, with delta 1e-5; else Laplace's, as in the program
	Epsilon float64 `json:"epsilon,omitempty"` // 0: 2
	Clip    float64 `json:"clip,omitempty"`    // the longest vector, 0: 1
	// Each says that epsilon is that of one release, whatever their number: with
	// Laplace's noise k of them spend k epsilon together.
	Each bool `json:"each,omitempty"`
}

// withDefaults has every zero replaced by its meaning; of nil it is nil.
func (n *PrivateRelease) withDefaults() *PrivateRelease {
	if n == nil {
		return nil
	}
	return &PrivateRelease{Normal: n.Normal, Epsilon: cmp.Or(n.Epsilon, 2), Clip: cmp.Or(n.Clip, 1), Each: n.Each}
}

// mechanism is the mechanism of so many releases.
func (n PrivateRelease) mechanism(releases int) privacy.Mechanism {
	if n.Each {
		releases = 1
	}
	if n.Normal {
		return privacy.Gaussian{Epsilon: n.Epsilon, Clip: n.Clip, Releases: releases}
	}
	return privacy.Laplace{Epsilon: n.Epsilon, Clip: n.Clip, Releases: releases}
}

// attackRecords are records of which each is released once.
func (n PrivateRelease) releaseRecords(d Data, seed engine.Root) (array.Matrix[float32], error) {
	return privacy.Release(n.mechanism(1), d.X, d.IDs, func(record int) *rand.Rand { return seed.Stream(engine.StreamRelease, uint64(record)) })
}

// note says what has been spent where releases are many.
func (n *PrivateRelease) note(releases int) string {
	switch {
	case n == nil:
		return ""
	case n.Each:
		return fmt.Sprintf("; epsilon %v in each of up to %d releases of a user", n.Epsilon, releases)
	}
	return fmt.Sprintf("; epsilon %v over up to %d releases of a user", n.Epsilon, releases)
}
