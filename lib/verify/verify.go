// Package verify lists the verification metrics of all families. The families are the packages
// below it; none depends on a model or a paper.
package verify

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/verify/ensemble"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Metric is an entry of the list.
type Metric struct {
	Name  string // "ruler/m1"
	About string // what it measures, and its null
}

// All returns the metrics of every family. A new metric is added to the list of its family; a new
// family is a loop here.
func All() []Metric {
	var out []Metric
	for _, m := range ruler.Metrics() {
		null := "; no null"
		if m.Null != nil {
			null = fmt.Sprintf("; null %g", *m.Null)
		}
		out = append(out, Metric{"ruler/" + m.Name, m.About + null})
	}
	for _, m := range sde.Methods() {
		out = append(out, Metric{"sde/" + m.Name(), m.About()})
	}
	for _, d := range ensemble.Distances() {
		out = append(out, Metric{"ensemble/" + d.Name(), d.About()})
	}
	return out
}
