package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Call places a model between the original and the oracle, as one lens sees
// them. It does not ask where the null is, because the oracle often is not there.
type Call string

// The calls.
const (
	Blind      Call = "blind"      // original and oracle look alike: the lens cannot tell on this case
	Forgotten  Call = "forgotten"  // like the oracle, unlike the original
	Remembered Call = "remembered" // like the original, unlike the oracle
	Between    Call = "between"    // unlike both, and between them
	Beyond     Call = "beyond"     // unlike both, on the far side of the oracle
	Backwards  Call = "backwards"  // unlike both, on the far side of the original
	Unclear    Call = "unclear"    // its interval reaches both
	NotAsked   Call = "not asked"  // the lens cannot look at such a case
)

// About says in words what a call means.
func (c Call) About() string { return calls[c] }

var calls = map[Call]string{
	Blind:      "original and oracle look alike, and the lens cannot tell anything on this case",
	Forgotten:  "like the oracle, unlike the original",
	Remembered: "like the original, unlike the oracle",
	Between:    "unlike both, on the way from the original to the oracle",
	Beyond:     "unlike both, on the far side of the oracle",
	Backwards:  "unlike both, on the far side of the original",
	Unclear:    "its interval reaches both",
	NotAsked:   "the lens cannot look at such a case",
}

// CallOf places a reading. Two readings are alike where their intervals overlap,
// which is generous: intervals of equal readings overlap nearly always, and
// those of different ones often do. A lens is not blind only where the intervals
// of original and oracle are apart.
func CallOf(m, original, oracle Reading) Call { return CallBy(Alike, m, original, oracle) }

// CallBy is CallOf with another sense of alike.
func CallBy(alike func(a, b Reading) bool, m, original, oracle Reading) Call {
	if m.Absent != "" {
		return NotAsked
	}
	if alike(original, oracle) {
		return Blind
	}
	first, last := alike(m, original), alike(m, oracle)
	switch {
	case first && last:
		return Unclear
	case last:
		return Forgotten
	case first:
		return Remembered
	}
	way := (m.Value - original.Value) / (oracle.Value - original.Value)
	switch {
	case way > 1:
		return Beyond
	case way < 0:
		return Backwards
	}
	return Between
}

// Alike reports whether the intervals of two readings overlap.
func Alike(a, b Reading) bool { return a.Low <= b.High && b.Low <= a.High }

// Placed are models, placed through every lens of a case.
type Placed struct {
	lenses   []Lens
	models   []*Model
	readings [][]Reading // model by model
	calls    [][]Call
	ends     [2][]Reading // of the original and the oracle
	isEnd    []bool       // of each model
}

// Place places models through every lens of the case.
func (c *Case) Place(models ...*Model) (*Placed, error) {
	ends, err := c.Readings(c.Original, c.Oracle)
	if err != nil {
		return nil, err
	}
	readings, err := c.Readings(models...)
	if err != nil {
		return nil, err
	}
	n := len(c.lenses())
	p := &Placed{lenses: c.lenses(), models: models, ends: [2][]Reading{ends[:n], ends[n:]}}
	for i, m := range models {
		p.readings, p.isEnd = append(p.readings, readings[i*n:(i+1)*n]), append(p.isEnd, m == c.Original || m == c.Oracle)
		var calls []Call
		for k, r := range p.readings[i] {
			calls = append(calls, CallOf(r, p.ends[0][k], p.ends[1][k]))
		}
		p.calls = append(p.calls, calls)
	}
	return p, nil
}

// Calls places every model through every lens of the case, model by model.
func (c *Case) Calls(models ...*Model) ([][]Call, []Reading, error) {
	p, err := c.Place(models...)
	if err != nil {
		return nil, nil, err
	}
	return p.calls, slices.Concat(p.readings...), nil
}

// Agreement says in words whether lenses that are not blind place a model alike.
func Agreement(lenses []Lens, calls []Call) string {
	said := map[Call][]string{}
	var order []Call
	for k, call := range calls {
		if call == Blind || call == Unclear || call == NotAsked {
			continue
		}
		if said[call] == nil {
			order = append(order, call)
		}
		said[call] = append(said[call], lenses[k].Name())
	}
	switch len(order) {
	case 0:
		return "no lens can tell"
	case 1:
		return fmt.Sprintf("%s (%s)", order[0], strings.Join(said[order[0]], ", "))
	}
	var parts []string
	for _, call := range order {
		parts = append(parts, fmt.Sprintf("%s: %s", strings.Join(said[call], ", "), call))
	}
	return "disagree: " + strings.Join(parts, "; ")
}

// Rows are the lines of a table: value, interval and call per lens, and where the
// lenses disagree.
func (p *Placed) Rows(group string) []report.Row {
	var rows []report.Row
	for i, m := range p.models {
		row := report.Row{Kind: report.Method, Group: group, Cells: []report.Cell{report.Str(m.Label)}}
		if m.Control {
			row.Kind = report.Control
		}
		row.Cells = append(row.Cells, called(p.readings[i], p.calls[i], 4)...)
		row.Cells = append(row.Cells, report.Str(Agreement(p.lenses, p.calls[i])))
		rows = append(rows, row)
	}
	return rows
}

// Map shows how much of what the original remembers each lens finds in a model,
//
//	(reading - oracle's) / (original's - oracle's)
//
// 1 like the original and 0 like the oracle, with no number where the lens is
// blind. Original and oracle themselves are left out.
func (p *Placed) Map(title string) plot.Heatmap {
	none, all := 0.0, 1.0
	h := plot.Heatmap{
		Meta: plot.Meta{Title: title}, X: plot.Axis{Label: "lens"}, Y: plot.Axis{Label: "model"}, Value: "share of the memory left",
		Min: &none, Max: &all,
	}
	for _, lens := range p.lenses {
		h.Columns = append(h.Columns, lens.Name())
	}
	shares := p.Shares()
	for i, m := range p.models {
		if p.isEnd[i] {
			continue
		}
		missing := make([]string, len(p.lenses))
		for k, v := range shares[0] {
			if math.IsNaN(v) {
				shares[0][k], missing[k] = 0, string(p.calls[i][k])
			}
		}
		h.Rows, h.Values, h.Missing = append(h.Rows, m.Label), append(h.Values, shares[0]), append(h.Missing, missing)
		shares = shares[1:]
	}
	return h
}

// Shares are the numbers of Map: a row per model, without original and oracle, a column
// per lens; NaN where the lens is blind or was not asked.
func (p *Placed) Shares() (out [][]float64) {
	for i := range p.models {
		if p.isEnd[i] {
			continue
		}
		values := make([]float64, len(p.lenses))
		for k, r := range p.readings[i] {
			original, oracle := p.ends[0][k].Value, p.ends[1][k].Value
			if values[k] = (r.Value - oracle) / (original - oracle); p.calls[i][k] == Blind {
				values[k] = math.NaN()
			}
		}
		out = append(out, values)
	}
	return out
}

// called are the cells of a model: value, interval and call per lens.
func called(readings []Reading, calls []Call, digits int) []report.Cell {
	out := make([]report.Cell, len(calls))
	for k, call := range calls {
		if why := readings[k].Absent; why != "" {
			out[k] = report.Gap(why)
			continue
		}
		out[k] = report.Est(readings[k].Estimate, digits)
		out[k].Text += " " + string(call)
	}
	return out
}

// glossary explains the calls that occur, in the order of their first use.
func glossary(calls [][]Call) []string {
	var out []string
	seen := map[Call]bool{}
	for _, call := range slices.Concat(calls...) {
		if !seen[call] {
			out = append(out, fmt.Sprintf("%s: %s.", call, call.About()))
		}
		seen[call] = true
	}
	return out
}
