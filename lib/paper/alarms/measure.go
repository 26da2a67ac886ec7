package alarms

// Audits of models whose answer is known.

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/lenses"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// wholeAudit stands for a lens in the row of an audit's answer.
const wholeAudit = "the whole audit"

// Answer is what one lens, or the whole audit, says of one model.
type Answer struct {
	Case string `json:"case"` // its name, behind that of its data set where several cases have the name
	Seed int    `json:"seed"`
	// Remembers says that the model was trained on the forgotten records.
	Remembers bool `json:"remembers"`
	Beside
	Lens string `json:"lens"`
	// Reading is the lens's number with its interval; nil for the whole audit, and where there is none.
	Reading *stats.Estimate `json:"reading,omitempty"`
	Verdict string          `json:"verdict"`
	// Placed says that there was a verdict on the model, Accused that it is anything but forgotten, and
	// Memory that it is a memory, and not records that were pushed away.
	Placed  bool `json:"placed"`
	Accused bool `json:"accused"`
	Memory  bool `json:"memory"`
}

// Beside is what an audit has beside the models' outputs and embeddings.
type Beside struct {
	Retrained int  `json:"retrained"` // models that it compares with
	Inputs    bool `json:"inputs"`    // those of the records
}

func measurements(e *paper.Env, s Study) []paper.Measurement[Answer] {
	l := e.Lab()
	return paper.ForSeeds(s.Cases, 1, func(of lenses.NamedCase, _ int) paper.Measurement[Answer] {
		models := 2*s.Models + s.references()
		return paper.Measurement[Answer]{
			ID: fmt.Sprintf("evidence/alarms/%s/%s", of.DataSet(), of.ForgetSetName()), About: of.Name, Setting: of.Setting,
			Methods: []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}},
			Key:     func(c *lab.Case) store.Key { return key(l, c, s.label(of), s) },
			Cost:    func(c *lab.Case) int64 { return int64(3 * models * c.Problem.Train.X.Rows * c.Fit.Epochs) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Answer, error) { return measure(ctx, l, of, s) },
		}
	})
}

// answersKey is the configuration of the answers in the store.
type answersKey struct {
	lab.NetworkKey
	Case    string   `json:"case"`
	Goal    string   `json:"goal"`
	Fit     any      `json:"fit"`
	Forget  string   `json:"forget"`
	Beside  []Beside `json:"beside"`
	Models  int      `json:"models"`
	Results int      `json:"results"`
}

func key(l *lab.Lab, c *lab.Case, label string, s Study) store.Key {
	return l.Key("evidence/alarms", c.Problem, answersKey{NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: label, Goal: c.Goal.Name(), Fit: c.Fit,
		Forget: lab.RowsKey(c.Forget), Beside: s.Beside, Models: s.Models, Results: Results}, map[string]int64{"train": int64(c.Seed)})
}

// measure trains the models of a case and audits each of them. The seeds of retrained models that
// audits compare with come first, and those of the models that are audited after them.
func measure(ctx context.Context, l *lab.Lab, of lenses.NamedCase, s Study) ([]Answer, error) {
	c, err := audit.Open(ctx, l, of.Setting)
	if err != nil {
		return nil, err
	}
	references := s.references()
	retrained, err := trained(ctx, c, lab.RetainedRecords, 0, s.seeds())
	if err != nil {
		return nil, err
	}
	originals, err := trained(ctx, c, lab.AllRecords, references, s.seeds())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lethe-alarms")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := judge.ExportAll(dir, c, slices.Concat(retrained[references:], originals), retrained[:references]); err != nil {
		return nil, err
	}
	e, err := judge.Open(dir)
	if err != nil {
		return nil, err
	}
	var out []Answer
	for _, b := range s.Beside {
		r, err := b.evidence(e).Report(ctx)
		if err != nil {
			return nil, err
		}
		for k, m := range r.Evidence.ModelsOf(audit.Unlearned) {
			for _, a := range answers(r, m.Name) {
				a.Case, a.Seed, a.Remembers, a.Beside = s.label(of), c.Seed+references+k%s.Models, k >= s.Models, b
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// trained returns models of a case that differ in their seeds alone, which are from to to - 1 more than
// the case's.
func trained(ctx context.Context, c *audit.Case, on lab.TrainedOn, from, to int) (out []*audit.Model, err error) {
	for k := from; k < to; k++ {
		t, err := c.TrainedModel(ctx, lab.ModelSpec{Rows: on, Seed: c.Seed + k})
		if err != nil {
			return nil, err
		}
		out = append(out, c.NewModel(fmt.Sprintf("%s, seed %d", on, c.Seed+k), t.Final))
	}
	return out, nil
}

// evidence returns that of an audit, with no more than that.
func (b Beside) evidence(e *judge.Evidence) *judge.Evidence {
	out, retrained := *e, 0
	out.Models = nil
	if !b.Inputs {
		out.Inputs = nil
	}
	for _, m := range e.Models {
		if m.Role == audit.Retrained {
			retrained++
		}
		if m.Role != audit.Retrained || retrained <= b.Retrained {
			out.Models = append(out.Models, m)
		}
	}
	return &out
}

// answers returns those of the audit of a model and of its lenses.
func answers(r *judge.Report, model string) []Answer {
	a := r.Answer(model)
	out := []Answer{{Lens: wholeAudit, Verdict: string(a), Placed: a.Tells(), Accused: a.Accuses(), Memory: a.Memory()}}
	for _, v := range r.Verdicts {
		if v.Reading.Model == model {
			out = append(out, Answer{Lens: v.Name(), Reading: finite(v.Reading.Estimate), Verdict: string(v.Call),
				Placed: v.Call.Found() || v.Call == audit.Forgotten, Accused: v.Call.Found(), Memory: v.Memory()})
		}
	}
	return out
}

// finite returns an estimate that can be stored; nil where it has no value or no interval.
func finite(e stats.Estimate) *stats.Estimate {
	if math.IsNaN(e.Value) || !e.HasInterval() {
		return nil
	}
	return &e
}
