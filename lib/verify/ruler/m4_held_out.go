// M4 of records that no model was trained on, the control of M4.

package ruler

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// M4HeldOut is M4 of the held-out records (Evidence.HeldOut) in place of the forget records: under
// the same model, among the same retained records G, so that q(r) of equation (6) is the same.
// Nobody can have memorised records that no model was trained on. So what M4 of the forget set is
// above this value, and not what it is above 0.5, can be memory, if the two sets are alike
// otherwise: drawn in the same way, whole groups if whole groups are forgotten.
//
// The interval takes held-out records as independent: Evidence.Groups, which has groups of other records alone, is not used.
// The second result is the rank per held-out record. Errors are those of M4, with the held-out
// records counted from the number of rows of Evidence.Unlearned.
func M4HeldOut(e Evidence, opt Options) (*stats.Estimate, []float64, error) {
	if missing(e.Unlearned) || missing(e.HeldOut) {
		return nil, nil, errors.New("ruler: the unlearned model's embeddings or those of held-out records are missing")
	}
	rows, cols := e.Unlearned.Shape()
	held, heldCols := e.HeldOut.Shape()
	if cols != heldCols {
		return nil, nil, fmt.Errorf("ruler: the embeddings of held-out records have %d columns, those of the others %d", heldCols, cols)
	}
	for _, m := range []input{e.unlearned(nil), {"held-out", e.HeldOut, nil, nil}} {
		if err := m.m.Check(m.name + " embeddings"); err != nil {
			return nil, nil, fmt.Errorf("ruler: %w", err)
		}
	}
	both, forget := array.New[float64](rows+held, cols), make([]int, held)
	for i := range rows {
		copy(both.Row(i), e.Unlearned.Read(both.Row(i), i))
	}
	for i := range held {
		forget[i] = rows + i
		copy(both.Row(rows+i), e.HeldOut.Read(both.Row(rows+i), i))
	}
	return M4(Evidence{Unlearned: &both, Forget: forget, Retain: e.Retain}, opt)
}
