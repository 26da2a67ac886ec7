package fishing

// Attacks of the within-cluster study.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Rows of the table beside the attacks of packages generative and shadow.
const (
	TypeAlone = "type alone"
	LossAlone = "loss"
	// Own is an attacker that knows the membership of half of a model's own assigned cells.
	Own = "logistic, the model's own cells"
	// The others learn on other models. Invariant uses no latent axes, Learned the paper's
	// features, Aligned and AlignedCCA latent axes mapped onto those of the attacked model. The
	// last two subtract from each feature its mean over other models for the same cell, as
	// attacks by shadow models do.
	Invariant       = "logistic, other models, without axes"
	Learned         = "logistic, other models, axes as they are"
	Aligned         = "logistic, other models, axes rotated"
	AlignedCCA      = "logistic, other models, axes by CCA"
	InvariantByCell = Invariant + ", cell by cell"
	AlignedByCell   = Aligned + ", cell by cell"
)

// shadowAttack is an attack by shadow models. With fewer than about 64 models the paper of LiRA
// uses one variance for all records.
type shadowAttack struct {
	attack  shadow.Attack
	shadows int // number of shadow models; 0: all except the model and its partner
}

func (s shadowAttack) name() string {
	if s.shadows == 0 {
		return s.attack.Name()
	}
	return fmt.Sprintf("%s, %d shadows", s.attack.Name(), s.shadows)
}

// shadowAttacks are the attacks by shadow models: with all of them, and LiRA with few.
func (f ShadowModels) shadowAttacks() []shadowAttack {
	online, offline := shadow.LiRA{Pooled: true}, shadow.LiRA{Offline: true, Pooled: true}
	out := []shadowAttack{{attack: online}, {attack: offline}, {attack: shadow.RMIA{}}}
	for _, few := range []int{16, 8} {
		if few < f.numOthers() {
			out = append(out, shadowAttack{online, few}, shadowAttack{offline, few})
		}
	}
	return out
}

// numOthers is the number of models beside one and its partner.
func (f ShadowModels) numOthers() int { return f.Models - 2 }

// Attacks are the names of the attacks.
func (f ShadowModels) Attacks() []string {
	out := []string{TypeAlone, generative.Recon{}.Name(), generative.KL{}.Name(), generative.ELBO{}.Name(),
		Own, Invariant, Learned, Aligned, AlignedCCA, InvariantByCell, AlignedByCell}
	if f.Whole {
		out = []string{LossAlone}
	}
	for _, s := range f.shadowAttacks() {
		out = append(out, s.name())
	}
	return out
}

// measure runs every attack on every variant.
func (f ShadowModels) measure(ctx context.Context, models *lab.ShadowModels) ([]AttackResult, error) {
	var out []AttackResult
	for _, a := range f.variants() {
		run := f.attackAutoencoders
		if f.Whole {
			run = f.attackClassifiers
		}
		found, err := run(ctx, models, a.Method)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		for i := range found {
			found[i].Case, found[i].Variant, found[i].Assigned = f.Label, a.Label, len(models.Assigned)
		}
		out = append(out, found...)
	}
	return out, nil
}

// recordScores are scores of records in all shadow models, higher for members: a row per model.
type recordScores struct{ assigned, unseen array.Matrix[float64] }

func (h *recordScores) add(assigned, unseen []float64) {
	for _, m := range []struct {
		to *array.Matrix[float64]
		of []float64
	}{{&h.assigned, assigned}, {&h.unseen, unseen}} {
		m.to.Rows, m.to.Cols, m.to.Data = m.to.Rows+1, len(m.of), append(m.to.Data, m.of...)
	}
}

// shadowModels is the input of attacks by shadow models.
func (h recordScores) shadowModels(in [][]bool) shadow.Models {
	return shadow.Models{Scores: h.assigned, In: in, Population: &h.unseen, Pairs: true}
}

// shadowSubset is the input of one attack with its number of shadow models.
func (h recordScores) shadowSubset(in [][]bool, s shadowAttack) shadow.Models {
	f := h.shadowModels(in)
	f.NumShadows = s.shadows
	return f
}

// attackClassifiers attacks classifiers of a table: LiRA uses scaled confidences; RMIA and the
// threshold use the log probability of the label.
func (f ShadowModels) attackClassifiers(ctx context.Context, models *lab.ShadowModels, m unlearn.Method) ([]AttackResult, error) {
	weights, err := models.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	var scaled, logP recordScores
	unseen := models.Models[0].Test.Gather(models.Models[0].NonMemberRows(f.methods()...))
	for k, c := range models.Models {
		var scores [2][2][]float64 // assigned, unseen; scaled, log p
		for part, d := range []unlearn.Data{c.Records(models.Assigned), {X: unseen.X, Y: unseen.Y}} {
			p, err := c.Runner.Predict(weights[k], d.X)
			if err != nil {
				return nil, err
			}
			if scores[part][0], err = shadow.ScaledConfidences(p.Logits(), d.Y); err != nil {
				return nil, err
			}
			scores[part][1] = negate(train.Losses(p.Logits(), d.Y))
		}
		scaled.add(scores[0][0], scores[1][0])
		logP.add(scores[0][1], scores[1][1])
	}
	in := models.Membership()
	threshold, err := logP.shadowModels(in).Threshold(LossAlone)
	if err != nil {
		return nil, err
	}
	found := []AttackResult{{Attack: LossAlone, Features: 1, Within: threshold}}
	for _, s := range f.shadowAttacks() {
		signal := scaled
		if _, is := s.attack.(shadow.RMIA); is {
			signal = logP
		}
		evidence := signal.shadowSubset(in, s)
		within, err := evidence.Attack(s.attack)
		if err != nil {
			return nil, err
		}
		found = append(found, AttackResult{Attack: s.name(), Features: 1, Others: cmp.Or(s.shadows, f.numOthers()), Mutual: evidence.Mutual(s.attack),
			Within: within})
	}
	return found, nil
}

func negate(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// shadowCase holds the outputs of shadow autoencoders of one variant.
type shadowCase struct {
	spec     ShadowModels
	models   *lab.ShadowModels
	in       [][]bool
	signals  map[string]*recordScores
	features []array.Matrix[float64] // of each model: the paper's features of the assigned cells
	latents  latents
	matched  []matchedCells // of each model
}

// matchedCells are the cells that a model had and the unseen ones nearest to them.
type matchedCells struct {
	members, negatives []int           // rows of assigned and of unseen cells
	features           learned.Records // of both
	nearest            []int           // position in members of each negative's nearest one
	sameType           []bool          // which negatives are of the group
}

// attackAutoencoders attacks autoencoders.
func (f ShadowModels) attackAutoencoders(ctx context.Context, models *lab.ShadowModels, m unlearn.Method) ([]AttackResult, error) {
	weights, err := models.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	a := &shadowCase{spec: f, models: models, in: models.Membership(), signals: map[string]*recordScores{}}
	for k, c := range models.Models {
		if err := a.addModel(k, c, weights[k]); err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
	}
	return a.runAttacks(ctx)
}

// addModel adds a model's outputs on the assigned cells and on those that no method uses.
func (a *shadowCase) addModel(k int, c *lab.Case, w nn.Params) error {
	assigned, err := predictCells(c.Runner, w, c.Problem.Train.Gather(a.models.Assigned))
	if err != nil {
		return err
	}
	v, err := predictSplits(c, w)
	if err != nil {
		return err
	}
	unseen := c.NonMemberRows(a.spec.methods()...)
	nonmembers := v.unseen.gather(unseen)
	for name, signal := range map[string]func(s cellOutputs) []float64{
		generative.Recon{}.Name(): func(s cellOutputs) []float64 { return negate(s.recon) },
		generative.KL{}.Name():    func(s cellOutputs) []float64 { return negate(s.divergence) },
		generative.ELBO{}.Name():  cellOutputs.elbo,
	} {
		if a.signals[name] == nil {
			a.signals[name] = &recordScores{}
		}
		a.signals[name].add(signal(assigned), signal(nonmembers))
	}
	features, err := assigned.features(v.retain)
	if err != nil {
		return err
	}
	a.features = append(a.features, features)
	if err := a.latents.add(assigned, v.retain, features); err != nil {
		return err
	}
	if !slices.Equal(c.Retain, a.models.Models[0].Retain) {
		return errors.New("the retained cells of the models differ")
	}
	near, err := cells.Match(array.Convert[float64](v.forget.mean), array.Convert[float64](nonmembers.mean), a.spec.Neighbours)
	if err != nil {
		return err
	}
	m := matchedCells{negatives: near.Rows, nearest: near.Nearest}
	for i, had := range a.in[k] {
		if had {
			m.members = append(m.members, i)
		}
	}
	rows := make([]int, len(near.Rows))
	for k, i := range near.Rows {
		rows[k] = unseen[i]
		m.sameType = append(m.sameType, a.spec.inGroup(c.Problem, c.Test, unseen[i]))
	}
	m.features, err = v.attackRecords(rows)
	a.matched = append(a.matched, m)
	return err
}

// elbo is the evidence lower bound of each cell's log-likelihood, up to a constant.
func (s cellOutputs) elbo() []float64 {
	out := make([]float64, len(s.recon))
	for i, v := range s.recon {
		out[i] = -v - s.divergence[i]
	}
	return out
}

// attackRun describes how an attack is run. matched is nil if the attack cannot be run on
// matched cells; why is the reason if it cannot be run at all.
type attackRun struct {
	AttackResult
	within  func() (*shadow.Report, error)
	matched func(k int, m matchedCells) (attack.Samples, error)
	why     string
}

// runAttacks runs every attack of the table.
func (a *shadowCase) runAttacks(ctx context.Context) ([]AttackResult, error) {
	var out []AttackResult
	for _, q := range slices.Concat(a.thresholdAttacks(), a.learnedAttacks(ctx), a.shadowAttacks()) {
		f := q.AttackResult
		if f.Why = q.why; f.Why == "" {
			var err error
			if f.Within, err = q.within(); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Attack, err)
			}
		}
		if q.matched != nil {
			if err := a.addMatched(&f, q.matched); err != nil {
				return nil, fmt.Errorf("%s, matched: %w", f.Attack, err)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// thresholdAttacks are the attacks on one model without training.
func (a *shadowCase) thresholdAttacks() []attackRun {
	nothing := func(int) ([]float64, error) { return make([]float64, len(a.models.Assigned)), nil }
	out := []attackRun{{
		AttackResult: AttackResult{Attack: TypeAlone}, matched: a.typeAlone,
		within: func() (*shadow.Report, error) { return a.scoreWithin(TypeAlone, false, nothing) },
	}}
	for _, name := range []string{generative.Recon{}.Name(), generative.KL{}.Name(), generative.ELBO{}.Name()} {
		h := a.signals[name]
		out = append(out, attackRun{
			AttackResult: AttackResult{Attack: name, Features: 1}, matched: h.matchedSamples,
			within: func() (*shadow.Report, error) { return h.shadowModels(a.in).Threshold(name) },
		})
	}
	return out
}

// shadowAttacks are the attacks by shadow models.
func (a *shadowCase) shadowAttacks() (out []attackRun) {
	bound := a.elboScores()
	for _, s := range a.spec.shadowAttacks() {
		evidence := bound.shadowSubset(a.in, s)
		q := attackRun{
			AttackResult: AttackResult{Attack: s.name(), Features: 1, Others: cmp.Or(s.shadows, a.spec.numOthers()), Mutual: evidence.Mutual(s.attack)},
			within:       func() (*shadow.Report, error) { return evidence.Attack(s.attack) },
		}
		if l, is := s.attack.(shadow.LiRA); is && l.Offline {
			q.matched = a.offlineLiRA(s, bound)
		}
		out = append(out, q)
	}
	return out
}

func (a *shadowCase) elboScores() recordScores { return *a.signals[generative.ELBO{}.Name()] }

func (a *shadowCase) scoreWithin(name string, mutual bool, scores func(m int) ([]float64, error)) (*shadow.Report, error) {
	return a.elboScores().shadowModels(a.in).ReportScores(name, mutual, scores)
}

// addMatched adds the results by the paper's protocol, for every model.
func (a *shadowCase) addMatched(f *AttackResult, samples func(k int, m matchedCells) (attack.Samples, error)) error {
	n := float64(len(a.matched))
	for k, m := range a.matched {
		s, err := samples(k, m)
		if err != nil {
			return err
		}
		r, err := attack.Score(s, 0.95)
		if err != nil {
			return err
		}
		f.Matched = append(f.Matched, r.AUC.Value)
		f.Negatives += float64(len(m.negatives)) / n
		for _, same := range m.sameType {
			if same {
				f.SameType += 1 / n
			}
		}
	}
	return nil
}

// typeAlone scores a cell by whether it is of the group, and nothing else.
func (a *shadowCase) typeAlone(_ int, m matchedCells) (s attack.Samples, err error) {
	s.Members = slices.Repeat([]float64{1}, len(m.members))
	for _, same := range m.sameType {
		s.Nonmembers = append(s.Nonmembers, map[bool]float64{true: 1}[same])
	}
	return s, nil
}

// matchedSamples are the scores of the cells that a model had and of the matched ones.
func (h *recordScores) matchedSamples(k int, m matchedCells) (s attack.Samples, err error) {
	return attack.Samples{Members: gatherValues(h.assigned.Row(k), m.members), Nonmembers: gatherValues(h.unseen.Row(k), m.negatives)}, nil
}

func gatherValues(x []float64, at []int) (out []float64) {
	for _, i := range at {
		out = append(out, x[i])
	}
	return out
}

// crossFitted is the attacker with the paper's features, trained on the model itself, as in
// Table 2.
func (a *shadowCase) crossFitted(ctx context.Context) func(k int, m matchedCells) (attack.Samples, error) {
	return func(k int, m matchedCells) (s attack.Samples, err error) {
		p := learned.CrossFitted(nil)
		p.Folds = min(p.Folds, len(m.members), len(m.negatives))
		r, err := p.Run(ctx, a.models.Lab.Engine, learned.Target{Model: m.features, NearestMember: m.nearest}, a.seed())
		if err != nil {
			return s, err
		}
		for _, c := range r.Scores {
			side := &s.Nonmembers
			if c.Member {
				side = &s.Members
			}
			*side = append(*side, c.Score)
		}
		return s, nil
	}
}

// offlineLiRA is LiRA on the cells that a model had and on the matched ones, which no shadow
// model had.
func (a *shadowCase) offlineLiRA(by shadowAttack, bound recordScores) func(k int, m matchedCells) (attack.Samples, error) {
	f := shadow.Models{Pairs: true, NumShadows: by.shadows}
	for k, in := range a.in {
		f.In = append(f.In, slices.Concat(in, make([]bool, bound.unseen.Cols)))
		f.Scores.Data = append(append(f.Scores.Data, bound.assigned.Row(k)...), bound.unseen.Row(k)...)
	}
	f.Scores.Rows, f.Scores.Cols = len(f.In), len(f.In[0])
	return func(k int, m matchedCells) (s attack.Samples, err error) {
		e, _, err := f.EvidenceAgainst(k)
		if err != nil {
			return s, err
		}
		scores, err := by.attack.Scores(e)
		if err != nil {
			return s, err
		}
		return attack.Samples{Members: gatherValues(scores, m.members), Nonmembers: gatherValues(scores[bound.assigned.Cols:], m.negatives)}, nil
	}
}
