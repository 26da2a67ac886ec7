// Tests of shards.go.

package federated

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
)

// checkUserCounts checks that every row is in exactly one shard and a user's rows ascend.
func checkUserCounts(t *testing.T, users []User, n, k int) {
	t.Helper()
	var all []int
	for i, u := range users {
		if u.ID != i || !slices.IsSorted(u.Rows) {
			t.Errorf("user %d is number %d with rows %v", i, u.ID, u.Rows)
		}
		all = append(all, u.Rows...)
	}
	slices.Sort(all)
	for i, row := range all {
		if row != i {
			t.Fatalf("row %d stands where %d should", row, i)
		}
	}
	if len(all) != n || len(users) != k {
		t.Errorf("%d rows of %d, %d users of %d", len(all), n, len(users), k)
	}
}

func sizes(users []User) (out []int) {
	for _, u := range users {
		out = append(out, len(u.Rows))
	}
	return out
}

func TestIIDDealsEvenly(t *testing.T) {
	users := must(IID(23, 5, 1))
	checkUserCounts(t, users, 23, 5)
	if got := sizes(users); !slices.Equal(got, []int{5, 5, 5, 4, 4}) {
		t.Errorf("sizes %v", got)
	}
	if !reflect.DeepEqual(users, must(IID(23, 5, 1))) || reflect.DeepEqual(users, must(IID(23, 5, 2))) {
		t.Error("the deal is no function of the seed")
	}
	checkUserCounts(t, must(IID(5, 5, 1)), 5, 5)
	_, err := IID(4, 5, 1)
	wantWords(t, err, "4 records for 5 users")
	_, err = IID(4, 0, 1)
	wantWords(t, err, "4 records for 0 users")
}

func labels(n, classes int) []int {
	rng := engine.Root(1).Stream("toy")
	y := make([]int, n)
	for i := range y {
		y[i] = rng.IntN(classes) - 1 // a label may be any number
	}
	return y
}

func TestDirichletPutsEveryRowIntoOneShard(t *testing.T) {
	y := labels(997, 7)
	for _, alpha := range []float64{1e-6, 0.01, 0.5, 1, 100, 1e6} {
		for seed := range engine.Root(5) {
			users := must(Dirichlet{Alpha: alpha}.Split(y, 6, seed))
			checkUserCounts(t, users, 997, 6)
			if !reflect.DeepEqual(users, must(Dirichlet{Alpha: alpha}.Split(y, 6, seed))) {
				t.Errorf("alpha %v: two deals of one seed", alpha)
			}
		}
	}
}

// With a large alpha every user has every class in the same proportion; with a tiny one
// every class has one owner; with one label only sizes differ.
func TestAlphaIsHowMuchUsersAreAlike(t *testing.T) {
	y := labels(3000, 3)
	share := func(u User, c int) float64 {
		n := 0
		for _, row := range u.Rows {
			if y[row] == c {
				n++
			}
		}
		return float64(n)
	}
	for _, u := range must(Dirichlet{Alpha: 1e5}.Split(y, 4, 1)) {
		for c := -1; c < 2; c++ {
			if n := share(u, c); math.Abs(n-250) > 40 {
				t.Errorf("user %d has %v of class %d", u.ID, n, c)
			}
		}
	}
	for c := -1; c < 2; c++ {
		owners := 0
		for _, u := range must(Dirichlet{Alpha: 1e-6}.Split(y, 4, 1)) {
			if share(u, c) > 0 {
				owners++
			}
		}
		if owners != 1 {
			t.Errorf("class %d belongs to %d users", c, owners)
		}
	}
	for _, u := range must(Dirichlet{Alpha: 2}.Split(make([]int, 3000), 4, 1)) {
		if n := float64(len(u.Rows)); n > 300 && math.Abs(share(u, 0)/n-1./3) > 0.1 {
			t.Errorf("user %d of %v rows has the part %v of a class", u.ID, n, share(u, 0)/n)
		}
	}
}

// The first part of K of Dirichlet(a, ..., a) has mean 1/K and variance (K-1) / (K^2 (K a +
// 1)).
func TestThePartsAreDirichlet(t *testing.T) {
	const draws, k = 20000, 4
	for _, alpha := range []float64{0.1, 0.7, 3} {
		rng := engine.Root(2).Stream("toy")
		var sum, squares float64
		for range draws {
			p := Dirichlet{Alpha: alpha}.parts(k, rng)[0]
			sum, squares = sum+p, squares+p*p
		}
		mean := sum / draws
		variance, want := squares/draws-mean*mean, float64(k-1)/(k*k*(k*alpha+1))
		if math.Abs(mean-1./k) > 5*math.Sqrt(want/draws) || math.Abs(variance/want-1) > 0.05 {
			t.Errorf("alpha %v: mean %v, variance %v, want %v and %v", alpha, mean, variance, 1./k, want)
		}
	}
}

func TestTheCutNamesWhoGotTooLittle(t *testing.T) {
	y := labels(60, 3)
	_, err := Dirichlet{Alpha: 1e-6, Least: 1}.Split(y, 5, 1)
	wantWords(t, err, "user", "got 0 of 60", "at least 1")
	for _, c := range []struct {
		d     Dirichlet
		y     []int
		k     int
		words []string
	}{
		{Dirichlet{}, y, 5, []string{"alpha 0"}},
		{Dirichlet{Alpha: 1e-310}, y, 5, []string{"alpha 1e-310"}},
		{Dirichlet{Alpha: math.NaN()}, y, 5, []string{"alpha NaN"}},
		{Dirichlet{Alpha: math.Inf(1)}, y, 5, []string{"alpha +Inf"}},
		{Dirichlet{Alpha: 1, Least: -1}, y, 5, []string{"-1"}},
		{Dirichlet{Alpha: 1}, y, 0, []string{"60 records for 0 users"}},
		{Dirichlet{Alpha: 1}, nil, 5, []string{"0 records for 5 users"}},
	} {
		_, err := c.d.Split(c.y, c.k, 1)
		wantWords(t, err, c.words...)
	}
}
