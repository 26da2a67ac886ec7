package unlearn

import "context"

// retainedSource is the whole retain set: an upper bound, and what BlindU's program uses on
// CIFAR-10 and Adult.
type retainedSource struct{}

var _ Source = retainedSource{}

// Name implements Source.
func (retainedSource) Name() Auxiliary { return Retained }

// About implements Source.
func (retainedSource) About() string {
	return "the retain set itself, all of it: an upper bound, which a blind server does not have"
}

// Sees implements Source.
func (retainedSource) Sees() Sees { return Sees{Retain: true} }

// Records implements Source.
func (retainedSource) Records(_ context.Context, r Request, _ int) (Data, error) {
	return r.Retain, nil
}
