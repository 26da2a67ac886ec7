// Training and evaluation of critics on held-out pairs.

package information

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// Learning says how a critic is trained and evaluated. A random fifth of the pairs is held
// out. Of the others an eighth is the validation set, which chooses the epoch with the
// highest bound, and the rest is the training set. Columns are standardised by the training
// set, which does not change the mutual information.
//
// In training, a negative is the y of another training pair, drawn anew for every pair in
// every epoch. In evaluation, negatives come from permutations of the evaluated pairs, so
// that every y is a negative equally often and never for its own x.
type Learning struct {
	Hidden   []int   `json:"hidden,omitempty"`                // units of the critic's layers; nil: 64, 64
	Epochs   int     `json:"epochs,omitempty" default:"200"`  // at most
	Patience int     `json:"patience,omitempty" default:"20"` // epochs without a better bound that end it
	Batch    int     `json:"batch,omitempty" default:"256"`   // pairs per step
	LR       float64 `json:"lr,omitempty" default:"1e-3"`     // of Adam
}

// SetDefaults implements defaults.Setter.
func (l *Learning) SetDefaults() {
	l.Hidden = defaults.Fill(Critic{Hidden: l.Hidden}).Hidden
}

// bound is a lower bound that a critic is trained on.
type bound struct {
	loss          loss.Loss // minus the bound
	negatives     int       // per pair in training
	evalNegatives int       // per pair in evaluation, at most
	estimate      func(scores array.Matrix[float32], negatives [][]int) stats.Estimate
}

// learn trains a critic and evaluates it on held-out pairs.
func (l Learning) learn(ctx context.Context, e *engine.Engine, p Pairs, b bound, seed engine.Root) (*Reading, error) {
	l = defaults.Fill(l)
	critic := defaults.Fill(Normalised{Critic: Critic{X: p.X.Cols, Y: p.Y.Cols, Hidden: l.Hidden}})
	r, err := model.NewRunner(e, network{critic, b.negatives})
	if err != nil {
		return nil, err
	}
	s := newCriticData(p, b, seed)
	if s.evalRunner, err = model.NewRunner(e, network{critic, s.evalNegatives}); err != nil {
		return nil, err
	}
	plan := train.Plan{
		Passes: func(int) ([]train.Objective, error) { return []train.Objective{s.objective()}, nil },
		Validation: &train.Validation{Patience: l.Patience, Score: func(_ context.Context, w nn.Params, _ int) (float64, error) {
			found, err := s.evaluate(w, validationSet)
			return -found.Value, err
		}},
	}
	c := train.Config{Epochs: l.Epochs, Batch: l.Batch, Optimizer: nn.Adam{LR: l.LR}, Seed: seed}
	w, history, err := train.FitPlan(ctx, r, model.InitialWeights(r.Arch, seed.Stream(engine.StreamInit)), plan, c, train.Hooks{})
	if err != nil {
		return nil, err
	}
	found, err := s.evaluate(w, testSet)
	if err != nil {
		return nil, err
	}
	taught, err := s.evaluate(w, trainSet)
	if err != nil {
		return nil, err
	}
	out := newReading(found)
	out.Training, out.Epochs = &taught.Value, bestEpoch(history)
	return out, nil
}

// bestEpoch returns the epoch with the lowest value, the first among equals.
func bestEpoch(history []train.Epoch) int {
	at := 0
	for i, e := range history {
		if *e.Valid < *history[at].Valid {
			at = i
		}
	}
	return history[at].Epoch
}

// The sets that pairs are split into.
const (
	trainSet = iota
	validationSet
	testSet
)

// criticData is what a critic is trained and evaluated on.
type criticData struct {
	bound
	sets       [3]Pairs
	seed       engine.Root
	evalRunner *model.Runner // of the critic, with as many negatives as in evaluation
}

// minPairs returns the least number of pairs for this many negatives.
func minPairs(negatives int) int { return 10 * max(5, negatives+1) }

func newCriticData(p Pairs, b bound, seed engine.Root) *criticData {
	order := seed.Stream(engine.StreamPairs).Perm(p.X.Rows)
	out, few := len(order)/5, len(order)/10
	b.evalNegatives = min(b.evalNegatives, few-1)
	s := &criticData{bound: b, seed: seed}
	for k, rows := range [][]int{trainSet: order[out+few:], validationSet: order[out : out+few], testSet: order[:out]} {
		s.sets[k] = p.gather(rows)
	}
	x, y := newStandardizer(s.sets[trainSet].X), newStandardizer(s.sets[trainSet].Y)
	for _, set := range s.sets {
		x.apply(set.X)
		y.apply(set.Y)
	}
	return s
}

// objective returns the bound on the training pairs, with new negatives in every epoch.
func (s *criticData) objective() train.Objective {
	p := s.sets[trainSet]
	y := array.Convert[float32](p.Y)
	none := make([][]int, s.negatives)
	return train.Objective{{
		Name: "pairs", X: concatRecords(p, none), Targets: []train.Target{{Loss: s.loss, Weight: 1}},
		Augment: train.AugmentFunc(func(dst, src []float32, epoch, id int) error {
			own := copy(dst, src) - s.negatives*y.Cols
			rng := s.seed.Stream(engine.StreamNegatives, 0, uint64(epoch), uint64(id))
			for k := range s.negatives {
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

// evaluate returns the bound of a critic with weights w on a set.
func (s *criticData) evaluate(w nn.Params, set int) (stats.Estimate, error) {
	none, p := stats.Estimate{Value: math.NaN()}, s.sets[set]
	negatives := drawNegatives(s.seed.Stream(engine.StreamNegatives, 1, uint64(set)), p.X.Rows, s.evalNegatives)
	found, err := s.evalRunner.Predict(w, concatRecords(p, negatives))
	if err != nil {
		return none, err
	}
	scores := found.Outputs[loss.PairScores]
	if err := scores.Check("scores"); err != nil {
		return none, fmt.Errorf("the critic's %w", err)
	}
	return s.estimate(scores, negatives), nil
}

// drawNegatives returns negatives for n pairs: negatives[k] is a permutation without fixed
// points, and no pair gets the same negative twice.
func drawNegatives(rng *rand.Rand, n, negatives int) [][]int {
	order, out := rng.Perm(n), make([][]int, negatives)
	for k := range out {
		out[k] = make([]int, n)
		for i, row := range order {
			out[k][row] = order[(i+k+1)%n]
		}
	}
	return out
}

// concatRecords returns the network's records: x, y and the y of the negatives, where these
// are known already.
func concatRecords(p Pairs, negatives [][]int) array.Matrix[float32] {
	out := array.New[float32](p.X.Rows, p.X.Cols+(1+len(negatives))*p.Y.Cols)
	for i := range out.Rows {
		row := appendValues(appendValues(out.Row(i), p.X.Row(i)), p.Y.Row(i))
		for _, of := range negatives {
			if of == nil {
				break
			}
			row = appendValues(row, p.Y.Row(of[i]))
		}
	}
	return out
}

// appendValues writes values to the beginning of row and returns the rest of row.
func appendValues(row []float32, values []float64) []float32 {
	for j, v := range values {
		row[j] = float32(v)
	}
	return row[len(values):]
}

// standardizer scales columns to mean 0 and standard deviation 1, constant ones to 0. Mean
// and factor are those of the columns divided by a power of two.
type standardizer struct {
	mean, factor []float64
	binade       []int
}

func newStandardizer(m array.Matrix[float64]) standardizer {
	columns := m.Transpose()
	s := standardizer{make([]float64, m.Cols), make([]float64, m.Cols), make([]int, m.Cols)}
	for j := range m.Cols {
		x := columns.Row(j)
		var largest float64
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		s.binade[j] = stats.Binade(largest)
		for i, v := range x {
			x[i] = s.downscale(j, v)
		}
		mean, sd := moments(x)
		s.mean[j], s.factor[j] = mean, 1
		if sd > 0 {
			s.factor[j] = 1 / sd
		}
	}
	return s
}

// moments returns the mean and the standard deviation of x. It sorts x first, so that the
// order of the records does not matter to the last bit.
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

// downscale returns a value of column j divided by the column's power of two.
func (s standardizer) downscale(j int, v float64) float64 {
	if s.binade[j] == 0 {
		return v
	}
	return math.Ldexp(v, -s.binade[j])
}

// apply standardises the matrix in place.
func (s standardizer) apply(m array.Matrix[float64]) {
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			m.Row(i)[j] = (s.downscale(j, v) - s.mean[j]) * s.factor[j]
		}
	}
}
