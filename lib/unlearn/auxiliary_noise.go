package unlearn

import "context"

// noiseSource makes noise: every feature uniform in the request's range, with the label
// that the original predicts.
type noiseSource struct{}

var _ Source = noiseSource{}

// Name implements Source.
func (noiseSource) Name() Auxiliary { return Noise }

// About implements Source.
func (noiseSource) About() string { return "uniform noise, with the labels that the original predicts" }

// Sees implements Source.
func (noiseSource) Sees() Sees { return Sees{Original: true} }

// Records implements Source.
func (noiseSource) Records(_ context.Context, r Request, n int) (Data, error) {
	if _, err := r.Runner.Classes(); err != nil {
		return Data{}, err
	}
	d := r.uniformRecords(n)
	prediction, err := r.Runner.Predict(r.Original, d.X)
	if err != nil {
		return Data{}, err
	}
	for i := range d.Y {
		d.Y[i] = argmax(prediction.Logits().Row(i))
	}
	return d, nil
}
