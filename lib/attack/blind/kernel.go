// How alike inputs are: vectors, texts and classes.

package blind

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Kernel holds how alike any two of n records are, n x n. Its diagonal is 1 on average, and its rows have
// a mean of 0.
type Kernel struct{ x array.Matrix[float64] }

// leastTexts is the number of texts that must have an entry.
const leastTexts = 3

// Vectors compares rows of numbers by the normal scores of their columns (stats.NormalScores), which no outlier
// moves: half of the kernel by their products, which find a difference of means, and half by those of their
// squares, which find a difference of spreads. Columns that are constant say nothing.
func Vectors(x array.Matrix[float64]) Kernel {
	linear, squares := array.New[float64](x.Rows, x.Cols), array.New[float64](x.Rows, x.Cols)
	column := make([]float64, x.Rows)
	for j := range x.Cols {
		for i := range column {
			column[i] = x.Row(i)[j]
		}
		scores := standardised(stats.NormalScores(column))
		for i, v := range scores {
			linear.Row(i)[j], column[i] = v, float64(v*v)
		}
		for i, v := range standardised(column) {
			squares.Row(i)[j] = v
		}
	}
	return Mean(products(linear), products(squares))
}

// rounding is the standard deviation, relative to the mean, up to which numbers differ by rounding alone.
const rounding = 1e-12

// standardised are numbers with a mean of 0 and a standard deviation of 1; zeros where they do not differ.
func standardised(x []float64) []float64 {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += float64((v-mean)*(v-mean)) / float64(len(x))
	}
	out, sd := make([]float64, len(x)), math.Sqrt(variance)
	for i, v := range x {
		if sd > rounding*max(1, math.Abs(mean)) {
			out[i] = (v - mean) / sd
		}
	}
	return out
}

// products returns the kernel of the products of rows.
func products(x array.Matrix[float64]) Kernel {
	k := array.New[float64](x.Rows, x.Rows)
	array.SplitRows(x.Rows, x.Rows*x.Cols, func(from, to int) {
		for i := from; i < to; i++ {
			for j := range x.Rows {
				k.Row(i)[j] = dot(x.Row(i), x.Row(j))
			}
		}
	})
	return normalised(k)
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64(v * b[k])
	}
	return sum
}

// Classes compares classes: alike are records of the same one.
func Classes(y []int) Kernel {
	k := array.New[float64](len(y), len(y))
	for i, a := range y {
		for j, b := range y {
			if a == b {
				k.Row(i)[j] = 1
			}
		}
	}
	return normalised(k)
}

// WithClasses compares records by a kernel, by their classes, and by the kernel within classes alone. The last
// finds what neither of the others shows: inputs of one class with the label of another.
func WithClasses(k Kernel, y []int) Kernel {
	within := array.New[float64](len(y), len(y))
	for i, a := range y {
		for j, b := range y {
			if a == b {
				within.Row(i)[j] = k.x.Row(i)[j]
			}
		}
	}
	return Mean(k, Classes(y), normalised(within))
}

// Texts compares bags of tokens and of pairs of neighbouring tokens: the cosine of vectors whose entries
// are 1 + log count, times the logarithm of n over the number of texts with the entry; and, as another
// part of the kernel, the logarithm of the lengths. What fewer than 3 texts have says nothing about
// others and is left out.
func Texts(texts [][]int) Kernel {
	bags, weights := bagsOf(texts)
	k, lengths := array.New[float64](len(texts), len(texts)), array.New[float64](len(texts), 1)
	for i, t := range texts {
		lengths.Row(i)[0] = math.Log1p(float64(len(t)))
	}
	dense := make([]float64, len(weights))
	for i, bag := range bags {
		for _, e := range bag {
			dense[e.id] = e.value
		}
		for j, other := range bags[:i+1] {
			sum := 0.0
			for _, e := range other {
				sum += float64(e.value * dense[e.id])
			}
			k.Row(i)[j], k.Row(j)[i] = sum, sum
		}
		for _, e := range bag {
			dense[e.id] = 0
		}
	}
	return Mean(normalised(k), Vectors(lengths))
}

// entry is an n-gram of a text.
type entry struct {
	id    int
	value float64
}

// bagsOf returns the entries of every text as a vector of length 1, and the weight of each n-gram.
func bagsOf(texts [][]int) ([][]entry, []float64) {
	ids, weights, bags := map[[2]int]int{}, []float64{}, make([][]entry, len(texts))
	for i, t := range texts {
		at := map[int]int{} // place in the bag, by n-gram
		add := func(gram [2]int) {
			id, known := ids[gram]
			if !known {
				id, ids[gram], weights = len(ids), len(ids), append(weights, 0)
			}
			k, known := at[id]
			if !known {
				k, at[id], bags[i] = len(bags[i]), len(bags[i]), append(bags[i], entry{id: id})
				weights[id]++
			}
			bags[i][k].value++
		}
		for p, token := range t {
			add([2]int{token, -1})
			if p > 0 {
				add([2]int{t[p-1], token})
			}
		}
	}
	for id, n := range weights {
		if weights[id] = 0; n >= leastTexts {
			weights[id] = math.Log(float64(len(texts)) / n)
		}
	}
	for _, bag := range bags {
		sum := 0.0
		for k, e := range bag {
			bag[k].value = (1 + math.Log(e.value)) * weights[e.id]
			sum += float64(bag[k].value * bag[k].value)
		}
		for k := range bag {
			if sum > 0 {
				bag[k].value /= math.Sqrt(sum)
			}
		}
	}
	return bags, weights
}

// Mean returns the mean of kernels of the same records. A kernel that says nothing, of records that are
// all alike, is left out. It panics if they are of different numbers of records.
func Mean(all ...Kernel) Kernel {
	out, used := array.New[float64](all[0].x.Rows, all[0].x.Rows), 0.0
	for _, k := range all {
		if len(k.x.Data) != len(out.Data) {
			panic(fmt.Sprintf("blind: kernels of %d and %d records", out.Rows, k.x.Rows))
		}
		if k.Empty() {
			continue
		}
		used++
		for i, v := range k.x.Data {
			out.Data[i] += v
		}
	}
	for i := range out.Data {
		out.Data[i] /= max(1, used)
	}
	return Kernel{out}
}

// Empty reports whether the kernel says nothing: all records are alike.
func (k Kernel) Empty() bool {
	for i := range k.x.Rows {
		if k.x.Row(i)[i] != 0 {
			return false
		}
	}
	return true
}

// normalised takes the means of rows and columns away, and divides by the mean of the diagonal.
func normalised(k array.Matrix[float64]) Kernel {
	n := float64(k.Rows)
	means, all, diagonal := make([]float64, k.Rows), 0.0, 0.0
	for i := range k.Rows {
		for _, v := range k.Row(i) {
			means[i] += v / n
		}
		all += means[i] / n
		diagonal += k.Row(i)[i] / n
	}
	spread := diagonal - all
	if spread <= 1e-12*math.Abs(diagonal) {
		return Kernel{array.New[float64](k.Rows, k.Rows)}
	}
	for i := range k.Rows {
		for j, v := range k.Row(i) {
			k.Row(i)[j] = (v - means[i] - means[j] + all) / spread
		}
	}
	return Kernel{k}
}
