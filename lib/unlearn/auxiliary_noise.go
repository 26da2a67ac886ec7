package unlearn

import "context"

// noise is drawn from nothing: every feature uniform in the request's range, with the
// label that the original gives.
type noise struct{}

var _ Source = noise{}

// Name implements Source.
func (noise) Name() Auxiliary { return Noise }

// About implements Source.
func (noise) About() string { return "uniform noise, with the labels that the original gives it" }

// Sees implements Source.
func (noise) Sees() Sees { return Sees{Original: true} }

// Records implements Source.
func (noise) Records(_ context.Context, r Request, n int) (Data, error) {
	if _, err := r.Runner.Classes(); err != nil {
		return Data{}, err
	}
	d := r.uniform(n)
	said, err := r.Runner.Predict(r.Original, d.X)
	if err != nil {
		return Data{}, err
	}
	for i := range d.Y {
		d.Y[i] = most(said.Logits().Row(i))
	}
	return d, nil
}
