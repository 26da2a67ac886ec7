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

// IID deals n rows at random to the users 0 ... k-1, as equally as possible: the
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

// checkLeast names the first user who got fewer records than there must be.
func checkLeast(users []User, n, least int) error {
	for _, u := range users {
		if len(u.Rows) < least {
			return fmt.Errorf("federated: user %d got %d of %d records, and must get at least %d", u.ID, len(u.Rows), n, least)
		}
	}
	return nil
}

// Dirichlet deals records so that the users have different mixtures of classes and
// different numbers of records. For every class c, in ascending order, the users'
// parts are drawn,
//
//	(p_1 ... p_K) ~ Dirichlet(Alpha, ..., Alpha),
//
// and the class's n_c records, in random order, are cut at floor(n_c (p_1 + ... +
// p_k)). Large Alpha: everybody has all classes; near 0: a class belongs to one
// user. With the same label for all records only the sizes are unequal, and every
// user has the mixture of all.
//
// It is the cut of Yurochkin et al. (ICML 2019) and Li et al. (ICDE 2022). They
// draw again until everybody has ten records; here Least makes it an error.
type Dirichlet struct {
	Alpha float64 `json:"alpha"`
	Least int     `json:"least,omitempty"` // records that everybody must get, 0: none
}

// minAlpha is where the logarithms of parts are still numbers.
const minAlpha = 1e-300

// Split deals the records with these labels to the users 0 ... k-1; a user's rows
// ascend. Every row is in exactly one shard. A user may get none, which Run refuses.
func (d Dirichlet) Split(labels []int, k int, seed engine.Root) ([]User, error) {
	if err := checkSplit(len(labels), k); err != nil {
		return nil, err
	}
	if !(d.Alpha >= minAlpha) || math.IsInf(d.Alpha, 1) || d.Least < 0 {
		return nil, fmt.Errorf("federated: a Dirichlet cut with alpha %v and at least %d records each", d.Alpha, d.Least)
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

// assignClass cuts the rows of one class.
func (d Dirichlet) assignClass(rows []int, users []User, rng *rand.Rand) {
	parts := d.parts(len(users), rng)
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	from, sum := 0, 0.0
	for i := range users {
		sum += parts[i]
		to := min(len(rows), max(from, int(math.Floor(float64(sum*float64(len(rows)))))))
		if i == len(users)-1 {
			to = len(rows) // whatever the sum has lost in rounding
		}
		users[i].Rows = append(users[i].Rows, rows[from:to]...)
		from = to
	}
}

// parts draws from the Dirichlet distribution: gamma variables divided by their
// sum. A gamma variable of a small alpha is below the least float64; its logarithm
// is that of one of alpha + 1 and of a uniform variable, log U / alpha.
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
