package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// Confusion asks whether a model still confuses two classes whose labels were exchanged in the
// records to be forgotten (the interclass confusion test of Goel et al. 2022, "Towards adversarial
// evaluations for inexact machine unlearning"),
//
//	value = mean over x of  1[answer(x) = partner] - 1[answer(x) is wrong and not the partner] / (K - 2)
//
// over the held-out records of the two classes that no method may use. The partner is the other of
// the two classes and K the number of classes. The first term is the paper's targeted error; the second
// is the rate of any other wrong class. The interval is over records, or over groups of records, that of
// stats.ExclusiveDifference: a record has one answer, so that where one term is high the other is low, and
// an interval for independent terms is too narrow. Where groups of records differ in how hard they are,
// it is rather too wide.
//
// Null: 0, the partner is a wrong answer like every other. Above it the two classes are confused
// (memory), or more similar to each other than to the others: read the oracle's row first. No
// chance floor is known. A case without exchanged labels, or with two classes, has no reading.
type Confusion struct{}

var _ Lens = Confusion{}

// Name implements Lens.
func (Confusion) Name() string { return "interclass confusion" }

// Info implements Lens.
func (Confusion) Info() Info {
	return Info{Needs: Needs{Case: true},
		Measures: "by how much more often held-out records of two confused classes get each other's label than any other wrong one"}
}

// Read implements Lens.
func (l Confusion) Read(e *Evidence, m *Arrays) (*Reading, error) {
	c := e.Case
	a, b, ok := c.ConfusedClasses()
	classes := len(c.About.Classes)
	if !ok || classes < 3 {
		return absentReading(l, m.Name, "no confused classes"), nil
	}
	o, err := m.Model.Outputs()
	if err != nil {
		return nil, err
	}
	if err := train.CheckOutputs(o.Train, o.Test); err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	var partners, others []bool
	var rows []int
	answered := predictedClasses(o.Test.Logits())
	for _, i := range c.EvalRows() {
		answer, own, partner := answered[i], c.Test.Y[i], b
		switch own {
		case a:
		case b:
			partner = a
		default:
			continue
		}
		partners, others = append(partners, answer == partner), append(others, answer != own && answer != partner)
		rows = append(rows, i)
	}
	s := pairedShares{e: e, rows: testRowNumbers(rows, c.Train.X.Rows), over: "held-out records"}
	return s.reading(l, m, partners, others, func(partner, other stats.Estimate) stats.Estimate {
		return stats.ExclusiveDifference(partner, other, 1/float64(classes-2))
	})
}
