// The lens on backdoors: how much more often a trigger makes a model answer with
// the backdoor's label.

package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// Trigger asks whether a backdoor still works (BlindU, section VIII; Gu, Dolan-Gavitt and Garg 2017
// for the backdoor): how much more often a model gives the backdoor's label to unseen records of
// the source class when they have the trigger,
//
//	value = mean over x of  1[answer(x + trigger) = target] - 1[answer(x) = target]
//
// over the held-out records that no method may use. The interval is Newcombe's
// (stats.ShareDifference), of shares over records or over groups of records. It treats the two terms as
// independent and is too wide where they are not. The first term is the success rate that papers report; the second is how often the label is
// given without a trigger.
//
// Null: 0, the trigger does nothing. Above it the backdoor works (memory). A retrained model may be
// above 0 too, where the trigger looks like the target class: read its row first. No chance floor
// is known. A case without a backdoor has no reading.
type Trigger struct{}

var _ Lens = Trigger{}

// Name implements Lens.
func (Trigger) Name() string { return "backdoor" }

// Info implements Lens.
func (Trigger) Info() Info {
	return Info{Measures: "by how much a backdoor's trigger raises the share of unseen records that get its label", Needs: Needs{Case: true}}
}

// Read implements Lens.
func (l Trigger) Read(e *Evidence, m *Arrays) (*Reading, error) {
	c := e.Case
	if c.Backdoor() == nil || c.Backdoor().Confuse {
		return absentReading(l, m.Name, "no backdoor"), nil
	}
	with, err := c.TriggeredRecords()
	if err != nil {
		return nil, err
	}
	o, err := m.Model.Outputs()
	if err != nil {
		return nil, err
	}
	p, err := c.Runner.Predict(m.Model.Weights, with.X)
	if err != nil {
		return nil, err
	}
	if err := train.CheckOutputs(p, o.Test); err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	target := 0
	if len(with.Y) > 0 {
		target = with.Y[0]
	}
	plain, marked := predictedClasses(o.Test.Logits()), predictedClasses(p.Logits())
	var rows []int
	var after, before []bool
	for _, i := range c.EvalRows() {
		if c.isSource(i) {
			rows, before = append(rows, i), append(before, plain[i] == target)
		}
	}
	for _, answer := range marked {
		after = append(after, answer == target)
	}
	s := pairedShares{e: e, rows: testRowNumbers(rows, c.Train.X.Rows), over: "triggered records"}
	return s.reading(l, m, after, before, stats.ShareDifference)
}

// isSource reports whether a test record is of the class that the backdoor's records were drawn
// from.
func (c *Case) isSource(row int) bool {
	name := c.Backdoor().Source
	if name == "" {
		return c.Test.Y[row] == 1
	}
	return c.About.Classes[c.Test.Y[row]] == name
}

// pairedShares are records of which two shares are compared.
type pairedShares struct {
	e    *Evidence
	rows []int
	over string // the records in words
}

// reading returns the reading of the difference of the shares for which either holds; its null is 0.
func (s pairedShares) reading(l Lens, m *Arrays, holds, other []bool, difference func(a, b stats.Estimate) stats.Estimate) (*Reading, error) {
	if len(s.rows) < 2 || len(s.e.Forget) == 0 {
		return nil, fmt.Errorf("audit: the lens %q: %d %s, %d records to forget", l.Name(), len(s.rows), s.over, len(s.e.Forget))
	}
	a, err := s.e.share(s.rows, holds, s.over)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	b, err := s.e.share(s.rows, other, s.over)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	of := difference(a, b).WithNull(0, stats.NearNull)
	return &Reading{Lens: l.Name(), Model: m.Name, Memory: Above, Estimate: of, Floor: unknownFloor, NoEvidence: s.e.tooFewGroups(of.Clustered)}, nil
}

// predictedClasses returns the class with the largest logit of every row.
func predictedClasses(logits array.Matrix[float32]) []int {
	out := make([]int, logits.Rows)
	for i := range out {
		for c, v := range logits.Row(i) {
			if v > logits.Row(i)[out[i]] {
				out[i] = c
			}
		}
	}
	return out
}
