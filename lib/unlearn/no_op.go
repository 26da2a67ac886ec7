package unlearn

import "context"

// NoOp is the control that returns the original model: whatever a metric shows for it was
// there before any unlearning.
type NoOp struct{}

// Info implements Method.
func (NoOp) Info() Info {
	return Info{
		Name: "do-nothing", Sees: Sees{Original: true}, General: true,
		Does: "returns the original",
		From: "control",
	}
}

// Unlearn implements Method.
func (NoOp) Unlearn(_ context.Context, r Request) (*Outcome, error) {
	return &Outcome{Params: r.Original.Clone()}, nil
}
