// Loading the arrays of language models: numbers of tokens, end to end for all records, answers to
// questions, and patched layers.

package judge

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// offsetArray is the name of the array that says where the tokens of every record begin.
const offsetArray = "offset"

// tokenArrays are the names of a model's arrays with a number per token.
var tokenArrays = []string{"logprob", "logprob_mean", "logprob_deviation", "correct", "logprob_prefixed"}

// maxFaults bounds how many faults of a file are listed one by one.
const maxFaults = 5

// loadOffsets reads where the tokens of every record begin; nil: there are none, or they are refused.
func (a *loader) loadOffsets() {
	if len(a.Offset) == 0 {
		for _, name := range a.tokenFiles() {
			a.problems.add(name, "numbers of tokens need offset.npy beside the models' folders: "+
				"n+1 positions at which the tokens of each record begin, and their end")
		}
		return
	}
	a.offsets = a.readOffsets(a.Offset)
	a.compareOffsets()
}

// compareOffsets refuses offsets that end elsewhere than all arrays of tokens, two at least, do: then it is the offsets
// that are wrong, and one line says so.
func (a *loader) compareOffsets() {
	names := a.tokenFiles()
	if a.offsets == nil || len(names) < 2 {
		return
	}
	end, tokens := a.offsets[len(a.offsets)-1], -1
	for _, name := range names {
		info, err := npy.ReadInfo(a.path(name)) // what is wrong with it is reported where it is loaded
		n := countElements(info)
		if err != nil || n == end || tokens >= 0 && n != tokens {
			return
		}
		tokens = n
	}
	a.problems.add(strings.Join(a.Offset, " + "), "it ends at %d, and all %d arrays of tokens hold %d, %s among them", end, len(names), tokens, names[0])
	a.offsets = nil
}

// readOffsets reads where the tokens of every record begin, and the end; nil: it is refused.
func (a *loader) readOffsets(f Files) []int {
	name := strings.Join(f, " + ")
	if len(f) > 1 {
		a.problems.add(name, "offsets must be in one file")
		return nil
	}
	info, ok := a.infos[name]
	if !ok || !isVector(info) || info.Shape[0] == 0 {
		return nil // loadHeaders has reported it
	}
	offsets, ok := a.readNaturals(name, info, 0, "an offset is a number of tokens")
	if !ok {
		return nil
	}
	odd := occurrences{}
	for i, at := range offsets {
		switch {
		case i == 0 && at != 0:
			odd.add(fmt.Sprintf("element 0 is %d, and offsets begin at 0", at))
		case i > 0 && at < offsets[i-1]:
			odd.add(fmt.Sprintf("element %d is %d, below the %d before it", i, at, offsets[i-1]))
		case i > 0 && at == offsets[i-1]:
			odd.add(fmt.Sprintf("record %d has no token; leave such records out", i-1))
		}
	}
	if odd.n > 0 {
		a.problems.add(name, "%s%s", odd.first, odd.moreText())
		return nil
	}
	return offsets
}

// readNaturals reads whole numbers, of which none may be below least for the reason why.
func (a *loader) readNaturals(name string, info npy.Info, least float64, why string) ([]int, bool) {
	if info.Kind() == 'i' || info.Kind() == 'u' {
		values, err := npy.ReadVector(a.path(name))
		if err != nil {
			a.problems.add(name, "%s", a.textWithoutPath(name, err))
			return nil, false
		}
		var faults []string
		for i, v := range values {
			if v < least {
				faults = append(faults, fmt.Sprintf("element %d is %.0f, and %s", i, v, why))
			}
		}
		if a.addFaults(name, faults); len(faults) > 0 {
			return nil, false
		}
	}
	out, err := npy.ReadIndices(a.path(name))
	if err != nil {
		a.problems.add(name, "%s", a.textWithoutPath(name, err))
	}
	return out, err == nil
}

// tokenFiles returns all files with a number per token.
func (c *Config) tokenFiles() (out []string) {
	for _, group := range c.models() {
		for _, m := range *group.of {
			for _, word := range tokenArrays {
				out = append(out, *m.files()[word]...)
			}
		}
	}
	return out
}

// loadCompressed reads the compressed lengths of the records' texts.
func (a *loader) loadCompressed() {
	var all []int
	for _, name := range a.Zlib {
		info, ok := a.infos[name]
		if !ok || !isVector(info) {
			return
		}
		lengths, ok := a.readNaturals(name, info, 1, "a compressed text has at least a byte")
		if !ok {
			return
		}
		all = append(all, lengths...)
	}
	if len(all) == a.e.Records {
		a.e.Compressed = all
	}
}

// loadTokens reads a model's numbers of tokens. Losses come from them where there are no others. Where the
// offsets are refused, the numbers are checked all the same.
func (a *loader) loadTokens(m *Model, files ModelFiles) {
	if !a.checkTokenArrays(files) {
		return
	}
	read := func(f Files) []float64 { return a.readTokens(f) }
	t := &language.Tokens{Offset: a.offsets, LogProb: read(files.LogProb), Mean: read(files.Mean), Deviation: read(files.Deviation)}
	if len(files.Correct) > 0 {
		t.Correct = a.readMarks(files.Correct)
	}
	whole := t.LogProb != nil && (t.Mean != nil) == (len(files.Mean) > 0) && (t.Deviation != nil) == (len(files.Deviation) > 0) &&
		(t.Correct != nil) == (len(files.Correct) > 0)
	if t.Mean == nil || t.Deviation == nil {
		t.Mean, t.Deviation = nil, nil
	}
	whole = t.LogProb != nil && a.checkTokens(t, files) && whole
	p := &language.Tokens{Offset: a.offsets, LogProb: read(files.Prefixed)}
	prefixed := p.LogProb != nil && a.checkTokens(p, ModelFiles{LogProb: files.Prefixed})
	if !whole || a.offsets == nil {
		return
	}
	if m.Tokens = t; prefixed {
		m.Prefixed = p
	}
	if len(a.offsets)-1 != a.e.Records {
		return
	}
	means, err := t.MeanLogProb()
	switch {
	case err != nil:
		a.problems.add(m.Name, "%v", err)
	case m.Losses != nil:
		a.compareLosses(m, means, files)
	default:
		m.Losses, m.Scaled = make([]float64, a.e.Records), make([]float64, a.e.Records)
		for i, v := range means {
			m.Losses[i], m.Scaled[i] = -v, v
		}
	}
}

// compareLosses refuses losses that are not the mean over the tokens: which of the two is meant, nothing says.
func (a *loader) compareLosses(m *Model, means []float64, files ModelFiles) {
	if len(files.Losses) == 0 { // they come from outputs and labels
		return
	}
	differ := occurrences{}
	for i, v := range means {
		if math.Abs(m.Losses[i]+v) > 1e-3*math.Max(1, math.Abs(v)) {
			differ.add(fmt.Sprintf("row %d is %.4g, and the mean of its log-probabilities %.4g", i, m.Losses[i], v))
		}
	}
	a.refuseLosses(files.Losses, differ, "a loss is minus that mean")
}

// refuseLosses reports losses that differ from those by another file of the model.
func (a *loader) refuseLosses(files Files, differ occurrences, rule string) {
	if differ.n > 0 {
		a.problems.add(files[0], "%s%s: %s; leave one of the two files out", differ.first, differ.moreText(), rule)
	}
}

// checkTokenArrays reports which of the arrays that belong together are missing; false: there is
// nothing to read.
func (a *loader) checkTokenArrays(files ModelFiles) bool {
	first := func(f ...Files) string {
		for _, one := range f {
			if len(one) > 0 {
				return one[0]
			}
		}
		return ""
	}
	others := first(files.Mean, files.Deviation, files.Correct, files.Prefixed)
	switch {
	case len(files.LogProb) == 0 && others != "":
		a.problems.add(others, "the model needs logprob.npy too, the log-probability of every token")
		return false
	case (len(files.Mean) > 0) != (len(files.Deviation) > 0):
		a.problems.add(first(files.Mean, files.Deviation), "logprob_mean.npy and logprob_deviation.npy belong together")
		return false
	}
	return len(files.LogProb) > 0
}

// readTokens reads an array with a number per token; nil: it is missing or refused.
func (a *loader) readTokens(f Files) []float64 {
	if len(f) == 0 {
		return nil
	}
	if !a.checkTokenHeader(f, 'f') {
		return nil
	}
	v, err := npy.ReadVector(a.path(f[0]))
	if err != nil {
		a.problems.add(f[0], "%s", a.textWithoutPath(f[0], err))
		return nil
	}
	return v
}

// readMarks reads which tokens are the most probable ones.
func (a *loader) readMarks(f Files) []bool {
	if !a.checkTokenHeader(f, 'b') {
		return nil
	}
	marks, err := npy.ReadMask(a.path(f[0]))
	if err != nil {
		a.problems.add(f[0], "%s", a.textWithoutPath(f[0], err))
		return nil
	}
	return slices.Concat(marks...)
}

func countElements(info npy.Info) int {
	n := 1
	for _, d := range info.Shape {
		n *= d
	}
	return n
}

// checkTokenHeader refuses an array that is not one number of the kind per token.
func (a *loader) checkTokenHeader(f Files, kind byte) bool {
	if len(f) > 1 {
		a.problems.add(strings.Join(f, " + "), "the numbers of tokens must be in one file")
		return false
	}
	info, ok := a.header(f[0])
	if !ok {
		return false
	}
	n, tokens := countElements(info), -1 // unknown
	if a.offsets != nil {
		tokens = a.offsets[len(a.offsets)-1]
	}
	switch {
	case !isVector(info) && (len(info.Shape) != 2 || info.Shape[0] != 1):
		a.problems.add(f[0], "shape %s, expected one number per token, all records end to end", info)
	case info.Kind() != kind && kind == 'b':
		a.problems.add(f[0], "%s, and bools are expected: whether the most probable token is the true one; save x.astype(bool)", info)
	case info.Kind() != kind:
		a.problems.add(f[0], "%s, and numbers with a fraction are expected", info)
	case tokens >= 0 && n != tokens:
		a.problems.add(f[0], "%d tokens, and %s ends at %d", n, strings.Join(a.Offset, " + "), tokens)
	default:
		return true
	}
	return false
}

// checkTokens reports what is wrong with the numbers, by file, record and token, and logarithms of
// another base.
func (a *loader) checkTokens(t *language.Tokens, files ModelFiles) bool {
	name := map[language.TokenArray]Files{
		language.OffsetArray: a.Offset, language.LogProbArray: files.LogProb, language.MeanArray: files.Mean,
		language.DeviationArray: files.Deviation, language.CorrectArray: files.Correct,
	}
	faults := map[string][]string{}
	for _, f := range t.Faults() {
		if a.offsets == nil && f.Array == language.OffsetArray {
			continue // loadOffsets has reported it
		}
		file := name[f.Array][0]
		faults[file] = append(faults[file], strings.Replace(f.What, "document ", "record ", 1))
	}
	for array, x := range map[language.TokenArray][]float64{
		language.LogProbArray: t.LogProb, language.MeanArray: t.Mean, language.DeviationArray: t.Deviation,
	} {
		if large := a.largeTokens(x); len(large) > 0 {
			faults[name[array][0]] = append(faults[name[array][0]], large...)
		}
	}
	for _, file := range sortedKeys(faults) {
		a.addFaults(file, faults[file])
	}
	if len(faults) > 0 || a.offsets == nil {
		return false
	}
	base, err := t.Base()
	why := strings.Replace(base.Why, "document ", "record ", 1)
	switch {
	case err != nil:
		a.problems.add(files.LogProb[0], "%v", err)
	case base.Certain && base.Suspected == 0:
		a.problems.add(files.LogProb[0], "%s; are all of the model's files of one run?", why)
	case base.Certain:
		a.problems.add(files.LogProb[0], "no natural logarithms: %s", why)
	case base.Suspected > 0:
		a.e.warn("%s may hold logarithms of base %d, and natural ones are expected: %s.", files.LogProb[0], base.Suspected, why)
		return true
	default:
		return true
	}
	return false
}

// largeTokens names the finite numbers of tokens that are not inRange, by record where the offsets are known.
func (a *loader) largeTokens(x []float64) (out []string) {
	for i, v := range x {
		if inRange(v) || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		place := fmt.Sprintf("token %d", i)
		if len(a.offsets) > 0 {
			record := sort.SearchInts(a.offsets, i+1) - 1
			place = fmt.Sprintf("record %d, token %d", record, i-a.offsets[record])
		}
		out = append(out, place+" is "+describeBad(v))
	}
	return out
}

// answerFaults says what is wrong with answers.
func answerFaults(x *language.Answers) (out []string) {
	if err := x.Check(); err != nil {
		out = strings.Split(err.Error(), "\n")
	}
	for q, right := range x.Right {
		for k, v := range append([]float64{right}, x.Wrong[q]...) {
			if inRange(v) || math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			which := "the right answer"
			if k > 0 {
				which = fmt.Sprintf("wrong answer %d", k-1)
			}
			out = append(out, fmt.Sprintf("question %d: the log-probability of %s is %s", q, which, describeBad(v)))
		}
	}
	return out
}

// addFaults lists the first faults of a file one by one, and the number of the others.
func (a *loader) addFaults(file string, faults []string) {
	for k, what := range faults[:min(len(faults), maxFaults)] {
		if k == maxFaults-1 && len(faults) > maxFaults {
			what += fmt.Sprintf(" (and %d more)", len(faults)-maxFaults)
		}
		a.problems.add(file, "%s", what)
	}
}

// loadAnswers reads the mean log-probabilities of a right answer in other words, in the first column,
// and of wrong answers. Trailing NaN stand for wrong answers that a question does not have.
func (a *loader) loadAnswers(m *Model, files Files) {
	s := a.newStack(files)
	if s == nil {
		return
	}
	name := strings.Join(files, " + ")
	if s.cols < 2 {
		a.problems.add(name, "one column; the right answer in other words is expected, and wrong answers after it")
		return
	}
	x, err := s.Read()
	if err != nil {
		a.problems.add(name, "%s", a.textWithoutPath(files[0], err))
		return
	}
	out, buffer := &language.Answers{}, make([]float64, s.cols)
	for i := range s.rows {
		row := slices.Clone(x.Read(buffer, i))
		for len(row) > 1 && row[len(row)-1] != row[len(row)-1] {
			row = row[:len(row)-1]
		}
		out.Right, out.Wrong = append(out.Right, row[0]), append(out.Wrong, row[1:])
	}
	if faults := answerFaults(out); len(faults) > 0 {
		a.addFaults(name, faults)
		return
	}
	if s.rows == a.e.Records {
		m.Answers = out
	}
}

// sameAnswers refuses models that were asked other answers than the first: a question has as many wrong
// answers for each.
func (a *loader) sameAnswers() {
	var first *Model
	for _, m := range a.e.Models {
		switch {
		case m.Answers == nil:
			continue
		case first == nil:
			first = m
			continue
		}
		for i, wrong := range m.Answers.Wrong {
			if n := len(first.Answers.Wrong[i]); n != len(wrong) {
				a.problems.add(m.Name+"/answers.npy", "record %d has %d wrong answers, in %s/answers.npy %d: "+
					"truth ratios of different answers cannot be compared", i, len(wrong), first.Name, n)
				break
			}
		}
	}
}

// fillPatched gives an original model without patched layers its own: its own states change nothing.
func (a *loader) fillPatched() {
	layers := 0
	for _, m := range a.e.Models {
		if m.Patched != nil {
			layers = m.Patched.Width()
		}
	}
	for _, m := range a.e.ModelsOf(Original) {
		if m.Patched == nil && m.Losses != nil && layers > 0 {
			m.Patched = unpatched{m.Losses, layers}
		}
	}
}

// unpatched are the mean log-probabilities of a model whose layers get its own states.
type unpatched struct {
	losses []float64
	layers int
}

var _ audit.Matrix = unpatched{}

// Width implements audit.Matrix.
func (u unpatched) Width() int { return u.layers }

// Read implements audit.Matrix.
func (u unpatched) Read() (array.Rows, error) {
	out := array.New[float64](len(u.losses), u.layers)
	for i, v := range u.losses {
		for l := range u.layers {
			out.Row(i)[l] = -v
		}
	}
	return &out, nil
}

// loadPatched reads the mean log-probabilities of the original model with layers of this one.
func (a *loader) loadPatched(m *Model, first map[string]Files, files Files) {
	s := a.loadMatrix(files)
	a.checkWidth(first, "patched", s, files)
	if s == nil {
		return
	}
	x, err := s.Read()
	if err != nil {
		a.problems.add(strings.Join(files, " + "), "%s", a.textWithoutPath(files[0], err))
		return
	}
	odd, buffer := occurrences{}, make([]float64, s.cols)
	for i := range s.rows {
		for l, v := range x.Read(buffer, i) {
			if v > 0 {
				odd.add(fmt.Sprintf("row %d, layer %d is %v, and no logarithm of a probability is above 0", i, l, v))
			}
		}
	}
	if odd.n > 0 {
		a.problems.add(strings.Join(files, " + "), "%s%s", odd.first, odd.moreText())
		return
	}
	if m.Role != Original || m.Losses == nil || a.checkOwnStates(m, x, s, files) {
		m.Patched = s
	}
}

// ownStatesError is how far the mean log-probability of 16-bit numbers may move from one run to another, absolute up to
// 1 and relative above.
const ownStatesError = 0.01

// checkOwnStates refuses patched layers of an original model that change its log-probability: its own states in the
// place of its own states change nothing.
func (a *loader) checkOwnStates(m *Model, x array.Rows, s *stack, files Files) bool {
	odd, buffer := occurrences{}, make([]float64, s.cols)
	for i := range s.rows {
		want := -m.Losses[i]
		for l, v := range x.Read(buffer, i) {
			if math.Abs(v-want) > ownStatesError*math.Max(1, math.Abs(want)) {
				odd.add(fmt.Sprintf("record %d, layer %d is %.4g, and the model's own mean log-probability is %.4g", i, l, v, want))
			}
		}
	}
	if odd.n > 0 {
		a.problems.add(strings.Join(files, " + "), "%s%s: an original model's own states change nothing; leave the file out, or is it another model's?",
			odd.first, odd.moreText())
	}
	return odd.n == 0
}
