package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
)

// publicSource draws from the held-out records that a method may see; no model was trained
// on them.
type publicSource struct{}

var _ Source = publicSource{}

// Name implements Source.
func (publicSource) Name() Auxiliary { return Public }

// About implements Source.
func (publicSource) About() string {
	return "held-out records with their labels"
}

// Sees implements Source.
func (publicSource) Sees() Sees { return Sees{HeldOut: true} }

// Records implements Source.
func (publicSource) Records(_ context.Context, r Request, n int) (Data, error) {
	n = min(n, r.HeldOut.X.Rows)
	return r.HeldOut.selectRows(r.Seed.Stream(engine.StreamAuxiliary).Perm(r.HeldOut.X.Rows)[:n]), nil
}
