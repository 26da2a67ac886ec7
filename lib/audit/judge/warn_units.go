// Notes on a model whose numbers are in another unit than the other models': logarithms of another base, or sums
// where the others have means.

package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// The limits of warnUnits are on logarithms of ratios. They are such that no worse or better model is noted whose numbers are
// of the same unit: its ratio to the others changes from records that all fit well to those that none fits.
const (
	minForUnits   = 40   // records
	minSpan       = 0.4  // between the records fitted best and worst; where all are alike, a multiple is not told from a constant
	maxSlope      = 0.1  // change of the ratio over that span, relative to it
	maxSpread     = 0.25 // standard deviation of the ratio
	maxPairSpread = 0.15 // where there is no third model that shows how much models differ
	maxMoreSpread = 1.25 // relative to how much the other models differ
	leastRatio    = 0.29 // no two bases lie nearer to each other
	baseError     = 0.07 // from the ratio of two bases
	nearBase      = 0.02 // from the ratio of two bases: here the ratio may vary by nearSpread, where the other models hardly differ
	nearSlope     = 0.06
	nearSpread    = 0.1
	lengthError   = 0.3 // from the number of tokens
	leastSum      = 3   // tokens: from here a multiple may be a sum
	leastBeside   = 5   // where it varies, and the model's other arrays have no such multiple
)

// unitArrays are the arrays in which units are compared: what they hold of a record, positive numbers.
var unitArrays = []struct {
	file func(m *Model) string
	of   func(m *Model) func(record int) []float64 // nil: the model has no such array
}{
	{lossFile, lossesOf},
	{fileNamed("logprob_prefixed.npy"), func(m *Model) func(int) []float64 { return tokenMeans(m.Prefixed) }},
	{fileNamed("answers.npy"), answersOf},
	{fileNamed("patched.npy"), patchedOf},
}

func fileNamed(name string) func(*Model) string {
	return func(m *Model) string { return m.Name + "/" + name }
}

func lossFile(m *Model) string {
	if m.Tokens != nil {
		return m.Name + "/logprob.npy"
	}
	return m.Name + "/losses.npy"
}

// lossesOf leaves out losses that Lethe computes itself, of outputs and labels.
func lossesOf(m *Model) func(int) []float64 {
	if m.Losses == nil || m.Outputs != nil {
		return nil
	}
	return func(i int) []float64 { return m.Losses[i : i+1] }
}

func tokenMeans(t *language.Tokens) func(int) []float64 {
	if t == nil {
		return nil
	}
	means, err := t.MeanLogProb()
	if err != nil {
		return nil
	}
	return func(i int) []float64 { return []float64{-means[i]} }
}

func answersOf(m *Model) func(int) []float64 {
	if m.Answers == nil {
		return nil
	}
	return func(i int) []float64 {
		out := []float64{-m.Answers.Right[i]}
		for _, v := range m.Answers.Wrong[i] {
			out = append(out, -v)
		}
		return out
	}
}

// patchedOf is the mean over the layers. An original without patched layers has none here.
func patchedOf(m *Model) func(int) []float64 {
	if _, filled := m.Patched.(unpatched); filled || m.Patched == nil {
		return nil
	}
	x, err := m.Patched.Read()
	if err != nil {
		return nil
	}
	buffer := make([]float64, m.Patched.Width())
	return func(i int) []float64 {
		sum := 0.0
		for _, v := range x.Read(buffer, i) {
			sum -= v / float64(len(buffer))
		}
		return []float64{sum}
	}
}

// warnUnits notes models whose numbers are a multiple of the other models', record by record, as logarithms of another
// base are and sums. It compares retained and held-out records, in which models need not differ.
func (e *Evidence) warnUnits() {
	rows := append(slices.Clone(e.Retain), e.HeldOut...)
	if len(rows) < minForUnits {
		return
	}
	var tables []*unitTable
	for _, a := range unitArrays {
		tables = append(tables, e.unitTable(a.of, rows))
	}
	setBeside(tables)
	for i, t := range tables {
		for {
			k, why := t.oddest()
			if why == "" {
				break
			}
			m := t.models[k]
			e.warnUnit(m, unitArrays[i].file(m), why)
			t.remove(k) // the others are compared among themselves
		}
	}
}

func (e *Evidence) warnUnit(m *Model, file, why string) {
	e.warn("%s: its numbers are %s", file, why)
	e.doubt(m, fmt.Sprintf("the numbers of %s may be in another unit", file))
}

// unitTable fills a table with an array of the models.
func (e *Evidence) unitTable(of func(*Model) func(int) []float64, rows []int) *unitTable {
	t := &unitTable{}
	for _, m := range e.Models {
		if values := of(m); m.Role != Shadow && values != nil {
			t.add(m, values, rows)
		}
	}
	t.tokens(e, of, rows)
	return t
}

// unitTable holds the logarithms of the numbers of models, in the same order for each.
type unitTable struct {
	models  []*Model
	logs    [][]float64
	beside  []float64 // by model: by how much the logarithms of its other arrays lie above the other models'; nil, or NaN: it has none
	lengths []float64 // logarithms of the numbers of tokens; nil: they are not known
}

func (t *unitTable) add(m *Model, of func(int) []float64, rows []int) {
	var logs []float64
	for _, i := range rows {
		for _, v := range of(i) {
			logs = append(logs, math.Log(v)) // NaN or infinite where there is none, and left out
		}
	}
	if len(t.logs) > 0 && len(logs) != len(t.logs[0]) {
		return
	}
	t.models, t.logs = append(t.models, m), append(t.logs, logs)
}

// tokens sets the lengths from the offsets of a model.
func (t *unitTable) tokens(e *Evidence, of func(*Model) func(int) []float64, rows []int) {
	k := slices.IndexFunc(e.Models, func(m *Model) bool { return m.Tokens != nil })
	if k < 0 || len(t.models) == 0 {
		return
	}
	offset, values := e.Models[k].Tokens.Offset, of(t.models[0])
	for _, i := range rows {
		for range values(i) {
			t.lengths = append(t.lengths, math.Log(float64(offset[i+1]-offset[i])))
		}
	}
}

// center is by how much the logarithms of a model lie above the others'; NaN: there are no others, or too few records.
func (t *unitTable) center(k int) float64 {
	x, n := t.others(k)
	if n == 0 {
		return math.NaN()
	}
	r := ratioOf(t.logs[k], x)
	if r.n < minForUnits {
		return math.NaN()
	}
	return r.center
}

// setBeside tells every table of the others.
func setBeside(tables []*unitTable) {
	centers := make([]map[*Model]float64, len(tables))
	for i, t := range tables {
		centers[i] = map[*Model]float64{}
		for k, m := range t.models {
			centers[i][m] = t.center(k)
		}
	}
	for i, t := range tables {
		for _, m := range t.models {
			var beside []float64
			for j := range tables {
				if c, has := centers[j][m]; has && j != i && !math.IsNaN(c) {
					beside = append(beside, c)
				}
			}
			if t.beside = append(t.beside, math.NaN()); len(beside) > 0 {
				t.beside[len(t.beside)-1] = median(beside)
			}
		}
	}
}

// oddest returns, of the models in another unit, that which is farthest from the others, the first of those that are as far;
// no reason: there is none.
func (t *unitTable) oddest() (model int, why string) {
	far := 0.0
	for k := range t.models {
		if says := t.unitOf(k); says != "" && math.Abs(t.center(k)) > far+nearBase {
			model, why, far = k, says, math.Abs(t.center(k))
		}
	}
	return model, why
}

func (t *unitTable) remove(k int) {
	t.models, t.logs = slices.Delete(t.models, k, k+1), slices.Delete(t.logs, k, k+1)
	if t.beside != nil {
		t.beside = slices.Delete(t.beside, k, k+1)
	}
}

// compared are the roles of models that others are compared with.
var compared = []audit.Role{Unlearned, Original, Retrained}

// others returns the median of the models that others are compared with but some, and how many these are.
func (t *unitTable) others(but ...int) (logs []float64, n int) {
	var from [][]float64
	for k, m := range t.models {
		if slices.Contains(compared, m.Role) && !slices.Contains(but, k) {
			from = append(from, t.logs[k])
		}
	}
	if len(from) == 0 {
		return nil, 0
	}
	at := make([]float64, len(from))
	for i := range from[0] {
		for k := range from {
			at[k] = from[k][i]
		}
		middle, err := stats.Median(at)
		if err != nil {
			middle = math.NaN()
		}
		logs = append(logs, middle)
	}
	return logs, len(from)
}

// unitOf says in which unit a model's numbers seem to be; empty: in that of the others.
func (t *unitTable) unitOf(k int) string {
	x, n := t.others(k)
	if n == 0 {
		return ""
	}
	r := ratioOf(t.logs[k], x)
	if math.Abs(r.center) < leastRatio {
		return ""
	}
	limit, doubt := t.spreadLimit(k, n), 1.0
	if n == 1 {
		doubt = 0.5 // of two models either may be the better one
	}
	if basesOf(r.center, nearBase) != "" && math.Abs(r.slope) <= nearSlope {
		limit = max(limit, nearSpread)
	}
	if r.constant(limit, doubt*maxSlope) {
		if bases := basesOf(r.center, doubt*baseError); bases != "" {
			return fmt.Sprintf("%.3g times the other models' in nearly every retained and held-out record, as %s: do all models have one base?",
				math.Exp(r.center), bases)
		}
		if math.Abs(r.center) >= math.Log(leastSum) {
			return fmt.Sprintf("%.3g times the other models' in nearly every retained and held-out record: are they sums over tokens beside means, "+
				"of another unit, or of a model with another tokenizer?", math.Exp(r.center))
		}
	}
	one, other := "sums", "means"
	if r.center < 0 {
		one, other = other, one
	}
	if t.followLengths(k, x, r, 1) || t.followLengths(k, x, r, -1) {
		return fmt.Sprintf("%.3g times the other models' in the middle, and the multiple follows the numbers of tokens: are they %s beside %s?",
			math.Exp(r.center), one, other)
	}
	if t.beside != nil && r.n >= minForUnits && min(math.Abs(r.center), math.Abs(r.center-t.beside[k])) >= math.Log(leastBeside) {
		return fmt.Sprintf("%.3g times the other models' in the middle, and those of the model's other arrays %.3g times: are they %s over tokens beside %s?",
			math.Exp(r.center), math.Exp(t.beside[k]), one, other)
	}
	return ""
}

// logBases are the bases of logarithms, with their own natural logarithms.
var logBases = []struct {
	name string
	ln   float64
}{{"natural logarithms", 1}, {"logarithms of base 2", math.Ln2}, {"logarithms of base 10", math.Ln10}}

// basesOf names the two bases whose logarithms have a ratio, of which the logarithm is given; empty: there are none.
func basesOf(center, tolerance float64) string {
	for _, own := range logBases {
		for _, theirs := range logBases {
			if own != theirs && math.Abs(center-math.Log(theirs.ln/own.ln)) <= tolerance {
				return own.name + " are beside " + theirs.name
			}
		}
	}
	return ""
}

// spreadLimit is how much the ratio of a model to the n others may vary from record to record: hardly more than theirs
// among themselves. The two that differ most count: two retrained models may be near to each other, and an original far from both.
func (t *unitTable) spreadLimit(k, n int) float64 {
	var spreads []float64
	for j, m := range t.models {
		if x, _ := t.others(k, j); j != k && n > 1 && x != nil && slices.Contains(compared, m.Role) {
			spreads = append(spreads, ratioOf(t.logs[j], x).spread)
		}
	}
	if len(spreads) == 0 {
		return maxPairSpread
	}
	return min(maxSpread, maxMoreSpread*slices.Max(spreads))
}

// followLengths reports whether the ratio of a model to others is the number of tokens, as of sums beside means (sign 1),
// or its inverse (-1).
func (t *unitTable) followLengths(k int, x []float64, r ratio, sign float64) bool {
	if t.lengths == nil || sign*r.center < math.Log(leastSum) {
		return false
	}
	means := make([]float64, len(x))
	for i, v := range t.logs[k] {
		means[i] = v - sign*t.lengths[i]
	}
	rest := ratioOf(means, x)
	return rest.constant(min(maxSpread, r.spread/2), maxSlope) && math.Abs(rest.center) <= lengthError
}

// ratio describes the logarithms of the ratios of numbers of two models.
type ratio struct {
	n      int
	center float64 // the median
	spread float64 // from the quartiles, that of a normal distribution
	span   float64 // how far the quarter of the numbers that is greatest in both lies above the least quarter
	slope  float64 // how far its ratios lie above those of that quarter, relative to span
}

// ratioOf compares numbers whose logarithms are given. Those that are not finite are left out.
func ratioOf(y, x []float64) ratio {
	type pair struct{ ratio, size float64 }
	var pairs []pair
	for i, v := range y {
		if d := v - x[i]; !math.IsNaN(d) && !math.IsInf(d, 0) && !math.IsInf(v+x[i], 0) {
			pairs = append(pairs, pair{d, (v + x[i]) / 2})
		}
	}
	if len(pairs) < minForUnits {
		return ratio{n: len(pairs)}
	}
	// By the size in both: by that in one of them, the noise of that one would look like a slope.
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.size, b.size) })
	ratios, sizes := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		ratios[i], sizes[i] = p.ratio, p.size
	}
	q := len(pairs) / 4
	r := ratio{n: len(pairs), center: median(ratios), span: median(sizes[len(pairs)-q:]) - median(sizes[:q])}
	r.slope = (median(ratios[len(pairs)-q:]) - median(ratios[:q])) / r.span
	slices.Sort(ratios)
	r.spread = (ratios[len(pairs)-q-1] - ratios[q]) / 1.349
	return r
}

// constant reports whether one multiple holds for records that are fitted well and badly.
func (r ratio) constant(spread, slope float64) bool {
	return r.n >= minForUnits && r.span >= minSpan && math.Abs(r.slope) <= slope && r.spread <= spread
}
