// The lens on reconstruction ("BlindU", section VIII-C): whether codes reveal more of forgotten
// than of held-out records.

package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Reconstruction is a reconstruction attack ("BlindU", section VIII-C) on the representation of a
// record: the mean of the code for a bottleneck or an autoencoder, the embedding for other
// networks. The attacker learns on one half of the held-out records, with their codes, and
// reconstructs the forgotten records and the other half. The lens asks whether codes help more with
// the forgotten records,
//
//	AUC = P( gain(forgotten) > gain(held out) ) + P( equal ) / 2
//	gain = ||m - x||^2 - ||x^ - x||^2
//
// where x is the record and x^ its reconstruction. m is the mean of the label's class among the
// attacker's records, which needs no code, or the mean of all of them where that is nearer. The
// interval is DeLong's, over records, for this one attacker, or that of stats.ClusterAUC over groups;
// the floor is that of the AUC's distance from 0.5. The halves of the held-out records share no group.
//
// Null: 0.5. Above it codes reveal more about the forgotten records than about non-members
// (memory); below it less. A memorised wrong label can show below the null: its code is that of
// another class. The oracle itself can be far from 0.5 where the forgotten records are of another
// kind than the held-out ones: read its row first.
//
// Differences from the paper, which reports the error alone:
//
//  1. an error says what a code reveals about any record; the difference to non-members is what it
//     reveals because the record was in training;
//  2. the attacker has none of the records that it reconstructs; see representation.Reconstruction, whose
//     differences apply here too. It is trained as representation.Persistent, in batches of 20, on
//     standardised codes.
type Reconstruction struct{}

var _ Lens = Reconstruction{}

// minSteps is the number of steps that the attacker takes at least.
const minSteps = 600

// Name implements Lens.
func (Reconstruction) Name() string { return "reconstruction" }

// Info implements Lens.
func (Reconstruction) Info() Info {
	return Info{Needs: Needs{Case: true},
		Measures: "signed AUC of how much a record's code improves its reconstruction over the class's mean, forgotten against held-out records", High: 1}
}

// Read implements Lens.
func (l Reconstruction) Read(e *Evidence, m *Arrays) (*Reading, error) {
	taught, drawn := l.halves(e)
	if groups := e.CountGroups(e.HeldOut); e.Groups != nil && groups < 2 {
		return NoReading(l.Name(), m.Name, TooFewRecords(groups, e.Units()+" among the held-out records")), nil
	}
	forgotten, held, err := l.gains(e.Case, m.Model, taught, drawn)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	return e.contrastAUC(l.Name(), m.Name, Scored{e.Forget, forgotten}, Scored{testRowNumbers(drawn, e.Case.Train.X.Rows), held})
}

// halves parts the held-out records, as rows of the test part, into those that the attacker learns on and
// those that it reconstructs.
func (Reconstruction) halves(e *Evidence) (taught, drawn []int) {
	judged, draw := e.Case.EvalRows(), engine.Root(drawSeed+e.Case.Shift).Stream(engine.StreamDecoder)
	if of := e.Clusters(e.HeldOut); !of.Trivial() {
		first, second := of.Halves(len(judged), draw.Perm)
		return rowsAt(judged, second), rowsAt(judged, first)
	}
	order := rowsAt(judged, draw.Perm(len(judged)))
	return order[:len(order)/2], order[len(order)/2:]
}

// gains returns those of the forgotten records and of the held-out records that are reconstructed (drawn).
func (Reconstruction) gains(c *Case, m *Model, taught, drawn []int) (forgotten, held []float64, err error) {
	if len(c.Forget) == 0 || len(taught)+len(drawn) < 4 {
		return nil, nil, fmt.Errorf("%d forgotten and %d held-out records", len(c.Forget), len(taught)+len(drawn))
	}
	o, err := m.Outputs()
	if err != nil {
		return nil, nil, err
	}
	seed := engine.Root(drawSeed + c.Shift)
	known, nonmembers, members := c.Test.Gather(taught), c.Test.Gather(drawn), c.Problem.Train.Gather(c.Forget)
	from := c.Problem.Train.X.Rows
	shadow := representation.Shadow{Numbers: testRowNumbers(taught, from), Codes: o.Test.Embedding.Gather(taught), Records: known.X, Labels: known.Y}
	victims := representation.Victims{
		Numbers:   slices.Concat(c.Forget, testRowNumbers(drawn, from)),
		Codes:     stackRows(o.Train.Embedding.Gather(c.Forget), o.Test.Embedding.Gather(drawn)),
		Originals: stackRows(members.X, nonmembers.X), Labels: slices.Concat(members.Y, nonmembers.Y),
	}
	attacker := representation.Persistent()
	attacker.Batch, attacker.Standardised, attacker.Linear = 20, true, !c.HasPixels()
	steps := (len(taught) + attacker.Batch - 1) / attacker.Batch
	attacker.Epochs = max(attacker.Epochs, minSteps/steps)
	found, err := attacker.Run(context.Background(), c.Runner.Engine, shadow, victims, seed)
	if err != nil {
		return nil, nil, err
	}
	return found.Gains[:len(c.Forget)], found.Gains[len(c.Forget):], nil
}

// rowsAt returns the rows at these positions.
func rowsAt(rows, positions []int) []int {
	out := make([]int, len(positions))
	for k, i := range positions {
		out[k] = rows[i]
	}
	return out
}

// testRowNumbers numbers test rows in a count that begins with the training part.
func testRowNumbers(rows []int, from int) []int {
	out := make([]int, len(rows))
	for k, i := range rows {
		out[k] = from + i
	}
	return out
}

// stackRows returns the rows of a followed by those of b.
func stackRows(a, b array.Matrix[float32]) array.Matrix[float32] {
	return array.Matrix[float32]{Rows: a.Rows + b.Rows, Cols: a.Cols, Data: slices.Concat(a.Data, b.Data)}
}
