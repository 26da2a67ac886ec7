package unlearn

import "context"

// NoOp is the control that returns the original model: whatever a metric shows for it was
// there before any unlearning.
type NoOp struct{}

var _ Described = NoOp{}

// Name implements Method.
func (NoOp) Name() string { return "do-nothing" }

// About implements Described.
func (NoOp) About() About {
	return About{"returns the original", "control"}
}

// General implements General.
func (NoOp) General() bool { return true }

// Sees implements Method.
func (NoOp) Sees() Sees { return Sees{Original: true} }

// WithDefaults implements Method.
func (m NoOp) WithDefaults() Method { return m }

// Unlearn implements Method.
func (NoOp) Unlearn(_ context.Context, r Request) (*Outcome, error) {
	return &Outcome{Params: r.Original.Clone()}, nil
}
