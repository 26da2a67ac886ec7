package blindu

import "github.com/lethe-ml/lethe/lib/paper"

// The published form of a row: a number that was not measured is null, or empty in CSV, and
// never 0.

// rowRecord is Row as published.
type rowRecord struct {
	Row
	Open         *float64 `json:"triggered"`
	Opened       *int     `json:"n_triggered"`
	Rounds       *int     `json:"rounds"`
	Least        *int     `json:"least"`
	Most         *int     `json:"most"`
	Displacement *float64 `json:"displacement"`
	Steps        *int     `json:"steps"`
}

// record is the row as published, without values that its case or model does not have: unseen
// records with a trigger, users, an original that it started from. For a diverged model it says
// how it diverged.
func (r Row) record() any {
	if r.Diverged != "" {
		return paper.Diverged{Case: r.Case, Variant: r.Variant, Control: r.Control, Seed: r.Seed, How: r.Diverged}
	}
	g := rowRecord{Row: r}
	if r.Opened > 0 {
		g.Open, g.Opened = &r.Open, &r.Opened
	}
	if r.Least > 0 {
		g.Rounds, g.Least, g.Most = &r.Rounds, &r.Least, &r.Most
	}
	anew := r.Variant == Retrained || r.Variant == OtherSeed
	if !anew {
		g.Displacement = &r.Displacement
	}
	if !anew || r.Steps > 0 { // in a federation they are counted
		g.Steps = &r.Steps
	}
	return g
}

// leakRecord is Leak as published.
type leakRecord struct {
	Leak
	Coded  *float64 `json:"coded"`
	Found  *float64 `json:"found"`
	Above  *float64 `json:"above"`
	Read   *float64 `json:"read"`
	Pair   *float64 `json:"pair"`
	Before *float64 `json:"before"`
}

// record is the row as published, without values that only codes have.
func (l Leak) record() any {
	g := leakRecord{Leak: l}
	if l.Upload != OwnGradients {
		g.Coded, g.Found, g.Above, g.Read, g.Pair, g.Before = &l.Coded, &l.Found, &l.Above, &l.Read, &l.Pair, &l.Before
	}
	return g
}
