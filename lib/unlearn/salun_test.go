// Tests of salun.go.

package unlearn_test

import (
	"context"
	"math"
	"sort"
	"testing"

	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// A mask of all weights holds nothing back.
func TestSalUnWithAMaskOfEverythingIsRandomLabelling(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, batch := range []int{0, 16} {
		r.Batch = batch
		want, _ := apply(t, unlearn.RandomLabel{}, r)
		for _, restore := range []bool{false, true} {
			if got, _ := apply(t, unlearn.SalUn{Ratio: 1, Restore: restore}, r); got.Hash() != want.Hash() {
				t.Errorf("batches of %d, restore %t: another result", batch, restore)
			}
		}
	}
}

// The mask by brute force: for the sum over batches of the gradients each weight counts how
// many are larger. The method must move exactly the weights in the mask, and the others
// keep their bits (Restore) or decay.
func TestSalUnMovesTheMostSalientHalf(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, batch := range []int{0, 3} {
		for _, ratio := range []float64{0.5, 0.1} {
			r.Batch = batch
			open := bruteMask(t, r, ratio)
			restored, rep := apply(t, unlearn.SalUn{Ratio: ratio, Restore: true}, r)
			free, _ := apply(t, unlearn.SalUn{Ratio: ratio}, r)
			shrunk, momentum := 1.0, 0.0
			for range rep.Steps {
				momentum = 0.9*momentum + 5e-4*shrunk
				shrunk -= 0.013 * momentum
			}
			still := 0
			for i, v := range r.Original {
				for j, w := range v.Data {
					if moved := restored[i].Data[j] != w; moved && !open[i][j] {
						t.Fatalf("%s element %d is not in the mask and moved", v.Name, j)
					} else if !moved && open[i][j] {
						still++
					}
					if want := shrunk * float64(w); !open[i][j] && math.Abs(float64(free[i].Data[j])-want) > 1e-6 {
						t.Fatalf("%s element %d is not in the mask: %v became %v, decay alone makes it %v", v.Name, j, w, free[i].Data[j], want)
					}
				}
			}
			if still > 0 {
				t.Errorf("%d weights in the mask did not move", still)
			}
		}
	}
}

func bruteMask(t *testing.T, r unlearn.Request, ratio float64) [][]bool {
	t.Helper()
	size := r.Batch
	if size == 0 {
		size = 256
	}
	var sum [][]float64
	for first := 0; first < len(r.Forget.Y); first += size {
		last := min(first+size, len(r.Forget.Y))
		var rows []int
		for i := first; i < last; i++ {
			rows = append(rows, i)
		}
		y := labels(unlearn.Data{Y: r.Forget.Y[first:last]}, 3)
		o := train.Objective{{X: r.Forget.X.Gather(rows), Targets: []train.Target{toward(loss.CrossEntropy{}, y, 1)}}}
		g, err := train.Gradient(context.Background(), r.Runner, r.Original, o, 0, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		if sum == nil {
			sum = g
			continue
		}
		for i := range g {
			for j, v := range g[i] {
				sum[i][j] += v
			}
		}
	}
	type weight struct {
		tensor, element int
	}
	var all []weight
	for i := range sum {
		for j := range sum[i] {
			all = append(all, weight{i, j})
		}
	}
	sort.SliceStable(all, func(a, b int) bool {
		return math.Abs(sum[all[a].tensor][all[a].element]) > math.Abs(sum[all[b].tensor][all[b].element])
	})
	open := make([][]bool, len(sum))
	for i := range sum {
		open[i] = make([]bool, len(sum[i]))
	}
	for _, w := range all[:int(ratio*float64(len(all)))] {
		open[w.tensor][w.element] = true
	}
	return open
}
