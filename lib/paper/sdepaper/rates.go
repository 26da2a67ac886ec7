package sdepaper

// Rates of verdicts: by the paper's rule, among decided sets, ties.

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Draw has the verdicts of one draw of references and subsets with known truth. Void says that
// the references fail the Mann-Whitney gate, GateP is the gate's p-value; methods without a gate
// are never void and have none.
type Draw struct {
	sde.Confusion
	Void  bool     `json:"void"`
	GateP *float64 `json:"gate_p"`
}

func drawOf(r *sde.ControlledResult) Draw {
	d := Draw{Confusion: r.Confusion()}
	if g := r.Outside.Gate; g != nil {
		d.Void, d.GateP = !g.Valid, &g.P
	}
	return d
}

// Sample is a draw without known truth: the verdicts on subsets of forgotten images.
type Sample struct {
	sde.Tally
	Void bool `json:"void"`
}

// Rates are three summaries of the verdicts on one model, with their variation between draws.
type Rates struct {
	// Rule is the mean over draws of the rate by the paper's algorithm 2, in which a tie is out.
	Rule float64
	// Decided is the rate among the subsets without a tie, over all draws; NaN if all are ties.
	Decided float64
	// Ties is the share of ties.
	Ties float64
	// SD is the standard deviation of Rule between draws, 0 for a single one.
	SD float64
	// Void is the number of draws, of N, whose references fail the gate.
	Void, N int
}

// F1 is the F1 of the class "in".
func (j Judged) F1() Rates { return f1(j.Draws) }

func f1(draws []Draw) Rates {
	all := confusion(draws)
	return overDrawsOf(draws, Draw.F1, Draw.isVoid, Rates{Decided: all.F1Decided(), Ties: all.RateTies()})
}

// Accuracy is the mean accuracy over both kinds of subsets. Its null is 0.5 whatever the mix of
// verdicts.
func (j Judged) Accuracy() Rates {
	all := confusion(j.Draws)
	return overDrawsOf(j.Draws, Draw.Accuracy, Draw.isVoid, Rates{Decided: all.AccuracyDecided(), Ties: all.RateTies()})
}

// rateOut is the share judged out.
func rateOut(samples []Sample) Rates {
	var all sde.Tally
	for _, s := range samples {
		all = all.Plus(s.Tally)
	}
	return overDrawsOf(samples, Sample.RateOut, func(s Sample) bool { return s.Void }, Rates{Decided: all.RateDecided(), Ties: all.RateTies()})
}

func (d Draw) isVoid() bool { return d.Void }

func confusion(draws []Draw) (all sde.Confusion) {
	for _, d := range draws {
		all = all.Plus(d.Confusion)
	}
	return all
}

// overDrawsOf adds the statistics between draws.
func overDrawsOf[D any](draws []D, rule func(D) float64, void func(D) bool, r Rates) Rates {
	var x []float64
	for _, d := range draws {
		x = append(x, rule(d))
		if void(d) {
			r.Void++
		}
	}
	r.N = len(x)
	r.Rule, _ = stats.Mean(x)
	r.SD, _ = stats.SD(x)
	return r
}

// ratesOf are the rates of every row.
func ratesOf[T any](rows []T, rates func(T) Rates) []Rates {
	out := make([]Rates, len(rows))
	for i, r := range rows {
		out[i] = rates(r)
	}
	return out
}

// ruleCell is the rate by the paper's rule over models, marked with the number of void draws.
func ruleCell(models []Rates) report.Cell {
	if len(models) == 0 {
		return report.Gap("not computed")
	}
	c := report.Est(meanOf(models, func(r Rates) float64 { return r.Rule }), 2)
	void, all := 0, 0
	for _, r := range models {
		void, all = void+r.Void, all+r.N
	}
	if void > 0 {
		c.Text += fmt.Sprintf(" !%d/%d", void, all)
	}
	return c
}

// readingColumns are the columns of the three rates; rate is what they measure.
func readingColumns[R any](rate string, of func(R) Rates) []paper.Column[R] {
	column := func(name, note string, cell func([]Rates) report.Cell) paper.Column[R] {
		return paper.Column[R]{Name: name, Note: note, Cell: func(l paper.Line[R]) report.Cell {
			if len(l.Models) == 0 {
				return report.Gap("not computed")
			}
			return cell(ratesOf(l.Models, of))
		}}
	}
	mean := func(digits int, value func(Rates) float64) func([]Rates) report.Cell {
		return func(models []Rates) report.Cell { return report.Num(meanOf(models, value).Value, digits) }
	}
	return []paper.Column[R]{
		column(rate, "by algorithm 2, for which a tie is out: mean over draws, then over models, with Student's interval over models; "+gateNote, ruleCell),
		column("decided", "the same among the subsets that are no tie", decidedCell),
		column("ties", "share of subsets as far from one reference as from the other, to 1e-9 of the distance; over models",
			mean(3, func(r Rates) float64 { return r.Ties })),
		column("sd, draws", "standard deviation of "+rate+" between draws of references, mean over models", mean(2, func(r Rates) float64 { return r.SD })),
	}
}

// decidedCell is the rate among the subsets without a tie, over the models that have any.
func decidedCell(models []Rates) report.Cell {
	decided := filter(models, func(r Rates) bool { return !math.IsNaN(r.Decided) })
	if len(decided) == 0 {
		return report.Gap("all ties")
	}
	c := report.Est(meanOf(decided, func(r Rates) float64 { return r.Decided }), 2)
	if n := len(models) - len(decided); n > 0 {
		c.Text += fmt.Sprintf(" (%d all ties)", n)
	}
	return c
}

const gateNote = "! counts the draws, of all models together, whose references fail the Mann-Whitney gate"
