// Models that are another one of the folder once more.

package judge

import (
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
)

// The limits of sameModel. Two trainings that differ in a setting of the optimiser alone agree so closely in a third of the
// records (the published models of TOFU); copies in half precision do in nearly all.
const (
	minForCopy = 20    // records whose loss is not vanishing in both
	leastLoss  = 1e-5  // less is vanishing: models that fit a record perfectly agree there
	closeLoss  = 0.005 // relative
	closeShare = 0.9   // of the records

	comparedRows = 400 // of embeddings or outputs
)

// leaveOutCopies takes out retrained and shadow models that are another model once more, whatever the type of their
// arrays: a copy of a retrained model shows nothing of what another seed does, and no model is a shadow of itself.
func (e *Evidence) leaveOutCopies() {
	against := map[audit.Role][]audit.Role{Retrained: {Retrained}, Shadow: {Unlearned, Original, Shadow}}
	var kept []*Model
	for _, m := range e.Models {
		of := ""
		k := slices.IndexFunc(e.Models, func(o *Model) (same bool) {
			earlier := o.Role != m.Role || slices.Contains(kept, o)
			if o != m && earlier && slices.Contains(against[m.Role], o.Role) {
				of, same = sameModel(m, o)
			}
			return same
		})
		if k < 0 {
			kept = append(kept, m)
			continue
		}
		what := "it shows nothing of what another seed does"
		if m.Role == Shadow {
			what = "no model is a shadow of itself, and none counts twice"
		}
		e.warn("%s has the %s of %s: it is left out, because %s.", m.Name, of, e.Models[k].Name, what)
	}
	e.Models = kept
}

// sameModel reports whether the losses of two models are the same, up to the rounding of a type; where one has no losses, their
// log-probabilities, embeddings or outputs. It names what was compared.
func sameModel(a, b *Model) (what string, same bool) {
	switch {
	case a.Losses != nil && b.Losses != nil:
		return "losses", sameValues(a.Losses, b.Losses)
	case a.Tokens != nil && b.Tokens != nil:
		return "log-probabilities", sameValues(a.Tokens.LogProb, b.Tokens.LogProb)
	case a.Embedding != nil && b.Embedding != nil:
		return "embeddings", sameValues(firstRows(a.Embedding), firstRows(b.Embedding))
	case a.Outputs != nil && b.Outputs != nil:
		return "outputs", sameValues(firstRows(a.Outputs), firstRows(b.Outputs))
	}
	return "", false
}

// firstRows returns the values of the first records; none if they cannot be read, which is said where they are judged.
func firstRows(x audit.Matrix) (values []float64) {
	rows, err := x.Read()
	if err != nil {
		return nil
	}
	n, columns := rows.Shape()
	buffer := make([]float64, columns)
	for i := range min(n, comparedRows) {
		values = append(values, rows.Read(buffer, i)...)
	}
	return values
}

// sameValues reports whether nearly all of the values that are not vanishing agree. A few values, such as right and wrong, say nothing.
func sameValues(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	alike, n, values := 0, 0, map[float64]bool{}
	for i, x := range a {
		y := b[i]
		size := max(math.Abs(x), math.Abs(y))
		if size < leastLoss {
			continue
		}
		n, values[x] = n+1, true
		if math.Abs(x-y) <= closeLoss*size {
			alike++
		}
	}
	return n >= minForCopy && 2*len(values) > n && float64(alike) >= closeShare*float64(n)
}
