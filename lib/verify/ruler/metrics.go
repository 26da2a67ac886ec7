package ruler

import "github.com/lethe-ml/lethe/lib/stats"

// Metric describes one metric of the package.
type Metric struct {
	Name  string   // "m1"
	About string   // what it measures, with the paper's equation
	Null  *float64 // the value when nothing is wrong; nil where there is none
	// Memory is the side of the oracle's own value on which a model that still remembers lies: -1
	// below it, 1 above it.
	Memory int
	// Measure returns the metric and the values per forget record, whose mean it is.
	Measure func(Evidence, Options) (*stats.Estimate, []float64, error)
}

// Metrics lists the metrics of this package; a new one adds one line.
func Metrics() []Metric {
	return []Metric{
		{"m1", "similarity of forget records' embeddings to the oracle's (Eq. 2)", nil, -1, M1},
		{"m2", "M1 less what retained records reach, median or mean (Eq. 3)", pointerTo(0), -1, M2},
		{"m3", "change of M1 through unlearning (Eq. 4)", pointerTo(0), -1, M3},
		{"m4", "rank of forget records among retained neighbours, without an oracle (Eq. 7)", pointerTo(0.5), 1, M4},
	}
}
