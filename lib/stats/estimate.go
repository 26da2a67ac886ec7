package stats

// Direction says which values of a metric are better.
type Direction string

// The directions of a metric. NearNull is for metrics such as RULER's M2 and M4,
// where a deviation from the null on either side is a finding.
const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
	NearNull       Direction = "near-null"
)

// Units of intervals with special treatment.
const (
	// OverModels: rates of models that differ in their seed; few and bounded.
	OverModels = "models"
	// OverSubsets: overlapping sets of records drawn from one population.
	OverSubsets = "subsets"
	// OverDraws: overlapping draws of references from one population, compared with
	// the same records.
	OverDraws = "draws of references"
)

// Estimate is a number with its interval: the value, the interval and its unit, the value expected
// if there is no effect (the null), the direction that is better, and the number of units.
type Estimate struct {
	Value  float64   `json:"value"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Level  float64   `json:"level"` // nominal coverage of [Low, High], 0.95 by default
	Over   string    `json:"over"`  // the unit of the interval: "records", OverModels, OverSubsets
	Null   *float64  `json:"null"`  // nil if the metric has no null value (RULER's M1)
	Better Direction `json:"better,omitempty"`
	N      int       `json:"n"`
	// Clustered is about the records behind the units, where these are clusters of records; nil:
	// the units are taken as independent.
	Clustered *Clustered `json:"clustered,omitempty"`
}
