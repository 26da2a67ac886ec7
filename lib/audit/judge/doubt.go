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

// doubtOf says why the arrays of a model may not be those of the records; empty: nothing shows it.
func (e *Evidence) doubtOf(model string) string {
	if len(e.doubts[model]) == 0 {
		return ""
	}
	return strings.Join(e.doubts[model], "; ") + ", as where rows are in another order or arrays are of another model"
}
