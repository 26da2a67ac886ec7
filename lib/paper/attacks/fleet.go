package attacks

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/attack/strangers"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The attacks that are no attack's name.
const (
	threshold = "threshold"
	unaware   = "lira, unaware"
)

// Found is what an attack says of a fleet's models as an arm leaves them.
type Found struct {
	Case    string        `json:"case"`
	Arm     string        `json:"arm"`
	Control bool          `json:"control"`
	Attack  string        `json:"attack"`
	Dealt   int           `json:"n_dealt"` // records, half of which each model had
	Sweep   *shadow.Sweep `json:"sweep,omitempty"`
	// Records is, of every record, how often the score of a model that had it is above
	// that of one that had not; of U-LiRA alone.
	Records []float64 `json:"records,omitempty"`
	// Lost says why there is no answer.
	Lost string `json:"lost,omitempty"`
}

func fleetPieces(e *paper.Env, s Study) (out []paper.Piece[Found]) {
	l := e.Lab()
	for _, of := range s.Cases {
		settings := of.Fleet(s.Fleet, false)
		p := paper.Piece[Found]{
			ID:    fmt.Sprintf("evidence/attacks/%s/%s/models-%d", of.DataSet, of.Forgets(), s.Fleet),
			About: of.Label, Setting: settings[0],
			Key:  func(first *lab.Case) store.Key { return of.key(l, first, "attacks-fleet", s.Fleet) },
			Cost: func(first *lab.Case) int64 { return int64(first.Problem.Train.X.Rows * s.Fleet) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Found, error) {
				f, err := l.Fleet(ctx, of.Setting, s.Fleet, false)
				if err != nil {
					return nil, err
				}
				return of.attack(ctx, f)
			},
		}
		for _, at := range settings {
			p.Models = append(p.Models, paper.Models{Setting: at, Methods: of.methods()})
		}
		out = append(out, p)
	}
	return out
}

// evidenceKey identifies what is said of a case's models in the store.
type evidenceKey struct {
	lab.NetworkKey
	Label   string       `json:"label"`
	Goal    lab.Goal     `json:"goal"`
	Fit     train.Config `json:"fit"`
	Forget  string       `json:"forget"`
	Models  int          `json:"models"`
	Arms    []armKey     `json:"arms"`
	Attack  int          `json:"attack"` // version
	Results int          `json:"results"`
}

func (c Case) key(l *lab.Lab, first *lab.Case, recipe string, models int) store.Key {
	k := evidenceKey{
		NetworkKey: lab.NetworkKeyOf(first.Problem.Arch), Label: c.Label, Goal: first.Goal, Fit: first.Fit, Models: models,
		Forget: lab.RowsKey(append(append([]int{}, first.Forget...), first.Out...)), Arms: c.keys(), Attack: attack.Version, Results: Results,
	}
	return l.Key("evidence/"+recipe, first.Problem, k, map[string]int64{"train": int64(first.Seed), "unlearn": lab.UnlearnSeed, "half": lab.HalfSeed})
}

// attack asks every attack about every arm.
func (c Case) attack(ctx context.Context, f *lab.Fleet) ([]Found, error) {
	if err := f.Ahead(ctx, c.methods()...); err != nil {
		return nil, err
	}
	first, err := listen(ctx, f, unlearn.DoNothing{}, c.methods())
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, a := range c.arms() {
		here := Found{Case: c.Label, Arm: a.Label, Control: a.Control, Dealt: len(f.Dealt)}
		heard, err := listen(ctx, f, a.Method, c.methods())
		if d := (*train.Diverged)(nil); errors.As(err, &d) {
			here.Lost = d.Error()
			out = append(out, here)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		found, err := heard.ask(first)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		for _, r := range found {
			r.Case, r.Arm, r.Control, r.Dealt = here.Case, here.Arm, here.Control, here.Dealt
			out = append(out, r)
		}
	}
	return out, nil
}

// heard is what the models of a fleet say as an arm leaves them, a row per model.
type heard struct {
	in             [][]bool
	scaled, logP   array.Matrix[float64] // of the dealt records
	scaledU, logPU array.Matrix[float64] // of the unseen ones
	dealt, unseen  array.Matrix[float64] // what is seen of records: features and label
}

// listen hears the models as m leaves them; methods are all that are heard.
func listen(ctx context.Context, f *lab.Fleet, m unlearn.Method, methods []unlearn.Method) (*heard, error) {
	weights, err := f.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	first := f.Models[0]
	dealt := first.Problem.Train.Gather(f.Dealt)
	unseen := first.Test.Gather(first.Unseen(methods...))
	h := &heard{in: f.In(), dealt: seen(dealt, first.Classes()), unseen: seen(unseen, first.Classes())}
	for k, c := range f.Models {
		for _, side := range []struct {
			part         datasets.Part
			scaled, logP *array.Matrix[float64]
		}{{dealt, &h.scaled, &h.logP}, {unseen, &h.scaledU, &h.logPU}} {
			p, err := c.Runner.Predict(weights[k], side.part.X)
			if err != nil {
				return nil, err
			}
			scaled, err := shadow.Scaled(p.Logits(), side.part.Y)
			if err != nil {
				return nil, fmt.Errorf("model %d: %w", k, err)
			}
			grow(side.scaled, scaled)
			grow(side.logP, negated(train.Losses(p.Logits(), side.part.Y)))
		}
	}
	return h, nil
}

func grow(m *array.Matrix[float64], row []float64) {
	m.Rows, m.Cols, m.Data = m.Rows+1, len(row), append(m.Data, row...)
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// seen are records' features, and a 1 in the column of the label.
func seen(p datasets.Part, classes int) array.Matrix[float64] {
	out := array.New[float64](p.X.Rows, p.X.Cols+classes)
	for i, y := range p.Y {
		for k, v := range p.X.Row(i) {
			out.Row(i)[k] = float64(v)
		}
		out.Row(i)[p.X.Cols+y] = 1
	}
	return out
}

// ask asks every attack; first is the fleet before it was unlearned.
func (h *heard) ask(first *heard) ([]Found, error) {
	fleet := shadow.Fleet{Scores: h.scaled, In: h.in, Population: &h.scaledU, Pairs: true}
	before := shadow.Fleet{Scores: first.scaled, In: h.in, Pairs: true}
	likelihoods := shadow.Fleet{Scores: h.logP, In: h.in, Population: &h.logPU, Pairs: true}
	var out []Found
	for _, a := range []struct {
		name  string
		sweep func() (*shadow.Sweep, error)
	}{
		{threshold, func() (*shadow.Sweep, error) { return fleet.Threshold(threshold) }},
		{strangers.Population{}.Name(), func() (*shadow.Sweep, error) { return h.byStrangers(fleet, strangers.Population{}) }},
		{strangers.QuantileRegression{}.Name(), func() (*shadow.Sweep, error) { return h.byStrangers(fleet, strangers.QuantileRegression{}) }},
		{shadow.RMIA{}.Name(), func() (*shadow.Sweep, error) { return likelihoods.Attack(shadow.RMIA{}) }},
		{unaware, func() (*shadow.Sweep, error) {
			return fleet.Judge(unaware, true, func(m int) ([]float64, error) {
				e, _, err := before.Against(m)
				if err != nil {
					return nil, err
				}
				e.Target = h.scaled.Row(m)
				return shadow.LiRA{Pooled: true}.Scores(e)
			})
		}},
		{shadow.ULiRA{Pooled: true}.Name(), func() (*shadow.Sweep, error) { return fleet.Attack(shadow.ULiRA{Pooled: true}) }},
	} {
		s, err := a.sweep()
		if err != nil {
			return nil, err
		}
		out = append(out, Found{Attack: a.name, Sweep: s})
	}
	records, err := perRecord(fleet)
	out[len(out)-1].Records = records
	return out, err
}

// byStrangers attacks every model, with the unseen records for known non-members.
func (h *heard) byStrangers(f shadow.Fleet, a strangers.Attack) (*shadow.Sweep, error) {
	return f.Judge(a.Name(), false, func(m int) ([]float64, error) {
		known := strangers.Records{Scores: h.scaledU.Row(m), Seen: h.unseen}
		return a.Scores(known, strangers.Records{Scores: h.scaled.Row(m), Seen: h.dealt})
	})
}

// perRecord is U-LiRA's AUC record by record, over the models.
func perRecord(f shadow.Fleet) ([]float64, error) {
	scores := array.New[float64](f.Scores.Rows, f.Scores.Cols)
	for m := range scores.Rows {
		e, _, err := f.Against(m)
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
