package ruler

// Metric is a line of the package's contents.
type Metric struct {
	Name  string   // "ruler/m1"
	About string   // what it measures, with the paper's equation
	Null  *float64 // the value when nothing is wrong; nil where there is none
}

// Metrics lists the metrics of this package; a new one adds one line.
func Metrics() []Metric {
	return []Metric{
		{"ruler/m1", "similarity of forget records' embeddings to the oracle's (Eq. 2)", nil},
		{"ruler/m2", "M1 less what retained records reach, median or mean (Eq. 3)", null(0)},
		{"ruler/m3", "change of M1 through unlearning (Eq. 4)", null(0)},
		{"ruler/m4", "rank of forget records among retained neighbours, without an oracle (Eq. 7)", null(0.5)},
	}
}
