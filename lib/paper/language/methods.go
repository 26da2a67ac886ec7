package language

// The rows of the tables.

import (
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// rates are those that every method is tried at.
var rates = []float64{2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2}

// tunedAt is a method at that of the rates after which forgotten answers are as probable as those about
// people of whom no model read were to the original.
func tunedAt[M unlearn.Rated[M]](label string, m M) lab.Variant {
	return lab.Variant{Label: label, Method: unlearn.TextTuned[M]{Of: m, Rates: rates}}
}

// Methods are the unlearning methods that the tables compare, by their labels: those of the field, each
// with ten epochs over the forgotten answers and the same rule for its rate. Fine-tuning has one over the
// retained answers, which is about as many steps.
func Methods() []lab.Variant {
	fit := unlearn.TextFit{Epochs: 10}
	kl := fit
	kl.KL = true
	return []lab.Variant{
		tunedAt("gradient ascent", unlearn.GradientAscent{Epochs: 10}),
		tunedAt("GradDiff", unlearn.GradDiff{TextFit: fit}),
		tunedAt("GradDiff with KL", unlearn.GradDiff{TextFit: kl}),
		tunedAt("NPO", unlearn.NPO{TextFit: fit}),
		tunedAt("SimNPO", unlearn.SimNPO{TextFit: fit}),
		tunedAt("WGA", unlearn.WGA{TextFit: fit}),
		tunedAt("SatImp", unlearn.SatImp{TextFit: fit}),
		tunedAt("UNDIAL, and retained answers", unlearn.UNDIAL{Epochs: 10, Retain: 1}),
		tunedAt("RMU", unlearn.RMU{TextFit: fit}),
		tunedAt("refusal tuning", unlearn.RefusalTuning{TextFit: fit}),
		tunedAt("task vector", unlearn.TaskVector{Epochs: 10}),
		tunedAt("fine-tuning", unlearn.FineTuning{Epochs: 1}),
	}
}

// variants are the rows of every table: the controls, and Methods.
func variants() []lab.Variant { return append(audit.ControlVariants(), Methods()...) }

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
