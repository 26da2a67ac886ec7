package unlearn

import "context"

// retained is the retain set itself, all of it: an upper bound, and what BlindU's
// program does on CIFAR-10 and Adult.
type retained struct{}

var _ Source = retained{}

// Name implements Source.
func (retained) Name() Auxiliary { return Retained }

// About implements Source.
func (retained) About() string {
	return "the retain set itself, all of it: an upper bound, which a blind server does not have"
}

// Sees implements Source.
func (retained) Sees() Sees { return Sees{Retain: true} }

// Records implements Source.
func (retained) Records(_ context.Context, r Request, _ int) (Data, error) { return r.Retain, nil }
