package attack

// Entropy is the negative entropy of the output, without the label (Salem et al. 2019): a model is
// more certain about records that it was trained on.
//
//	score = sum_i p_i log p_i
//
// A confidently wrong answer scores as high as a right one; ModifiedEntropy avoids that.
type Entropy struct{}

var _ Signal = Entropy{}

// Name implements Signal.
func (Entropy) Name() string { return "entropy" }

// About implements Signal.
func (Entropy) About() string { return "negative entropy of the softmax output" }

// Score implements Signal.
func (Entropy) Score(p []float64, _ int) float64 {
	sum := 0.0
	for _, v := range p {
		sum += float64(v * safeLog(v))
	}
	return sum
}
