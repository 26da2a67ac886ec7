package sdepaper

// The controlled protocol on retrained models.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Judged is the outcome of the controlled protocol (section 4.1) on one model: subsets of the
// training images and of forgotten images, which a retrained model never saw, are judged in or
// out.
type Judged struct {
	Setting   string  `json:"setting"`
	Fraction  float64 `json:"fraction"` // R
	Seed      int     `json:"seed"`
	Percent   int     `json:"course"` // per cent of the epochs, 0: not trained
	Layer     string  `json:"layer"`
	Size      int     `json:"size"`   // |S|
	Method    string  `json:"method"` // of sde.Methods, or a control
	Bandwidth string  `json:"bandwidth"`
	Sigma     float64 `json:"sigma"`

	// Draws are the verdicts of each draw of references and subsets.
	Draws []Draw `json:"draws"`
	// Disjoint is the number of disjoint subsets of this size that the images in the subsets out of training could
	// form, of the last draw; at most as many as the forgotten images hold.
	Disjoint int `json:"disjoint"`
	// Training is that of the judged model, in the verdicts of part main; nil in the others.
	Training *Training `json:"training"`
}

// Controls of table 3, in addition to sde.Methods.
const (
	Untrained = "untrained network"
	HeldOut   = "two held-out halves"
)

// scaledName names the control whose in-training class is held-out activations scaled by some
// per cent.
func scaledName(percent float64) string { return fmt.Sprintf("held out, scaled %g %%", percent) }

// scales are the per cents of the rescaled control.
func scales() []float64 { return []float64{2, 5, 10} }

// part names the part of the protocol that one run of the store holds.
type part string

const (
	partMain       part = "main"   // tables 1 and 3, figure 3: layer hp late in training, every method
	partTrajectory part = "course" // tables 2 and 7: hp during the training, SDE
	partLayers     part = "layers" // figure 4: every layer, SDE
	partSpread     part = "spread" // tables 1 and 3: hp late in training, with spread-matched sets
	partSweep      part = "sweep"  // figure 3: hp late in training, kernels of many bandwidths
)

// judgedKey is the configuration of a part's verdicts in the store.
type judgedKey struct {
	Part       part     `json:"part"`
	Model      modelKey `json:"model"`
	Sizes      []int    `json:"sizes"`
	Subsets    int      `json:"subsets"`
	Draws      int      `json:"draws"`
	Trajectory []int    `json:"course"`
	Version    int      `json:"version"`
	Measure    int      `json:"measure"` // version of package verify/sde
}

// judgeVersion changes when the numbers of this file change, or the content of a part.
const judgeVersion = 4

// judgedBy measures parts of the protocol on the retrained model of a cell.
func judgedBy(parts ...part) measurementsOf[Judged] {
	return func(e *paper.Env, k cell) (out []paper.Measurement[Judged]) {
		for _, which := range parts {
			id, about := fmt.Sprintf("sde/%s/%s", k.name(), which), fmt.Sprintf("judging %s: %s", k.about(), which)
			m := measurement[Judged](k, id, about, unlearn.Retrain{})
			m.Key = func(c *lab.Case) store.Key { return k.judgedKey(e.Lab(), c, which) }
			m.Measure = func(ctx context.Context, c *lab.Case) ([]Judged, error) { return k.judge(ctx, c, which) }
			out = append(out, m)
		}
		return out
	}
}

// judgedKey is the key of a part's verdicts.
func (k cell) judgedKey(l *lab.Lab, c *lab.Case, which part) store.Key {
	return l.Key("evidence/sde", c.Problem, judgedKey{
		which, k.modelKey(c), k.Sizes, k.Subsets, k.Draws, k.Checkpoints, judgeVersion, sde.Version,
	}, map[string]int64{"train": int64(c.Seed)})
}

// judge computes a part of the protocol on the retrained model.
func (k cell) judge(ctx context.Context, c *lab.Case, which part) ([]Judged, error) {
	trained, err := c.TrainedModel(ctx, c.Oracle())
	if err != nil {
		return nil, err
	}
	return (&judgeRun{k, c, trained}).part(ctx, which)
}

// judgeRun judges the models of a cell.
type judgeRun struct {
	cell
	c          *lab.Case
	trajectory *lab.Trajectory // of the retraining; nil where only given weights are judged
}

func (j *judgeRun) part(ctx context.Context, which part) ([]Judged, error) {
	switch which {
	case partMain:
		return j.main(ctx)
	case partTrajectory:
		return j.judgeTrajectory(ctx)
	case partSpread:
		return j.spread(ctx)
	case partSweep:
		return j.sweep(ctx)
	}
	return j.everyLayer(ctx)
}

// weightsAt are the weights after some per cent of the training, 0: before it, 100: at its end.
func (j *judgeRun) weightsAt(percent int) nn.Params {
	switch percent {
	case 0:
		return j.untrained()
	case 100:
		return j.trajectory.Final
	}
	return j.trajectory.AtEpoch[j.epochAt(percent)]
}

// untrained are the initial weights of the cell's training.
func (j *judgeRun) untrained() nn.Params { return j.c.Problem.InitialWeights(engine.Root(j.c.Seed)) }

// main judges layer hp late in training.
func (j *judgeRun) main(ctx context.Context) ([]Judged, error) {
	late, err := j.layerData(j.weightsAt(JudgedAt), "hp")
	if err != nil {
		return nil, err
	}
	random, err := j.layerData(j.weightsAt(0), "hp")
	if err != nil {
		return nil, err
	}
	var all []judgeSpec
	for _, size := range j.Sizes {
		spec := judgeSpec{data: late, layer: "hp", size: size, percent: JudgedAt}
		for _, m := range sde.Methods() {
			all = append(all, spec.withMethod(m))
		}
		all = append(all, spec.onModel(random, 0, Untrained))
		for _, percent := range append([]float64{0}, scales()...) {
			all = append(all, spec.onHeldOut(percent))
		}
	}
	rows, err := j.judgeAll(ctx, all)
	if err != nil {
		return nil, err
	}
	training, err := j.training()
	for i := range rows {
		rows[i].Training = training
	}
	return rows, err
}

// spread judges hp late in training with spread-matched sets.
func (j *judgeRun) spread(ctx context.Context) ([]Judged, error) {
	late, err := j.layerData(j.weightsAt(JudgedAt), "hp")
	if err != nil {
		return nil, err
	}
	var all []judgeSpec
	for _, size := range j.Sizes {
		all = append(all, judgeSpec{data: late, layer: "hp", size: size, percent: JudgedAt}.withMethod(sde.SpreadMatched{}))
	}
	return j.judgeAll(ctx, all)
}

// sweep judges hp late in training, in sets of the last size, with kernels of many bandwidths:
// by SDE and by the spread alone.
func (j *judgeRun) sweep(ctx context.Context) ([]Judged, error) {
	late, err := j.layerData(j.weightsAt(JudgedAt), "hp")
	if err != nil {
		return nil, err
	}
	bandwidths, err := sweepBandwidths(late.train)
	if err != nil {
		return nil, err
	}
	spec := judgeSpec{data: late, layer: "hp", size: j.Sizes[len(j.Sizes)-1], percent: JudgedAt}
	var all []judgeSpec
	for _, sigma := range bandwidths {
		spec.bandwidth = sde.Fixed(sigma)
		all = append(all, spec.withMethod(sde.SDE{}), spec.withMethod(sde.SpreadOnly{}))
	}
	return j.judgeAll(ctx, all)
}

func (j *judgeRun) judgeTrajectory(ctx context.Context) ([]Judged, error) {
	var all []judgeSpec
	for _, percent := range j.Checkpoints {
		s, err := j.layerData(j.weightsAt(percent), "hp")
		if err != nil {
			return nil, err
		}
		for _, size := range j.Sizes {
			spec := judgeSpec{data: s, layer: "hp", size: size, percent: percent}
			all = append(all, spec.withMethod(sde.SDE{}), spec.withMethod(sde.SpreadOnly{}))
		}
	}
	return j.judgeAll(ctx, all)
}

func (j *judgeRun) everyLayer(ctx context.Context) ([]Judged, error) {
	var out []Judged
	for _, layer := range j.layers() { // one at a time, because the first ones are large
		s, err := j.layerData(j.weightsAt(JudgedAt), layer)
		if err != nil {
			return nil, err
		}
		spec := judgeSpec{data: s, layer: layer, size: j.Sizes[len(j.Sizes)-1], percent: JudgedAt, bandwidth: j.bandwidth(layer)}
		rows, err := j.judgeAll(ctx, []judgeSpec{spec.withMethod(sde.SDE{}), spec.withMethod(sde.SpreadOnly{})})
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// judgeSpec specifies one row of verdicts.
type judgeSpec struct {
	data      *layerData
	method    sde.Method
	name      string // of the method, or of a control
	layer     string
	size      int
	percent   int
	bandwidth sde.Bandwidth
	// scaled is set for two held-out halves, the first of which is scaled by that many per cent.
	scaled *float64
}

func (q judgeSpec) withMethod(m sde.Method) judgeSpec {
	q.method, q.name = m, m.Name()
	return q
}

// onModel judges another model by SDE, as a control.
func (q judgeSpec) onModel(s *layerData, percent int, name string) judgeSpec {
	q.data, q.percent, q.method, q.name = s, percent, sde.SDE{}, name
	return q
}

func (q judgeSpec) onHeldOut(percent float64) judgeSpec {
	q.method, q.name, q.scaled = sde.SDE{}, HeldOut, &percent
	if percent != 0 {
		q.name = scaledName(percent)
	}
	return q
}

// judgeAll judges every row, draw by draw.
func (j *judgeRun) judgeAll(ctx context.Context, all []judgeSpec) ([]Judged, error) {
	var out []Judged
	for _, q := range all {
		row := Judged{Setting: j.Label, Fraction: j.fraction, Seed: j.seed, Percent: q.percent, Layer: q.layer, Size: q.size, Method: q.name,
			Bandwidth: q.bandwidth.String()}
		for draw := range j.Draws {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := j.addDraw(&row, q, draw); err != nil {
				return nil, fmt.Errorf("%s, |S| %d, layer %s, draw %d: %w", q.name, q.size, q.layer, draw, err)
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// addDraw judges one draw and adds the verdicts to the row.
func (j *judgeRun) addDraw(row *Judged, q judgeSpec, draw int) error {
	c, err := j.setsFor(q, draw)
	if err != nil {
		return err
	}
	r, err := sde.Controlled(q.method, c.targets, c.references, sde.Options{Bandwidth: q.bandwidth, Seed: uint64(j.drawSeed(draw))})
	if err != nil {
		return err
	}
	if row.Sigma, err = q.bandwidth.Resolve(c.references.In, c.references.Out); err != nil {
		return err
	}
	row.Disjoint = r.Outside.Disjoint
	row.Draws = append(row.Draws, drawOf(r))
	return nil
}

func (j *judgeRun) setsFor(q judgeSpec, draw int) (judgeSets, error) {
	if q.scaled != nil {
		return j.drawHeldOutSets(q.data, q.size, 1+*q.scaled/100, draw)
	}
	return j.drawSets(q.data, q.size, draw)
}

// sweepPoints is the number of bandwidths of figure 3 here; the paper takes 20.
const sweepPoints = 12

// sweepBandwidths are the bandwidths of figure 3: evenly spaced from 1 to the larger of
// sqrt(dim) and the median distance of the training activations.
func sweepBandwidths(m sde.Matrix) ([]float64, error) {
	few := m.Gather(firstRows(min(m.Rows, 500)))
	median, err := sde.MedianDistance().Resolve(&few)
	if err != nil {
		return nil, err
	}
	root, err := sde.SqrtDim().Resolve(&few)
	if err != nil {
		return nil, err
	}
	top := max(median, root)
	out := make([]float64, sweepPoints)
	for i := range out {
		out[i] = 1 + (max(top, 1.1)-1)*float64(i)/float64(sweepPoints-1)
	}
	return out, nil
}

func firstRows(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
