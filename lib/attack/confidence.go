package attack

// Confidence is the probability of the true label (Yeom et al. 2018; Song et al. 2019), which is
// higher for records that the model was trained on.
//
//	score = p_y
type Confidence struct{}

var _ Signal = Confidence{}

// Name implements Signal.
func (Confidence) Name() string { return "confidence" }

// About implements Signal.
func (Confidence) About() string { return "softmax probability of the true label" }

// Score implements Signal.
func (Confidence) Score(p []float64, y int) float64 { return p[y] }
