// Notes on arrays that are not what their name says: embeddings of other rows, and outputs that are none.

package judge

import (
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
)

// warnColumns notes outputs with many more columns than labels have classes: they may be another layer. With many records
// of every class none is missing by chance.
func (e *Evidence) warnColumns() {
	if len(e.Labels) == 0 || e.Classes == 0 {
		return
	}
	classes := slices.Max(e.Labels) + 1
	if e.Classes < 2*classes || e.Classes < classes+4 || e.Records < 20*classes {
		return
	}
	for _, m := range e.ModelsOf(Unlearned) {
		if m.Outputs != nil {
			e.warn("the outputs have %d columns, and labels.npy has %d classes, 0 to %d: are they the values of another layer?", e.Classes, classes, classes-1)
			return
		}
	}
}

// The limits of warnEmbeddings, on the share of the outputs that a linear function of the embedding leaves unexplained: 0
// where it is what goes into the last layer, 1 where it is of other rows.
const (
	widestFit   = 512  // columns; wider embeddings are not looked at
	leastSpare  = 60   // records beyond the number of columns, and a half more
	mostForFit  = 1536 // records
	exactFit    = 1e-3 // of the other models
	timesWorse  = 100
	worseFit    = 0.02
	noLinearFit = 0.9 // without another model to compare with
)

// warnEmbeddings notes embeddings whose rows do not go with those of the outputs. The outputs of a network are a linear
// function of what goes into its last layer.
func (e *Evidence) warnEmbeddings() {
	var models []*Model
	var left []float64
	for _, m := range e.Models {
		if !slices.Contains(compared, m.Role) || m.Outputs == nil || m.Embedding == nil {
			continue
		}
		if v := e.unexplained(m); !math.IsNaN(v) {
			models, left = append(models, m), append(left, v)
		}
	}
	for k, m := range models {
		others := slices.Delete(slices.Clone(left), k, k+1)
		alone := len(others) == 0 && left[k] >= noLinearFit
		if !alone && (len(others) == 0 || median(others) > exactFit || left[k] < worseFit || left[k] < timesWorse*median(others)) {
			continue
		}
		beside := ""
		if !alone {
			beside = ", and for the other models it does"
		}
		e.warn("%s/embedding.npy: no linear function of it gives %s's outputs (%.0f %% of them are left)%s: are its rows in the same order, and are both of "+
			"the same network?", m.Name, m.Name, 100*min(1, left[k]), beside)
		e.doubt(m, "its embedding does not go with its outputs")
	}
}

// unexplained is the share of the variance of a model's outputs that a linear function of its embedding leaves, for the
// degrees of freedom that it uses; NaN: there are too few records, or too many columns.
func (e *Evidence) unexplained(m *Model) float64 {
	p := m.Embedding.Width()
	rows := spaced(rowsOf(e.Records), mostForFit)
	if p == 0 || p > widestFit || len(rows) < 3*p/2+leastSpare {
		return math.NaN()
	}
	x, err := m.Embedding.Read()
	if err != nil {
		return math.NaN()
	}
	y, err := m.Outputs.Read()
	if err != nil {
		return math.NaN()
	}
	inputs, outputs := centred(x, rows, false, true), centred(y, rows, true, m.Logits)
	total := sumOfSquares(outputs)
	if !(total > 0) {
		return math.NaN()
	}
	rank := project(inputs, outputs)
	return sumOfSquares(outputs) / total * float64(len(rows)-1) / float64(len(rows)-1-rank)
}

// mostOutputs is the number of columns of outputs that unexplained looks at.
const mostOutputs = 64

// centred returns the columns of some rows without their means. Outputs are logarithms without the row's mean, which is
// another one in probabilities.
func centred(x array.Rows, rows []int, outputs, logits bool) [][]float64 {
	_, cols := x.Shape()
	take := rowsOf(cols)
	if outputs {
		take = spaced(take, mostOutputs)
	}
	out := make([][]float64, len(take))
	for j := range out {
		out[j] = make([]float64, len(rows))
	}
	buffer := make([]float64, cols)
	for k, i := range rows {
		row, shift := x.Read(buffer, i), 0.0
		if outputs {
			shift = rowMean(row, logits)
		}
		for j, c := range take {
			out[j][k] = asLogit(row[c], logits || !outputs) - shift
		}
	}
	for _, column := range out {
		middle := 0.0
		for _, v := range column {
			middle += v / float64(len(column))
		}
		for k := range column {
			column[k] -= middle
		}
	}
	return out
}

func rowMean(row []float64, logits bool) float64 {
	sum := 0.0
	for _, v := range row {
		sum += asLogit(v, logits)
	}
	return sum / float64(len(row))
}

// asLogit is a logit, or the logarithm of a probability.
func asLogit(v float64, logit bool) float64 {
	if logit {
		return v
	}
	return math.Log(max(v, 1e-30))
}

// leastOwn is the least share of a column's length that others must leave for it to be one of its own.
const leastOwn = 1e-6

// project takes from columns all that is a linear function of others, by Gram and Schmidt, and returns how many of these
// are independent. It overwrites both.
func project(from, columns [][]float64) (rank int) {
	var basis [][]float64
	for _, u := range from {
		before := math.Sqrt(dot(u, u))
		for _, v := range basis {
			subtract(u, v)
		}
		size := math.Sqrt(dot(u, u))
		if !(size > leastOwn*before) {
			continue
		}
		for k := range u {
			u[k] /= size
		}
		for _, v := range columns {
			subtract(v, u)
		}
		basis = append(basis, u)
	}
	return len(basis)
}

// subtract takes from v its part along u, whose length is 1.
func subtract(v, u []float64) {
	part := dot(v, u)
	for k := range v {
		v[k] -= part * u[k]
	}
}

func dot(u, v []float64) float64 {
	sum := 0.0
	for k := range u {
		sum += u[k] * v[k]
	}
	return sum
}

func sumOfSquares(columns [][]float64) float64 {
	sum := 0.0
	for _, v := range columns {
		sum += dot(v, v)
	}
	return sum
}
