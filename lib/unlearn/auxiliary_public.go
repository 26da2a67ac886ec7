package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
)

// publicSource records are drawn from those that no model was trained on and a method may
// look at.
type publicSource struct{}

var _ Source = publicSource{}

// Name implements Source.
func (publicSource) Name() Auxiliary { return Public }

// About implements Source.
func (publicSource) About() string {
	return "unseen records with their labels, drawn from those that a method may look at"
}

// Sees implements Source.
func (publicSource) Sees() Sees { return Sees{HeldOut: true} }

// Records implements Source.
func (publicSource) Records(_ context.Context, r Request, n int) (Data, error) {
	n = min(n, r.HeldOut.X.Rows)
	return r.HeldOut.selectRows(r.Seed.Stream(engine.StreamAuxiliary).Perm(r.HeldOut.X.Rows)[:n]), nil
}
