package stats

// Direction says which way a metric is better.
type Direction string

// The directions a metric can have. NearNull is for metrics such as RULER's M2
// and M4, where a value beyond the null on either side is a finding.
const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
	NearNull       Direction = "near-null"
)

// Units of intervals that need a word of their own.
const (
	// OverModels are rates of models that differ in their seed: few, and bounded.
	OverModels = "models"
	// OverSubsets are sets of records drawn from one population, which overlap.
	OverSubsets = "subsets"
	// OverDraws are draws of references from one population, which overlap, against
	// which the same records are judged.
	OverDraws = "draws of references"
)

// Estimate is a number that never travels alone: the value, an interval and
// what the interval is over, the value expected when nothing is wrong (the
// null), the direction that is better, and the number of units behind it.
type Estimate struct {
	Value  float64   `json:"value"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Level  float64   `json:"level"` // nominal coverage of [Low, High], 0.95 by default
	Over   string    `json:"over"`  // what the interval is over: "records", OverModels, OverSubsets
	Null   *float64  `json:"null"`  // nil where a metric has no null value (RULER's M1)
	Better Direction `json:"better,omitempty"`
	N      int       `json:"n"`
}
