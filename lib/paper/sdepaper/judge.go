package sdepaper

// The controlled protocol on retrained models.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
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
	// Disjoint is the number of disjoint subsets of this size that the forgotten images could
	// hold.
	Disjoint int `json:"disjoint"`
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

// judgedKey is the configuration of a run of verdicts in the store.
type judgedKey struct {
	Part       part    `json:"part"`
	Label      string  `json:"label"`
	Weights    string  `json:"weights"` // hashes of the judged models
	Fraction   float64 `json:"fraction"`
	Sizes      []int   `json:"sizes"`
	Subsets    int     `json:"subsets"`
	Draws      int     `json:"draws"`
	Trajectory []int   `json:"course"`
	Version    int     `json:"version"`
	Measure    int     `json:"measure"` // version of package verify/sde
	Forget     string  `json:"forget"`  // rows
}

// judgeVersion changes when the numbers of this file change, or the content of a part.
const judgeVersion = 3

// judgedPart is a part of the protocol on one retrained model.
type judgedPart struct {
	rows []Judged
	run  string  // its ID in the store
	loss float64 // of the training, in the epoch after which the paper judges
}

// judge returns a part of the protocol on the retrained model of a seed, from the store or
// computed.
func (d *labEnv) judge(ctx context.Context, s Study, p *prepared, fraction float64, seed int, which part) (*judgedPart, error) {
	c, err := d.openCase(ctx, s, p.Setting, fraction, seed)
	if err != nil {
		return nil, err
	}
	trained, err := c.TrainedModel(ctx, c.Oracle())
	if err != nil {
		return nil, err
	}
	job, what := judgedJob(s, p.Setting, fraction, seed, which), fmt.Sprintf("judging %s, R %g, seed %d: %s", p.Label, fraction, seed, which)
	key := d.judgedKey(s, c, p.Label, trained.Final, which)
	run, err := d.lab.Store.Do(ctx, key, func(ctx context.Context, w *store.Work) error {
		ctx, task := lab.StartJob(ctx, job, what)
		defer task.Done()
		rows, err := (&judgeRun{Study: s, p: p, trajectory: trained, fraction: fraction, seed: seed}).runPart(ctx, which)
		if err != nil {
			return err
		}
		return w.WriteJSON("judged.json", rows)
	})
	if err != nil {
		return nil, err
	}
	lab.ReportDone(ctx, job)
	out := &judgedPart{run: run.ID, loss: trained.History[p.epochAt(JudgedAt)-1].Loss}
	return out, run.JSON("judged.json", &out.rows)
}

// judgedKey is the key of the verdicts of a case's retrained model.
func (d *labEnv) judgedKey(s Study, c *lab.Case, label string, retrained nn.Params, which part) store.Key {
	config := judgedKey{which, label, retrained.Hash(), forgetFraction(c), s.Sizes, s.Subsets, s.Draws, s.Checkpoints, judgeVersion, sde.Version,
		lab.RowsKey(c.Forget)}
	key := d.lab.Key("evidence/sde", c.Problem, config, map[string]int64{"train": int64(c.Seed)})
	key.DependsOn = append(key.DependsOn, c.Goal)
	return key
}

// judgedJob is the name of a job of verdicts.
func judgedJob(s Study, of Setting, fraction float64, seed int, which part) string {
	return fmt.Sprintf("evidence/sde/%s/%s/%g/seed-%d/%s", s.Scale, of.Label, fraction, seed, which)
}

// judgeRun computes one part of the protocol.
type judgeRun struct {
	Study
	p          *prepared
	trajectory *lab.Trajectory
	fraction   float64
	seed       int
}

func (j *judgeRun) runPart(ctx context.Context, which part) ([]Judged, error) {
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

// weightsAt are the weights after some per cent of the training, 0: before it.
func (j *judgeRun) weightsAt(percent int) nn.Params {
	if percent == 0 {
		return j.p.untrained(j.seed)
	}
	return j.trajectory.AtEpoch[j.p.epochAt(percent)]
}

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
	return j.judgeAll(ctx, all)
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
	for _, layer := range j.p.layers() { // one at a time, because the first ones are large
		s, err := j.layerData(j.weightsAt(JudgedAt), layer)
		if err != nil {
			return nil, err
		}
		spec := judgeSpec{data: s, layer: layer, size: j.Sizes[len(j.Sizes)-1], percent: JudgedAt, bandwidth: j.p.bandwidth(layer)}
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
		row := Judged{Setting: j.p.Label, Fraction: j.fraction, Seed: j.seed, Percent: q.percent, Layer: q.layer, Size: q.size, Method: q.name,
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
