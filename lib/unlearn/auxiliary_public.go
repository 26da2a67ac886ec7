package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
)

// unseen records are drawn from those that no model was trained on and a method may
// look at.
type unseen struct{}

var _ Source = unseen{}

// Name implements Source.
func (unseen) Name() Auxiliary { return Public }

// About implements Source.
func (unseen) About() string {
	return "unseen records with their labels, drawn from those that a method may look at"
}

// Sees implements Source.
func (unseen) Sees() Sees { return Sees{HeldOut: true} }

// Records implements Source.
func (unseen) Records(_ context.Context, r Request, n int) (Data, error) {
	n = min(n, r.HeldOut.X.Rows)
	return r.HeldOut.rows(r.Seed.Stream(engine.StreamAuxiliary).Perm(r.HeldOut.X.Rows)[:n]), nil
}
