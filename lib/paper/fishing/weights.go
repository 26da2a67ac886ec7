package fishing

// The table of the methods' weights.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var weights = paper.Recipe{
	ID:    "fishing/weights",
	Title: "Fishing, Sections 3 and 5. Does it matter how much? The methods at the weights that the paper tries",
	Doc: "The paper sweeps one weight of every method and reports that little depends on it: of SCRUB that the advantage moves by less than 0.02. " +
		"As coded it cannot, whatever the cells: the forget loss has an optimiser of its own behind a gradient that is cut to length 1, so that alpha_f " +
		"cancels where the gradient is longer. Beside it stands SCRUB with one optimiser, where alpha_f is a weight. Extra-gradient's lambda is a weight of " +
		"the utility, and its critics hardly move. Attackers and columns are Table 3's; members and non-members are Table 2's.",
}

// weightSweep is a method with the weights that the paper tries.
type weightSweep struct {
	label, symbol string
	values        []float64
	method        func(value float64) unlearn.Method
	// recorded are mean AUCs of the values: those of the paper and, marked with *, those in its
	// program's outputs only.
	recorded []string
}

// weightSweeps are those of the paper's methods and of SCRUB with one optimiser.
func weightSweeps() []weightSweep {
	return []weightSweep{
		{Dampened, "alpha", []float64{0.5, 1, 5}, func(v float64) unlearn.Method { return unlearn.SSD{Alpha: v} },
			[]string{"0.730*", "0.725", "0.634*"}},
		{Scrubbed, "alpha_f", []float64{0.1, 1, 10}, func(v float64) unlearn.Method { return unlearn.SCRUBLatent{Forget: v} },
			[]string{"0.731*", "0.737", "0.732*"}},
		{ScrubbedOne, "alpha_f", []float64{0.1, 1, 10}, func(v float64) unlearn.Method { return unlearn.SCRUBLatent{Forget: v, Joint: true} },
			[]string{"", "", ""}},
		{Contrasted, "gamma", []float64{0.1, 1, 10}, func(v float64) unlearn.Method { return unlearn.LatentContrast{Gamma: v} },
			[]string{"0.107*", "0.153", "0.267*"}},
		{Frozen, "lambda", []float64{5, 10}, func(v float64) unlearn.Method { return unlearn.FrozenCritics{Lambda: v} },
			[]string{"0.997* (P-C)", "0.992 (P-C)"}},
		{Extra, "lambda", []float64{5, 10, 15, 20}, func(v float64) unlearn.Method { return unlearn.ExtraGradient{Lambda: v} },
			[]string{"0.383* (P-C)", "0.429", "", ""}},
		{"DP-SGD", "epsilon", []float64{1, 10, 50}, func(v float64) unlearn.Method { return unlearn.DPRetrain{Epsilon: v} },
			[]string{"0.646*", "0.464", "0.438*"}},
		{"DP-SGD, exact", "epsilon", []float64{1, 10, 50}, func(v float64) unlearn.Method { return unlearn.DPRetrain{Epsilon: v, Exact: true} },
			[]string{"", "", ""}},
	}
}

// name is the label of the method at a value.
func (k weightSweep) name(value float64) string {
	return fmt.Sprintf("%s, %s %g", k.label, k.symbol, value)
}

// byWeight is the first case of a scale with every method at every weight. Scales without
// critics and private training in Table 2 leave them out here too.
func byWeight(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	fast := c.Only != nil
	c.Part, c.Only = "weights", []string{Original, Retrained, OtherSeed}
	if !fast {
		c.Only = append(c.Only, Unnoised, UnnoisedExact)
	}
	for _, k := range weightSweeps() {
		if fast && slices.Contains([]string{Frozen, Extra, "DP-SGD", "DP-SGD, exact"}, k.label) {
			continue
		}
		for _, v := range k.values {
			c.Also = append(c.Also, lab.Variant{Label: k.name(v), Method: k.method(v)})
		}
	}
	s.Cases = []Case{c}
	return s, nil
}

func (ev *evidence) weights() *paper.Output {
	recorded := map[string]string{}
	for _, k := range weightSweeps() {
		for i, v := range k.values {
			recorded[k.name(v)] = k.recorded[i]
		}
	}
	source := "mean AUC on PBMC-33k as printed; *: not in the paper, in its program's recorded outputs; (P-C): of another protocol"
	t := ev.attackTable(weights, printedColumn(source, "not in the paper", func(variant string) string { return recorded[variant] }), reconColumn)
	for _, c := range ev.Cases {
		t.Notes = append(t.Notes, ev.weightNotes(c)...)
	}
	return &paper.Output{Table: t}
}

// weightNotes compare by seed every method at its largest weight with itself at its
// smallest, and SCRUB with itself with one optimiser at every weight.
func (ev *evidence) weightNotes(c Case) []string {
	var out []string
	models := len(ev.rowsOf(c.Label, Original))
	for _, q := range []quantity{forgetLoss(), pbAUC()} {
		var texts []string
		compare := func(variant, other string) {
			if len(ev.rowsOf(c.Label, variant)) > 0 && len(ev.rowsOf(c.Label, other)) > 0 {
				texts = append(texts, Rows(ev.Rows).compareText(q, variant, other))
			}
		}
		var scrubs []weightSweep
		for _, k := range weightSweeps() {
			compare(k.name(k.values[len(k.values)-1]), k.name(k.values[0]))
			if k.label == Scrubbed || k.label == ScrubbedOne {
				scrubs = append(scrubs, k)
			}
		}
		for _, v := range scrubs[0].values {
			compare(scrubs[1].name(v), scrubs[0].name(v))
		}
		if texts != nil {
			out = append(out, fmt.Sprintf("%s, by the weight, %s: %s (%s).", c.Label, q.name, strings.Join(texts, "; "), pairedTestNote(models)))
		}
	}
	return out
}
