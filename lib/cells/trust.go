// Trustworthiness of a picture of cells.

package cells

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Trustworthiness measures how well neighbours in a picture are neighbours in the original space
// (Venna and Kaski 2001):
//
//	1 - 2/(n k (2n - 3k - 1)) sum over i, and over the k nearest j of i in the picture, of max(0, r_ij - k)
//
// r_ij is the rank of j among the neighbours of i in the original space, from 1. It is 1 if all
// neighbours in the picture are true neighbours, and about one half for random points. Time: n^2
// log n; memory: n per core. It refuses numbers of rows that differ, values that are not finite,
// and k outside 1 ... (n-1)/2.
func Trustworthiness(space, picture array.Matrix[float64], k int) (float64, error) {
	n := space.Rows
	if picture.Rows != n || k < 1 || 2*k >= n {
		return 0, fmt.Errorf("cells.Trustworthiness: %d rows, %d in the picture, %d neighbours", n, picture.Rows, k)
	}
	drawn, err := NearestOthers(picture, k+1)
	if err != nil {
		return 0, err
	}
	if err := space.Check("space"); err != nil {
		return 0, fmt.Errorf("cells.Trustworthiness: %w", err)
	}
	task := progress.Begin("trustworthiness", n)
	defer task.Done()
	wrong := make([]int, n)
	inParts(n, numParts, func(_, from, to int) {
		distance := make([]float64, n)
		for i := from; i < to; i++ {
			index, _ := drawn.Row(i)
			task.Add(1)
			wrong[i] = surplus(space, distance, i, index[1:])
		}
	})
	sum := 0
	for _, w := range wrong {
		sum += w
	}
	return 1 - 2/(float64(n)*float64(k)*float64(2*n-3*k-1))*float64(sum), nil
}

// surplus is the sum of max(0, rank - k) over the k given neighbours of a row.
func surplus(space array.Matrix[float64], distance []float64, row int, neighbours []int) (sum int) {
	x := space.Row(row)
	for j := range distance {
		distance[j] = squaredDistance(x, space.Row(j))
	}
	distance[row] = -1
	order := slices.Clone(distance)
	slices.Sort(order)
	for _, j := range neighbours {
		rank, _ := slices.BinarySearch(order, distance[j])
		sum += max(0, rank-len(neighbours))
	}
	return sum
}

func squaredDistance(x, y []float64) (sum float64) {
	for c, v := range x {
		d := v - y[c]
		sum += float64(d * d)
	}
	return sum
}
