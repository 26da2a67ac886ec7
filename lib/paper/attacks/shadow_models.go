package attacks

// Membership attacks on the shadow models of every variant.

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Attacks that have no name of their own.
const (
	threshold   = "threshold"
	unawareLiRA = "lira, unaware"
)

// AttackResult is the result of one attack on the shadow models of one variant.
type AttackResult struct {
	Case     string         `json:"case"`
	Variant  string         `json:"arm"`
	Control  bool           `json:"control"`
	Attack   string         `json:"attack"`
	Assigned int            `json:"n_dealt"` // number of assigned records; each model has half of them
	Sweep    *shadow.Report `json:"sweep,omitempty"`
	// Records is, for every record, the probability that a model that had it scores higher than
	// one that had not; for U-LiRA alone.
	Records []float64 `json:"records,omitempty"`
	// Failure says why there is no result.
	Failure string `json:"lost,omitempty"`
}

func shadowMeasurements(e *paper.Env, s Study) (out []paper.Measurement[AttackResult]) {
	l := e.Lab()
	for _, of := range s.Cases {
		settings := of.ShadowSettings(s.Models, false)
		p := paper.Measurement[AttackResult]{
			ID:    fmt.Sprintf("evidence/attacks/%s/%s/models-%d", of.DataSet(), of.ForgetSetName(), s.Models),
			About: of.Label, Setting: settings[0],
			Key:  func(first *lab.Case) store.Key { return of.key(l, first, "attacks-fleet", s.Models) },
			Cost: func(first *lab.Case) int64 { return int64(first.Problem.Train.X.Rows * s.Models) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]AttackResult, error) {
				f, err := l.ShadowModels(ctx, of.Setting, s.Models, false)
				if err != nil {
					return nil, err
				}
				return of.runAttacks(ctx, f)
			},
		}
		for _, at := range settings {
			p.Others = append(p.Others, paper.Models{Setting: at, Methods: of.methods()})
		}
		out = append(out, p)
	}
	return out
}

// evidenceKey is the configuration of the results in the store.
type evidenceKey struct {
	lab.NetworkKey
	Label    string       `json:"label"`
	Goal     lab.Goal     `json:"goal"`
	Fit      train.Config `json:"fit"`
	Forget   string       `json:"forget"`
	Models   int          `json:"models"`
	Variants []variantKey `json:"arms"`
	Attack   int          `json:"attack"` // version
	Results  int          `json:"results"`
}

func (c Case) key(l *lab.Lab, first *lab.Case, recipe string, models int) store.Key {
	k := evidenceKey{
		NetworkKey: lab.NetworkKeyOf(first.Problem.Arch), Label: c.Label, Goal: first.Goal, Fit: first.Fit, Models: models,
		Forget: lab.RowsKey(append(append([]int{}, first.Forget...), first.Out...)), Variants: c.variantKeys(), Attack: attack.Version, Results: Results,
	}
	return l.Key("evidence/"+recipe, first.Problem, k, map[string]int64{"train": int64(first.Seed), "unlearn": lab.UnlearnSeed, "half": lab.ShadowSplitSeed})
}

// runAttacks runs every attack on every variant.
func (c Case) runAttacks(ctx context.Context, f *lab.ShadowModels) ([]AttackResult, error) {
	if err := f.Precompute(ctx, c.methods()...); err != nil {
		return nil, err
	}
	first, err := scoreModels(ctx, f, unlearn.NoOp{}, c.methods())
	if err != nil {
		return nil, err
	}
	var out []AttackResult
	for _, a := range c.variants() {
		here := AttackResult{Case: c.Label, Variant: a.Label, Control: a.Control, Assigned: len(f.Assigned)}
		scores, err := scoreModels(ctx, f, a.Method, c.methods())
		if d := (*train.Diverged)(nil); errors.As(err, &d) {
			here.Failure = d.Error()
			out = append(out, here)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		found, err := scores.runAttacks(first)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		for _, r := range found {
			r.Case, r.Variant, r.Control, r.Assigned = here.Case, here.Variant, here.Control, here.Assigned
			out = append(out, r)
		}
	}
	return out, nil
}

// modelScores are the scores of all shadow models of one variant, a row per model.
type modelScores struct {
	in               [][]bool
	scaled, logP     array.Matrix[float64] // of the assigned records
	scaledU, logPU   array.Matrix[float64] // of the unseen records
	assigned, unseen array.Matrix[float64] // features and one-hot labels of the records
}

// scoreModels scores the models that m produces. methods are all methods of the case; unseen
// records are those that none of them uses.
func scoreModels(ctx context.Context, f *lab.ShadowModels, m unlearn.Method, methods []unlearn.Method) (*modelScores, error) {
	weights, err := f.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	first := f.Models[0]
	assigned := first.Problem.Train.Gather(f.Assigned)
	unseen := first.Test.Gather(first.NonMemberRows(methods...))
	h := &modelScores{in: f.Membership(), assigned: labelledFeatures(assigned, first.Classes()), unseen: labelledFeatures(unseen, first.Classes())}
	for k, c := range f.Models {
		for _, side := range []struct {
			part         datasets.Part
			scaled, logP *array.Matrix[float64]
		}{{assigned, &h.scaled, &h.logP}, {unseen, &h.scaledU, &h.logPU}} {
			p, err := c.Runner.Predict(weights[k], side.part.X)
			if err != nil {
				return nil, err
			}
			scaled, err := shadow.ScaledConfidences(p.Logits(), side.part.Y)
			if err != nil {
				return nil, fmt.Errorf("model %d: %w", k, err)
			}
			appendRow(side.scaled, scaled)
			appendRow(side.logP, negate(train.Losses(p.Logits(), side.part.Y)))
		}
	}
	return h, nil
}

func appendRow(m *array.Matrix[float64], row []float64) {
	m.Rows, m.Cols, m.Data = m.Rows+1, len(row), append(m.Data, row...)
}

func negate(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// labelledFeatures are the records' features followed by the one-hot label.
func labelledFeatures(p datasets.Part, classes int) array.Matrix[float64] {
	out := array.New[float64](p.X.Rows, p.X.Cols+classes)
	for i, y := range p.Y {
		for k, v := range p.X.Row(i) {
			out.Row(i)[k] = float64(v)
		}
		out.Row(i)[p.X.Cols+y] = 1
	}
	return out
}

// runAttacks runs every attack; first are the scores of the original models.
func (h *modelScores) runAttacks(first *modelScores) ([]AttackResult, error) {
	models := shadow.Models{Scores: h.scaled, In: h.in, Population: &h.scaledU, Pairs: true}
	before := shadow.Models{Scores: first.scaled, In: h.in, Pairs: true}
	likelihoods := shadow.Models{Scores: h.logP, In: h.in, Population: &h.logPU, Pairs: true}
	var out []AttackResult
	for _, a := range []struct {
		name  string
		sweep func() (*shadow.Report, error)
	}{
		{threshold, func() (*shadow.Report, error) { return models.Threshold(threshold) }},
		{population.Percentile{}.Name(), func() (*shadow.Report, error) { return h.populationAttack(models, population.Percentile{}) }},
		{population.QuantileRegression{}.Name(), func() (*shadow.Report, error) { return h.populationAttack(models, population.QuantileRegression{}) }},
		{shadow.RMIA{}.Name(), func() (*shadow.Report, error) { return likelihoods.Attack(shadow.RMIA{}) }},
		{unawareLiRA, func() (*shadow.Report, error) {
			return models.ReportScores(unawareLiRA, true, func(m int) ([]float64, error) {
				e, _, err := before.EvidenceAgainst(m)
				if err != nil {
					return nil, err
				}
				e.Target = h.scaled.Row(m)
				return shadow.LiRA{Pooled: true}.Scores(e)
			})
		}},
		{shadow.ULiRA{Pooled: true}.Name(), func() (*shadow.Report, error) { return models.Attack(shadow.ULiRA{Pooled: true}) }},
	} {
		s, err := a.sweep()
		if err != nil {
			return nil, err
		}
		out = append(out, AttackResult{Attack: a.name, Sweep: s})
	}
	records, err := perRecord(models)
	out[len(out)-1].Records = records
	return out, err
}

// populationAttack attacks every model, with the unseen records as known non-members.
func (h *modelScores) populationAttack(f shadow.Models, a population.Attack) (*shadow.Report, error) {
	return f.ReportScores(a.Name(), false, func(m int) ([]float64, error) {
		return a.Scores(population.Evidence{
			Known: population.Records{Scores: h.scaledU.Row(m), Features: h.unseen},
			Asked: population.Records{Scores: h.scaled.Row(m), Features: h.assigned},
		})
	})
}

// perRecord is U-LiRA's AUC for each record, over the models.
func perRecord(f shadow.Models) ([]float64, error) {
	scores := array.New[float64](f.Scores.Rows, f.Scores.Cols)
	for m := range scores.Rows {
		e, _, err := f.EvidenceAgainst(m)
		if err != nil {
			return nil, err
		}
		row, err := (shadow.ULiRA{Pooled: true}).Scores(e)
		if err != nil {
			return nil, err
		}
		copy(scores.Row(m), row)
	}
	out := make([]float64, scores.Cols)
	for i := range out {
		var with, without []float64
		for m, in := range f.In {
			if v := scores.Row(m)[i]; in[i] {
				with = append(with, v)
			} else {
				without = append(without, v)
			}
		}
		var err error
		if out[i], err = stats.AUC(with, without); err != nil {
			return nil, err
		}
	}
	return out, nil
}
