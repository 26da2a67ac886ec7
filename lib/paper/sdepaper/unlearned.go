package sdepaper

// The protocol on unlearned models.

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Unlearned is a row of table 4 or 8 for one seed: accuracies of an unlearned model, and the
// results of the attack and of SDE.
type Unlearned struct {
	Setting  string  `json:"setting"`
	Fraction float64 `json:"fraction"`
	Seed     int     `json:"seed"`
	Variant  string  `json:"arm"`

	ImageAccuracies
	// Moved is the distance of the weights from the original's, relative to its norm.
	Moved float64 `json:"moved"`

	// ASR is the share of forgotten images that the attack classifies as members. HeldOut is
	// that of test images, the value expected of a model that forgot.
	ASR     stats.Estimate `json:"asr"`
	HeldOut stats.Estimate `json:"asr_held_out"`
	// Out are the verdicts on subsets of the forgotten images by method and layer ("sde/h",
	// "sde/hp"), for each draw of references and subsets.
	Out map[string][]Sample `json:"out"`
	// Known are the verdicts on retained and on test images, in the layers h and hp: whether SDE
	// can distinguish in from out in this model at all.
	Known map[string][]Draw `json:"known"`

	// Diverged says how the method diverged, "" if it did not. Then the fields above are
	// invalid.
	Diverged string `json:"diverged,omitempty"`
}

// divergedRecord is the record of a diverged row.
type divergedRecord struct {
	Setting  string  `json:"setting"`
	Fraction float64 `json:"fraction"`
	Seed     int     `json:"seed"`
	Variant  string  `json:"arm"`
	Diverged string  `json:"diverged"`
}

// records are the rows as published.
func records(rows []Unlearned) report.Records {
	return paper.RunRecords(rows, func(u Unlearned) any {
		if u.Diverged == "" {
			return nil
		}
		return divergedRecord{u.Setting, u.Fraction, u.Seed, u.Variant, u.Diverged}
	})
}

func (u Unlearned) diverged() string { return u.Diverged }

// OTR is the out-of-training rate by a method in a layer: "sde/hp".
func (u Unlearned) OTR(judge string) Rates { return rateOut(u.Out[judge]) }

// F1 is SDE's F1 on retained against test images in a layer.
func (u Unlearned) F1(layer string) Rates { return f1(u.Known[layer]) }

// otrMethods are the columns of table 4: the paper's method and its controls.
func otrMethods() []sde.Method {
	return []sde.Method{sde.SDE{}, sde.MMD{}, sde.SlicedWasserstein{}, sde.SpreadOnly{}, sde.ClosedForm{}}
}

// Controls of table 4 that SDE judges like the forgotten images: the forgotten images'
// activations scaled by 5 %, and test images, which no model here was trained on.
const (
	ScaledForgotten = "forgotten x 1.05"
	HeldOutTargets  = "held out"
)

// otrLayers are the two layers of table 4.
func otrLayers() []string { return []string{"h", "hp"} }

// unlearnedKey is the configuration of a row in the store.
type unlearnedKey struct {
	Variant string   `json:"arm"`
	Model   modelKey `json:"model"`
	lab.MethodKey
	Size    int `json:"size"`
	Subsets int `json:"subsets"`
	Draws   int `json:"draws"`
	Version int `json:"version"`
	Measure int `json:"measure"` // version of package verify/sde
	Attack  int `json:"attack"`  // version of package attack
	// Unseen identifies the test images that no variant uses, if those are not all.
	Unseen string `json:"unseen,omitempty"`
}

// unlearnedVersion changes when the numbers of this file change.
const unlearnedVersion = 4

// everyVariant measures all rows of table 4 on a cell.
func everyVariant(e *paper.Env, k cell) (out []paper.Measurement[Unlearned]) {
	for _, a := range k.Variants() {
		out = append(out, k.variant(e, a))
	}
	return out
}

// variant measures one row.
func (k cell) variant(e *paper.Env, a Variant) paper.Measurement[Unlearned] {
	id, about := fmt.Sprintf("sde-unlearned/%s/%s", k.name(), a.Label), fmt.Sprintf("judging %s: %s", k.about(), a.Label)
	m := measurement[Unlearned](k, id, about, unlearn.NoOp{}, a.Method)
	m.Key = func(c *lab.Case) store.Key { return k.unlearnedKey(e.Lab(), c, a) }
	m.Measure = func(ctx context.Context, c *lab.Case) ([]Unlearned, error) {
		row, err := k.unlearned(ctx, c, a)
		return []Unlearned{row}, err
	}
	return m
}

// unlearnedKey is the key of a row.
func (k cell) unlearnedKey(l *lab.Lab, c *lab.Case, a Variant) store.Key {
	config := unlearnedKey{
		a.Label, k.modelKey(c), lab.MethodKeyOf(a.Method), k.UnlearnSize, k.Subsets, k.Draws, unlearnedVersion, sde.Version, attack.Version, "",
	}
	if unseen := k.unseen(c); len(unseen) < c.Test.X.Rows {
		config.Unseen = lab.RowsKey(unseen)
	}
	return l.Key("evidence/sde-unlearned", c.Problem, config, map[string]int64{"train": int64(c.Seed), "unlearn": lab.UnlearnSeed})
}

// unlearned computes the row of a variant, or records that its method diverged.
func (k cell) unlearned(ctx context.Context, c *lab.Case, a Variant) (Unlearned, error) {
	row := Unlearned{Setting: k.Label, Fraction: k.fraction, Seed: k.seed, Variant: a.Label}
	before, after, err := weights(ctx, c, a)
	if err == nil {
		if row.Moved, err = after.Displacement(before); err == nil {
			err = row.measure(ctx, &judgeRun{cell: k, c: c}, after)
		}
	}
	if d := (*train.Diverged)(nil); errors.As(err, &d) && c.ModelSpec(a.Method).Method != nil {
		row.Diverged, err = d.Error(), nil
	}
	return row, err
}

// unseen are the test images that no variant of table 4 uses.
func (s Study) unseen(c *lab.Case) []int {
	var methods []unlearn.Method
	for _, a := range s.Variants() {
		methods = append(methods, a.Method)
	}
	return c.NonMemberRows(methods...)
}

// weights are the original's weights and those of a variant.
func weights(ctx context.Context, c *lab.Case, a Variant) (before, after nn.Params, err error) {
	if before, _, err = c.Weights(ctx, unlearn.NoOp{}); err != nil {
		return nil, nil, err
	}
	after, _, err = c.Weights(ctx, a.Method)
	return before, after, err
}

// measure measures a variant's weights.
func (u *Unlearned) measure(ctx context.Context, j *judgeRun, w nn.Params) error {
	onTrain, onTest, err := j.outputs(w)
	if err != nil {
		return err
	}
	if err := train.CheckOutputs(onTrain, onTest); err != nil {
		return err
	}
	unseen := j.unseen(j.c)
	u.ImageAccuracies = j.accuracies(onTrain, onTest)
	if err := u.runAttack(j.c, onTrain.Logits(), onTest.Logits(), unseen); err != nil {
		return err
	}
	acts := map[string]activations{
		"h":  {array.Convert[float64](onTrain.Logits()), array.Convert[float64](onTest.Logits())},
		"hp": {array.Convert[float64](onTrain.Embedding), array.Convert[float64](onTest.Embedding)},
	}
	for _, layer := range otrLayers() {
		if err := u.judge(ctx, j, layer, newLayerData(acts[layer]), unseen); err != nil {
			return fmt.Errorf("layer %s: %w", layer, err)
		}
	}
	return nil
}

// runAttack computes the shares of forgotten and of held-out images that are classified as
// members. One half of the unseen test images is used to fit the threshold, with as many
// retained images; the other half is held out.
func (u *Unlearned) runAttack(c *lab.Case, onTrain, onTest array.Matrix[float32], unseen []int) error {
	retain := c.Retain
	rng := engine.Root(u.Seed).Stream(engine.StreamSDEAttack)
	tests, kept := gatherRows(unseen, rng.Perm(len(unseen))), rng.Perm(len(retain))
	half := len(tests) / 2
	known := gatherRows(retain, kept[:min(half, len(kept))])
	trained := func(rows []int) attack.Outputs { return softmaxOutputs(onTrain, c.Train.Y, rows) }
	strange := func(rows []int) attack.Outputs { return softmaxOutputs(onTest, c.Test.Y, rows) }
	asr, err := attack.SignalThreshold{}.Run(attack.Records{
		Members: trained(known), Nonmembers: strange(tests[:half]),
		Forgotten: trained(c.Forget), HeldOut: strange(tests[half:]),
	})
	if err != nil {
		return err
	}
	u.ASR, u.HeldOut = asr.MemberRate, asr.HeldOutRate
	return nil
}

// softmaxOutputs are the softmax outputs and labels of some rows.
func softmaxOutputs(logits array.Matrix[float32], y []int, rows []int) attack.Outputs {
	return attack.Outputs{P: array.Convert[float64](train.Softmax(logits.Gather(rows), 1)), Y: gatherRows(y, rows)}
}

// judge judges the forgotten images by every method, and images with known truth by SDE, draw by
// draw.
func (u *Unlearned) judge(ctx context.Context, j *judgeRun, layer string, of *layerData, unseen []int) error {
	if u.Out == nil {
		u.Out, u.Known = map[string][]Sample{}, map[string][]Draw{}
	}
	for draw := range j.Draws {
		if err := ctx.Err(); err != nil {
			return err
		}
		all, err := j.drawTrial(of, layer, draw, unseen)
		if err != nil {
			return err
		}
		opt := sde.Options{Bandwidth: j.bandwidth(layer), Seed: uint64(j.drawSeed(draw))}
		for _, t := range all.forgotten {
			r, err := sde.OTR(t.method, t.targets, all.references, opt)
			if err != nil {
				return err
			}
			name, g := t.name+"/"+layer, r.Verdicts.Gate
			u.Out[name] = append(u.Out[name], Sample{r.Verdicts.Tally(), g != nil && !g.Valid})
		}
		control, err := sde.Controlled(sde.SDE{}, all.known, all.references, opt)
		if err != nil {
			return err
		}
		u.Known[layer] = append(u.Known[layer], drawOf(control))
	}
	return nil
}

// trial has the sets that are judged against one draw of references.
type trial struct {
	references sde.References
	forgotten  []judgedTargets
	known      sde.KnownTargets // retained and test images
}

// judgedTargets are subsets that a method judges in or out.
type judgedTargets struct {
	name    string
	method  sde.Method
	targets sde.Targets
}

// drawTrial draws references and targets; test images are drawn from the unseen ones.
func (j *judgeRun) drawTrial(of *layerData, layer string, draw int, unseen []int) (t trial, err error) {
	forget, retain := j.c.Forget, j.c.Retain
	size := j.UnlearnSize
	if size > len(forget) {
		return t, fmt.Errorf("sets of %d images out of %d forgotten ones", size, len(forget))
	}
	rng := engine.Root(j.drawSeed(draw)).Stream(engine.StreamSDEUnlearned, uint64(size))
	order, tests := rng.Perm(len(retain)), gatherRows(unseen, rng.Perm(len(unseen)))
	kept := gatherRows(retain, order)
	in, out := of.train.Gather(kept[:size]), of.test.Gather(tests[:size])
	t.references = sde.References{In: &in, Out: &out}
	some := func(m origin, factor float64, among []int, subsets int, seed uint64) sde.Targets {
		drawn, problem := of.targets(m, factor, among, size, subsets, seed)
		err = errors.Join(err, problem)
		return drawn
	}
	goal := some(trainImages, 1, forget, j.Subsets, rng.Uint64())
	t.known.Inside = some(trainImages, 1, kept[size:], j.Subsets/2, rng.Uint64())
	t.known.Outside = some(testImages, 1, tests[size:], j.Subsets/2, rng.Uint64())
	for _, m := range otrMethods() {
		t.forgotten = append(t.forgotten, judgedTargets{m.Name(), m, goal})
	}
	if layer == "hp" {
		seed := rng.Uint64()
		t.forgotten = append(t.forgotten,
			judgedTargets{ScaledForgotten, sde.SDE{}, some(trainImages, 1.05, forget, j.Subsets, seed)},
			judgedTargets{HeldOutTargets, sde.SDE{}, some(testImages, 1, tests[size:], j.Subsets, seed)})
	}
	return t, err
}
