package datasets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// No group is parted, every row is in one part, and no class has more rows in the test part than a split by class.
func TestAGroupedSplitPartsNoGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for seed := range uint32(30) {
		n := 60 + rng.IntN(200)
		y, groups := make([]int, n), make([]int, n)
		for i := range y {
			y[i], groups[i] = rng.IntN(3), rng.IntN(n/4)
		}
		s, err := GroupedSplit(y, groups, 0.2, seed)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := StratifiedSplit(y, 0.2, seed)
		if all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Test))); len(all) != n || all[0] != 0 || len(slices.Compact(all)) != n {
			t.Fatalf("seed %d: %d rows of %d", seed, len(all), n)
		}
		held := map[int]bool{}
		for _, i := range s.Test {
			held[groups[i]] = true
		}
		for _, i := range s.Train {
			if held[groups[i]] {
				t.Fatalf("seed %d: group %d is in both parts", seed, groups[i])
			}
		}
		for class := range 3 {
			of := func(rows []int) (n int) {
				for _, i := range rows {
					if y[i] == class {
						n++
					}
				}
				return n
			}
			if got, most := of(s.Test), of(whole.Test); got > most || 2*got < most {
				t.Errorf("seed %d, class %d: %d rows held out, by class alone %d", seed, class, got, most)
			}
		}
		if again, _ := GroupedSplit(y, groups, 0.2, seed); !slices.Equal(again.Test, s.Test) || !slices.Equal(again.Train, s.Train) {
			t.Errorf("seed %d: the second time another split", seed)
		}
		if other, _ := GroupedSplit(y, groups, 0.2, seed+100); slices.Equal(other.Test, s.Test) {
			t.Errorf("seed %d: the next seed has the same split", seed)
		}
	}
}

// Groups of one row are rows: the test part is as large as that of a split by class. Large groups have their turn.
func TestGroupsOfAllSizesAreHeldOut(t *testing.T) {
	y, single := make([]int, 100), make([]int, 100)
	pairs := make([]int, 100)
	for i := range y {
		y[i], single[i], pairs[i] = i%2, i, max(0, i-9)
	}
	s, err := GroupedSplit(y, single, 0.2, 1)
	if err != nil || len(s.Test) != 20 {
		t.Errorf("%d rows held out (%v)", len(s.Test), err)
	}
	large := 0
	for seed := range uint32(200) {
		s, err := GroupedSplit(y, pairs, 0.2, seed) // rows 0 to 9 are one group of ten
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(s.Test, 0) {
			large++
		}
	}
	if large < 10 || large > 100 {
		t.Errorf("a group of ten of a hundred rows is held out by %d of 200 seeds", large)
	}
}

func TestImpossibleGroupsAreRefused(t *testing.T) {
	for name, of := range map[string]struct {
		y, groups []int
		want      string
	}{
		"one group":       {[]int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, make([]int, 10), "10 rows in 1 groups leave no test part"},
		"too few numbers": {[]int{0, 1, 0, 1}, []int{1}, "groups of 1 rows, and classes of 4"},
		"a class of one":  {[]int{0, 0, 0, 1}, []int{1, 2, 3, 4}, "class 1 has 1 row"},
	} {
		if _, err := GroupedSplit(of.y, of.groups, 0.2, 1); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
