package power

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Seen is what a lens reads in a model with a planted memory.
type Seen struct {
	Case string `json:"case"`
	Seed int    `json:"seed"`
	Lens string `json:"lens"`
	Plant
	Forget int `json:"n_forget"`
	// Excess is the reading less that of the retrained model, positive on memory's side.
	Excess float64 `json:"excess"`
	// Accused says that the interval is beyond the null, on memory's side; nil of an attack
	// that has no null of its own.
	Accused *bool `json:"accused"`
}

func pieces(e *paper.Env, s Study) []paper.Piece[Seen] {
	l := e.Lab()
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, k int) paper.Piece[Seen] {
		at := of.seed(k)
		return paper.Piece[Seen]{
			ID: fmt.Sprintf("evidence/power/%s/%s/seed-%d", of.DataSet, at.Forgets(), k), About: fmt.Sprintf("%s, seed %d", of.Label, k),
			Setting: at, File: "seen.json",
			Models:  []paper.Models{{Setting: at, Methods: []unlearn.Method{unlearn.Retrain{}, unlearn.DoNothing{}}}},
			Key:     func(c *lab.Case) store.Key { return key(l, c, of, s) },
			Cost:    func(c *lab.Case) int64 { return int64(len(s.Plants) * c.Problem.Train.X.Rows * c.Fit.Epochs) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Seen, error) { return measure(ctx, l, of, k, s) },
		}
	})
}

// evidenceKey identifies what lenses see of planted memories in the store.
type evidenceKey struct {
	lab.NetworkKey
	Label   string   `json:"label"`
	Goal    string   `json:"goal"`
	Fit     any      `json:"fit"`
	Forget  string   `json:"forget"`
	Plants  []Plant  `json:"plants"`
	Shadows int      `json:"shadows"`
	Lenses  []string `json:"lenses"`
	Results int      `json:"results"`
}

func key(l *lab.Lab, c *lab.Case, of Case, s Study) store.Key {
	k := evidenceKey{NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Label: of.Label, Goal: c.Goal.Name(), Fit: c.Fit,
		Forget: lab.RowsKey(c.Forget), Plants: s.Plants, Shadows: s.Shadows, Results: Results}
	for _, lens := range lenses() {
		k.Lenses = append(k.Lenses, fmt.Sprintf("%s%+v", lens.Name(), lens))
	}
	return l.Key("evidence/power", c.Problem, k, map[string]int64{"train": int64(c.Seed)})
}

// lenses are those that look at a case whatever was planted in its labels.
func lenses() []audit.Lens { return append(audit.Lenses(), audit.Relearning{}) }

// planted is added to the seed of a case's models for those with a memory: the oracle is
// none of them.
const planted = 50_000

// measure plants every memory in the case of a seed. All models of it share the seed, so
// that they differ in the memory alone; the oracle has the case's own.
func measure(ctx context.Context, l *lab.Lab, of Case, seed int, s Study) ([]Seen, error) {
	c, err := audit.Open(ctx, l, of.seed(seed))
	if err != nil {
		return nil, err
	}
	order := plantingOrder(c.Seed, len(c.Forget))
	oracle := make([]*audit.Reading, len(lenses()))
	for i, lens := range lenses() {
		if oracle[i], err = lens.Look(c, c.Oracle); err != nil {
			return nil, fmt.Errorf("oracle: %w", err)
		}
	}
	shadows, err := retrained(ctx, c, s.Shadows)
	if err != nil {
		return nil, err
	}
	rows := make([][]Seen, len(s.Plants))
	var tasks []func() error
	for i, p := range s.Plants {
		tasks = append(tasks, func() (err error) {
			own, inner := *c, *c.Case
			own.Case = &inner
			rows[i], err = see(ctx, &own, p, order, oracle, shadows)
			return err
		})
	}
	if err := l.Together(tasks...); err != nil {
		return nil, err
	}
	var out []Seen
	for _, part := range rows {
		for _, r := range part {
			r.Case, r.Seed, r.Forget = of.Label, seed, len(c.Forget)
			out = append(out, r)
		}
	}
	return out, nil
}

// plantingOrder is the order in which n records of a forget set are planted: every seed's own.
func plantingOrder(seed, n int) []int { return engine.Root(seed).Stream(engine.StreamPlanted).Perm(n) }

// see trains the model of a memory and looks at it through every lens.
func see(ctx context.Context, c *audit.Case, p Plant, order []int, oracle []*audit.Reading, by shadow.Shadows) (out []Seen, err error) {
	fit := c.Fit
	fit.Seed = engine.Root(c.Seed + planted)
	t, err := c.Lab.Train(ctx, lab.Training{Problem: c.Problem, Goal: c.Goal, Fit: fit, Rows: p.rows(c.Forget, c.Retain, order)})
	if err != nil {
		return nil, err
	}
	m := c.Model(fmt.Sprintf("share %g, %d times", p.Share, p.Times), t.Final)
	for i, lens := range lenses() {
		r, err := lens.Look(c, m)
		if err != nil {
			return nil, fmt.Errorf("%s through the lens %q: %w", m.Label, lens.Name(), err)
		}
		if r.Absent != "" {
			continue
		}
		side := float64(r.Memory)
		s := Seen{Lens: lens.Name(), Plant: p, Excess: side * (r.Value - oracle[i].Value)}
		beyond := r.Memory == audit.Above && r.Low > *r.Null || r.Memory == audit.Below && r.High < *r.Null
		s.Accused = &beyond
		out = append(out, s)
	}
	more, err := ratios(c, m, p, by)
	return append(out, more...), err
}

// rows are those that a model with this memory is trained on: the first of the forget set
// in the given order stay, so that a larger share holds a smaller one.
func (p Plant) rows(forget, retain, order []int) []int {
	out := append([]int{}, retain...)
	for _, i := range order[:int(math.Round(p.Share*float64(len(order))))] {
		for range p.Times {
			out = append(out, forget[i])
		}
	}
	return out
}
