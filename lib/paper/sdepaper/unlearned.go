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

	Retain float64 `json:"acc_retain"` // accuracies
	Forget float64 `json:"acc_forget"`
	Test   float64 `json:"acc_test"`
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

type unlearnedKey struct {
	Label    string  `json:"label"`
	Variant  string  `json:"arm"`
	Weights  string  `json:"weights"`
	Fraction float64 `json:"fraction"`
	Size     int     `json:"size"`
	Subsets  int     `json:"subsets"`
	Draws    int     `json:"draws"`
	Version  int     `json:"version"`
	Measure  int     `json:"measure"`  // version of package verify/sde
	Attack   int     `json:"attack"`   // version of package attack
	Original string  `json:"original"` // hash of the original's weights
	Forget   string  `json:"forget"`   // rows
	// Unseen identifies the test images that no variant uses, if those are not all.
	Unseen string `json:"unseen,omitempty"`
}

// unlearnedVersion changes when the numbers of this file change.
const unlearnedVersion = 3

// unlearned returns the row of a variant, from the store or computed, with the ID of its run.
func (d *labEnv) unlearned(ctx context.Context, s Study, p *prepared, fraction float64, seed int, a Variant) (*Unlearned, string, error) {
	c, err := d.openCase(ctx, s, p.Setting, fraction, seed)
	if err != nil {
		return nil, "", err
	}
	before, after, err := weights(ctx, c, a)
	if d := (*train.Diverged)(nil); errors.As(err, &d) && c.ModelSpec(a.Method).Method != nil {
		return &Unlearned{Setting: p.Label, Fraction: fraction, Seed: seed, Variant: a.Label, Diverged: d.Error()}, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", a.Label, err)
	}
	job, what := unlearnedJob(s, p.Setting, fraction, seed, a), fmt.Sprintf("judging %s, R %g, seed %d: %s", p.Label, fraction, seed, a.Label)
	key := d.unlearnedKey(s, c, p.Label, a, before, after)
	run, err := d.lab.Store.Do(ctx, key, func(ctx context.Context, w *store.Work) error {
		ctx, task := lab.StartJob(ctx, job, what)
		defer task.Done()
		row := &Unlearned{Setting: p.Label, Fraction: fraction, Seed: seed, Variant: a.Label}
		if row.Moved, err = after.Displacement(before); err != nil {
			return err
		}
		err := row.measure(ctx, s, p, after, s.unseen(c))
		if d := (*train.Diverged)(nil); errors.As(err, &d) {
			row.Diverged, err = d.Error(), nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.Label, err)
		}
		return w.WriteJSON("unlearned.json", row)
	})
	if err != nil {
		return nil, "", err
	}
	lab.ReportDone(ctx, job)
	row := &Unlearned{}
	return row, run.ID, run.JSON("unlearned.json", row)
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

// unlearnedKey is the key of a row.
func (d *labEnv) unlearnedKey(s Study, c *lab.Case, label string, a Variant, before, after nn.Params) store.Key {
	config := unlearnedKey{
		label, a.Label, after.Hash(), forgetFraction(c), s.UnlearnSize, s.Subsets, s.Draws, unlearnedVersion,
		sde.Version, attack.Version, before.Hash(), lab.RowsKey(c.Forget), "",
	}
	if unseen := s.unseen(c); len(unseen) < c.Test.X.Rows {
		config.Unseen = lab.RowsKey(unseen)
	}
	key := d.lab.Key("evidence/sde-unlearned", c.Problem, config, map[string]int64{"train": int64(c.Seed)})
	key.DependsOn = append(key.DependsOn, c.Goal, a.Method)
	return key
}

// unlearnedJob is the name of a row's job.
func unlearnedJob(s Study, of Setting, fraction float64, seed int, a Variant) string {
	return fmt.Sprintf("evidence/sde-unlearned/%s/%s/%g/seed-%d/%s", s.Scale, of.Label, fraction, seed, a.Label)
}

// measure measures a variant's weights; unseen are the test images that no variant uses.
func (u *Unlearned) measure(ctx context.Context, s Study, p *prepared, w nn.Params, unseen []int) error {
	forget, retain, err := p.divide(u.Fraction)
	if err != nil {
		return err
	}
	onTrain, err := p.Runner.Predict(w, p.Train.X)
	if err != nil {
		return err
	}
	onTest, err := p.Runner.Predict(w, p.Test.X)
	if err != nil {
		return err
	}
	if err := train.CheckOutputs(onTrain, onTest); err != nil {
		return err
	}
	u.Forget = train.Accuracy(onTrain.Logits().Gather(forget), p.Records(forget).Y)
	u.Retain = train.Accuracy(onTrain.Logits().Gather(retain), p.Records(retain).Y)
	u.Test = train.Accuracy(onTest.Logits(), p.Test.Y)
	if err := u.runAttack(p, onTrain.Logits(), onTest.Logits(), forget, retain, unseen); err != nil {
		return err
	}
	acts := map[string]activations{
		"h":  {array.Convert[float64](onTrain.Logits()), array.Convert[float64](onTest.Logits())},
		"hp": {array.Convert[float64](onTrain.Embedding), array.Convert[float64](onTest.Embedding)},
	}
	for _, layer := range otrLayers() {
		if err := u.judge(ctx, s, p, layer, newLayerData(acts[layer]), unseen); err != nil {
			return fmt.Errorf("layer %s: %w", layer, err)
		}
	}
	return nil
}

// runAttack computes the shares of forgotten and of held-out images that are classified as
// members. One half of the unseen test images is used to fit the threshold, with as many
// retained images; the other half is held out.
func (u *Unlearned) runAttack(p *prepared, onTrain, onTest array.Matrix[float32], forget, retain, unseen []int) error {
	rng := engine.Root(u.Seed).Stream(engine.StreamSDEAttack)
	tests, kept := gatherRows(unseen, rng.Perm(len(unseen))), rng.Perm(len(retain))
	half := len(tests) / 2
	known := gatherRows(retain, kept[:min(half, len(kept))])
	trained := func(rows []int) attack.Outputs { return softmaxOutputs(onTrain, p.Train.Y, rows) }
	strange := func(rows []int) attack.Outputs { return softmaxOutputs(onTest, p.Test.Y, rows) }
	asr, err := attack.SignalThreshold{}.Run(attack.Records{
		Members: trained(known), Nonmembers: strange(tests[:half]),
		Forgotten: trained(forget), HeldOut: strange(tests[half:]),
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
func (u *Unlearned) judge(ctx context.Context, s Study, p *prepared, layer string, of *layerData, unseen []int) error {
	if u.Out == nil {
		u.Out, u.Known = map[string][]Sample{}, map[string][]Draw{}
	}
	j := &judgeRun{Study: s, p: p, fraction: u.Fraction, seed: u.Seed}
	for draw := range s.Draws {
		if err := ctx.Err(); err != nil {
			return err
		}
		all, err := j.drawTrial(of, layer, draw, unseen)
		if err != nil {
			return err
		}
		opt := sde.Options{Bandwidth: p.bandwidth(layer), Seed: uint64(j.drawSeed(draw))}
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
	forget, retain, err := j.p.divide(j.fraction)
	if err != nil {
		return t, err
	}
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
