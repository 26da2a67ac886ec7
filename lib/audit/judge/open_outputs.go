// Loading a classifier's logits or probabilities as losses, scaled confidences and
// correctness per record.

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
)

// slack is how far the sum of float32 probabilities may be from 1.
const slack = 1e-3

// loadOutputs reads a classifier's outputs. It keeps the values per record that lenses need, not
// the matrix.
func (a *loader) loadOutputs(m *Model, files ModelFiles) {
	named := []Files{}
	for _, f := range []Files{files.Outputs, files.Logits, files.Probabilities} {
		if len(f) > 0 {
			named = append(named, f)
		}
	}
	if len(named) == 0 {
		return
	}
	name := strings.Join(named[0], " + ")
	if len(named) > 1 {
		a.problems.add(m.Name, "outputs, logits and probabilities are three names for one array; give one of them")
		return
	}
	s := a.newStack(named[0])
	if s == nil || s.cols < 2 {
		return
	}
	if s.cols != a.e.Classes {
		a.problems.add(name, "%d columns, and the outputs of most models have %d", s.cols, a.e.Classes)
		return
	}
	x, ok := a.readFinite(s, named[0])
	if !ok {
		return
	}
	if problem := otherLogarithms(x); problem != "" {
		a.problems.add(name, "%s", problem)
		return
	}
	kind, problem := kindOf(x, len(files.Logits) > 0, len(files.Probabilities) > 0)
	if problem != "" {
		a.problems.add(name, "%s", problem)
		return
	}
	if s.rows != a.e.Records {
		return
	}
	m.Outputs, m.Logits, m.OutputKeys = s, kind == logits, audit.RowHashes(x)
	if a.e.Labels != nil {
		if err := m.Summarise(x, a.e.Labels); err != nil {
			a.problems.add(name, "%v", err)
		}
	}
}

// otherLogarithms says that outputs are logarithms of probabilities, and of another base than e: powers of that base sum to
// 1 in every row, as those of no other logits do. Natural logarithms of probabilities are logits. Empty: they are not.
func otherLogarithms(x array.Rows) string {
	rows, cols := x.Shape()
	if rows < 2 || cols < 2 {
		return ""
	}
	sums := func(base float64, i int, buffer []float64) bool {
		sum := 0.0
		for _, v := range x.Read(buffer, i) {
			sum += math.Pow(base, v)
		}
		return math.Abs(sum-1) <= slack
	}
	buffer := make([]float64, cols)
	for _, b := range []struct {
		base  float64
		times string
	}{{2, "numpy.log(2)"}, {10, "numpy.log(10)"}} {
		i := 0
		for i < rows && sums(b.base, i, buffer) {
			i++
		}
		if i == rows {
			return fmt.Sprintf("logarithms of probabilities to the base %g: %[1]g to their power sums to one in every row. Natural logarithms are "+
				"expected: save x * %s, or the probabilities", b.base, b.times)
		}
	}
	return ""
}

type outputKind int

const (
	logits outputKind = iota
	probabilities
)

// kindOf tells logits from probabilities by the rows, or says why they are neither.
func kindOf(x array.Rows, logitsNamed, probabilitiesNamed bool) (outputKind, string) {
	rows, cols := x.Shape()
	buffer := make([]float64, cols)
	inside, ones, hard, equal := 0, 0, 0, 0 // rows in [0, 1], that sum to one, of zeros and a one, that sum to the first sum
	percents := 0                           // rows of whole percentages, whose sums are off by their rounding
	odd, off, firstSum := occurrences{}, occurrences{}, 0.0
	for i := range rows {
		row := x.Read(buffer, i)
		sum, in, whole, integers := 0.0, true, true, true
		for _, v := range row {
			integers = integers && v >= 0 && v == math.Trunc(v)
			in = in && v >= 0 && v <= 1+slack
			whole = whole && (v == 0 || v == 1)
			sum += v
		}
		if i == 0 {
			firstSum = sum
		}
		if math.Abs(sum-firstSum) <= slack*math.Abs(firstSum) && slices.Min(row) >= 0 {
			equal++
		}
		if integers && math.Abs(sum-100) <= float64(cols)/2 {
			percents++
		}
		one := math.Abs(sum-1) <= slack
		switch {
		case !in:
			odd.add(fmt.Sprintf("row %d holds %v", i, slices.MinFunc(row, func(a, b float64) int { return byDistance(a, b) })))
		case !one:
			off.add(fmt.Sprintf("row %d sums to %.4g", i, sum))
		}
		if in {
			inside++
		}
		if in && one {
			ones++
		}
		if whole && one {
			hard++
		}
	}
	if logitsNamed {
		if ones == rows && rows > 1 && cols > 1 {
			return 0, "every row lies in 0..1 and sums to one: these are probabilities, whose file is probabilities.npy"
		}
		return logits, ""
	}
	switch {
	case hard == rows:
		return 0, "every row is a single 1 among zeros: these are predicted classes, not outputs"
	case ones == rows:
		return probabilities, ""
	case ones > rows/2 && odd.n > 0 || probabilitiesNamed && odd.n > 0:
		return 0, fmt.Sprintf("%s, which is no probability%s", odd.first, odd.moreText())
	case ones > rows/2 || probabilitiesNamed:
		return 0, fmt.Sprintf("%s, and probabilities sum to one%s", off.first, off.moreText())
	case inside == rows:
		return 0, fmt.Sprintf("values lie in 0..1, and %s%s: neither probabilities, which sum to one, nor plausible logits; "+
			"save what goes into the sigmoid or softmax as logits.npy", off.first, off.moreText())
	case equal == rows && rows > 1:
		return 0, fmt.Sprintf("every row sums to %.4g: shares, which are divided by their sum, or logits, whose file is logits.npy", firstSum)
	case percents == rows && rows > 1:
		return 0, "every row is of whole percentages: divide them by their sum, or better save probabilities that are not rounded"
	}
	return logits, ""
}

// byDistance orders numbers by their distance from [0, 1], the farthest first.
func byDistance(a, b float64) int {
	d := func(v float64) float64 { return max(-v, v-1) }
	switch {
	case d(a) > d(b):
		return -1
	case d(a) < d(b):
		return 1
	}
	return 0
}
