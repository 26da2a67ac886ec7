package fishing

// The evidence on the models, and the data that attacks share.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/utility"
)

// evidence is the data behind the tables of one scale.
type evidence struct {
	Study
	env *paper.Env
	*paper.Evidence[Row]
}

// collect finds or computes the rows of a study.
func collect(ctx context.Context, e *paper.Env, s Study) (*evidence, error) {
	found, err := paper.Collect(ctx, e, measurements(e, s))
	return &evidence{s, e, found}, err
}

func (ev *evidence) provenance(id string) report.Provenance {
	return ev.Provenance(ev.env, id, ev.Scale, Results, ev.Seeds)
}

// measurements are the cases of a study with their seeds.
func measurements(e *paper.Env, s Study) []paper.Measurement[Row] {
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, seed int) paper.Measurement[Row] { return measurement(e, of, seed) })
}

func measurement(e *paper.Env, of Case, seed int) paper.Measurement[Row] {
	l := e.Lab()
	return paper.Measurement[Row]{
		ID: jobName(of, seed), About: fmt.Sprintf("%s, seed %d", of.Label, seed), Setting: of.setting(seed),
		Methods: of.methods(),
		Key:     func(c *lab.Case) store.Key { return key(l, c, of) },
		Cost:    func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows * len(of.variants())) },
		Measure: func(ctx context.Context, c *lab.Case) ([]Row, error) { return measure(ctx, l.Engine, c, of) },
	}
}

// evidenceKey is the configuration of a case's rows in the store.
type evidenceKey struct {
	lab.NetworkKey
	Case       string       `json:"case"` // as in the rows
	Goal       lab.Goal     `json:"goal"`
	Fit        train.Config `json:"fit"`
	Forget     string       `json:"forget"`
	Borrows    string       `json:"borrows,omitempty"` // forget set of the case whose attacker is used too
	Variants   []variantKey `json:"arms"`
	Protocols  []string     `json:"protocols"`
	Neighbours int          `json:"neighbours"`
	Markers    []string     `json:"markers"`
	Attack     int          `json:"attack"` // versions of the measures
	Utility    int          `json:"utility"`
	Results    int          `json:"results"`
}

type variantKey struct {
	Label string `json:"label"`
	lab.MethodKey
}

func key(l *lab.Lab, c *lab.Case, of Case) store.Key {
	k := evidenceKey{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: of.Label, Goal: c.Goal, Fit: c.Fit, Forget: of.forgetName(),
		Neighbours: of.Neighbours, Markers: of.Markers, Attack: attack.Version, Utility: utility.Version, Results: Results,
	}
	if of.AttackerFrom != nil {
		k.Borrows = of.AttackerFrom.forgetName()
	}
	for _, a := range of.variants() {
		k.Variants = append(k.Variants, variantKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	for _, p := range of.protocols() {
		k.Protocols = append(k.Protocols, p.Name)
	}
	k.Protocols = append(k.Protocols, suiteAttacks()...)
	return l.Key("evidence/fishing", c.Problem, k, map[string]int64{"train": int64(c.Seed), "unlearn": lab.UnlearnSeed, "split": lab.CellsSeed})
}

// forgetName names the forget set in keys and job names.
func (c Case) forgetName() string { return cmp.Or(forgottenClass(c.Setting), c.ForgetSetName()) }

func jobName(c Case, seed int) string {
	return fmt.Sprintf("evidence/%s/%s/%s/seed-%d", path.Join("fishing", c.Part), c.DataSet(), c.forgetName(), seed)
}

// measure computes the rows of a case.
func measure(ctx context.Context, e *engine.Engine, c *lab.Case, of Case) ([]Row, error) {
	q, err := newAttackCase(ctx, c, of)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, a := range of.variants() {
		row, err := q.measureRow(ctx, e, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// attackCase is a case with the data that all its variants share: the unseen cells nearest to
// the forgotten ones in the original are the non-members.
type attackCase struct {
	*lab.Case
	spec            Case
	negatives       []int
	matched         Matching
	originalOutputs splitOutputs          // of the original
	codes           array.Matrix[float64] // codes of the unseen cells in the original, by which they are matched
	original        learned.Records       // features in the original, for transferred attackers
	drawn           sampledMatching       // the same with sampled codes
	retrained       [2]splitOutputs       // two independent retrained models
	otherCase       learned.Records       // features in the original of the case AttackerFrom
}

func newAttackCase(ctx context.Context, c *lab.Case, of Case) (*attackCase, error) {
	q := &attackCase{Case: c, spec: of}
	original, err := q.outputsAfter(ctx, unlearn.NoOp{})
	if err != nil {
		return nil, fmt.Errorf("the original: %w", err)
	}
	q.originalOutputs = original
	for k, m := range []unlearn.Method{unlearn.Retrain{}, unlearn.SecondOracle} {
		if q.retrained[k], err = q.outputsAfter(ctx, m); err != nil {
			return nil, fmt.Errorf("a retrained model: %w", err)
		}
	}
	if q.matched, q.negatives, err = q.matchNonmembers(original); err != nil {
		return nil, err
	}
	q.codes = array.Convert[float64](original.unseen.codes)
	if q.original, err = original.attackRecords(q.negatives); err != nil {
		return nil, err
	}
	if q.drawn, err = q.matchSampled(ctx, original); err != nil || of.AttackerFrom == nil {
		return q, err
	}
	q.otherCase, err = otherCaseRecords(ctx, c, *of.AttackerFrom)
	return q, err
}

// otherCaseRecords are the features that the attacker of another case with the same original
// learns on.
func otherCaseRecords(ctx context.Context, c *lab.Case, of Case) (learned.Records, error) {
	s := of.setting(c.Seed - c.Shift) // the lab adds the shift
	other, err := c.Lab.Case(ctx, s)
	if err != nil {
		return learned.Records{}, err
	}
	q := &attackCase{Case: other, spec: of}
	v, err := q.outputsAfter(ctx, unlearn.NoOp{})
	if err != nil {
		return learned.Records{}, fmt.Errorf("the original of %s: %w", of.Label, err)
	}
	_, negatives, err := q.matchNonmembers(v)
	if err != nil {
		return learned.Records{}, err
	}
	return v.attackRecords(negatives)
}

// sameType counts the non-members whose type some forgotten cell has.
func (q *attackCase) sameType() (n int) {
	types := map[string]bool{}
	for _, i := range q.Forget {
		types[q.About.Classes[q.Problem.Train.Y[i]]] = true
	}
	for t := range types {
		n += q.matched.ByType[t]
	}
	return n
}

// outputsAfter are the outputs of the model that a method produces.
func (q *attackCase) outputsAfter(ctx context.Context, m unlearn.Method) (splitOutputs, error) {
	w, _, err := q.Weights(ctx, m)
	if err != nil {
		return splitOutputs{}, err
	}
	return predictSplits(q.Case, w)
}

// measureRow measures one variant.
func (q *attackCase) measureRow(ctx context.Context, e *engine.Engine, a lab.Variant) (*Row, error) {
	row := &Row{
		Case: q.spec.Label, Variant: a.Label, Control: a.Control, Seed: q.Seed,
		Type: forgottenClass(q.Setting), Forget: len(q.Forget), Negatives: len(q.negatives), SameType: q.sameType(), Unseen: q.Test.X.Rows,
		Judged: len(q.EvalRows()),
		Sizes:  newSizes(q.Case),
	}
	weights, report, err := q.Weights(ctx, a.Method)
	if d := (*train.Diverged)(nil); errors.As(err, &d) && !a.Control {
		row.Diverged = d.Error()
		return row, nil
	}
	if err != nil {
		return nil, err
	}
	if report != nil {
		row.Displacement, row.Note, row.Steps = report.Displacement, report.Note, report.Steps
		if row.Private, err = newSpending(a.Method, report, len(q.Retain)); err != nil {
			return nil, err
		}
	}
	v, err := predictSplits(q.Case, weights)
	if err != nil {
		return nil, err
	}
	if err := q.runAttacks(ctx, e, row, v); err != nil {
		return nil, err
	}
	if a.Label == Retrained {
		if row.Null, err = q.measureNull(ctx, e, v); err != nil {
			return nil, err
		}
	}
	if row.Drawn, err = q.attackSampled(ctx, e, v, weights); err != nil {
		return nil, err
	}
	return row, row.addUtility(ctx, q.Case, q.spec, v, weights)
}

// runAttacks runs every attack on a variant's model. The reference of a retrained model is the
// other retrained one.
func (q *attackCase) runAttacks(ctx context.Context, e *engine.Engine, row *Row, v splitOutputs) error {
	records, err := v.attackRecords(q.negatives)
	if err != nil {
		return err
	}
	if row.Attacks, err = q.runProtocols(ctx, e, v, engine.Root(attackSeed+q.Case.Shift)); err != nil {
		return err
	}
	if q.spec.AttackerFrom != nil {
		if row.OtherCase, err = learned.PB().FitAndScore(ctx, e, q.otherCase, records, engine.Root(attackSeed+q.Case.Shift)); err != nil {
			return err
		}
	}
	reference := q.retrained[1]
	if row.Variant == OtherSeed {
		reference = q.retrained[0]
	}
	row.Suite, err = runSuite(v, reference, q.negatives)
	return err
}

// attackSeed is the seed of the attackers, 42 as in the program.
const attackSeed = 42

// addUtility measures the model's utility.
func (r *Row) addUtility(ctx context.Context, c *lab.Case, of Case, v splitOutputs, w nn.Params) (err error) {
	for _, m := range []struct {
		to   *float64
		from []float64
	}{
		{&r.ForgetRecon, v.forget.recon}, {&r.ForgetDivergence, v.forget.divergence},
		{&r.UnseenRecon, v.unseen.recon}, {&r.UnseenDivergence, v.unseen.divergence},
	} {
		mean, err := stats.Mean(m.from)
		if err != nil {
			return err
		}
		*m.to = mean
	}
	if r.Latent, err = measureLatent(ctx, c, v.unseen); err != nil {
		return err
	}
	r.Markers, err = measureMarkers(c, of.Markers, w)
	return err
}
