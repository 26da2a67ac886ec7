package toy

// Measuring of H in sets of records.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Snapshot is one network at one epoch.
type Snapshot struct {
	Seed     int     `json:"seed"`
	Epoch    int     `json:"epoch"`
	Fixed    bool    `json:"fixed"`    // trained with fixed batches
	Accuracy float64 `json:"accuracy"` // on the training data
	Flipped  float64 `json:"flipped"`  // share of the flipped labels that it predicts
	Layers   []Layer `json:"layers"`
}

// Layer is the measurement of one layer.
type Layer struct {
	Name      string     `json:"name"`
	Contrasts []Contrast `json:"contrasts"`
	// Permuted is the mean over batches of the exact H, for each random permutation of the
	// records of the measured batches.
	Permuted []float64 `json:"dealt"`
}

// Contrast compares sets A with sets B, one pair per batch.
type Contrast struct {
	Name string `json:"name"`
	A    []Set  `json:"a"`
	B    []Set  `json:"b"`
	// Higher and Lower are the p-values of the paper's test, one per pair: Mann-Whitney on the
	// permutations of one pair, one-sided, A above B and A below B.
	Higher []float64 `json:"higher"`
	Lower  []float64 `json:"lower"`
	// Draws are the permutations of the first pair.
	Draws [2][]float64 `json:"draws"`
}

// Set is the split-half statistic of one set; see sde.Distribution.
type Set struct {
	Mean     float64    `json:"mean"`
	Exact    float64    `json:"exact"`
	SD       float64    `json:"sd"` // exact, of the permutations
	Identity float64    `json:"identity"`
	Spread   [2]float64 `json:"spread"`
}

// The contrasts of a layer, by name: a batch against a set across, two sets across, and the two
// planted ones after the last epoch with fixed batches.
const (
	Same    = "same - across"
	Null    = "across - across"
	Scaled  = "same, scaled by 5 % - across"
	Shifted = "same - across, with a shift shared by each batch"
)

// The layers, by name in the report.
var layers = []string{"hidden activations", "logits"}

// The random draws: the first part of engine.StreamToy.
const (
	streamAcross = iota // and the one after it
	streamAcross2
	streamOrders
	streamPermutation
	streamShift
)

func stream(seed int) func(parts ...uint64) *rand.Rand {
	return func(parts ...uint64) *rand.Rand { return engine.Root(seed).Stream(engine.StreamToy, parts...) }
}

// evidence is the configuration of a measurement in the store.
type evidence struct {
	Training     fit `json:"training"`
	Epoch        int `json:"epoch"`
	Batches      int `json:"batches"`
	Permutations int `json:"deals"`
	Measure      int `json:"measure"` // version of package verify/sde
}

func (r *experiment) evidenceKey(p part, epoch int) store.Key {
	return r.key("evidence/toy", p, evidence{r.fit(p), epoch, r.Batches, r.Permutations, sde.Version})
}

// evidence returns the measurement of an epoch, and the run that holds it.
func (r *experiment) evidence(ctx context.Context, p part, epoch int, trained *store.Run) (*Snapshot, string, error) {
	run, err := r.store.Do(ctx, r.evidenceKey(p, epoch), func(ctx context.Context, w *store.Work) error {
		s, err := r.measure(ctx, p, epoch, trained)
		if err != nil {
			return err
		}
		return w.WriteJSON("snapshot.json", s)
	})
	if err != nil {
		return nil, "", err
	}
	var s Snapshot
	return &s, run.ID, run.JSON("snapshot.json", &s)
}

func (r *experiment) measure(ctx context.Context, p part, epoch int, trained *store.Run) (*Snapshot, error) {
	weights, err := r.weights(trained, epoch)
	if err != nil {
		return nil, err
	}
	pred, err := r.runner.Predict(weights, r.x)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Seed: p.seed, Epoch: epoch, Fixed: p.order == train.Fixed, Accuracy: train.Accuracy(pred.Logits(), r.table.Y)}
	flipped := r.table.Planted["flipped"]
	labels := make([]int, len(flipped))
	for i, row := range flipped {
		labels[i] = r.table.Y[row]
	}
	s.Flipped = train.Accuracy(pred.Logits().Gather(flipped), labels)
	sets, err := r.draw(p)
	if err != nil {
		return nil, err
	}
	for i, layer := range []array.Matrix[float32]{pred.Embedding, pred.Logits()} {
		l := layerProbe{ctx: ctx, act: array.Convert[float64](layer), sets: sets, layer: uint64(i), epoch: uint64(epoch), stream: stream(p.seed)}
		found, err := l.measure(r.Permutations, s.Fixed && epoch == r.last())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", layers[i], err)
		}
		found.Name = layers[i]
		s.Layers = append(s.Layers, *found)
	}
	return s, nil
}

// sets are the rows of the sets: one of each kind per measured batch.
type sets struct {
	all                   [][]int // every full batch
	same, across, across2 [][]int
}

// draw draws the sets of a seed; they are the same at every epoch.
func (r *experiment) draw(p part) (*sets, error) {
	batches, err := r.config(part{p.seed, train.Fixed}).Membership(0, r.x.Rows)
	if err != nil {
		return nil, err
	}
	return draw(batches[:r.x.Rows/r.Batch], r.Batches, stream(p.seed))
}

// draw takes the first n batches, and for each two sets of as many records,
// all from different batches.
func draw(full [][]int, n int, stream func(...uint64) *rand.Rand) (*sets, error) {
	size := len(full[0])
	if len(full) < size {
		return nil, fmt.Errorf("toy: %d full batches are not enough to take %d records from different ones", len(full), size)
	}
	s := &sets{all: full, same: full[:n]}
	for k := range n {
		s.across = append(s.across, acrossBatches(full, stream(streamAcross, uint64(k))))
		s.across2 = append(s.across2, acrossBatches(full, stream(streamAcross2, uint64(k))))
	}
	return s, nil
}

func acrossBatches(full [][]int, rng *rand.Rand) []int {
	var out []int
	for _, b := range rng.Perm(len(full))[:len(full[0])] {
		out = append(out, full[b][rng.IntN(len(full[b]))])
	}
	return out
}

// layerProbe measures one layer of one network.
type layerProbe struct {
	ctx          context.Context
	act          sde.Matrix
	sets         *sets
	layer, epoch uint64
	stream       func(...uint64) *rand.Rand
}

// measure measures the contrasts; planted adds those with a known answer.
func (l *layerProbe) measure(permutations int, planted bool) (*Layer, error) {
	same, err := l.distributions(&l.act, l.sets.same, 0)
	if err != nil {
		return nil, err
	}
	across, err := l.distributions(&l.act, l.sets.across, 1)
	if err != nil {
		return nil, err
	}
	across2, err := l.distributions(&l.act, l.sets.across2, 2)
	if err != nil {
		return nil, err
	}
	out := &Layer{}
	if err := out.add(Same, same, across); err != nil {
		return nil, err
	}
	if err := out.add(Null, across2, across); err != nil {
		return nil, err
	}
	if planted {
		if err := l.addPlanted(out, across); err != nil {
			return nil, err
		}
	}
	out.Permuted, err = l.permutedMeans(permutations)
	return out, err
}

// addPlanted adds two contrasts with a known answer: activations of the batches scaled by 5 %,
// and a random shift shared by all records of a batch, with a quarter of the variance of the
// activations, which makes records of one batch dependent and leaves records of different
// batches independent.
func (l *layerProbe) addPlanted(out *Layer, across []*sde.Distribution) error {
	scaled := array.New[float64](l.act.Rows, l.act.Cols)
	for i, v := range l.act.Data {
		scaled.Data[i] = 1.05 * v
	}
	a, err := l.distributions(&scaled, l.sets.same, 0)
	if err != nil {
		return err
	}
	if err := out.add(Scaled, a, across); err != nil {
		return err
	}
	shifted := shiftBatches(l.act, l.sets.all, l.stream(streamShift, l.layer))
	if a, err = l.distributions(&shifted, l.sets.same, 0); err != nil {
		return err
	}
	b, err := l.distributions(&shifted, l.sets.across, 1)
	if err != nil {
		return err
	}
	return out.add(Shifted, a, b)
}

// shiftBatches adds to the records of each batch one normal vector whose entries
// have half the standard deviation of an activation.
func shiftBatches(act sde.Matrix, batches [][]int, rng *rand.Rand) sde.Matrix {
	out := array.New[float64](act.Rows, act.Cols)
	copy(out.Data, act.Data)
	sd := 0.5 * deviation(act)
	for _, b := range batches {
		shift := make([]float64, act.Cols)
		for j := range shift {
			shift[j] = sd * rng.NormFloat64()
		}
		for _, i := range b {
			for j, v := range shift {
				out.Row(i)[j] += v
			}
		}
	}
	return out
}

// deviation is the root of the mean variance of the columns.
func deviation(act sde.Matrix) float64 {
	var total float64
	for j := range act.Cols {
		var sum, squares float64
		for i := range act.Rows {
			v := act.Row(i)[j]
			sum, squares = sum+v, squares+float64(v*v)
		}
		mean := sum / float64(act.Rows)
		total += squares/float64(act.Rows) - float64(mean*mean)
	}
	return math.Sqrt(max(0, total) / float64(act.Cols))
}

// distributions are the split-half statistics of sets of rows, under the paper's
// options.
func (l *layerProbe) distributions(act *sde.Matrix, sets [][]int, kind uint64) ([]*sde.Distribution, error) {
	out := make([]*sde.Distribution, len(sets))
	for k, rows := range sets {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		part := act.Gather(rows)
		var err error
		if out[k], err = sde.SplitHalf(&part, sde.Options{}, l.stream(streamOrders, l.epoch, l.layer, kind, uint64(k))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Layer) add(name string, a, b []*sde.Distribution) error {
	c := Contrast{Name: name, Draws: [2][]float64{a[0].Values, b[0].Values}}
	for k := range a {
		higher, err := stats.MannWhitneyGreater(a[k].Values, b[k].Values)
		if err != nil {
			return err
		}
		lower, err := stats.MannWhitneyGreater(b[k].Values, a[k].Values)
		if err != nil {
			return err
		}
		c.A, c.B = append(c.A, newSet(a[k])), append(c.B, newSet(b[k]))
		c.Higher, c.Lower = append(c.Higher, higher.P), append(c.Lower, lower.P)
	}
	l.Contrasts = append(l.Contrasts, c)
	return nil
}

func newSet(d *sde.Distribution) Set {
	return Set{Mean: d.Mean, Exact: d.ExactMean, SD: d.ExactSD, Identity: d.Identity, Spread: d.Spread}
}
