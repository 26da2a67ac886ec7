package power

// Readings of lenses on models with planted memories.

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// LensReading is the reading of a lens on a model with a planted memory.
type LensReading struct {
	Case string `json:"case"`
	Seed int    `json:"seed"`
	Lens string `json:"lens"`
	PlantedMemory
	Forget int `json:"n_forget"`
	// Excess is the reading less that of the retrained model; positive means memorised.
	Excess float64 `json:"excess"`
	// Detected says whether the interval lies beyond the null, on the side of memory; nil for an
	// attack without a null of its own.
	Detected *bool `json:"accused"`
}

func measurements(e *paper.Env, s Study) []paper.Measurement[LensReading] {
	l := e.Lab()
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, k int) paper.Measurement[LensReading] {
		at := of.settingAt(k)
		return paper.Measurement[LensReading]{
			ID: fmt.Sprintf("evidence/power/%s/%s/seed-%d", of.DataSet(), at.ForgetSetName(), k), About: fmt.Sprintf("%s, seed %d", of.Label, k),
			Setting: at, File: "seen.json",
			Methods: []unlearn.Method{unlearn.Retrain{}, unlearn.NoOp{}},
			Key:     func(c *lab.Case) store.Key { return key(l, c, of, s) },
			Cost:    func(c *lab.Case) int64 { return int64(3 * len(s.Memories) * c.Problem.Train.X.Rows * c.Fit.Epochs) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]LensReading, error) { return measure(ctx, l, of, k, s) },
		}
	})
}

// evidenceKey is the configuration of the readings in the store.
type evidenceKey struct {
	lab.NetworkKey
	Label   string          `json:"label"`
	Goal    string          `json:"goal"`
	Fit     any             `json:"fit"`
	Forget  string          `json:"forget"`
	Plants  []PlantedMemory `json:"plants"`
	Shadows int             `json:"shadows"`
	Lenses  []string        `json:"lenses"`
	Results int             `json:"results"`
}

func key(l *lab.Lab, c *lab.Case, of Case, s Study) store.Key {
	k := evidenceKey{NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Label: of.Label, Goal: c.Goal.Name(), Fit: c.Fit,
		Forget: lab.RowsKey(c.Forget), Plants: s.Memories, Shadows: s.Shadows, Results: Results}
	for _, lens := range lenses() {
		k.Lenses = append(k.Lenses, recordedLens(lens))
	}
	return l.Key("evidence/power", c.Problem, k, map[string]int64{"train": int64(c.Seed)})
}

// recordedLens is a lens's name and settings as keys record them. Relearning's MaxHeldOut was
// called Held when the first keys were made.
func recordedLens(l audit.Lens) string {
	return strings.Replace(fmt.Sprintf("%s%+v", l.Name(), l), "MaxHeldOut:", "Held:", 1)
}

// lenses are the lenses that apply whatever labels are planted.
func lenses() []audit.Lens { return append(audit.Lenses(), audit.Relearning{}) }

// plantedSeed is added to the seeds of models with a planted memory, so that the oracle is none
// of them.
const plantedSeed = 50_000

// measure plants every memory in the case of a seed. All its models share the seed, so that they
// differ in the memory alone; the oracle has the case's own seed.
func measure(ctx context.Context, l *lab.Lab, of Case, seed int, s Study) ([]LensReading, error) {
	c, err := audit.Open(ctx, l, of.settingAt(seed))
	if err != nil {
		return nil, err
	}
	order := plantingOrder(c.Seed, len(c.Forget))
	oracle := make([]*audit.Reading, len(lenses()))
	for i, lens := range lenses() {
		if oracle[i], err = c.Read(lens, c.Oracle); err != nil {
			return nil, fmt.Errorf("oracle: %w", err)
		}
	}
	shadows, err := retrainedScores(ctx, c, s.Shadows)
	if err != nil {
		return nil, err
	}
	rows := make([][]LensReading, len(s.Memories))
	var tasks []func(context.Context) error
	for i, p := range s.Memories {
		tasks = append(tasks, func(ctx context.Context) (err error) {
			own, inner := *c, *c.Case
			own.Case = &inner
			rows[i], err = measureMemory(ctx, &own, p, order, oracle, shadows)
			return err
		})
	}
	if err := l.RunParallel(ctx, tasks...); err != nil {
		return nil, err
	}
	var out []LensReading
	for _, part := range rows {
		for _, r := range part {
			r.Case, r.Seed, r.Forget = of.Label, seed, len(c.Forget)
			out = append(out, r)
		}
	}
	return out, nil
}

// plantingOrder is the order in which n records of a forget set are planted; it differs from
// seed to seed.
func plantingOrder(seed, n int) []int { return engine.Root(seed).Stream(engine.StreamPlanted).Perm(n) }

// measureMemory trains the model with a memory and reads it through every lens.
func measureMemory(ctx context.Context, c *audit.Case, p PlantedMemory, order []int, oracle []*audit.Reading, by shadow.Shadows) (out []LensReading,
	err error) {
	fit := c.Fit
	fit.Seed = engine.Root(c.Seed + plantedSeed)
	t, err := c.Lab.Train(ctx, lab.Training{Problem: c.Problem, Goal: c.Goal, Fit: fit, Rows: p.trainRows(c.Forget, c.Retain, order)})
	if err != nil {
		return nil, err
	}
	m := c.NewModel(fmt.Sprintf("share %g, %d times", p.Share, p.Times), t.Final)
	for i, lens := range lenses() {
		r, err := c.Read(lens, m)
		if err != nil {
			return nil, fmt.Errorf("%s through the lens %q: %w", m.Label, lens.Name(), err)
		}
		if r.Absent != "" {
			continue
		}
		side := float64(r.Memory)
		s := LensReading{Lens: lens.Name(), PlantedMemory: p, Excess: side * (r.Value - oracle[i].Value)}
		beyond := r.Memory == audit.Above && r.Low > *r.Null || r.Memory == audit.Below && r.High < *r.Null
		s.Detected = &beyond
		out = append(out, s)
	}
	more, err := likelihoodRatios(c, m, p, by)
	return append(out, more...), err
}

// trainRows are the training records of a model with this memory: the first part of the forget
// set in the given order stays, so that a larger share contains a smaller one.
func (p PlantedMemory) trainRows(forget, retain, order []int) []int {
	out := append([]int{}, retain...)
	for _, i := range order[:int(math.Round(p.Share*float64(len(order))))] {
		for range p.Times {
			out = append(out, forget[i])
		}
	}
	return out
}
