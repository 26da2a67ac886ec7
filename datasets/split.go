// Stratified splits and forget sets, equal to those of scikit-learn and RULER.

package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

// Split holds row numbers of a table, in scikit-learn's order.
type Split struct{ Train, Test []int }

// StratifiedSplit returns the rows and the order of scikit-learn's
//
//	train_test_split(range(n), test_size=testFraction, stratify=y, random_state=seed)
//
// The test part has ceil(testFraction * n) rows. Each class contributes to the train part in
// proportion to its size; rows left over by rounding go to the classes with the largest
// remainders. The test part is drawn in the same way from the other rows.
//
// It fails as scikit-learn does: for a class of one row, a part with fewer rows than classes, or a
// fraction outside (0, 1).
func StratifiedSplit(y []int, testFraction float64, seed uint32) (Split, error) {
	if !(testFraction > 0 && testFraction < 1) {
		return Split{}, fmt.Errorf("datasets: test fraction %v is not between 0 and 1", testFraction)
	}
	if len(y) == 0 {
		return Split{}, errors.New("datasets: no rows to split")
	}
	groups, err := rowsByClass(y)
	if err != nil {
		return Split{}, err
	}
	test := int(math.Ceil(float64(testFraction * float64(len(y)))))
	train := len(y) - test
	if train < len(groups) || test < len(groups) {
		return Split{}, fmt.Errorf("datasets: %d train and %d test rows are too few for %d classes", train, test, len(groups))
	}
	rng := nprand.New(seed)
	counts := make([]int, len(groups))
	for c, g := range groups {
		counts[c] = len(g)
	}
	trainQuota := quotas(counts, train, rng)
	for c := range counts {
		counts[c] -= trainQuota[c]
	}
	testQuota := quotas(counts, test, rng)
	return drawSplit(groups, trainQuota, testQuota, rng), nil
}

// groupedOrders is the number of orders of groups that GroupedSplit tries.
const groupedOrders = 10

// GroupedSplit returns a split by class that parts no group: groups has a number per row, and rows of one
// number are in one part, such as those of one person. Groups are drawn one after another for the test
// part. One that would bring more rows of a class into it than a StratifiedSplit has is passed over, so that the test
// part is at most as large; of ten such draws the one with the most rows is taken. The rows of a part are in random order.
//
// It fails as StratifiedSplit does, and where no group can be held out.
func GroupedSplit(y, groups []int, testFraction float64, seed uint32) (Split, error) {
	if len(groups) != len(y) {
		return Split{}, fmt.Errorf("datasets: groups of %d rows, and classes of %d", len(groups), len(y))
	}
	whole, err := StratifiedSplit(y, testFraction, seed)
	if err != nil {
		return Split{}, err
	}
	members := map[int][]int{}
	var order []int // groups by their first row
	for i, g := range groups {
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], i)
	}
	rng, s := nprand.New(seed), Split{}
	for range groupedOrders {
		rng.Shuffle(order)
		if test := holdOutGroups(order, members, y, whole.Test); len(test) > len(s.Test) {
			s.Test = test
		}
	}
	if len(s.Test) == 0 {
		return Split{}, fmt.Errorf("datasets: %d rows in %d groups leave no test part: a group is not parted, and each has more rows of a class "+
			"than there are to hold out (equal rows that stay together join groups)", len(y), len(order))
	}
	slices.Sort(s.Test)
	for i := range y {
		if _, held := slices.BinarySearch(s.Test, i); !held {
			s.Train = append(s.Train, i)
		}
	}
	rng.Shuffle(s.Train)
	rng.Shuffle(s.Test)
	return s, nil
}

// holdOutGroups returns the rows of the groups that fit, in their order, into a test part with as many rows of every class as
// the given one.
func holdOutGroups(order []int, members map[int][]int, y, like []int) (rows []int) {
	room := map[int]int{}
	for _, i := range like {
		room[y[i]]++
	}
	for _, g := range order {
		if takeGroup(members[g], y, room) {
			rows = append(rows, members[g]...)
		}
	}
	return rows
}

// takeGroup takes room for the rows of a group, if there is enough in every class.
func takeGroup(rows, y []int, room map[int]int) bool {
	need := map[int]int{}
	for _, i := range rows {
		need[y[i]]++
	}
	for class, n := range need {
		if n > room[class] {
			return false
		}
	}
	for class, n := range need {
		room[class] -= n
	}
	return true
}

// rowsByClass returns the rows of every class that occurs, classes ascending.
func rowsByClass(y []int) ([][]int, error) {
	classes := slices.Compact(slices.Sorted(slices.Values(y)))
	groups := make([][]int, len(classes))
	for i, v := range y {
		c, _ := slices.BinarySearch(classes, v)
		groups[c] = append(groups[c], i)
	}
	for c, g := range groups {
		if len(g) < 2 {
			return nil, fmt.Errorf("datasets: class %d has %d row, a stratified split needs two", classes[c], len(g))
		}
	}
	return groups, nil
}

// quotas distributes n draws in proportion to counts. Draws left over by rounding go to the
// largest remainders, equal ones in random order. It is scikit-learn's _approximate_mode.
func quotas(counts []int, n int, rng *nprand.State) []int {
	total := 0
	for _, c := range counts {
		total += c
	}
	out := make([]int, len(counts))
	remainder := make([]float64, len(counts))
	left := n
	for c, k := range counts {
		share := float64(float64(float64(k)/float64(total)) * float64(n))
		out[c] = int(math.Floor(share))
		remainder[c] = float64(share - math.Floor(share))
		left -= out[c]
	}
	levels := slices.Compact(slices.Sorted(slices.Values(remainder)))
	for _, level := range slices.Backward(levels) {
		if left <= 0 {
			break
		}
		var tied []int
		for c, r := range remainder {
			if r == level {
				tied = append(tied, c)
			}
		}
		add := min(len(tied), left)
		for _, k := range rng.Choice(len(tied), add) {
			out[tied[k]]++
		}
		left -= add
	}
	return out
}

func drawSplit(groups [][]int, trainQuota, testQuota []int, rng *nprand.State) Split {
	var s Split
	for c, rows := range groups {
		order := rng.Permutation(len(rows))
		for k, i := range order[:trainQuota[c]+testQuota[c]] {
			if k < trainQuota[c] {
				s.Train = append(s.Train, rows[i])
			} else {
				s.Test = append(s.Test, rows[i])
			}
		}
	}
	rng.Shuffle(s.Train)
	rng.Shuffle(s.Test)
	return s
}

// MinForget is the size of the smallest forget set that ForgetSet draws.
const MinForget = 10

// ForgetSet draws the rows to forget as RULER does. It returns positions in the train part,
//
//	|Df| = max(10, floor(fraction * nTrain)),
//	Df = sorted(RandomState(seed).choice(nTrain, |Df|, replace=False)),
//
// and the other positions, both ascending. It refuses a fraction outside (0, 1) and a forget set
// that leaves nothing to retain.
func ForgetSet(nTrain int, fraction float64, seed uint32) (forget, retain []int, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, fmt.Errorf("datasets: forget fraction %v is not between 0 and 1", fraction)
	}
	size := max(MinForget, int(math.Floor(float64(fraction*float64(nTrain)))))
	if size >= nTrain {
		return nil, nil, fmt.Errorf("datasets: a forget set of %d rows leaves none of %d train rows to retain: at least %d are drawn, so name the records "+
			"to forget, or take more data", size, nTrain, MinForget)
	}
	forget = nprand.New(seed).Choice(nTrain, size)
	slices.Sort(forget)
	retain = make([]int, 0, nTrain-size)
	next := 0
	for i := range nTrain {
		if next < len(forget) && forget[next] == i {
			next++
			continue
		}
		retain = append(retain, i)
	}
	return forget, retain, nil
}

// KeepInTrain returns the split with the given rows in the train part: those in the test part
// move to the end of the train part, in the order given, and nothing else changes.
func (s Split) KeepInTrain(rows []int) Split {
	tested, moved := map[int]bool{}, map[int]bool{}
	for _, r := range s.Test {
		tested[r] = true
	}
	out := Split{Train: slices.Clone(s.Train)}
	for _, r := range rows {
		if tested[r] {
			moved[r] = true
			out.Train = append(out.Train, r)
		}
	}
	for _, r := range s.Test {
		if !moved[r] {
			out.Test = append(out.Test, r)
		}
	}
	return out
}

// NumberGroups returns the groups of so many rows: for each the number of the first row whose group has the same name. A row
// without a group is one of its own.
func NumberGroups(rows int, group func(row int) (name string, has bool)) []int {
	first, out := map[string]int{}, make([]int, rows)
	for i := range out {
		out[i] = i
		name, has := group(i)
		if !has {
			continue
		}
		if k, known := first[name]; known {
			out[i] = k
		} else {
			first[name] = i
		}
	}
	return out
}

// WithGroups returns the rows to keep, and after them, ascending, the other rows of their groups: groups has a number
// per row; nil: every row is on its own.
func WithGroups(keep, groups []int) []int {
	if groups == nil || len(keep) == 0 {
		return keep
	}
	given, kept := map[int]bool{}, map[int]bool{}
	for _, i := range keep {
		given[i] = true
		if i >= 0 && i < len(groups) {
			kept[groups[i]] = true
		}
	}
	out := slices.Clone(keep)
	for i, g := range groups {
		if kept[g] && !given[i] {
			out = append(out, i)
		}
	}
	return out
}
