package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Reconstruction lets somebody draw records out of what the model makes of them
// ("BlindU", section VIII-C): of a bottleneck or an autoencoder the mean of the code, of
// another network the embedding. He learns on one half of the held-out records, with
// their codes, and draws the forgotten records and the other half. The lens asks whether
// he gains more by the codes of the forgotten ones,
//
//	AUC = P( gain(forgotten) > gain(held out) ) + P( equal ) / 2
//	gain = ||m - x||^2 - ||x^ - x||^2
//
// where x is the record itself, x^ what is drawn of its code, and m the mean of the
// label's class among the records that he learns on, which needs no code, or of all of
// them where that is nearer. The interval is DeLong's, over records, for this one
// draughtsman; the floor is that of the AUC's distance from 0.5.
//
// Null: 0.5. Above it codes tell more of the forgotten records than of strangers
// (memory); below it less. A wrong label that is known by heart can be a memory below:
// a code that is that of another class is drawn as one. The oracle itself
// can be far from 0.5 where the forgotten records are of another kind than the held-out
// ones: read its row first.
//
// Differences from the paper, which gives the error alone: (1) an attack's error says
// what a code tells, of anybody; what it tells because the record was in training is the
// difference to strangers. (2) The draughtsman knows none of those that he draws; see
// representation.Reconstruction, whose differences are ours too. He is its patient form,
// in batches of 20, on standardised codes.
type Reconstruction struct{}

var _ Lens = Reconstruction{}

// minSteps are what he takes, however few records he learns on.
const minSteps = 600

// Name implements Lens.
func (Reconstruction) Name() string { return "reconstruction" }

// About implements Lens.
func (Reconstruction) About() string {
	return "signed AUC of what codes gain over the class's mean in drawing a record, forgotten against held-out records"
}

// Read implements Lens.
func (l Reconstruction) Read(c *Case, m *Model) (*Reading, error) {
	forgotten, held, err := l.gains(c, m)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	return aucReading(l, m, forgotten, held)
}

// gains are those of the forgotten records and of the held-out ones that are drawn.
func (Reconstruction) gains(c *Case, m *Model) (forgotten, held []float64, err error) {
	judged := c.EvalRows()
	if len(c.Forget) == 0 || len(judged) < 4 {
		return nil, nil, fmt.Errorf("%d forgotten and %d held-out records", len(c.Forget), len(judged))
	}
	o, err := m.Outputs()
	if err != nil {
		return nil, nil, err
	}
	seed := engine.Root(drawSeed + c.Shift)
	order := rowsAt(judged, seed.Stream(engine.StreamDecoder).Perm(len(judged)))
	taught, drawn := order[:len(order)/2], order[len(order)/2:]
	known, nonmembers, members := c.Test.Gather(taught), c.Test.Gather(drawn), c.Problem.Train.Gather(c.Forget)
	from := c.Problem.Train.X.Rows
	shadow := representation.Shadow{Numbers: testRowNumbers(taught, from), Codes: o.Test.Embedding.Gather(taught), Records: known.X, Labels: known.Y}
	victims := representation.Victims{
		Numbers:   slices.Concat(c.Forget, testRowNumbers(drawn, from)),
		Codes:     stackRows(o.Train.Embedding.Gather(c.Forget), o.Test.Embedding.Gather(drawn)),
		Originals: stackRows(members.X, nonmembers.X), Labels: slices.Concat(members.Y, nonmembers.Y),
	}
	attacker := representation.Persistent()
	attacker.Batch, attacker.Standardised, attacker.Linear = 20, true, !c.Pixels
	steps := (len(taught) + attacker.Batch - 1) / attacker.Batch
	attacker.Epochs = max(attacker.Epochs, minSteps/steps)
	found, err := attacker.Run(context.Background(), c.Runner.Engine, shadow, victims, seed)
	if err != nil {
		return nil, nil, err
	}
	return found.Gains[:len(c.Forget)], found.Gains[len(c.Forget):], nil
}

// rowsAt are the rows at these positions.
func rowsAt(rows, positions []int) []int {
	out := make([]int, len(positions))
	for k, i := range positions {
		out[k] = rows[i]
	}
	return out
}

// testRowNumbers are the numbers of test rows in a count that begins with the train part.
func testRowNumbers(rows []int, from int) []int {
	out := make([]int, len(rows))
	for k, i := range rows {
		out[k] = from + i
	}
	return out
}

// stackRows are the rows of a and below them those of b.
func stackRows(a, b array.Matrix[float32]) array.Matrix[float32] {
	return array.Matrix[float32]{Rows: a.Rows + b.Rows, Cols: a.Cols, Data: slices.Concat(a.Data, b.Data)}
}
