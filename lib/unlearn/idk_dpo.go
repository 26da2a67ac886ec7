// IdkDPO: a refusal is preferred to the forgotten answer.

package unlearn

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// IdkDPO is direct preference optimisation (Rafailov et al. 2023, equation 7) with a refusal, such as "I
// do not know that.", preferred to the answer of every question of the forget set. In TextFit F is the
// mean over the forget set of
//
//	-(2 / Beta) log sigmoid(Beta (s' - s)),    s' = log(p(refusal) / p_0(refusal)),    s = log(p(answer) / p_0(answer))
//
// with the joint probabilities of the texts' tokens, p_0 those of the original. Without s' it is NPO.
// RefusalTuning raises the refusals alone.
//
// Differences from open-unlearning's DPO: (1) a forgotten question has one refusal, drawn once, where
// it draws one of a hundred in every epoch; (2) the refusals are ours. The others are those of TextFit.
//
// Retained records go through the network beside an empty text, so that a step costs four texts'
// computations where three would do.
type IdkDPO struct {
	Beta float64 `json:"beta,omitempty" default:"0.1"`
	TextFit
}

// Info implements Method.
func (IdkDPO) Info() Info {
	return Info{
		Name: "idk-dpo", Sees: Sees{Original: true, Forget: true, Retain: true, Refusals: true}, NextToken: true,
		Does: "makes a refusal more probable beside each forgotten answer, while it trains on retained texts",
		From: "Rafailov et al. 2023, in the setting of open-unlearning",
	}
}

// SetDefaults implements defaults.Setter.
func (m *IdkDPO) SetDefaults() { m.setDefaults(10, 1) }

// AtRate implements Rated.
func (m IdkDPO) AtRate(lr float64) IdkDPO {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m IdkDPO) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if r.Augment != nil {
		return nil, errors.New("texts beside each other need unchanged records, but the request augments them")
	}
	answers, retained := r.Forget, r.Retain
	refusals, err := r.refusalOfEach()
	if err != nil {
		return nil, err
	}
	reference, err := ratioOfBoth(r, answers, refusals)
	if err != nil {
		return nil, err
	}
	if r.Runner, err = model.NewRunner(r.Runner.Engine, model.Paired{Of: r.Runner.Arch}); err != nil {
		return nil, err
	}
	r.Forget.X, r.Retain.X = beside(answers.X, refusals), beside(retained.X, array.New[float32](retained.X.Rows, retained.X.Cols))

	prefer := func(_ Request, n text.NextTokenModel, _ Data) (train.Target, error) {
		in, err := n.NextInputs(answers.X)
		if err != nil {
			return train.Target{}, err
		}
		second, err := n.NextInputs(refusals)
		if err != nil {
			return train.Target{}, fmt.Errorf("refusals: %w", err)
		}
		in, second = jointWeights(in), jointWeights(second)
		in[loss.SecondTokens], in[loss.SecondWeights] = second[loss.NextTokens], second[loss.NextWeights]
		in[loss.ReferenceLogProb] = reference
		return train.Target{Loss: loss.DirectPreference{Vocabulary: n.Loss().Vocabulary, Beta: m.Beta}, Inputs: in, Weight: 1}, nil
	}
	keep := func(r Request, _ text.NextTokenModel, _ Data) (train.Target, error) {
		if m.KL {
			return r.distillTarget(nil, retained, 1, 1)
		}
		return r.ownTarget(retained, 1)
	}
	return m.run(ctx, r, prefer, keep, m.KL)
}

// ratioOfBoth returns log p_0(answer) - log p_0(refusal) of every forgotten record.
func ratioOfBoth(r Request, answers Data, refusals array.Matrix[float32]) (array.Matrix[float32], error) {
	out, err := logProbs(r.Runner, r.Original, answers.X)
	if err != nil {
		return out, err
	}
	second, err := logProbs(r.Runner, r.Original, refusals)
	if err != nil {
		return out, fmt.Errorf("refusals: %w", err)
	}
	for i, v := range second.Data {
		out.Data[i] -= v
	}
	return out, nil
}

// refusalOfEach returns the refusal of every record of the forget set, in their order.
func (r Request) refusalOfEach() (array.Matrix[float32], error) {
	row := map[int]int{}
	for i, id := range r.Refusals.IDs {
		if k, twice := row[id]; twice {
			return array.Matrix[float32]{}, fmt.Errorf("refusals: records %d and %d both answer for record %d", k, i, id)
		}
		row[id] = i
	}
	rows := make([]int, len(r.Forget.IDs))
	for i, id := range r.Forget.IDs {
		k, is := row[id]
		if !is {
			return array.Matrix[float32]{}, fmt.Errorf("refusals: none answers for record %d of the forget set", id)
		}
		rows[i] = k
	}
	return r.Refusals.X.Gather(rows), nil
}

// beside returns rows of both, one after the other.
func beside(a, b array.Matrix[float32]) array.Matrix[float32] {
	out := array.New[float32](a.Rows, a.Cols+b.Cols)
	for i := range a.Rows {
		copy(out.Row(i), a.Row(i))
		copy(out.Row(i)[a.Cols:], b.Row(i))
	}
	return out
}
