// What unlearning cost: lenses that are read beside a retrained model and get no verdict.

package judge

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// Cost is the reading of a lens on what unlearning cost (audit.Info.Cost), for one unlearned model.
type Cost struct {
	Lens      Lens
	Reading   audit.Reading
	Original  *audit.Reading  // nil: none
	Retrained []audit.Reading // of every retrained model
}

// newCost makes a cost of the readings of a verdict.
func newCost(v Verdict) Cost {
	return Cost{Lens: v.Lens, Reading: v.Reading, Original: v.Original, Retrained: v.Retrained}
}

// Outcome says what a cost came to.
type Outcome string

// The outcomes of a cost.
const (
	AsRetrained   Outcome = "as a retrained model"
	Damaged       Outcome = "damaged"
	Better        Outcome = "better than a retrained model"
	NotComparable Outcome = "nothing to compare with"
)

// verdict is the cost's readings in the form that compares them.
func (c Cost) verdict() *Verdict {
	return &Verdict{Lens: c.Lens, Reading: c.Reading, Original: c.Original, Retrained: c.Retrained}
}

// Outcome compares the reading with the retrained models.
func (c Cost) Outcome() Outcome {
	v := c.verdict()
	ref := v.reference()
	switch {
	case ref == nil, v.withheldReason().Call != "", !c.Reading.HasInterval() || !ref.HasInterval():
		return NotComparable
	case audit.Alike(c.Reading, *ref):
		return AsRetrained
	case audit.CallBySide(c.Reading, *ref) == audit.Remembered:
		return Better
	}
	return Damaged
}

// String is the cost in words.
func (c Cost) String() string {
	v := c.verdict()
	ref := v.reference()
	of := fmt.Sprintf("%s, %s: ", c.Lens.Name(), c.Reading.Model)
	if why := v.withheldReason(); why.Call != "" {
		return of + "the number is no evidence: " + why.Why + "."
	}
	number := fmt.Sprintf("%.3f (%.3f to %.3f)", c.Reading.Value, c.Reading.Low, c.Reading.High)
	if ref == nil {
		return of + number + "; without a retrained model nothing says how much of it unlearning cost."
	}
	// What seeds do makes the interval of retrained models wider than a share can be.
	s := of + fmt.Sprintf("%s, the retrained model %.3f (%.3f to %.3f). ", number, ref.Value, max(0, ref.Low), min(1, ref.High))
	switch c.Outcome() {
	case Damaged:
		return s + "Over-unlearned: the model has lost what it was to keep, by more than chance explains."
	case Better:
		return s + "Better than a retrained model by more than chance explains: what these records had in common with the forgotten ones is still used."
	case AsRetrained:
		return s + "No loss is seen that a retrained model does not have."
	}
	return s + "They cannot be compared."
}

// costParts is the section of the page; nothing where no such lens could be used.
func (r *Report) costParts() []report.Part {
	if len(r.Costs) == 0 {
		return nil
	}
	t := &report.Table{
		Title: "Costs", Columns: report.Columns("lens", "model", "outcome", "reading", "original", "retrained", "records"),
		Caption: "Each number with its 95 % interval. Costs are no evidence of a memory, and the answer does not rest on them.",
	}
	var says report.List
	for _, c := range r.Costs {
		says = append(says, c.String())
		v := c.verdict()
		t.Add(report.Str(c.Lens.Name()), report.Str(c.Reading.Model), report.Str(string(c.Outcome())), readingCell(&c.Reading), readingCell(c.Original),
			v.retrainedCell(), report.Num(float64(c.Reading.N), 0))
	}
	return []report.Part{t, says}
}

// jsonCost is the JSON form of a cost.
type jsonCost struct {
	Lens      string        `json:"lens"`
	Model     string        `json:"model"`
	Outcome   Outcome       `json:"outcome"`
	Says      string        `json:"says"`
	Reading   jsonReading   `json:"reading"`
	Original  *jsonReading  `json:"original"`
	Retrained []jsonReading `json:"retrained"`
}

func (r *Report) jsonCosts() (out []jsonCost) {
	for _, c := range r.Costs {
		j := jsonCost{
			Lens: c.Lens.Name(), Model: c.Reading.Model, Outcome: c.Outcome(), Says: c.String(), Reading: toJSON(c.Reading), Retrained: []jsonReading{},
		}
		if c.Original != nil {
			o := toJSON(*c.Original)
			j.Original = &o
		}
		for _, x := range c.Retrained {
			j.Retrained = append(j.Retrained, toJSON(x))
		}
		out = append(out, j)
	}
	return out
}
