// Doubts that the arrays of a model are those of the records: no answer clears a model while one stands.

package judge

import "strings"

// Doubtful is the answer in place of every one without a memory, where a model's arrays may not be those of the records.
const Doubtful Answer = "these arrays cannot tell: the model's arrays may not be those of the records"

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
	return of + strings.Join(why, "; ") + ", as where rows are in another order or arrays are of another model"
}
