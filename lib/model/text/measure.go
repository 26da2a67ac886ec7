// How probable the tokens of texts are to a decoder: what an audit reads.

package text

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Tokens are numbers of the tokens of n texts, one text after the other: text i has those from
// Offset[i] to Offset[i+1]. Package verify/language has the metrics, of language.Tokens(t). For the probabilities p of the tokens that could stand there, given
// those before, and the one that does, y:
type Tokens struct {
	Offset    []int     // n + 1
	LogProb   []float64 // log p_y, natural logarithm
	Mean      []float64 // sum_v p_v log p_v
	Deviation []float64 // sqrt(sum_v p_v (log p_v)^2 - Mean^2)
	Correct   []bool    // whether no token is more probable than y, and none before it as probable
}

// NextTokenModel is a network that predicts the next token, such as Decoder.
type NextTokenModel interface {
	model.Architecture
	// Loss returns the network's loss, with its vocabulary.
	Loss() loss.NextToken
	// NextInputs returns the inputs of that loss for records, with weights that add up to 1. The
	// tokens that count come first.
	NextInputs(x array.Matrix[float32]) (map[string]array.Matrix[float32], error)
}

var _ NextTokenModel = Decoder{}

// measuredScores is the number of scores, 64 MB, that Measure has in memory at once, or those of one
// record if they are more.
const measuredScores = 1 << 24

// Measure returns the numbers of the tokens to predict of the records of a NextTokenModel, in their
// order. Errors name the record, counted from 0.
func Measure(r *model.Runner, p nn.Params, x array.Matrix[float32]) (*Tokens, error) {
	m, is := r.Arch.(NextTokenModel)
	if !is {
		return nil, fmt.Errorf("the network %s does not predict the next token", r.Arch.Name())
	}
	in, err := m.NextInputs(x)
	if err != nil {
		return nil, err
	}
	out, vocabulary := &Tokens{Offset: make([]int, 1, x.Rows+1)}, m.Loss().Vocabulary
	chunk := max(1, measuredScores/(vocabulary*max(1, in[loss.NextTokens].Cols)))
	for first := 0; first < x.Rows; first += chunk {
		rows := make([]int, min(chunk, x.Rows-first))
		for k := range rows {
			rows[k] = first + k
		}
		pred, err := r.PredictOutputs(p, x.Gather(rows), loss.NextLogits)
		if err != nil {
			return nil, err
		}
		parts := make([]*Tokens, len(rows))
		err = r.Engine.Parallel(len(rows), func(k int) error {
			parts[k] = measured(vocabulary, pred.Outputs[loss.NextLogits].Row(k), in[loss.NextTokens].Row(first+k), in[loss.NextWeights].Row(first+k))
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, t := range parts {
			out.add(t)
		}
	}
	return out, nil
}

// add appends the tokens of one more text.
func (t *Tokens) add(o *Tokens) {
	t.LogProb, t.Mean = append(t.LogProb, o.LogProb...), append(t.Mean, o.Mean...)
	t.Deviation, t.Correct = append(t.Deviation, o.Deviation...), append(t.Correct, o.Correct...)
	t.Offset = append(t.Offset, len(t.LogProb))
}

// measured returns the numbers of a record's tokens. With d_v = z_v - max z and S = sum exp d_v,
// log p_v = d_v - log S, so that the deviation is that of d.
func measured(vocabulary int, scores, tokens, weights []float32) *Tokens {
	width, n := len(tokens), 0
	for n < width && weights[n] > 0 {
		n++
	}
	most, best := make([]float32, n), make([]int, n)
	copy(most, scores)
	for v := 1; v < vocabulary; v++ {
		for k, z := range scores[v*width : v*width+n] {
			if z > most[k] {
				most[k], best[k] = z, v
			}
		}
	}
	total, first, second := make([]float64, n), make([]float64, n), make([]float64, n)
	for v := range vocabulary {
		for k, z := range scores[v*width : v*width+n] {
			d := float64(z) - float64(most[k])
			e := math.Exp(d)
			total[k] += e
			first[k] += float64(e * d)
			second[k] += float64(float64(e*d) * d)
		}
	}
	out := &Tokens{}
	for k := range n {
		y, log, mean := int(tokens[k]), math.Log(total[k]), first[k]/total[k]
		out.LogProb = append(out.LogProb, float64(scores[y*width+k])-float64(most[k])-log)
		out.Mean = append(out.Mean, mean-log)
		out.Deviation = append(out.Deviation, math.Sqrt(max(0, second[k]/total[k]-float64(mean*mean))))
		out.Correct = append(out.Correct, best[k] == y)
	}
	return out
}

// MeanLoss returns the loss of every text, -mean log p_y over its tokens.
func (t *Tokens) MeanLoss() []float64 {
	out := make([]float64, len(t.Offset)-1)
	for i := range out {
		tokens := t.LogProb[t.Offset[i]:t.Offset[i+1]]
		for _, l := range tokens {
			out[i] -= l / float64(len(tokens))
		}
	}
	return out
}
