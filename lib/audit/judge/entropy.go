package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Entropy asks whether the model is surer of the forgotten records than of held-out
// ones, right or wrong: the signed AUC of the entropy of its outputs. It needs no labels.
//
// Null: 0.5, if both were drawn alike. Above it lies memory.
type Entropy struct{}

var _ Judgement = Entropy{}

// Name implements Judgement.
func (Entropy) Name() string { return "entropy" }

// About implements Judgement.
func (Entropy) About() About {
	return About{
		Asks:   "Is the model surer of forgotten records than of held-out ones, whatever their labels?",
		How:    "AUC of the entropy of the outputs, with DeLong's interval; floor as for the loss.",
		From:   "Salem et al. 2019",
		Null:   OfStrangers,
		Family: OutputFamily,
	}
}

// Needs implements Judgement.
func (Entropy) Needs() Needs { return Needs{Arrays: []Array{Outputs}, Sets: []Set{HeldOut}} }

// Judge implements Judgement.
func (j Entropy) Judge(e *Evidence, m *Model) (*audit.Reading, error) {
	unlabelled := *e
	unlabelled.Labels = make([]int, e.Records) // the entropy asks for none
	return bySignal(j, &unlabelled, m, attack.Entropy{})
}

// bySignal is the signed AUC of a signal.
func bySignal(j Judgement, e *Evidence, m *Model, s attack.Signal) (*audit.Reading, error) {
	var samples attack.Samples
	for _, part := range []struct {
		rows []int
		to   *[]float64
	}{{e.Forget, &samples.Members}, {e.HeldOut, &samples.Nonmembers}} {
		p, err := m.Probabilities(part.rows)
		if err != nil {
			return nil, err
		}
		if *part.to, err = attack.SignalScores(s, attack.Outputs{P: p, Y: pick(e.Labels, part.rows)}); err != nil {
			return nil, err
		}
	}
	return separation(j, m, samples)
}
