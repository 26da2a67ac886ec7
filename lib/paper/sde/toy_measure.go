package sde

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

// ToySnapshot is one network at one epoch.
type ToySnapshot struct {
	Seed     int        `json:"seed"`
	Epoch    int        `json:"epoch"`
	Fixed    bool       `json:"fixed"`    // trained with fixed batches
	Accuracy float64    `json:"accuracy"` // on the training data
	Flipped  float64    `json:"flipped"`  // share of the flipped labels that it says
	Layers   []ToyLayer `json:"layers"`
}

// ToyLayer is what was measured on one layer.
type ToyLayer struct {
	Name      string        `json:"name"`
	Contrasts []ToyContrast `json:"contrasts"`
	// Dealt is the mean over batches of the exact H, for each random deal of the
	// records of the measured batches into batches.
	Dealt []float64 `json:"dealt"`
}

// ToyContrast compares sets A with sets B, one pair per batch.
type ToyContrast struct {
	Name string   `json:"name"`
	A    []ToySet `json:"a"`
	B    []ToySet `json:"b"`
	// Higher and Lower are the paper's test, one p per pair: Mann-Whitney on the
	// permutations of one pair, one-sided, A above B and A below B.
	Higher []float64 `json:"higher"`
	Lower  []float64 `json:"lower"`
	// Draws are the permutations of the first pair.
	Draws [2][]float64 `json:"draws"`
}

// ToySet is the split-half statistic of one set; see sde.Distribution.
type ToySet struct {
	Mean     float64    `json:"mean"`
	Exact    float64    `json:"exact"`
	SD       float64    `json:"sd"` // exact, of the permutations
	Identity float64    `json:"identity"`
	Spread   [2]float64 `json:"spread"`
}

// The contrasts of a layer, by name: a batch against a set across, two sets
// across, and the two that are planted after the last epoch of fixed batches.
const (
	ToySame    = "same - across"
	ToyNull    = "across - across"
	ToyScaled  = "same, scaled by 5 % - across"
	ToyShifted = "same - across, with a shift shared by each batch"
)

// The layers, by name in the report.
var toyLayers = []string{"hidden activations", "logits"}

// The numbers of the random streams below "toy".
const (
	toyStreamAcross = iota // and the one after it
	toyStreamAcross2
	toyStreamOrders
	toyStreamDeal
	toyStreamShift
)

func toyStream(seed int) func(parts ...uint64) *rand.Rand {
	return func(parts ...uint64) *rand.Rand { return engine.Root(seed).Stream("toy", parts...) }
}

// toyEvidence identifies a measurement in the store.
type toyEvidence struct {
	Training toyFit `json:"training"`
	Epoch    int    `json:"epoch"`
	Batches  int    `json:"batches"`
	Deals    int    `json:"deals"`
}

// evidence returns what was measured at an epoch, and the run that holds it.
func (r *toyRun) evidence(ctx context.Context, p toyPart, epoch int, trained *store.Run) (*ToySnapshot, string, error) {
	key := r.key("evidence/toy", p, toyEvidence{r.fit(p), epoch, r.Batches, r.Deals})
	run, err := r.store.Do(ctx, key, func(ctx context.Context, w *store.Work) error {
		s, err := r.measure(ctx, p, epoch, trained)
		if err != nil {
			return err
		}
		return w.WriteJSON("snapshot.json", s)
	})
	if err != nil {
		return nil, "", err
	}
	var s ToySnapshot
	return &s, run.ID, run.JSON("snapshot.json", &s)
}

func (r *toyRun) measure(ctx context.Context, p toyPart, epoch int, trained *store.Run) (*ToySnapshot, error) {
	weights, err := r.weights(trained, epoch)
	if err != nil {
		return nil, err
	}
	pred, err := r.runner.Predict(weights, r.x)
	if err != nil {
		return nil, err
	}
	s := &ToySnapshot{Seed: p.seed, Epoch: epoch, Fixed: p.order == train.Fixed, Accuracy: train.Accuracy(pred.Logits, r.table.Y)}
	flipped := r.table.Planted["flipped"]
	labels := make([]int, len(flipped))
	for i, row := range flipped {
		labels[i] = r.table.Y[row]
	}
	s.Flipped = train.Accuracy(pred.Logits.Gather(flipped), labels)
	sets, err := r.draw(p)
	if err != nil {
		return nil, err
	}
	for i, layer := range []array.Matrix[float32]{pred.Embedding, pred.Logits} {
		l := toyLens{ctx: ctx, act: array.Convert[float64](layer), sets: sets, layer: uint64(i), epoch: uint64(epoch), stream: toyStream(p.seed)}
		found, err := l.look(r.Deals, s.Fixed && epoch == r.last())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", toyLayers[i], err)
		}
		found.Name = toyLayers[i]
		s.Layers = append(s.Layers, *found)
	}
	return s, nil
}

// toySets are the rows of the sets: one of each kind per measured batch.
type toySets struct {
	all                   [][]int // every full batch
	same, across, across2 [][]int
}

// draw draws the sets of a seed; they are the same at every epoch.
func (r *toyRun) draw(p toyPart) (*toySets, error) {
	batches, err := r.config(toyPart{p.seed, train.Fixed}).Membership(0, r.x.Rows)
	if err != nil {
		return nil, err
	}
	return toyDraw(batches[:r.x.Rows/r.Batch], r.Batches, toyStream(p.seed))
}

// toyDraw takes the first n batches, and for each two sets of as many records,
// all from different batches.
func toyDraw(full [][]int, n int, stream func(...uint64) *rand.Rand) (*toySets, error) {
	size := len(full[0])
	if len(full) < size {
		return nil, fmt.Errorf("toy: %d full batches are not enough to take %d records from different ones", len(full), size)
	}
	s := &toySets{all: full, same: full[:n]}
	for k := range n {
		s.across = append(s.across, toyAcross(full, stream(toyStreamAcross, uint64(k))))
		s.across2 = append(s.across2, toyAcross(full, stream(toyStreamAcross2, uint64(k))))
	}
	return s, nil
}

func toyAcross(full [][]int, rng *rand.Rand) []int {
	var out []int
	for _, b := range rng.Perm(len(full))[:len(full[0])] {
		out = append(out, full[b][rng.IntN(len(full[b]))])
	}
	return out
}

// toyLens measures one layer of one network.
type toyLens struct {
	ctx          context.Context
	act          sde.Matrix
	sets         *toySets
	layer, epoch uint64
	stream       func(...uint64) *rand.Rand
}

// look measures the contrasts; planted adds those with a known answer.
func (l *toyLens) look(deals int, planted bool) (*ToyLayer, error) {
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
	out := &ToyLayer{}
	if err := out.add(ToySame, same, across); err != nil {
		return nil, err
	}
	if err := out.add(ToyNull, across2, across); err != nil {
		return nil, err
	}
	if planted {
		if err := l.plant(out, across); err != nil {
			return nil, err
		}
	}
	out.Dealt, err = l.deal(deals)
	return out, err
}

// plant adds two contrasts whose answer is known: activations of the batches
// scaled by 5 %, and a random shift that all records of a batch share, with a
// quarter of the variance of the activations, so that records of one batch are
// dependent and records of different batches are not.
func (l *toyLens) plant(out *ToyLayer, across []*sde.Distribution) error {
	scaled := array.New[float64](l.act.Rows, l.act.Cols)
	for i, v := range l.act.Data {
		scaled.Data[i] = 1.05 * v
	}
	a, err := l.distributions(&scaled, l.sets.same, 0)
	if err != nil {
		return err
	}
	if err := out.add(ToyScaled, a, across); err != nil {
		return err
	}
	shifted := toyShift(l.act, l.sets.all, l.stream(toyStreamShift, l.layer))
	if a, err = l.distributions(&shifted, l.sets.same, 0); err != nil {
		return err
	}
	b, err := l.distributions(&shifted, l.sets.across, 1)
	if err != nil {
		return err
	}
	return out.add(ToyShifted, a, b)
}

// toyShift adds to the records of each batch one normal vector whose entries
// have half the standard deviation of an activation.
func toyShift(act sde.Matrix, batches [][]int, rng *rand.Rand) sde.Matrix {
	out := array.New[float64](act.Rows, act.Cols)
	copy(out.Data, act.Data)
	sd := 0.5 * toySD(act)
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

// toySD is the root of the mean variance of the columns.
func toySD(act sde.Matrix) float64 {
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
func (l *toyLens) distributions(act *sde.Matrix, sets [][]int, kind uint64) ([]*sde.Distribution, error) {
	out := make([]*sde.Distribution, len(sets))
	for k, rows := range sets {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		part := act.Gather(rows)
		var err error
		if out[k], err = sde.SplitHalf(&part, sde.Options{}, l.stream(toyStreamOrders, l.epoch, l.layer, kind, uint64(k))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *ToyLayer) add(name string, a, b []*sde.Distribution) error {
	c := ToyContrast{Name: name, Draws: [2][]float64{a[0].Values, b[0].Values}}
	for k := range a {
		higher, err := stats.MannWhitneyGreater(a[k].Values, b[k].Values)
		if err != nil {
			return err
		}
		lower, err := stats.MannWhitneyGreater(b[k].Values, a[k].Values)
		if err != nil {
			return err
		}
		c.A, c.B = append(c.A, toySetOf(a[k])), append(c.B, toySetOf(b[k]))
		c.Higher, c.Lower = append(c.Higher, higher.P), append(c.Lower, lower.P)
	}
	l.Contrasts = append(l.Contrasts, c)
	return nil
}

func toySetOf(d *sde.Distribution) ToySet {
	return ToySet{Mean: d.Mean, Exact: d.ExactMean, SD: d.ExactSD, Identity: d.Identity, Spread: d.Spread}
}
