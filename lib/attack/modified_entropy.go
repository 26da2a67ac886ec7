package attack

// ModifiedEntropy is Song and Mittal's entropy with the label (USENIX Security 2021, equation 6),
// negated so that members score higher:
//
//	Mentr = -(1 - p_y) log p_y - sum over i not y of p_i log(1 - p_i)
//	score = -Mentr
//
// It is 0 for certainty of the true label and unbounded below for certainty of a wrong one.
//
// Differences from programs in the unlearning literature: (1) the second sum takes log(1 - p_i),
// where they take log p_i; (2) it is over the classes other than the record's own label, where they
// leave out the labels of all records from every row.
type ModifiedEntropy struct{}

var _ Signal = ModifiedEntropy{}

// Name implements Signal.
func (ModifiedEntropy) Name() string { return "modified-entropy" }

// About implements Signal.
func (ModifiedEntropy) About() string { return "negative modified entropy of output and label" }

// Score implements Signal.
func (ModifiedEntropy) Score(p []float64, y int) float64 {
	sum := float64((1 - p[y]) * safeLog(p[y]))
	for i, v := range p {
		if i != y {
			sum += float64(v * safeLog(1-v))
		}
	}
	return sum
}
