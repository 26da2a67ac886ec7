package language

// The rows of the tables.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Every method is tried at these rates, and at those between the two where it passes the criterion.
var rates = []float64{1e-5, 1e-4, 1e-3, 1e-2}

// halvings are those of the step that passes the criterion.
const halvings = 3

// Budget is how often each method goes over the answers.
type Budget struct {
	Forgotten int // epochs of the forgotten answers
	Retained  int // epochs of fine-tuning, over the retained ones
	// MethodsOnly leaves the controls out, and names the epochs behind each method.
	MethodsOnly bool
}

// tunedAt is a method at that of the rates after which forgotten answers are as probable as those about
// people of whom no model read were to the original.
func tunedAt[M unlearn.Rated[M]](b Budget, label string, m M) lab.Variant {
	if b.MethodsOnly {
		label += fmt.Sprintf(", %d epochs", b.Forgotten)
	}
	return lab.Variant{Label: label, Method: unlearn.TextTuned[M]{Of: m, Rates: rates, Halvings: halvings}}
}

// methods are the unlearning methods that the tables compare, by their labels: those of the field, each
// with as many steps and the same rule for its rate.
func (b Budget) methods() []lab.Variant {
	fit := unlearn.TextFit{Epochs: b.Forgotten}
	kl := fit
	kl.KL = true
	return []lab.Variant{
		tunedAt(b, "gradient ascent", unlearn.GradientAscent{Epochs: b.Forgotten}),
		tunedAt(b, "GradDiff", unlearn.GradDiff{TextFit: fit}),
		tunedAt(b, "GradDiff with KL", unlearn.GradDiff{TextFit: kl}),
		tunedAt(b, "NPO", unlearn.NPO{TextFit: fit}),
		tunedAt(b, "SimNPO", unlearn.SimNPO{TextFit: fit}),
		tunedAt(b, "WGA", unlearn.WGA{TextFit: fit}),
		tunedAt(b, "SatImp", unlearn.SatImp{TextFit: fit}),
		tunedAt(b, "UNDIAL, and retained answers", unlearn.UNDIAL{Epochs: b.Forgotten, Retain: 1}),
		tunedAt(b, "RMU", unlearn.RMU{TextFit: fit}),
		tunedAt(b, "IdkDPO", unlearn.IdkDPO{TextFit: fit}),
		tunedAt(b, "refusal tuning", unlearn.RefusalTuning{TextFit: fit}),
		tunedAt(b, "task vector", unlearn.TaskVector{Epochs: b.Forgotten}),
		tunedAt(b, "fine-tuning", unlearn.FineTuning{Epochs: b.Retained}),
	}
}

// variants are the rows of every table: the controls, and the methods.
func (s Study) variants() []lab.Variant {
	if s.Budget.MethodsOnly {
		return s.Budget.methods()
	}
	return append(audit.ControlVariants(), s.Budget.methods()...)
}

func (s Study) methods() (out []unlearn.Method) {
	for _, v := range s.variants() {
		out = append(out, v.Method)
	}
	return out
}

// retrained is the label of the models that the others stand beside.
func retrained() string {
	for _, v := range audit.ControlVariants() {
		if m, is := v.Method.(unlearn.Retrain); is && m == (unlearn.Retrain{}) {
			return v.Label
		}
	}
	return ""
}
