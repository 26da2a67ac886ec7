package sdepaper

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Judged is the outcome of the controlled protocol (section 4.1) on one model:
// subsets of the training images and subsets of forgotten ones, which a
// retrained model never saw, are judged in or out.
type Judged struct {
	Setting   string  `json:"setting"`
	Fraction  float64 `json:"fraction"` // R
	Seed      int     `json:"seed"`
	Course    int     `json:"course"` // per cent of the epochs, 0: not trained
	Layer     string  `json:"layer"`
	Size      int     `json:"size"`   // |S|
	Method    string  `json:"method"` // of sde.Methods, or a control
	Bandwidth string  `json:"bandwidth"`
	Sigma     float64 `json:"sigma,omitempty"`

	F1       stats.Estimate `json:"f1"` // over subsets
	Accuracy stats.Estimate `json:"accuracy"`
	MacroF1  stats.Estimate `json:"macro_f1"`
	// Valid tells whether the references passed the Mann-Whitney gate, GateP its p;
	// methods without a gate are valid.
	Valid bool    `json:"valid"`
	GateP float64 `json:"gate_p"`
	// Disjoint is how many subsets of this size the forgotten images could hold
	// side by side.
	Disjoint int `json:"disjoint"`
}

// Controls of table 3, beside the methods of sde.Methods.
const (
	Untrained = "untrained network"
	HeldOut   = "two held-out halves"
)

// scaled names the control whose in-training class is held-out activations,
// scaled by some per cent.
func scaled(percent float64) string { return fmt.Sprintf("held out, scaled %g %%", percent) }

// scales are the per cents of the rescaled control.
func scales() []float64 { return []float64{2, 5, 10} }

// part names what of a model is judged in one run of the store.
type part string

const (
	partMain   part = "main"   // table 1, 3 and figure 3: hp late in training, every method
	partCourse part = "course" // table 2 and 7: hp along the training, SDE
	partLayers part = "layers" // figure 4: every layer, SDE
)

// judgedKey identifies a run of judgements in the store.
type judgedKey struct {
	Part     part    `json:"part"`
	Label    string  `json:"label"`
	Weights  string  `json:"weights"` // hashes of the models judged
	Fraction float64 `json:"fraction"`
	Sizes    []int   `json:"sizes"`
	Subsets  int     `json:"subsets"`
	Course   []int   `json:"course"`
	Version  int     `json:"version"`
	Measure  int     `json:"measure"` // version of package verify/sde
	Forget   string  `json:"forget"`  // rows
}

// judgeVersion goes up when a change of this file changes its numbers.
const judgeVersion = 1

// judged returns a part of the protocol on the model that a seed's retraining
// gave, from the store or computed, with the ID of its run.
func (d *desk) judged(ctx context.Context, s Study, p *prepared, fraction float64, seed int, which part) ([]Judged, string, error) {
	c, err := d.opened(ctx, s, p.Setting, fraction, seed)
	if err != nil {
		return nil, "", err
	}
	course, err := c.Trained(ctx, c.Oracle())
	if err != nil {
		return nil, "", err
	}
	job, what := judgedJob(s, p.Setting, fraction, seed, which), fmt.Sprintf("judging %s, R %g, seed %d: %s", p.Label, fraction, seed, which)
	key := d.judgedKey(s, c, p.Label, course.Final, which)
	run, err := d.lab.Store.Do(ctx, key, func(ctx context.Context, w *store.Work) error {
		d.lab.Share(job, 0, what)
		rows, err := (&judging{Study: s, p: p, course: course, fraction: fraction, seed: seed}).part(ctx, which)
		if err != nil {
			return err
		}
		return w.WriteJSON("judged.json", rows)
	})
	if err != nil {
		return nil, "", err
	}
	d.lab.Finish(job, what)
	var rows []Judged
	return rows, run.ID, run.JSON("judged.json", &rows)
}

// judgedKey is the key of judgements of a case's retrained model.
func (d *desk) judgedKey(s Study, c *lab.Case, label string, retrained nn.Params, which part) store.Key {
	config := judgedKey{which, label, retrained.Hash(), c.Fraction, s.Sizes, s.Subsets, s.Course, judgeVersion, sde.Version, lab.RowsKey(c.Forget)}
	return d.lab.Key("evidence/sde", c.Problem, config, map[string]int64{"train": int64(c.Seed)})
}

// judgedJob names judgements.
func judgedJob(s Study, of Setting, fraction float64, seed int, which part) string {
	return fmt.Sprintf("evidence/sde/%s/%s/%g/seed-%d/%s", s.Scale, of.Label, fraction, seed, which)
}

// judging is the work behind one run.
type judging struct {
	Study
	p        *prepared
	course   *lab.Trajectory
	fraction float64
	seed     int
}

func (j *judging) part(ctx context.Context, which part) ([]Judged, error) {
	switch which {
	case partMain:
		return j.main(ctx)
	case partCourse:
		return j.along(ctx)
	}
	return j.everyLayer(ctx)
}

// at are the weights after a part of the training, 0: before it.
func (j *judging) at(percent int) nn.Params {
	if percent == 0 {
		return j.p.untrained(j.seed)
	}
	return j.course.At[j.p.epochAt(percent)]
}

func (j *judging) main(ctx context.Context) ([]Judged, error) {
	acts, err := j.p.activations(j.at(JudgedAt), "hp")
	if err != nil {
		return nil, err
	}
	random, err := j.p.activations(j.at(0), "hp")
	if err != nil {
		return nil, err
	}
	var out []Judged
	bandwidths, err := sweep(acts["hp"].train)
	if err != nil {
		return nil, err
	}
	for _, size := range j.Sizes {
		for _, m := range sde.Methods() {
			if out, err = j.add(ctx, out, m.Name(), m, j.cast(acts["hp"], size), "hp", size, JudgedAt, sde.SqrtDim()); err != nil {
				return nil, err
			}
		}
		for _, sigma := range bandwidths {
			if out, err = j.add(ctx, out, sde.SDE{}.Name(), sde.SDE{}, j.cast(acts["hp"], size), "hp", size, JudgedAt, sde.Fixed(sigma)); err != nil {
				return nil, err
			}
		}
		if out, err = j.add(ctx, out, Untrained, sde.SDE{}, j.cast(random["hp"], size), "hp", size, 0, sde.SqrtDim()); err != nil {
			return nil, err
		}
		for _, c := range append([]float64{0}, scales()...) {
			name := scaled(c)
			if c == 0 {
				name = HeldOut
			}
			if out, err = j.add(ctx, out, name, sde.SDE{}, j.heldOut(acts["hp"], size, 1+c/100), "hp", size, JudgedAt, sde.SqrtDim()); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (j *judging) along(ctx context.Context) ([]Judged, error) {
	var out []Judged
	for _, percent := range j.Course {
		acts, err := j.p.activations(j.at(percent), "hp")
		if err != nil {
			return nil, err
		}
		for _, size := range j.Sizes {
			for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
				if out, err = j.add(ctx, out, m.Name(), m, j.cast(acts["hp"], size), "hp", size, percent, sde.SqrtDim()); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

func (j *judging) everyLayer(ctx context.Context) ([]Judged, error) {
	var out []Judged
	size := j.Sizes[len(j.Sizes)-1]
	for _, layer := range j.p.layers() { // one at a time: the first are large
		acts, err := j.p.activations(j.at(JudgedAt), layer)
		if err != nil {
			return nil, err
		}
		for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
			if out, err = j.add(ctx, out, m.Name(), m, j.cast(acts[layer], size), layer, size, JudgedAt, j.p.bandwidth(layer)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// cast are the sets of one judgement: who is target and who is reference.
type cast struct {
	targets    sde.Known
	references sde.References
	err        error
}

// cast draws the sets of the protocol: the reference in training from the
// retained images, the targets in training from the other retained images, the
// targets out of training from the forgotten ones, and the reference out of
// training from the test images.
func (j *judging) cast(a activations, size int) cast {
	forget, retain, err := j.p.divide(j.fraction)
	if err != nil {
		return cast{err: err}
	}
	rng := engine.Root(j.seed).Stream(engine.StreamSDE, uint64(size))
	if size > len(forget) {
		return cast{err: fmt.Errorf("sets of %d images out of %d forgotten ones", size, len(forget))}
	}
	order := rng.Perm(len(retain))
	reference, rest := pick(retain, order[:size]), pick(retain, order[size:])
	in, out := a.train.Gather(reference), a.test.Gather(rng.Perm(a.test.Rows)[:size])
	c := cast{references: sde.References{In: &in, Out: &out}}
	c.targets.Inside, c.err = targets("in-training", a.train.Gather(rest), size, j.Subsets, rng.Uint64())
	if c.err == nil {
		c.targets.Outside, c.err = targets("forgotten", a.train.Gather(forget), size, j.Subsets, rng.Uint64())
	}
	return c
}

// heldOut is a cast in which nobody was in training: four parts of the test
// images, those of the class "in" scaled by a factor.
func (j *judging) heldOut(a activations, size int, factor float64) cast {
	rng := engine.Root(j.seed).Stream(engine.StreamSDEHeldOut, uint64(size))
	order := rng.Perm(a.test.Rows)
	if size > len(order)/4 {
		return cast{err: fmt.Errorf("four sets of %d images out of %d test images", size, len(order))}
	}
	half := (len(order) - 2*size) / 2
	in, out := times(a.test.Gather(order[:size]), factor), a.test.Gather(order[size:2*size])
	c := cast{references: sde.References{In: &in, Out: &out}}
	rest := order[2*size:]
	c.targets.Inside, c.err = targets("held-out, first part", times(a.test.Gather(rest[:half]), factor), size, j.Subsets, rng.Uint64())
	if c.err == nil {
		c.targets.Outside, c.err = targets("held-out, second part", a.test.Gather(rest[half:2*half]), size, j.Subsets, rng.Uint64())
	}
	return c
}

func targets(name string, m sde.Matrix, size, subsets int, seed uint64) (sde.Targets, error) {
	pool, err := sde.NewPool(name, &m)
	if err != nil {
		return sde.Targets{}, err
	}
	drawn, err := sde.Draw(m.Rows, size, subsets, engine.Root(seed).Stream(engine.StreamTargets))
	return sde.Targets{Pool: pool, Subsets: drawn}, err
}

func pick(rows, at []int) []int {
	out := make([]int, len(at))
	for i, k := range at {
		out[i] = rows[k]
	}
	return out
}

func times(m sde.Matrix, factor float64) sde.Matrix {
	out := array.New[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		out.Data[i] = v * factor
	}
	return out
}

// add judges a cast by a method and appends the outcome.
func (j *judging) add(ctx context.Context, to []Judged, name string, m sde.Method, c cast, layer string, size, percent int,
	b sde.Bandwidth) ([]Judged, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, c.err
	}
	opt := sde.Options{Bandwidth: b, Seed: uint64(j.seed)}
	r, err := sde.Controlled(m, c.targets, c.references, opt)
	if err != nil {
		return nil, fmt.Errorf("%s, |S| %d, layer %s: %w", name, size, layer, err)
	}
	row := Judged{
		Setting: j.p.Label, Fraction: j.fraction, Seed: j.seed, Course: percent, Layer: layer, Size: size, Method: name,
		Bandwidth: b.String(), F1: r.F1, Accuracy: r.Accuracy, MacroF1: r.MacroF1, Valid: true, Disjoint: r.Outside.Disjoint,
	}
	if row.Sigma, err = b.Resolve(c.references.In, c.references.Out); err != nil {
		return nil, err
	}
	if g := r.Outside.Gate; g != nil {
		row.Valid, row.GateP = g.Valid, g.P
	}
	return append(to, row), nil
}

// sweepPoints is the number of bandwidths of figure 3 here; the paper takes 20.
const sweepPoints = 12

// sweep are the bandwidths of figure 3: evenly spread from 1 to the larger of
// sqrt(dim) and the median distance of the training activations.
func sweep(m sde.Matrix) ([]float64, error) {
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
