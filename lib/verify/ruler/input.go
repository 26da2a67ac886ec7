// Checks of a metric's input: options, matrices, row numbers and norms of embeddings.

package ruler

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// input holds one model's embeddings and the rows that a metric reads.
type input struct {
	name   string
	m      array.Rows
	rows   []int
	groups []int // of every row of m; nil: none
}

// Needs says what a metric reads beside the unlearned model's embeddings of the forget records.
type Needs struct {
	Oracle, Original bool // these models' embeddings of the forget records
	Retain           bool // the retained records, in every model that is read
}

// Check returns an error that names the fault if a metric cannot be computed: impossible options, a
// model that is missing or whose matrix has another shape or an element that is not finite, groups of
// another number of records, no forget or, where they are needed, no retained records, a row number
// that is outside or there twice, and a row without a direction, unless Options.ZeroNorm accepts it.
func (e Evidence) Check(opt Options, needs Needs) error {
	rows := e.Forget
	if needs.Retain {
		rows = concat(e.Forget, e.Retain)
	}
	inputs := []input{e.unlearned(rows)}
	if needs.Oracle {
		inputs = append(inputs, e.oracle(rows))
	}
	if needs.Original {
		inputs = append(inputs, e.original(rows))
	}
	_, err := validate(opt, e.Forget, e.Retain, needs.Retain, inputs...)
	return err
}

// validate checks everything that a metric relies on: the options, the matrices, the row numbers
// and the norms. It returns the number of rows without a direction per input, which is zero
// everywhere unless the options accept them.
func validate(opt Options, forget, retain []int, needRetain bool, inputs ...input) ([]int, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := checkMatrices(inputs); err != nil {
		return nil, err
	}
	n, _ := inputs[0].m.Shape()
	if err := checkIndices(n, forget, retain, needRetain); err != nil {
		return nil, err
	}
	zeros := make([]int, len(inputs))
	for k, in := range inputs {
		var err error
		if zeros[k], err = checkNorms(in, opt.ZeroNorm); err != nil {
			return nil, err
		}
	}
	return zeros, nil
}

func (o Options) check() error {
	if o.Level < 0 || o.Level >= 1 || math.IsNaN(o.Level) {
		return fmt.Errorf("ruler: level %v is not inside (0, 1)", o.Level)
	}
	if o.Reps < 0 {
		return fmt.Errorf("ruler: %d bootstrap repetitions", o.Reps)
	}
	if o.ZeroNorm != RefuseZeroNorm && o.ZeroNorm != AsPublished {
		return fmt.Errorf("ruler: unknown treatment %d of zero rows", o.ZeroNorm)
	}
	if o.Baseline != Median && o.Baseline != Mean {
		return fmt.Errorf("ruler: unknown baseline %d", o.Baseline)
	}
	if o.Ties != Equal && o.Ties != LastBit {
		return fmt.Errorf("ruler: unknown treatment %d of ties", o.Ties)
	}
	return nil
}

func checkMatrices(inputs []input) error {
	for _, in := range inputs {
		if missing(in.m) {
			return fmt.Errorf("ruler: %s embeddings are missing", in.name)
		}
		rows, cols := in.m.Shape()
		if cols <= 0 {
			return fmt.Errorf("ruler: %s embeddings have %d columns", in.name, cols)
		}
		if err := in.m.Check(in.name + " embeddings"); err != nil {
			return fmt.Errorf("ruler: %w", err)
		}
		if in.groups != nil && len(in.groups) != rows {
			return fmt.Errorf("ruler: %d groups and %s embeddings of %d records", len(in.groups), in.name, rows)
		}
		first := inputs[0]
		if r, c := first.m.Shape(); rows != r || cols != c {
			return fmt.Errorf("ruler: %s embeddings are %d x %d but %s embeddings are %d x %d; row i must be the same record in both",
				in.name, rows, cols, first.name, r, c)
		}
	}
	return nil
}

func checkIndices(n int, forget, retain []int, needRetain bool) error {
	if len(forget) == 0 {
		return errors.New("ruler: the forget set is empty")
	}
	if needRetain && len(retain) == 0 {
		return errors.New("ruler: the retain set is empty")
	}
	const inForget, inRetain = 1, 2
	seen := make([]byte, n)
	if err := markRows(seen, forget, "forget", inForget); err != nil {
		return err
	}
	return markRows(seen, retain, "retain", inRetain)
}

func markRows(seen []byte, rows []int, name string, mark byte) error {
	for k, i := range rows {
		switch {
		case i < 0 || i >= len(seen):
			return fmt.Errorf("ruler: %s[%d] = %d is outside the %d rows of the embeddings", name, k, i, len(seen))
		case seen[i] == mark:
			return fmt.Errorf("ruler: %s[%d] = %d names a row twice", name, k, i)
		case seen[i] != 0:
			return fmt.Errorf("ruler: %s[%d] = %d is in the forget set too", name, k, i)
		}
		seen[i] = mark
	}
	return nil
}

// checkNorms counts the rows shorter than 1e-12, or refuses the first of them. A squared norm
// outside the range of float64 is always refused: the row would silently become zero.
func checkNorms(in input, policy ZeroNorm) (int, error) {
	zeros := 0
	_, cols := in.m.Shape()
	buffer := make([]float64, cols)
	for _, i := range in.rows {
		n := norm(in.m.Read(buffer, i))
		if math.IsInf(n, 0) {
			return 0, fmt.Errorf("ruler: %s embeddings, row %d: the squared norm overflows float64; rescale the embeddings, their "+
				"scale does not matter", in.name, i)
		}
		if n >= minNorm {
			continue
		}
		if policy == RefuseZeroNorm {
			return 0, fmt.Errorf("ruler: %s embeddings, row %d: norm %g is below %g, so the record has no direction to compare", in.name, i, n, minNorm)
		}
		zeros++
	}
	return zeros, nil
}
