package fishing

// Privacy accounting of private trainings.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Spending is the privacy accounting of a training, by the steps that it took.
type Spending struct {
	Cells int     `json:"n_cells"` // training cells
	Steps int     `json:"steps"`
	Rate  float64 `json:"rate"`  // probability that a cell enters a step
	Noise float64 `json:"noise"` // in units of the clipping norm, 0: none
	Delta float64 `json:"delta"`
	// RDP is epsilon by Renyi differential privacy, as in the program; nil without noise, where
	// epsilon is infinite. Tight are bounds by the privacy loss distribution, nil if epsilon is
	// too large for that accountant.
	RDP   *float64        `json:"epsilon_rdp,omitempty"`
	Tight *privacy.Bounds `json:"epsilon_tight,omitempty"`
}

// newSpending is nil for a method without private training.
func newSpending(m unlearn.Method, r *unlearn.Report, retained int) (*Spending, error) {
	private, is := defaults.Fill(m).(unlearn.DPRetrain)
	if !is {
		return nil, nil
	}
	out := &Spending{Cells: private.TrainingSize(retained), Steps: r.Steps, Rate: float64(r.Epochs) / float64(r.Steps), Delta: private.Delta}
	h := r.History[len(r.History)-1].Privacy
	if h.Steps() == 0 {
		return out, nil
	}
	if h.Steps() != r.Steps || len(h) != 1 {
		return nil, fmt.Errorf("%d of %d steps, of %d kinds, are accounted for as private", h.Steps(), r.Steps, len(h))
	}
	out.Rate, out.Noise = h[0].Rate, h[0].Noise
	spent, err := h.RDP(private.Delta)
	if err != nil {
		return nil, err
	}
	out.RDP = &spent.Epsilon
	if tight, err := h.PRV(private.Delta, privacy.PRV{}); err == nil {
		out.Tight = &tight
	}
	return out, nil
}

// spentText is the epsilon of the models of one variant: "11.12; 9.87 to 9.97".
func spentText(rows []Row) string {
	var rdp, low, high []float64
	for _, r := range rows {
		switch p := r.Private; {
		case p == nil:
			return ""
		case p.RDP == nil:
			return "infinite"
		default:
			rdp = append(rdp, *p.RDP)
			if p.Tight != nil {
				low, high = append(low, p.Tight.Low), append(high, p.Tight.High)
			}
		}
	}
	if len(rdp) == 0 {
		return ""
	}
	text := rangeText(slices.Min(rdp), slices.Max(rdp))
	if len(low) == len(rdp) {
		text += "; " + rangeText(slices.Min(low), slices.Max(high))
	}
	return text
}

// rangeText is a range of numbers: "10.03" or "9.87 to 9.97".
func rangeText(low, high float64) string {
	a, b := report.FormatNumber(low, 2), report.FormatNumber(high, 2)
	if a == b {
		return a
	}
	return a + " to " + b
}

// spentColumns is the column of the privacy spent, if any model was trained privately.
func (ev *evidence) spentColumns() []column {
	deltas := ev.deltas()
	if deltas == nil {
		return nil
	}
	return []column{paper.TextColumn("epsilon", "spent on the retained cells by the steps that were taken, at delta "+strings.Join(deltas, " or ")+
		": by RDP, as the program counts; bounds of the tight accountant; infinite: no noise; of other rows none is stated", "not private",
		func(l line) string { return spentText(l.Models) })}
}

// deltas are those of the private trainings, each once: "1e-5".
func (ev *evidence) deltas() (out []string) {
	for _, r := range ev.Rows {
		if r.Private == nil {
			continue
		}
		if text := strings.Replace(fmt.Sprint(r.Private.Delta), "e-0", "e-", 1); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// spendingNotes describe the private trainings of a case: number of cells, steps, rate and
// noise.
func (ev *evidence) spendingNotes(c Case) []string {
	var texts []string
	for _, a := range c.variants() {
		rows := ev.rowsOf(c.Label, a.Label)
		if len(rows) == 0 || rows[0].Private == nil {
			continue
		}
		p := rows[0].Private
		texts = append(texts, fmt.Sprintf("%s: %d of %d retained cells, %s steps that a cell enters at rate %s, noise %s, epsilon %s",
			a.Label, p.Cells, rows[0].Sizes.Train-rows[0].Forget, countRange(rows, func(r Row) int { return r.Private.Steps }),
			report.FormatNumber(p.Rate, 3), report.FormatNumber(p.Noise, 2), spentText(rows)))
	}
	if texts == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: private training, epsilon by RDP and by the tight accountant. %s. "+
		"The paper's has 27,094 of 28,094 cells, 5,300 steps and noise 0.71 at epsilon 10. "+
		"As coded, a tenth of the cells, at most 1,000, is set aside to choose an epoch; that choice is not in its epsilon.",
		c.Label, strings.Join(texts, "; "))}
}
