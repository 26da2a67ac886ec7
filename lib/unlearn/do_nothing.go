package unlearn

import "context"

// DoNothing is the control that returns the original model: whatever a metric
// says of it was there before any unlearning.
type DoNothing struct{}

var _ Described = DoNothing{}

// Name implements Method.
func (DoNothing) Name() string { return "do-nothing" }

// About implements Described.
func (DoNothing) About() About {
	return About{"returns the original", "control"}
}

// General implements General.
func (DoNothing) General() bool { return true }

// Sees implements Method.
func (DoNothing) Sees() Sees { return Sees{Original: true} }

// Resolved implements Method.
func (m DoNothing) Resolved() Method { return m }

// Unlearn implements Method.
func (DoNothing) Unlearn(_ context.Context, r Request) (*Outcome, error) {
	return &Outcome{Params: r.Original.Clone()}, nil
}
