// Unlearning of language models that predict the next token: what their methods share.

package unlearn

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// TextFit is the training that methods for language models share. With F the method's loss of the
// forget set and R that of the retain set
//
//	minimise Forget F + Retain R
//
// by AdamW. Every step takes a batch of the forget set and one of the retain set, which is drawn
// anew in every epoch; an epoch goes once over the forget set. R is the original's objective, or
// with KL the mean over tokens of KL(original || model).
//
// The zero value is the setting of open-unlearning (Dorna et al. 2025, commit d3d7cf9e) for TOFU,
// with billions of weights in mind: a small model needs a rate a hundred times as large.
//
// Differences from that program: (1) the mean over records of the mean over their tokens, where it
// takes the mean over all tokens of a batch; (2) a constant rate, where it rises during the first
// epoch and then falls to 0; (3) retained records of an epoch are all different, where it draws
// with replacement; (4) float32, where it computes in bfloat16; (5) KL counts the tokens of
// answers, where it adds up those of questions and padding too and divides by the batch.
type TextFit struct {
	Epochs      int      `json:"epochs,omitempty"`                      // 0: 10, of WGA and SatImp 5
	LR          float64  `json:"lr,omitempty" default:"1e-5"`           // 0: 1e-5
	WeightDecay *float64 `json:"weight_decay,omitempty" default:"0.01"` // new(0.0): none
	Forget      float64  `json:"forget,omitempty"`                      // 0: 1, of SimNPO 0.125, of SatImp 0.1
	Retain      *float64 `json:"retain,omitempty" default:"1"`          // new(0.0): the forget set alone
	KL          bool     `json:"kl,omitempty"`
}

// setDefaults fills in what differs between methods.
func (f *TextFit) setDefaults(epochs int, forget float64) {
	f.Epochs, f.Forget = cmp.Or(f.Epochs, epochs), cmp.Or(f.Forget, forget)
}

// textTarget makes the loss of a method on records, of weight 1. The request has the teacher
// inside, if the method asked for one.
type textTarget func(r Request, m text.NextTokenModel, d Data) (train.Target, error)

// run minimises the objective of a method whose loss of the forget set is forget. retain replaces
// that of the retain set; nil: TextFit's own. teacher says that one of the two needs the original
// inside the network.
func (f TextFit) run(ctx context.Context, r Request, forget, retain textTarget, teacher bool) (*Outcome, error) {
	if retain == nil && f.KL {
		retain, teacher = keepsProbabilities, true
	}
	if teacher {
		var err error
		if r, err = r.withTeacher(r.Original); err != nil {
			return nil, err
		}
	}
	o, err := r.textTerm("forget", r.Forget, forget, f.Forget)
	if err != nil {
		return nil, err
	}
	if *f.Retain != 0 {
		keep, err := r.textTerm("retain", r.Retain, retain, *f.Retain)
		if err != nil {
			return nil, err
		}
		for i := range keep {
			keep[i].Sampled = true
		}
		o = append(o, keep...)
	}
	return r.minimiseBy(ctx, nn.AdamW{LR: f.LR, WeightDecay: *f.WeightDecay}, o, f.Epochs)
}

// textTerm returns the term of a loss on records; nil: the original's objective.
func (r Request) textTerm(name string, d Data, of textTarget, weight float64) (train.Objective, error) {
	if of == nil {
		return r.objective(name, d, false, weight)
	}
	m, err := r.nextToken()
	if err != nil {
		return nil, err
	}
	target, err := of(r, m, d)
	if err != nil {
		return nil, fmt.Errorf("the %s set: %w", name, err)
	}
	target.Weight *= weight
	return train.Objective{r.term(name, d, false, target)}, nil
}

// keepsProbabilities is the retain part with KL.
func keepsProbabilities(r Request, _ text.NextTokenModel, d Data) (train.Target, error) {
	return r.distillTarget(nil, d, 1, 1)
}

var errNoNextToken = errors.New("needs a language model that predicts the next token")

// nextToken returns the language model of the request, without a teacher beside it.
func (r Request) nextToken() (text.NextTokenModel, error) {
	m, is := r.student().(text.NextTokenModel)
	if !is {
		return nil, fmt.Errorf("%w, and this is %s", errNoNextToken, r.Runner.Arch.Name())
	}
	return m, nil
}

// meanWeights returns the inputs of loss.NextToken as they are: the mean over a record's tokens.
func meanWeights(in map[string]array.Matrix[float32]) map[string]array.Matrix[float32] { return in }

// jointWeights returns the inputs of loss.NextToken with weights of 1: the sum over a record's tokens.
func jointWeights(in map[string]array.Matrix[float32]) map[string]array.Matrix[float32] {
	mean := in[loss.NextWeights]
	ones := array.New[float32](mean.Rows, mean.Cols)
	for i, w := range mean.Data {
		if w > 0 {
			ones.Data[i] = 1
		}
	}
	return map[string]array.Matrix[float32]{loss.NextTokens: in[loss.NextTokens], loss.NextWeights: ones}
}

// logProbs returns the log-probability of each record's tokens that count under a model without a
// teacher.
func logProbs(runner *model.Runner, p nn.Params, x array.Matrix[float32]) (array.Matrix[float32], error) {
	tokens, err := text.Measure(runner, p, x)
	if err != nil {
		return array.Matrix[float32]{}, err
	}
	out := array.New[float32](x.Rows, 1)
	for i := range x.Rows {
		var sum float64
		for _, l := range tokens.LogProb[tokens.Offset[i]:tokens.Offset[i+1]] {
			sum += l
		}
		out.Data[i] = float32(sum)
	}
	return out, nil
}
