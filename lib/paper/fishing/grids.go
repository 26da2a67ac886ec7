package fishing

// The table of the program's grids of settings.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var grids = paper.Recipe{
	ID:    "fishing/grids",
	Title: "Fishing, Section 4. Gradient ascent and Fisher scrubbing over the settings that the paper's program tries",
	Doc: "Gradient ascent of 10, 50 and 100 steps at 1e-5 and 1e-4, and fine-tuning after it; Fisher scrubbing at dampings 0.01, 0.1 and 1 and of 50, 100 " +
		"and 200 steps, one of the two changed at a time. Every step of the ascent is cut to the rate's length, so that all of them " +
		"together move the weights " +
		"by 0.01 at most: compare its rows with 'ascent alone', which is not fine-tuned, and with the fine-tuning alone. 'without the cut' takes the same " +
		"steps at their own length. Attackers and columns are Table 3's; members and non-members are Table 2's.",
}

// The settings of the program's grids.
var (
	ascentSteps  = []int{10, 50, 100}
	ascentRates  = []float64{1e-5, 1e-4}
	scrubDamping = []float64{0.01, 0.1, 1}
	scrubSteps   = []int{50, 100, 200}
)

// gridVariants are the methods at every setting.
func gridVariants() []lab.Variant {
	var out []lab.Variant
	add := func(label string, m unlearn.Method) { out = append(out, lab.Variant{Label: label, Method: m}) }
	for _, n := range ascentSteps {
		for _, lr := range ascentRates {
			add(fmt.Sprintf("%s, %d steps at %g", Ascended, n, lr), unlearn.AscentTuning{Steps: n, LR: lr})
		}
	}
	add("ascent alone, 100 steps at 0.0001", unlearn.AscentTuning{Steps: 100, LR: 1e-4, Untuned: true})
	add("ascent without the cut, 10 steps at 1e-05", unlearn.AscentTuning{Clip: new(0.0)})
	for _, d := range scrubDamping {
		for _, n := range scrubSteps {
			if d == 0.1 || n == 100 {
				add(fmt.Sprintf("%s, damping %g, %d steps", Fisher, d, n), unlearn.FisherScrub{Damping: d, Steps: n})
			}
		}
	}
	return out
}

// byGrid is the first case of a scale with both methods at every setting.
func byGrid(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	c.Part, c.Only, c.Also = "grids", []string{Original, Retrained, OtherSeed, Ten, Thirty}, gridVariants()
	s.Cases = []Case{c}
	return s, nil
}

// printedGrid are the paper's mean AUCs.
func printedGrid(variant string) string {
	return map[string]string{
		Original: "0.783 (P-A 0.769)", Ascended + ", 10 steps at 1e-05": "0.702", Fisher + ", damping 0.1, 100 steps": "0.814 (P-A)",
	}[variant]
}

func (ev *evidence) grids() *paper.Output {
	t := ev.attackTable(grids, printedColumn("mean AUC on PBMC-33k as printed; of the other settings no AUC is printed or recorded", "not in the paper",
		printedGrid), reconColumn)
	t.Notes = append(t.Notes, "The program chooses among the six settings of gradient ascent by an attack. Its AUC is 0.7406 in all six of its outputs.")
	for _, variant := range []string{Ascended + ", 100 steps at 0.0001", "ascent without the cut, 10 steps at 1e-05"} {
		t.Notes = append(t.Notes, ev.runNotes(variant)...)
	}
	return &paper.Output{Table: t}
}
