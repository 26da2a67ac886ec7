// Making gradients or records private.

package unlearn

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// PrivateRelease says how vectors that leave a user are made private: clipped to norm Clip,
// plus noise of mean 0 (privacy.Laplace, privacy.Gaussian). Any two gradients, or records,
// are neighbours.
//
// Table IV of BlindU has such rows with epsilon = 2 and does not give the clipping norm,
// the number of releases or delta; the program has placeholders, whose noise has mean 1.
// Here epsilon is that of everything that a user ever releases.
type PrivateRelease struct {
	Normal  bool    `json:"normal,omitempty"` // normal noise, with delta 1e-5; otherwise Laplace's, as in the program
	Epsilon float64 `json:"epsilon,omitempty" default:"2"`
	Clip    float64 `json:"clip,omitempty" default:"1"` // maximum norm
	// Each makes epsilon that of one release: with Laplace noise k releases spend k
	// epsilon.
	Each bool `json:"each,omitempty"`
}

// mechanism returns the mechanism for this many releases.
func (n PrivateRelease) mechanism(releases int) privacy.Mechanism {
	if n.Each {
		releases = 1
	}
	if n.Normal {
		return privacy.Gaussian{Epsilon: n.Epsilon, Clip: n.Clip, Releases: releases}
	}
	return privacy.Laplace{Epsilon: n.Epsilon, Clip: n.Clip, Releases: releases}
}

// releaseRecords returns the records, each released once.
func (n PrivateRelease) releaseRecords(d Data, seed engine.Root) (array.Matrix[float32], error) {
	return privacy.Release(n.mechanism(1), d.X, d.IDs, func(record int) *rand.Rand { return seed.Stream(engine.StreamRelease, uint64(record)) })
}

// note describes what many releases have spent.
func (n *PrivateRelease) note(releases int) string {
	switch {
	case n == nil:
		return ""
	case n.Each:
		return fmt.Sprintf("; epsilon %v in each of up to %d releases of a user", n.Epsilon, releases)
	}
	return fmt.Sprintf("; epsilon %v over up to %d releases of a user", n.Epsilon, releases)
}
