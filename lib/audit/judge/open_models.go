// Loading labels and the models of a folder: losses, embeddings, activations and
// shadow training sets.

package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// readLabels reads labels of any numeric type; bools are the classes 0 and 1.
func readLabels(path string, info npy.Info) ([]float64, error) {
	if info.Kind() != 'b' {
		return npy.ReadVector(path)
	}
	classes, err := npy.ReadClasses(path)
	out := make([]float64, len(classes))
	for i, c := range classes {
		out[i] = float64(c)
	}
	return out, err
}

// loadLabels reads the classes and checks them against the outputs.
func (a *loader) loadLabels() {
	a.e.Classes = a.countClasses()
	if len(a.Labels) == 0 {
		return
	}
	name, fine := strings.Join(a.Labels, " + "), true
	var y []int
	for _, file := range a.Labels {
		info, ok := a.infos[file]
		if !ok || !isVector(info) {
			return // loadHeaders has reported it
		}
		v, err := readLabels(a.path(file), info)
		if err != nil {
			a.problems.add(file, "%s", a.textWithoutPath(file, err))
			return
		}
		odd := occurrences{}
		for i, x := range v {
			if x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
				odd.add(fmt.Sprintf("element %d is %v", i, x))
				x = 0
			}
			y = append(y, int(x))
		}
		if odd.n > 0 {
			a.problems.add(file, "%s%s, and labels are whole numbers of at most %d", odd.first, odd.moreText(), math.MaxInt32)
			fine = false
		}
	}
	if a.checkLabels(name, y) && fine && len(y) == a.e.Records {
		a.e.Labels = y
	}
}

// checkLabels reports labels that are out of range.
func (a *loader) checkLabels(name string, y []int) bool {
	if len(y) == 0 {
		return false
	}
	classes := a.e.Classes
	if classes > 0 && slices.Min(y) == 1 && slices.Max(y) == classes {
		a.problems.add(name, "labels run from 1 to %d; they count from 0", classes)
		return false
	}
	negative, large := occurrences{}, occurrences{}
	for i, c := range y {
		switch {
		case c < 0:
			negative.add(fmt.Sprintf("element %d is %d", i, c))
		case classes > 0 && c >= classes:
			large.add(fmt.Sprintf("element %d is %d", i, c))
		}
	}
	if negative.n > 0 {
		a.problems.add(name, "%s%s, and labels count from 0", negative.first, negative.moreText())
	}
	if large.n > 0 {
		a.problems.add(name, "%s%s, and the outputs have %d columns: labels run from 0 to %d", large.first, large.moreText(), classes, classes-1)
	}
	return negative.n+large.n == 0
}

// isVector reports whether an array has one number per record.
func isVector(info npy.Info) bool {
	return len(info.Shape) == 1 || len(info.Shape) == 2 && info.Shape[1] == 1
}

// countClasses returns the number of columns that most outputs have.
func (a *loader) countClasses() int {
	votes, best := map[int]int{}, 0
	for _, c := range a.recordArrays() {
		if info, ok := a.infos[c.files[0]]; ok && isOutput(c.what) && len(info.Shape) == 2 {
			votes[info.Shape[1]]++
		}
	}
	for _, n := range slices.Sorted(maps.Keys(votes)) {
		if votes[n] > votes[best] {
			best = n
		}
	}
	return best
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (a *loader) loadModels() {
	seen, first := map[string]bool{}, map[string]Files{}
	for _, group := range a.Config.models() {
		for _, files := range *group.of {
			if seen[files.Name] {
				a.problems.add("audit.json", "two models are called %q", files.Name)
			}
			seen[files.Name] = true
			a.e.Models = append(a.e.Models, a.loadModel(group.role, files, first))
		}
	}
}

// loadLayer reads the activations of a layer; nil: there are none, or they are refused.
func (a *loader) loadLayer(role Role, first map[string]Files, layer string, files Files) *stack {
	s := a.loadMatrix(files)
	if role != Shadow {
		a.checkWidth(first, layer, s, files)
	}
	return s
}

// checkWidth refuses a layer with another width than in the model before: it belongs to another
// network, or is another layer.
func (a *loader) checkWidth(first map[string]Files, layer string, s *stack, files Files) {
	if s == nil {
		return
	}
	if before := first[layer]; before == nil {
		first[layer] = files
	} else if other := a.infos[before[0]].Shape[1]; s.cols != other {
		a.problems.add(strings.Join(files, " + "), "%d columns, and %s has %d: compare the same layer of the same network", s.cols, before[0], other)
	}
}

// loadModel reads a model; first holds the files of every layer that models before it have.
func (a *loader) loadModel(role Role, files ModelFiles, first map[string]Files) *Model {
	m := &Model{Name: files.Name, Role: role, Layers: map[string]audit.Matrix{}}
	a.loadOutputs(m, files)
	if len(files.Losses) > 0 {
		a.loadLosses(m, files.Losses)
	}
	a.loadTokens(m, files)
	if len(files.Answers) > 0 {
		a.loadAnswers(m, files.Answers)
	}
	if len(files.Patched) > 0 {
		a.loadPatched(m, first, files.Patched)
	}
	if s := a.loadLayer(role, first, "", files.Embedding); s != nil {
		m.Embedding = s
	}
	for _, name := range sortedKeys(files.Activations) {
		if s := a.loadLayer(role, first, name, files.Activations[name]); s != nil {
			m.Layers[name] = s
		}
	}
	a.loadMembership(m, files.In)
	return m
}

// loadMembership reads what a shadow model was trained on.
func (a *loader) loadMembership(m *Model, files Files) {
	name := strings.Join(files, " + ")
	switch {
	case m.Role != Shadow && len(files) > 0:
		a.problems.add(name, "only shadow models may say what they were trained on")
	case m.Role == Shadow && len(files) != 1:
		a.problems.add(m.Name, "a shadow model needs in.npy, row numbers or a mask of what it was trained on")
	case m.Role == Shadow:
		rows, ok := a.loadRows(name)
		if !ok {
			return
		}
		m.In = make([]bool, a.e.Records)
		for _, i := range rows {
			m.In[i] = true
		}
		if !slices.Contains(m.In, false) {
			a.problems.add(name, "a shadow model must not be trained on every record")
		}
	}
}

// largestCompared is the cross-entropy up to which losses are compared with it: programs bound
// greater ones, each at a value of its own.
const largestCompared = 10

// loadLosses reads the losses of a file. Where outputs and labels say other losses it refuses them: which of
// the two is meant, nothing says.
func (a *loader) loadLosses(m *Model, files Files) {
	var losses []float64
	fine := true
	for _, file := range files {
		if info, ok := a.infos[file]; !ok || !isVector(info) || info.Kind() == 'b' {
			return // loadHeaders has reported it
		}
		v, err := npy.ReadVector(a.path(file))
		if err != nil {
			a.problems.add(file, "%s", a.textWithoutPath(file, err))
			return
		}
		odd := occurrences{}
		for i, x := range v {
			if !inRange(x) {
				odd.add(fmt.Sprintf("element %d is %s", i, describeBad(x)))
			}
		}
		if odd.n > 0 {
			a.problems.add(file, "%s%s", odd.first, odd.moreText())
			fine = false
		}
		losses = append(losses, v...)
	}
	if len(losses) != a.e.Records || !fine {
		return
	}
	if slices.Max(losses) <= 0 && slices.Min(losses) < 0 {
		const likely = "no loss is above 0, as of log-likelihoods; losses are their negatives, small where a record is fitted well"
		if a.e.Labels != nil {
			a.problems.add(strings.Join(files, " + "), likely)
			return
		}
		a.e.warn("%s: %s.", strings.Join(files, " + "), likely)
	}
	differ := occurrences{}
	for i, v := range m.Losses { // of outputs and labels
		if v < largestCompared && math.Abs(losses[i]-v) > 0.01*math.Max(1, v) {
			differ.add(fmt.Sprintf("row %d is %.4g, and the cross-entropy of its outputs %.4g", i, losses[i], v))
		}
	}
	a.refuseLosses(files, differ, "a loss is that cross-entropy")
	m.Losses = losses
	if m.Scaled == nil {
		m.Scaled = make([]float64, len(losses))
		for i, v := range losses {
			m.Scaled[i] = -v
		}
	}
}

// newStack returns a matrix of files whose headers fit; nil if one does not.
func (a *loader) newStack(files Files) *stack {
	s := &stack{}
	for _, name := range files {
		info, ok := a.infos[name]
		if !ok || len(info.Shape) != 2 || info.Kind() == 'b' {
			return nil
		}
		if s.cols = cmp.Or(s.cols, info.Shape[1]); s.cols != info.Shape[1] {
			a.problems.add(name, "%d columns, and %s has %d", info.Shape[1], files[0], s.cols)
			return nil
		}
		s.paths, s.rows = append(s.paths, a.path(name)), s.rows+info.Shape[0]
	}
	if s.rows == 0 || s.cols == 0 {
		return nil
	}
	return s
}

// loadMatrix checks an array that is read again when it is needed.
func (a *loader) loadMatrix(files Files) *stack {
	s := a.newStack(files)
	if s == nil {
		return nil
	}
	if _, ok := a.readFinite(s, files); !ok || s.rows != a.e.Records {
		return nil
	}
	return s
}

// maxMagnitude bounds every number of an audit. The square of a larger number overflows before many
// are added.
const maxMagnitude = 1e100

// inRange reports whether a number is finite and at most maxMagnitude.
func inRange(v float64) bool { return math.Abs(v) <= maxMagnitude }

// describeBad says what is wrong with a number that is not inRange.
func describeBad(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.6g, too large: more than %g", v, maxMagnitude)
}

// readFinite reads a matrix and reports the first element that is not finite or is too large.
func (a *loader) readFinite(s *stack, files Files) (array.Rows, bool) {
	x, err := s.Read()
	if err != nil {
		a.problems.add(strings.Join(files, " + "), "%s", a.textWithoutPath(files[0], err))
		return nil, false
	}
	buffer, odd, in := make([]float64, s.cols), occurrences{}, ""
	for i := range s.rows {
		for j, v := range x.Read(buffer, i) {
			if !inRange(v) {
				file, row := a.fileOfRow(files, i)
				odd.add(fmt.Sprintf("row %d, column %d is %s", row, j, describeBad(v)))
				in = cmp.Or(in, file)
			}
		}
	}
	if odd.n > 0 {
		a.problems.add(in, "%s%s", odd.first, odd.moreText())
	}
	return x, odd.n == 0
}

// fileOfRow returns which of several files holds a row, and the row's number in it.
func (a *loader) fileOfRow(files Files, row int) (string, int) {
	for _, name := range files {
		if n := a.infos[name].Shape[0]; row >= n {
			row -= n
			continue
		}
		return name, row
	}
	return strings.Join(files, " + "), row
}
