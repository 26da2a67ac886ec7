package blindu

// What uploads reveal: reconstruction, information, membership.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/information"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// What a user may upload of their records.
const (
	PlainCodes   = "codes"
	WithoutCodes = "masked codes, w/o"
	WithCodes    = "masked codes, w"
	OwnGradients = "gradients"
)

// Leak is what one kind of upload of one model reveals about the records to be forgotten, which
// are a random part of the data. The attackers know other records of the same kind.
type Leak struct {
	Case   string  `json:"case"`
	Upload string  `json:"upload"`
	Seed   int     `json:"seed"`
	Beta   float64 `json:"beta"`
	Rate   float64 `json:"rate"`

	// Squared errors per record of attackers that reconstruct the record from the upload: Drawn
	// of the strong attacker (representation.Persistent), Printed of the program's; Coded is the
	// program's own measure, on records that its attacker was trained on and against masked
	// ones, 0 if it has none. ClassMean is the error of the mean of a record's class, which
	// needs no upload, MeanRecord that of the mean of all records.
	Victims    int     `json:"n_victims"`
	Known      int     `json:"n_known"`
	Drawn      float64 `json:"drawn"`
	Printed    float64 `json:"printed"`
	Coded      float64 `json:"coded"`
	ClassMean  float64 `json:"class_mean"`
	MeanRecord float64 `json:"mean_record"`

	// Information of a code about its record, in nats: Found by a critic on held-out pairs,
	// Above an upper bound, Read the program's estimate. For codes alone.
	Found float64 `json:"found"`
	Above float64 `json:"above"`
	Read  float64 `json:"read"`

	// Pair is the AUC of an attacker who tells the forgotten records from unseen ones by the
	// outputs of the models before and after; Before is the AUC with the model before alone. For
	// forgetting by these codes; not for gradients.
	Pair   float64 `json:"pair"`
	Before float64 `json:"before"`
}

// leakVersion changes when the measurement changes.
const leakVersion = 2

// leaks is the data behind the figures on privacy of one scale.
type leaks struct {
	Study
	env *paper.Env
	*paper.Evidence[Leak]
}

func collectLeaks(ctx context.Context, e *paper.Env, s Study) (*leaks, error) {
	found, err := paper.Collect(ctx, e, leakMeasurements(e, s))
	return &leaks{s, e, found}, err
}

func (l *leaks) provenance(id string) report.Provenance {
	return l.Provenance(l.env, id, l.Scale, Results, l.Seeds)
}

// uploadKinds are the kinds of upload, with the mask of each, and the method that forgets by it.
func (c Case) uploadKinds() []upload {
	without, with := c.masking(false), c.masking(true)
	return []upload{
		{PlainCodes, nil, unlearn.BlindU{LR: c.LR, Unmasked: true}},
		{WithoutCodes, &without, unlearn.BlindU{LR: c.LR, Masking: without}},
		{WithCodes, &with, unlearn.BlindU{LR: c.LR, Masking: with}},
		{OwnGradients, nil, nil},
	}
}

// upload is one kind of upload.
type upload struct {
	name   string
	mask   *privacy.Masking
	forget unlearn.Method
}

func (c Case) forgetMethods() []unlearn.Method {
	out := []unlearn.Method{unlearn.NoOp{}}
	for _, u := range c.uploadKinds() {
		if u.forget != nil {
			out = append(out, u.forget)
		}
	}
	return out
}

// shadowSetting is the setting of the attacker's own model: of another seed, which forgets other
// records.
func (c Case) shadowSetting(seed int) lab.Setting {
	s := c.setting(seed + 1000)
	const other = lab.ForgetSeed + 1000
	switch f := s.Forget.(type) {
	case lab.Random:
		f.Seed = other
		s.Forget = f
	case lab.Backdoor:
		f.Seed = other
		s.Forget = f
	}
	return s
}

func leakMeasurements(e *paper.Env, s Study) []paper.Measurement[Leak] {
	l := e.Lab()
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, seed int) paper.Measurement[Leak] {
		return paper.Measurement[Leak]{
			ID:    fmt.Sprintf("evidence/blindu/leaks/%s/%s/seed-%d", of.DataSet(), of.coordinates(), seed),
			About: fmt.Sprintf("what is uploaded, %s, seed %d", of.Label, seed), Setting: of.setting(seed), File: "leaks.json",
			Methods: of.forgetMethods(), Others: []paper.Models{{Setting: of.shadowSetting(seed), Methods: of.forgetMethods()}},
			Key:  func(c *lab.Case) store.Key { return leakKey(l, c, of) },
			Cost: func(c *lab.Case) int64 { return int64(80 * of.Known * len(of.uploadKinds())) },
			Measure: func(ctx context.Context, c *lab.Case) ([]Leak, error) {
				other, err := l.Case(ctx, of.shadowSetting(seed))
				if err != nil {
					return nil, err
				}
				return measureLeaks(ctx, l.Engine, c, other, of)
			},
		}
	})
}

func leakKey(l *lab.Lab, c *lab.Case, of Case) store.Key {
	config := struct {
		lab.NetworkKey
		Case    string       `json:"case"`
		Goal    lab.Goal     `json:"goal"`
		Fit     train.Config `json:"fit"`
		Forget  string       `json:"forget"`
		Methods []lab.MethodKey
		Rate    float64 `json:"rate"`
		Known   int     `json:"known"`
		Victims int     `json:"victims"`
		Version int     `json:"version"`
		Results int     `json:"results"`

		Gradient string `json:"gradient,omitempty"`
	}{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: of.Label, Goal: c.Goal, Fit: c.Fit, Forget: lab.RowsKey(c.Forget), Rate: of.Rate, Known: of.Known,
		Victims: of.Victims, Version: leakVersion, Results: Results, Gradient: of.Gradient,
	}
	for _, m := range of.forgetMethods() {
		config.Methods = append(config.Methods, lab.MethodKeyOf(m))
	}
	return l.Key("evidence/blindu/leaks", c.Problem, config, map[string]int64{"train": int64(c.Seed), "unlearn": lab.UnlearnSeed, "split": lab.SplitSeed})
}

// attackerView is what an attacker has: a model, their own records, and the uploads of the
// victims' records.
type attackerView struct {
	*lab.Case
	spec           Case
	engine         *engine.Engine
	seed           engine.Root
	weights        nn.Params
	victims, other unlearn.Data
}

// nonmemberOffset is added to the numbers of unseen records, which start at 0 like those of the
// train part.
const nonmemberOffset = 1 << 30

func measureLeaks(ctx context.Context, e *engine.Engine, c, shadow *lab.Case, of Case) ([]Leak, error) {
	w, _, err := c.Weights(ctx, unlearn.NoOp{})
	if err != nil {
		return nil, err
	}
	k := attackerView{Case: c, spec: of, engine: e, seed: engine.Root(attackSeed + c.Shift), weights: w}
	k.victims = withNumbers(c.Problem.Train, firstN(c.Forget, of.Victims), 0)
	k.other = withNumbers(c.Test, firstN(heldOutRows(c), of.Known), nonmemberOffset)
	var out []Leak
	for _, u := range of.uploadKinds() {
		leak := Leak{
			Case: of.Label, Upload: u.name, Seed: c.Seed, Beta: of.beta(), Rate: of.rate(), Victims: k.victims.X.Rows, Known: k.other.X.Rows,
		}
		if err := k.reconstruct(ctx, &leak, u); err != nil {
			return nil, fmt.Errorf("%s: %w", u.name, err)
		}
		if u.forget != nil {
			if err := k.measureInformation(ctx, &leak, u); err != nil {
				return nil, fmt.Errorf("%s: %w", u.name, err)
			}
			if err := k.compareModels(ctx, &leak, shadow, u); err != nil {
				return nil, fmt.Errorf("%s: %w", u.name, err)
			}
		}
		out = append(out, leak)
	}
	return out, nil
}

// attackSeed is the seed of the attackers.
const attackSeed = 42

// heldOutRows are the unseen rows that no model is evaluated on.
func heldOutRows(c *lab.Case) []int {
	judged, out := c.EvalRows(), []int(nil)
	for i := range c.Test.X.Rows {
		if _, is := slices.BinarySearch(judged, i); !is {
			out = append(out, i)
		}
	}
	return out
}

func firstN(rows []int, n int) []int { return rows[:min(n, len(rows))] }

// withNumbers are rows of a part, numbered from an offset.
func withNumbers(p datasets.Part, rows []int, offset int) unlearn.Data {
	g := p.Gather(rows)
	d := unlearn.Data{X: g.X, Y: g.Y, IDs: slices.Clone(rows)}
	for i := range d.IDs {
		d.IDs[i] += offset
	}
	return d
}

// uploadOf is what an owner uploads for their records.
func (k attackerView) uploadOf(ctx context.Context, u upload, d unlearn.Data) (array.Matrix[float32], error) {
	if u.forget != nil {
		e, err := unlearn.NewErasure(k.Runner, k.weights, d, u.mask, engine.Root(lab.UnlearnSeed+k.Shift))
		return e.Codes, err
	}
	o, err := k.Goal.Objective(k.WithRecords(d), indices(d.X.Rows))
	if err != nil {
		return array.Matrix[float32]{}, err
	}
	return representation.Gradients(ctx, k.Runner, k.weights, o, cmp.Or(k.spec.Gradient, "compressor.head.weight"), train.Mode{})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// reconstruct runs the attackers that reconstruct the records.
func (k attackerView) reconstruct(ctx context.Context, leak *Leak, u upload) error {
	mine, err := k.uploadOf(ctx, u, k.other)
	if err != nil {
		return err
	}
	theirs, err := k.uploadOf(ctx, u, k.victims)
	if err != nil {
		return err
	}
	shadow := representation.Shadow{Numbers: k.other.IDs, Codes: mine, Records: k.other.X, Labels: k.other.Y}
	victims := representation.Victims{Numbers: k.victims.IDs, Codes: theirs, Originals: k.victims.X, Labels: k.victims.Y}
	// The strong attacker standardises all inputs; the program's standardises those without a
	// shape.
	patient, short := representation.Persistent(), representation.Reconstruction{}
	patient.Linear, patient.Standardised = !k.HasPixels(), true
	short.Linear, short.Standardised = !k.HasPixels(), u.forget == nil
	best, err := patient.Run(ctx, k.engine, shadow, victims, k.seed)
	if err != nil {
		return err
	}
	program, err := short.Run(ctx, k.engine, shadow, victims, k.seed)
	if err != nil {
		return err
	}
	leak.Drawn, leak.Printed, leak.MeanRecord, leak.ClassMean = best.SSE.Value, program.SSE.Value, best.Mean.Value, best.ClassMean.Value
	if u.forget == nil {
		return nil
	}
	return k.codedMeasure(ctx, leak, u, short, theirs)
}

// codedMeasure is the program's measure.
func (k attackerView) codedMeasure(ctx context.Context, leak *Leak, u upload, a representation.Reconstruction, masked array.Matrix[float32]) error {
	whole, err := unlearn.NewErasure(k.Runner, k.weights, k.victims, nil, engine.Root(lab.UnlearnSeed+k.Shift))
	if err != nil {
		return err
	}
	evidence := representation.CodedEvidence{Codes: whole.Codes, Records: k.victims.X, MaskedCodes: masked, MaskedRecords: k.victims.X}
	if u.mask != nil {
		if evidence.MaskedRecords, err = maskRecords(k.Case, *u.mask, k.victims); err != nil {
			return err
		}
	}
	found, err := a.Coded(ctx, k.engine, evidence, k.seed)
	if err == nil {
		leak.Coded = found.SSE.Value
	}
	return err
}

// measureInformation measures the information of codes about their records.
func (k attackerView) measureInformation(ctx context.Context, leak *Leak, u upload) error {
	all := withNumbers(k.Problem.Train, k.Forget, 0)
	codes, err := k.uploadOf(ctx, u, all)
	if err != nil {
		return err
	}
	pairs := information.Pairs{X: array.Convert[float64](all.X), Y: array.Convert[float64](codes)}
	found, err := information.MINE{Learning: information.Learning{Epochs: 60}}.Estimate(ctx, k.engine, pairs, k.seed)
	if err != nil {
		return err
	}
	read, err := information.CodedMINE{}.Estimate(ctx, k.engine, pairs, k.seed)
	if err != nil {
		return err
	}
	x := all.X
	if u.mask != nil {
		if x, err = maskRecords(k.Case, *u.mask, all); err != nil {
			return err
		}
	}
	prediction, err := k.Runner.Predict(k.weights, x)
	if err != nil {
		return err
	}
	above, err := information.GaussianBound(array.Convert[float64](prediction.Outputs[loss.LatentMean]),
		array.Convert[float64](prediction.Outputs[loss.LatentLogVar]))
	if err != nil {
		return err
	}
	leak.Found, leak.Read, leak.Above = found.Value, read.Value, above.Value
	return nil
}

// compareModels attacks with both models, before and after. The attacker learns on their own
// pair of models and on one half of the unseen records, and is tested on the other half.
func (k attackerView) compareModels(ctx context.Context, leak *Leak, shadow *lab.Case, u upload) error {
	taught, err := modelPairOf(ctx, shadow, u.forget, 0)
	if err != nil {
		return err
	}
	target, err := modelPairOf(ctx, k.Case, u.forget, 1)
	if err != nil {
		return err
	}
	found, err := representation.Membership{}.Run(ctx, k.engine, []representation.ShadowPair{representation.ShadowPair(taught)},
		representation.Target(target), k.seed)
	if err != nil {
		return err
	}
	leak.Pair, leak.Before = found.AUC.Value, found.Before.AUC.Value
	return nil
}

// modelPair are the outputs of a case's models before and after forgetting.
type modelPair struct{ Erased, Unseen representation.Pair }

// modelPairOf are the log probabilities of a case's models; of the unseen records every second
// one, starting at begin.
func modelPairOf(ctx context.Context, c *lab.Case, m unlearn.Method, begin int) (out modelPair, err error) {
	var unseen []int
	for i, row := range c.EvalRows() {
		if i%2 == begin {
			unseen = append(unseen, row)
		}
	}
	outputs := func(m unlearn.Method) (erased, nonmembers array.Matrix[float64], err error) {
		w, _, err := c.Weights(ctx, m)
		if err != nil {
			return erased, nonmembers, err
		}
		if erased, err = posteriors(c, w, c.Problem.Train.X.Gather(c.Forget)); err != nil {
			return erased, nonmembers, err
		}
		nonmembers, err = posteriors(c, w, c.Test.X.Gather(unseen))
		return erased, nonmembers, err
	}
	if out.Erased.Before, out.Unseen.Before, err = outputs(unlearn.NoOp{}); err != nil {
		return out, err
	}
	out.Erased.After, out.Unseen.After, err = outputs(m)
	return out, err
}

// posteriors are the log probabilities of a model.
func posteriors(c *lab.Case, w nn.Params, x array.Matrix[float32]) (array.Matrix[float64], error) {
	prediction, err := c.Runner.Predict(w, x)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	p := array.Convert[float64](train.Softmax(prediction.Logits(), 1))
	for i := range p.Data {
		p.Data[i] = math.Log(p.Data[i] + 1e-12)
	}
	return p, nil
}
