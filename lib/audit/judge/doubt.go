// Doubts that the arrays of a model are those of the records: no answer clears a model while one stands.

package judge

import (
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
)

// Doubtful is the answer in place of every one that sees no memory left, where a model's arrays may be of other records, in another
// order or in another unit.
const Doubtful Answer = "these arrays cannot tell: the model's arrays may be of other records or in another unit"

// doubt keeps a doubt about the arrays of a model.
func (e *Evidence) doubt(m *Model, why string) {
	if e.doubts == nil {
		e.doubts = map[string][]string{}
	}
	e.doubts[m.Name] = append(e.doubts[m.Name], why)
}

// doubtOf says why the arrays of a model, or of one that it is compared with, may not be those of the records; empty:
// nothing shows it.
func (e *Evidence) doubtOf(model string) string {
	of, why := "", e.doubts[model]
	for _, m := range e.Models {
		if len(why) == 0 && (m.Role == Original || m.Role == Retrained) && len(e.doubts[m.Name]) > 0 {
			of, why = m.Name+": ", e.doubts[m.Name]
		}
	}
	if len(why) == 0 {
		return ""
	}
	return of + strings.Join(why, "; ") + ", as where rows are in another order, arrays are of another model or numbers are in another unit"
}

// doubted is what remains of an answer where there is a doubt. Rows in another order look pushed away, so that only a memory
// stands, and without them.
func doubted(a Answer, verdicts []Verdict) Answer {
	if !a.Memory() {
		return Doubtful
	}
	if a == BothWays {
		a = answerOf(slices.DeleteFunc(thatStand(verdicts), func(v Verdict) bool { return v.Call == audit.Beyond }))
	}
	return a
}
