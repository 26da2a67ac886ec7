// Tests of the forget sets of single cells.

package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/array"
	libcells "github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// asMany returns n cells without genes, split like the paper's, with classes from class.
func asMany(t *testing.T, n int, class func(cell int) int, classes ...string) (*datasets.Prepared, libcells.Split) {
	t.Helper()
	split, err := libcells.PaperSplit(n)
	if err != nil {
		t.Fatal(err)
	}
	part := func(list []int) datasets.Part {
		out := datasets.Part{IDs: slices.Sorted(slices.Values(list)), X: array.Matrix[float32]{Rows: len(list)}}
		for _, i := range out.IDs {
			out.Y = append(out.Y, class(i))
		}
		return out
	}
	p := &datasets.Prepared{About: datasets.About{Classes: classes}, Train: part(split.Train), Test: part(split.Unseen)}
	for _, i := range split.Train {
		at, _ := slices.BinarySearch(p.Train.IDs, i)
		p.DrawOrder = append(p.DrawOrder, at)
	}
	return p, split
}

// cellsOf returns the cells in the given rows of the train part.
func cellsOf(p *datasets.Prepared, rows []int) []int {
	var out []int
	for _, i := range rows {
		out = append(out, p.Train.IDs[i])
	}
	return out
}

func divided(t *testing.T, s Setting, p *datasets.Prepared) []int {
	t.Helper()
	forget, retain, err := s.Divide(p)
	if err != nil {
		t.Fatal(err)
	}
	both := slices.Sorted(slices.Values(append(slices.Clone(forget), retain...)))
	if !slices.Equal(both, allRows(p)) || !slices.IsSorted(forget) || !slices.IsSorted(retain) {
		t.Errorf("%d to forget and %d to retain of %d", len(forget), len(retain), p.Train.X.Rows)
	}
	return cellsOf(p, forget)
}

// The paper's scattered cells of PBMC-33k, bit for bit, all of them trained on.
func TestScatteredCellsAreThePapers(t *testing.T) {
	p, split := asMany(t, 33088, func(int) int { return 0 }, "all")
	want, err := split.Scattered(42, 35)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want.Forget)
	got := divided(t, Setting{Forget: Scattered{Count: 35}}, p)
	if !slices.Equal(got, want.Forget) {
		t.Errorf("forgotten are %v, in the paper %v", got, want.Forget)
	}
	for _, i := range got {
		if slices.Contains(split.Unseen, i) {
			t.Errorf("cell %d is to be forgotten and was never seen", i)
		}
	}
	if slices.Equal(got, divided(t, Setting{Forget: Scattered{Count: 35, Seed: 43}}, p)) {
		t.Error("another seed scatters the same")
	}
	if _, _, err := (Setting{Forget: Scattered{Count: 40_000}}).Divide(p); err == nil || !strings.Contains(err.Error(), "40000 of 28124 training cells") {
		t.Errorf("%v", err)
	}
}

// A series takes the rarest classes as a whole and a part of the next, without unlabelled
// cells.
func TestASeriesTakesTheRarestFirst(t *testing.T) {
	class := func(cell int) int {
		switch {
		case cell%500 == 0:
			return 2 // 12 cells without a label
		case cell%100 == 1:
			return 1 // 60 cells
		case cell%20 == 2:
			return 3 // 300 cells
		}
		return 0
	}
	p, split := asMany(t, 6000, class, "common", "rare", cells.Unlabelled, "less rare")
	all := make([]int, 6000)
	for i := range all {
		all[i] = class(i)
	}
	want, err := split.Series(all, []int{1, 3}, []int{10, 100})
	if err != nil {
		t.Fatal(err)
	}
	for k, sizes := range [][]int{{10}, {10, 100}} {
		slices.Sort(want[k].Forget)
		if got := divided(t, Setting{Forget: Series(sizes)}, p); !slices.Equal(got, want[k].Forget) {
			t.Errorf("series %v: %v, want %v", sizes, got, want[k].Forget)
		}
	}
	if _, _, err := (Setting{Forget: Series{10, 9000}}).Divide(p); err == nil || !strings.Contains(err.Error(), "9000 were requested") {
		t.Errorf("%v", err)
	}
}

// The original's objective can be had on non-members too, from their own records.
func TestNonMembersHaveAnObjective(t *testing.T) {
	l := newLab(t)
	p, _ := countedCells(t, l, vae.Cells{Genes: someGenes, Hidden: []int{4}, Latent: 2})
	p.Test = p.Train.Gather([]int{5, 7, 9, 11})
	p.Train.Y, p.Test.Y = make([]int, someCells), make([]int, 4)
	c := &Case{Lab: l, Setting: Setting{Goal: Reconstruction{}}.withDefaults(), Problem: p, Forget: []int{0, 1}, Retain: []int{2, 3}}
	r := c.request(unlearn.ExtraGradient{}, &Trajectory{Final: c.InitialWeights(1)})
	if len(r.HeldOut.IDs) != 2 || !r.HeldOut.NonMembers || r.Forget.NonMembers || r.Retain.NonMembers {
		t.Fatalf("%d held out", len(r.HeldOut.IDs))
	}
	for _, d := range []unlearn.Data{r.Forget, r.HeldOut} {
		o, err := r.Objective(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := target(o); !slices.Equal(got.Data, d.X.Data) {
			t.Errorf("NonMembers %v: compared with other records", d.NonMembers)
		}
	}
}

func target(o train.Objective) array.Matrix[float32] { return o[0].Targets[0].Inputs[loss.Target] }
