package language

// The rows of the tables.

import (
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Methods are the unlearning methods that the tables compare. The general ones have rates that were chosen by hand
// on the quick scale: weak enough that the retained answers mostly stay.
func Methods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.GradientAscent{Epochs: 5, LR: 5e-4},
		unlearn.NegGrad{Epochs: 2, LR: 2e-4, Alpha: new(0.8), Batched: true},
		unlearn.FineTuning{Epochs: 5, LR: 3e-3},
		unlearn.RetainTuning{Epochs: 5, LR: 2e-3},
		unlearn.AscentTuning{Steps: 20, LR: 0.07, Clip: new(0.0), Tune: unlearn.RetainTuning{Epochs: 3, LR: 1e-3}},
	}
}

// variants are the rows of every table: the controls, and Methods.
func variants() []lab.Variant {
	out := audit.ControlVariants()
	for _, m := range Methods() {
		out = append(out, lab.Variant{Label: m.Info().Name, Method: m})
	}
	return out
}

func methods() (out []unlearn.Method) {
	for _, v := range variants() {
		out = append(out, v.Method)
	}
	return out
}

// retrained is the label of the models that the others stand beside.
func retrained() string {
	for _, v := range variants() {
		if m, is := v.Method.(unlearn.Retrain); is && m == (unlearn.Retrain{}) {
			return v.Label
		}
	}
	return ""
}
