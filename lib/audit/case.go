// A case with its original, its oracle, the lenses that read them, and the control
// variants of every table.

package audit

import (
	"context"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Case is a case of the lab with the two models between which all others are placed, and the lenses
// that read them.
type Case struct {
	*lab.Case
	Original, Oracle *Model
	// SecondOracle was retrained from another seed. nil: it is taken from the store, or trained
	// when a lens asks for it.
	SecondOracle *Model
	// Shadows are the arrays of shadow models, a row per record of Evidence, for lenses that compare
	// with such models; nil: those lenses have no reading.
	Shadows []*Arrays
	// CountRecords makes intervals count records where the split kept groups of them together: where
	// few groups are forgotten, which no interval over groups can say anything of. Such an interval is about these
	// records, and about no other group's.
	CountRecords bool
	// Lenses are used by Readings, Compare and Figure; nil: DefaultLenses.
	Lenses []Lens
}

// Model is one model of a case.
type Model = lab.Model

// The control variants that stand beside every result, with the labels of the tables.
var (
	original     = lab.Variant{Label: "original (do nothing)", Method: unlearn.NoOp{}, Control: true}
	oracle       = lab.Variant{Label: "retrained (oracle)", Method: unlearn.Retrain{}, Control: true}
	secondOracle = lab.Variant{Label: "retrained, other seed", Method: unlearn.SecondOracle, Control: true}
	random       = lab.Variant{Label: unlearn.RandomWeights{}.Info().Name, Method: unlearn.RandomWeights{}, Control: true}
)

// ControlVariants returns the rows that every table of models has: the original (no unlearning),
// the oracle, an oracle from another seed, and random weights.
func ControlVariants() []lab.Variant { return []lab.Variant{original, oracle, secondOracle, random} }

// Open opens a case of the lab. It loads the data, and trains the original and the oracle or takes
// them from the store.
func Open(ctx context.Context, l *lab.Lab, s lab.Setting) (*Case, error) {
	inner, err := l.Case(ctx, s)
	if err != nil {
		return nil, err
	}
	c := &Case{Case: inner}
	if err := c.Precompute(ctx, original.Method, oracle.Method); err != nil {
		return nil, err
	}
	if c.Original, err = c.Variant(ctx, original); err != nil {
		return nil, err
	}
	c.Oracle, err = c.Variant(ctx, oracle)
	return c, err
}

// OpenRun opens a case with the engine, the store and the seeds of lab.Open in another run: other
// records are held out and forgotten, and training starts from other weights. Run 0 is the run of
// Open.
func OpenRun(ctx context.Context, run int, s lab.Setting) (*Case, error) {
	l, err := lab.Open()
	if err != nil {
		return nil, err
	}
	return Open(ctx, l.Reseed(run), s)
}

// UnlearnAll applies each method to the original and returns the unlearned models in the same
// order; see lab.Case.Unlearn.
func (c *Case) UnlearnAll(ctx context.Context, methods ...unlearn.Method) ([]*Model, error) {
	ctx, task := progress.Start(ctx, "unlearning", len(methods))
	defer task.Done()
	var out []*Model
	for _, method := range methods {
		task.Add(1)
		m, err := c.Unlearn(ctx, method)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Controls returns the models of ControlVariants.
func (c *Case) Controls(ctx context.Context) ([]*Model, error) {
	out := []*Model{c.Original, c.Oracle}
	for _, a := range ControlVariants()[len(out):] {
		m, err := c.Variant(ctx, a)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
