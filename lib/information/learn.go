package information

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// Learning is how a critic is trained and judged. A fifth of the pairs, drawn from the
// seed, is held out: the critic never sees them. Of the rest an eighth chooses the
// epoch, the one after which the bound is highest there, and the others teach. Columns
// are brought to mean 0 and deviation 1 by the pairs that teach, which changes no
// mutual information.
//
// A stranger in training is the y of another teaching pair, drawn anew for every pair
// in every epoch; in judgement they come from permutations of the pairs that are
// judged, so that every y is a stranger equally often and never to its own x.
type Learning struct {
	Hidden   []int   `json:"hidden,omitempty"`   // units of the critic's layers; nil: 64, 64
	Epochs   int     `json:"epochs,omitempty"`   // at most; 0: 200
	Patience int     `json:"patience,omitempty"` // epochs without a better bound that end it; 0: 20
	Batch    int     `json:"batch,omitempty"`    // pairs per step; 0: 256
	LR       float64 `json:"lr,omitempty"`       // of Adam; 0: 0.001
}

func (l Learning) resolved() Learning {
	l.Hidden = Critic{Hidden: l.Hidden}.Resolved().Hidden
	l.Epochs, l.Patience = cmp.Or(l.Epochs, 200), cmp.Or(l.Patience, 20)
	l.Batch, l.LR = cmp.Or(l.Batch, 256), cmp.Or(l.LR, 1e-3)
	return l
}

// bound is a bound from below that a critic is trained for.
type bound struct {
	loss      loss.Loss // minus the bound
	strangers int       // of a pair in training
	judging   int       // and in judgement, at most
	judge     func(scores array.Matrix[float32], strangers [][]int) stats.Estimate
}

// learn trains a critic and judges it on pairs that it has not seen.
func (l Learning) learn(ctx context.Context, e *engine.Engine, p Pairs, b bound, seed engine.Root) (*Reading, error) {
	l = l.resolved()
	critic := Normalised{Critic: Critic{X: p.X.Cols, Y: p.Y.Cols, Hidden: l.Hidden}}.Resolved()
	r, err := model.NewRunner(e, network{critic, b.strangers})
	if err != nil {
		return nil, err
	}
	s := newSchool(p, b, seed)
	if s.asked, err = model.NewRunner(e, network{critic, s.judging}); err != nil {
		return nil, err
	}
	plan := train.Plan{
		Passes: func(int) ([]train.Objective, error) { return []train.Objective{s.objective()}, nil },
		Validation: &train.Validation{Patience: l.Patience, Judge: func(_ context.Context, w nn.Params, _ int) (float64, error) {
			found, err := s.judged(w, choosing)
			return -found.Value, err
		}},
	}
	c := train.Config{Epochs: l.Epochs, Batch: l.Batch, Optimizer: nn.Adam{LR: l.LR}, Seed: seed}
	w, history, err := train.FitPlan(ctx, r, r.Arch.Init(seed.Stream(engine.StreamInit)), plan, c, train.Hooks{})
	if err != nil {
		return nil, err
	}
	found, err := s.judged(w, heldOut)
	if err != nil {
		return nil, err
	}
	taught, err := s.judged(w, teaching)
	if err != nil {
		return nil, err
	}
	out := reading(found)
	out.Training, out.Epochs = &taught.Value, best(history)
	return out, nil
}

// best is the epoch with the lowest value, the first of equal ones.
func best(history []train.Epoch) int {
	at := 0
	for i, e := range history {
		if *e.Valid < *history[at].Valid {
			at = i
		}
	}
	return history[at].Epoch
}

// The sets that pairs are dealt into.
const (
	teaching = iota
	choosing
	heldOut
)

// school is what a critic is taught with and judged by.
type school struct {
	bound
	sets  [3]Pairs
	seed  engine.Root
	asked *model.Runner // of the critic, with as many strangers as in judgement
}

// fewest is the least number of pairs of which a set with so many strangers can be dealt.
func fewest(strangers int) int { return 10 * max(5, strangers+1) }

func newSchool(p Pairs, b bound, seed engine.Root) *school {
	order := seed.Stream(engine.StreamPairs).Perm(p.X.Rows)
	out, few := len(order)/5, len(order)/10
	b.judging = min(b.judging, few-1)
	s := &school{bound: b, seed: seed}
	for k, rows := range [][]int{teaching: order[out+few:], choosing: order[out : out+few], heldOut: order[:out]} {
		s.sets[k] = p.gather(rows)
	}
	x, y := newScale(s.sets[teaching].X), newScale(s.sets[teaching].Y)
	for _, set := range s.sets {
		x.apply(set.X)
		y.apply(set.Y)
	}
	return s
}

// objective is the bound on the teaching pairs, with other strangers in every epoch.
func (s *school) objective() train.Objective {
	p := s.sets[teaching]
	y := array.Convert[float32](p.Y)
	none := make([][]int, s.strangers)
	return train.Objective{{
		Name: "pairs", X: beside(p, none), Targets: []train.Target{{Loss: s.loss, Weight: 1}},
		Augment: train.AugmentFunc(func(dst, src []float32, epoch, id int) error {
			own := copy(dst, src) - s.strangers*y.Cols
			rng := s.seed.Stream(engine.StreamStranger, 0, uint64(epoch), uint64(id))
			for k := range s.strangers {
				other := rng.IntN(y.Rows - 1)
				if other >= id {
					other++
				}
				copy(dst[own+k*y.Cols:], y.Row(other))
			}
			return nil
		}),
	}}
}

// judged is the bound that a critic's weights find in a set.
func (s *school) judged(w nn.Params, set int) (stats.Estimate, error) {
	none, p := stats.Estimate{Value: math.NaN()}, s.sets[set]
	strangers := permuted(s.seed.Stream(engine.StreamStranger, 1, uint64(set)), p.X.Rows, s.judging)
	found, err := s.asked.Predict(w, beside(p, strangers))
	if err != nil {
		return none, err
	}
	scores := found.Outputs[loss.PairScores]
	if err := scores.Check("scores"); err != nil {
		return none, fmt.Errorf("the critic's %w", err)
	}
	return s.judge(scores, strangers), nil
}

// permuted are the strangers of n pairs: strangers[k] is a permutation in which
// nobody is in his place, and nobody twice a stranger to the same.
func permuted(rng *rand.Rand, n, strangers int) [][]int {
	order, out := rng.Perm(n), make([][]int, strangers)
	for k := range out {
		out[k] = make([]int, n)
		for i, row := range order {
			out[k][row] = order[(i+k+1)%n]
		}
	}
	return out
}

// beside are the records of the network: x, y and the y of strangers, where they are
// known yet.
func beside(p Pairs, strangers [][]int) array.Matrix[float32] {
	out := array.New[float32](p.X.Rows, p.X.Cols+(1+len(strangers))*p.Y.Cols)
	for i := range out.Rows {
		row := fill(fill(out.Row(i), p.X.Row(i)), p.Y.Row(i))
		for _, of := range strangers {
			if of == nil {
				break
			}
			row = fill(row, p.Y.Row(of[i]))
		}
	}
	return out
}

// fill writes values to the beginning of a row and returns its rest.
func fill(row []float32, values []float64) []float32 {
	for j, v := range values {
		row[j] = float32(v)
	}
	return row[len(values):]
}

// scale brings columns to mean 0 and deviation 1; constant ones to 0.
// Both are of the columns divided by a power of two.
type scale struct {
	mean, factor []float64
	binade       []int
}

func newScale(m array.Matrix[float64]) scale {
	columns := m.Transpose()
	s := scale{make([]float64, m.Cols), make([]float64, m.Cols), make([]int, m.Cols)}
	for j := range m.Cols {
		x := columns.Row(j)
		var largest float64
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		s.binade[j] = stats.Binade(largest)
		for i, v := range x {
			x[i] = s.near(j, v)
		}
		mean, sd := moments(x)
		s.mean[j], s.factor[j] = mean, 1
		if sd > 0 {
			s.factor[j] = 1 / sd
		}
	}
	return s
}

// moments are mean and deviation of x, which is sorted first, so that the order of
// the records does not count to the last bit.
func moments(x []float64) (mean, sd float64) {
	slices.Sort(x)
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var square float64
	for _, v := range x {
		square += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(square / float64(len(x)))
}

// near is a value of a column divided by its power of two.
func (s scale) near(j int, v float64) float64 {
	if s.binade[j] == 0 {
		return v
	}
	return math.Ldexp(v, -s.binade[j])
}

// apply changes the matrix.
func (s scale) apply(m array.Matrix[float64]) {
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			m.Row(i)[j] = (s.near(j, v) - s.mean[j]) * s.factor[j]
		}
	}
}
