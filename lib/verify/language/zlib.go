package language

import "fmt"

// Zlib is the mean log-probability of a document over the length of its compressed text (Carlini et
// al. 2021): a text that is easy for everybody compresses well.
//
//	score = (mean_t l_t)/bytes
//
// Needs LogProb and Evidence.Compressed: len(zlib.compress(text)) in Python, of the answer in UTF-8.
// Direction: higher (nearer to 0) is more like a member. Null: see Score.
//
// Differences from open-unlearning's mia/zlib.py and mimir's zlib.py: (1) their sign is the other, as
// in Loss. (2) The paper divides the logarithm of the perplexity by the entropy of the text; so do
// the programs and this. Another compressor's lengths give other scores, and Go's are not Python's.
type Zlib struct{}

var _ Score = Zlib{}

// Name implements Score.
func (Zlib) Name() string { return "zlib" }

// About implements Score.
func (Zlib) About() string { return "mean log-probability over the compressed length of the text" }

// Scores implements Score.
func (z Zlib) Scores(e Evidence) ([]float64, error) {
	loss, err := e.Target.perDocument(z.Name(), func(from, to int) float64 { return mean(e.Target.LogProb[from:to]) })
	if err != nil {
		return nil, err
	}
	if len(e.Compressed) != len(loss) {
		return nil, fmt.Errorf("%s: %d compressed lengths for %d documents", z.Name(), len(e.Compressed), len(loss))
	}
	for d, b := range e.Compressed {
		if b < 1 {
			return nil, &DocumentError{z.Name(), d, fmt.Sprintf("has a compressed length of %d bytes", b)}
		}
		loss[d] /= float64(b)
	}
	return loss, nil
}
