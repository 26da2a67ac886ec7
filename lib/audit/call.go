// Calls: where a model stands between the original and the oracle, as one lens reads them.

package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Call says where a model stands between the original and the oracle, as one lens reads them. It
// compares readings with each other and not with the null, because the oracle itself is often away
// from the null.
type Call string

// The calls.
const (
	Blind      Call = "blind"       // original and oracle are alike, or differ by something else than memory
	Forgotten  Call = "forgotten"   // like the oracle, unlike the original
	Remembered Call = "remembered"  // like the original, unlike the oracle
	Between    Call = "between"     // unlike both, and between them
	Beyond     Call = "beyond"      // unlike both, on the far side of the oracle
	Backwards  Call = "backwards"   // unlike both, on the far side of the original
	Unclear    Call = "unclear"     // like both, or like the oracle and nearer the original
	CannotTell Call = "cannot tell" // the number is no evidence: scores are tied, outputs collapsed, or too few retrained models
	TooFew     Call = "too few"     // too few records for any number to be evidence
	NotAsked   Call = "not asked"   // the lens does not apply to the case
)

// About returns the meaning of a call in words.
func (c Call) About() string { return calls[c] }

var calls = map[Call]string{
	Blind: "the original differs from retrained models by no more than chance and another seed explain, or away from memory: the lens cannot tell " +
		"anything on this case",
	Forgotten:  "like the oracle, unlike the original",
	Remembered: "like the original, unlike the oracle",
	Between:    "unlike both, on the way from the original to the oracle",
	Beyond:     "unlike both, on the far side of the oracle",
	Backwards:  "unlike both, on the far side of the original",
	Unclear:    "like both, or nearer the original and yet no farther from the oracle than chance and another seed explain",
	CannotTell: "the number is no evidence, because values are tied, a model's outputs collapsed, or nothing shows what another seed does",
	TooFew:     "so few records that no value would be evidence",
	NotAsked:   "the lens cannot look at such a case",
}

// Found reports whether a call places a model anywhere but beside the reference: with a memory, or with
// records pushed away.
func (c Call) Found() bool { return slices.Contains([]Call{Remembered, Backwards, Between, Beyond}, c) }

// Alike reports whether two readings differ by no more than chance explains in 95 of 100 cases, if
// their intervals are independent:
//
//	|a - b| <= sqrt(h_a^2 + h_b^2)
//
// where h_a and h_b are the halves of the intervals on the side of the other reading. Models that
// are read on the same records err together, so that the true difference varies less than that.
// Overlap of the intervals is not the criterion: intervals may overlap where the difference is
// significant.
func Alike(a, b Reading) bool {
	if a.Value > b.Value {
		a, b = b, a
	}
	return b.Value-a.Value <= math.Hypot(a.High-a.Value, b.Value-b.Low)
}

// Likeness says which of the two ends of a case a reading is like.
type Likeness struct {
	Original, Oracle bool
	// Ends says that the ends are alike although Alike does not: the oracle is a null, and the
	// original is within the chance of its numbers of records (Reading.WithinChance).
	Ends bool
}

// LikenessOf compares a reading with those of the original and of the oracle.
func LikenessOf(m, original, oracle Reading) Likeness {
	return Likeness{Original: Alike(m, original), Oracle: Alike(m, oracle)}
}

// CallOf places a reading between those of the original and of the oracle. Tables, notebooks and
// reports all use this rule. If any of the three readings is no evidence (WithheldReason), the call
// says so.
//
// A model that is like the oracle and nearer the original is unclear: it has forgotten as far as nobody can
// tell, because retrained models differ so much, and by its number it has most of the memory.
//
// If original and oracle are alike, the lens is blind on this case. The exception is a model that
// is unlike both: it is beyond the oracle or, on the side of memory, backwards. A lens of coordinates
// or of membership is also blind where the original lies on the side of the oracle away from memory
// (Contrary), unless scores of membership find a model on the side of memory: it is backwards too.
func CallOf(m, original, oracle Reading) Call {
	return LikenessOf(m, original, oracle).Call(m, original, oracle)
}

// Call is CallOf with a likeness that was determined in another way.
func (l Likeness) Call(m, original, oracle Reading) Call {
	if why := WithheldReason(m, original, oracle); why.Call != "" {
		return why.Call
	}
	if m.Absent != "" {
		return NotAsked
	}
	same, contrary := l.Ends || Alike(original, oracle), !l.Ends && Contrary(original, oracle)
	onMemorySide := CallBySide(m, oracle) == Remembered
	switch {
	case contrary && (original.Coordinates || l.Oracle || !onMemorySide), same && (l.Original || l.Oracle):
		return Blind
	case (same || contrary) && onMemorySide:
		return Backwards // there was nothing to remember: the method made the records stand out
	case same && m.Towards:
		return Blind
	case same:
		return Beyond
	}
	way := (m.Value - original.Value) / (oracle.Value - original.Value)
	switch {
	case l.Original && l.Oracle, l.Oracle && way < 0.5:
		return Unclear
	case l.Oracle, m.Towards && way > 1:
		return Forgotten
	case l.Original:
		return Remembered
	case way > 1:
		return Beyond
	case way < 0:
		return Backwards
	}
	return Between
}

// CallBySide returns the call of a reading that is unlike the oracle, where no original is there:
// Remembered on the side of memory, Beyond on the other.
func CallBySide(m, oracle Reading) Call {
	if float64(m.Memory)*(m.Value-oracle.Value) > 0 {
		return Remembered
	}
	return Beyond
}

// Contrary reports whether the original is unlike the oracle on the side away from memory, for a lens of
// coordinates or of membership. Then it sees something other than memory: another seed where it
// compares coordinates, or sets or models that are exchanged, or records that are harder by themselves.
// Other lenses may see a memory on either side: an outlier that a model has learned may be farther from
// its neighbours than before.
func Contrary(original, oracle Reading) bool {
	sided := original.Coordinates || original.Membership
	return sided && !Alike(original, oracle) && float64(original.Memory)*(original.Value-oracle.Value) < 0
}

// Placement holds the readings and calls of several models through every lens of a case.
type Placement struct {
	lenses   []Lens
	models   []*Model
	readings [][]Reading // model by model
	calls    [][]Call
	ends     [2][]Reading // of the original and the oracle
	apart    []bool       // of each lens: the original is unlike the retrained models
	isEnd    []bool       // of each model
}

// Place reads models through every lens of the case and places them between the original and what
// models are like that never had the records: the oracle, and one that was retrained from another seed
// (ReferenceOf). A model with the weights of the latter is compared with the oracle alone, on a lens that
// both show not to be blind.
func (c *Case) Place(models ...*Model) (*Placement, error) {
	if err := checkModels(models); err != nil {
		return nil, err
	}
	second, err := c.secondOracle()
	if err != nil {
		return nil, err
	}
	readings, err := c.readOnce(append([]*Model{c.Original, c.Oracle, second}, models...))
	if err != nil {
		return nil, err
	}
	retrained := readings[1:3]
	for i, m := range []*Model{c.Oracle, second} {
		if err := c.markDrawnAlike(m, retrained[i]); err != nil {
			return nil, err
		}
	}
	p := &Placement{lenses: c.lenses(), models: models, readings: readings[3:], ends: [2][]Reading(readings[:2])}
	for k, l := range p.lenses {
		p.apart = append(p.apart, !Alike(p.ends[0][k], ReferenceOf(l, retrained[0][k], retrained[1][k])))
	}
	for i, m := range models {
		others := retrained
		if m.Weights.Hash() == second.Weights.Hash() {
			others = retrained[:1]
		}
		var calls []Call
		for k, l := range p.lenses {
			calls = append(calls, callBeside(l, p.readings[i][k], p.ends[0][k], readingsOf(retrained, k), readingsOf(others, k)))
		}
		p.calls, p.isEnd = append(p.calls, calls), append(p.isEnd, m == c.Original || m == c.Oracle)
	}
	return p, nil
}

// CallBeside is CallOf beside retrained models, by ReferenceOf, unless they do not show what a seed does.
func CallBeside(l Lens, m, original Reading, retrained ...Reading) Call {
	return callBeside(l, m, original, retrained, retrained)
}

// callBeside is CallBeside of a model that is compared with others than all retrained ones.
func callBeside(l Lens, m, original Reading, retrained, others []Reading) Call {
	reference := ReferenceOf(l, retrained...)
	if m.Absent == "" && WithheldReason(m, original, reference).Call == "" && SeedReason(m, others...).Call != "" {
		return CannotTell
	}
	return Likeness{Original: Alike(m, original), Oracle: Alike(m, ReferenceOf(l, others...))}.Call(m, original, reference)
}

// readingsOf are the readings of several models by lens k.
func readingsOf(models [][]Reading, k int) (out []Reading) {
	for _, of := range models {
		out = append(out, of[k])
	}
	return out
}

// readOnce reads models by every lens, those with equal weights once.
func (c *Case) readOnce(models []*Model) ([][]Reading, error) {
	at, distinct := map[string]int{}, []*Model(nil)
	for _, m := range models {
		if _, known := at[m.Weights.Hash()]; !known {
			at[m.Weights.Hash()], distinct = len(distinct), append(distinct, m)
		}
	}
	all, err := c.Readings(distinct...)
	if err != nil {
		return nil, err
	}
	var out [][]Reading
	for _, m := range models {
		n := len(c.lenses())
		own := slices.Clone(all[at[m.Weights.Hash()]*n:][:n])
		for k := range own {
			own[k].Model = m.Label
		}
		out = append(out, own)
	}
	return out, nil
}

// markDrawnAlike says in the readings of a retrained model whether its losses find the sets drawn alike.
func (c *Case) markDrawnAlike(m *Model, readings []Reading) error {
	e, err := c.Evidence(Loss{}.Info().Needs, m)
	if err != nil {
		return err
	}
	alike := e.DrawnAlike(e.Models[0])
	for k := range readings {
		readings[k].DrawnAlike = alike
	}
	return nil
}

// Calls returns the calls of every model, one per lens, and the readings behind them, model by
// model.
func (c *Case) Calls(models ...*Model) ([][]Call, []Reading, error) {
	p, err := c.Place(models...)
	if err != nil {
		return nil, nil, err
	}
	return p.calls, slices.Concat(p.readings...), nil
}

// isPlaced reports whether a call says where a model stands.
func (c Call) isPlaced() bool {
	switch c {
	case Blind, Unclear, NotAsked, CannotTell, TooFew:
		return false
	}
	return true
}

// tellsApart reports whether the lens of a call tells the original from the oracle.
func (c Call) tellsApart() bool { return c.isPlaced() || c == Unclear }

// Agreement says in words whether the lenses that place a model agree.
func Agreement(lenses []Lens, calls []Call) string {
	lensNames := map[Call][]string{}
	var order []Call
	for k, call := range calls {
		if !call.isPlaced() {
			continue
		}
		if lensNames[call] == nil {
			order = append(order, call)
		}
		lensNames[call] = append(lensNames[call], lenses[k].Name())
	}
	switch len(order) {
	case 0:
		return "no lens can tell"
	case 1:
		return fmt.Sprintf("%s (%s)", order[0], strings.Join(lensNames[order[0]], ", "))
	}
	var parts []string
	for _, call := range order {
		parts = append(parts, fmt.Sprintf("%s: %s", strings.Join(lensNames[call], ", "), call))
	}
	return "disagree: " + strings.Join(parts, "; ")
}

// Rows returns table rows, one per model: value, interval and call per lens, and whether the lenses
// agree.
func (p *Placement) Rows(group string) []report.Row {
	var rows []report.Row
	for i, m := range p.models {
		row := report.Row{Kind: report.Method, Group: group, Cells: []report.Cell{report.Str(m.Label)}}
		if m.Control {
			row.Kind = report.Control
		}
		row.Cells = append(row.Cells, callCells(p.readings[i], p.calls[i], 4)...)
		row.Cells = append(row.Cells, report.Str(Agreement(p.lenses, p.calls[i])))
		rows = append(rows, row)
	}
	return rows
}

// Map draws how much of the original's memory each lens finds in a model,
//
//	(reading - oracle's) / (original's - oracle's)
//
// which is 1 for a model like the original and 0 for one like the oracle. A cell has no number
// where original and oracle are alike or a reading is no evidence. Original and oracle themselves
// are left out.
func (p *Placement) Map(title string) plot.Heatmap {
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

// Shares returns the numbers of Map: a row per model, without original and oracle, and a column per
// lens. A value is NaN where the original is like the retrained models, a reading is no evidence, or the lens
// was not asked.
func (p *Placement) Shares() (out [][]float64) {
	for i := range p.models {
		if p.isEnd[i] {
			continue
		}
		values := make([]float64, len(p.lenses))
		for k, r := range p.readings[i] {
			original, oracle := p.ends[0][k], p.ends[1][k]
			if values[k] = (r.Value - oracle.Value) / (original.Value - oracle.Value); !p.calls[i][k].tellsApart() || !p.apart[k] {
				values[k] = math.NaN()
			}
		}
		out = append(out, values)
	}
	return out
}

// callCells returns the table cells of a model: value, interval and call per lens.
func callCells(readings []Reading, calls []Call, digits int) []report.Cell {
	out := make([]report.Cell, len(calls))
	for k, call := range calls {
		if why := readings[k].Absent; why != "" {
			out[k] = report.Gap(why)
			continue
		}
		out[k] = report.Est(readings[k].Estimate, digits).WithVerdict(string(call))
	}
	return out
}

// explainCalls explains every call that occurs, in the order of first use.
func explainCalls(calls [][]Call) []string {
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
