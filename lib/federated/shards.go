// Splitting records between users.

package federated

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lethe-ml/lethe/lib/engine"
)

// IID splits n rows at random between the users 0 ... k-1, as equally as possible: the
// first n mod k of them get one more. Every row is in exactly one shard.
func IID(n, k int, seed engine.Root) ([]User, error) {
	if err := checkSplit(n, k); err != nil {
		return nil, err
	}
	order, users := seed.Stream(engine.StreamShard).Perm(n), make([]User, k)
	for i := range users {
		size := n / k
		if i < n%k {
			size++
		}
		users[i] = User{ID: i, Rows: slices.Sorted(slices.Values(order[:size]))}
		order = order[size:]
	}
	return users, checkLeast(users, n, 1)
}

func checkSplit(n, k int) error {
	if k < 1 || n < k {
		return fmt.Errorf("federated: %d records for %d users", n, k)
	}
	return nil
}

// checkLeast returns an error that names the first user with fewer than least records.
func checkLeast(users []User, n, least int) error {
	for _, u := range users {
		if len(u.Rows) < least {
			return fmt.Errorf("federated: user %d got %d of %d records, and must get at least %d", u.ID, len(u.Rows), n, least)
		}
	}
	return nil
}

// Dirichlet splits records so that users have different mixtures of classes and different
// numbers of records. For every class c, in ascending order, the users' shares are drawn,
//
//	(p_1 ... p_K) ~ Dirichlet(Alpha, ..., Alpha),
//
// and the class's n_c records, in random order, are cut at floor(n_c (p_1 + ... + p_k)).
// With large Alpha every user has all classes; near 0 each class belongs to one user. With
// the same label for all records only the sizes differ, and every user has the same
// mixture.
//
// This is the split of Yurochkin et al. (ICML 2019) and Li et al. (ICDE 2022). They redraw
// until every user has ten records; here too few records (Least) are an error.
type Dirichlet struct {
	Alpha float64 `json:"alpha"`
	Least int     `json:"least,omitempty"` // records that every user must get, 0: none
}

// minAlpha is the smallest alpha for which the logarithms of the shares are finite.
const minAlpha = 1e-300

// Split splits the records with these labels between the users 0 ... k-1; a user's rows
// ascend. Every row is in exactly one shard. A user may get none, which Run refuses.
func (d Dirichlet) Split(labels []int, k int, seed engine.Root) ([]User, error) {
	if err := checkSplit(len(labels), k); err != nil {
		return nil, err
	}
	if !(d.Alpha >= minAlpha) || math.IsInf(d.Alpha, 1) || d.Least < 0 {
		return nil, fmt.Errorf("federated: a Dirichlet split with alpha %v and at least %d records each", d.Alpha, d.Least)
	}
	byClass := map[int][]int{}
	for row, c := range labels {
		byClass[c] = append(byClass[c], row)
	}
	users := make([]User, k)
	for i := range users {
		users[i].ID = i
	}
	for _, c := range slices.Sorted(maps.Keys(byClass)) {
		d.assignClass(byClass[c], users, seed.Stream(engine.StreamShard, uint64(c)))
	}
	for i := range users {
		slices.Sort(users[i].Rows)
	}
	return users, checkLeast(users, len(labels), d.Least)
}

// assignClass splits the rows of one class.
func (d Dirichlet) assignClass(rows []int, users []User, rng *rand.Rand) {
	parts := d.parts(len(users), rng)
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	from, sum := 0, 0.0
	for i := range users {
		sum += parts[i]
		to := min(len(rows), max(from, int(math.Floor(float64(sum*float64(len(rows)))))))
		if i == len(users)-1 {
			to = len(rows) // even if the sum is rounded down
		}
		users[i].Rows = append(users[i].Rows, rows[from:to]...)
		from = to
	}
}

// parts draws from the Dirichlet distribution: gamma variables divided by their sum. For a
// small alpha a gamma variable is below the smallest float64. Its logarithm is computed
// from a gamma variable of alpha + 1 and a uniform variable U, as log U / alpha.
func (d Dirichlet) parts(k int, rng *rand.Rand) []float64 {
	logs := make([]float64, k)
	gamma := distuv.Gamma{Alpha: d.Alpha + 1, Beta: 1, Src: rng}
	for i := range logs {
		logs[i] = math.Log(gamma.Rand()) + math.Log(1-rng.Float64())/d.Alpha
	}
	most, sum := slices.Max(logs), 0.0
	for i, l := range logs {
		logs[i] = math.Exp(l - most)
		sum += logs[i]
	}
	for i := range logs {
		logs[i] /= sum
	}
	return logs
}
