// Shadow models: models trained on random halves of the same records.

package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// ShadowModels are models of one setting, each trained on a random half of the assigned
// records; see ShadowSplit. They differ in their seeds too. Each model is a Case whose
// forget set is the half assigned to it, so that methods unlearn it like any other model.
type ShadowModels struct {
	Lab      *Lab
	Models   []*Case // 2j and 2j+1 are a pair
	Assigned []int   // rows of the train part that are split between the models, ascending
}

// ShadowSettings returns the settings of n shadow models: model k has the setting's seed
// plus k. With whole the whole train part is split, otherwise the forget set alone.
func (s Setting) ShadowSettings(models int, whole bool) []Setting {
	out := make([]Setting, models)
	for k := range out {
		out[k] = s
		out[k].Seed += k
		out[k].ShadowSplit = &ShadowSplit{Model: k, Whole: whole}
	}
	return out
}

// ShadowModels prepares shadow models in pairs. It trains nothing. All share one copy of
// the data and one compiled network.
func (l *Lab) ShadowModels(ctx context.Context, s Setting, models int, whole bool) (*ShadowModels, error) {
	if models < 2 || models%2 == 1 {
		return nil, fmt.Errorf("lab: %d shadow models: they come in pairs, at least one", models)
	}
	f := &ShadowModels{Lab: l}
	for _, at := range s.ShadowSettings(models, whole) {
		c, err := l.Case(ctx, at)
		if err != nil {
			return nil, err
		}
		f.Models = append(f.Models, c)
	}
	// The two models of a pair divide the assigned records between them.
	f.Assigned = slices.Concat(f.Models[0].Out, f.Models[1].Out)
	slices.Sort(f.Assigned)
	return f, nil
}

// Membership reports, per model and assigned record, whether the model was trained on the
// record.
func (f *ShadowModels) Membership() [][]bool {
	out := make([][]bool, len(f.Models))
	for m, c := range f.Models {
		out[m] = make([]bool, len(f.Assigned))
		for i, row := range f.Assigned {
			_, left := slices.BinarySearch(c.Out, row)
			out[m][i] = !left
		}
	}
	return out
}

// Precompute computes, for every model, the models that the methods leave, in parallel, so
// that later calls find them in the store.
func (f *ShadowModels) Precompute(ctx context.Context, methods ...unlearn.Method) error {
	ctx, all := progress.Start(ctx, fmt.Sprintf("%d shadow models", len(f.Models)), len(f.Models)*len(methods))
	defer all.Done()
	var tasks []func(context.Context) error
	for k, c := range f.Models {
		tasks = append(tasks, func(ctx context.Context) error {
			own := *c
			own.trained = map[ModelSpec]*Trajectory{}
			for _, m := range methods {
				if err := own.precompute(ctx, m); err != nil {
					return fmt.Errorf("shadow model %d: %s: %w", k, m.Info().Name, err)
				}
				all.Add(1)
			}
			return nil
		})
	}
	return f.Lab.RunParallel(ctx, tasks...)
}

// Weights returns the weights that a method leaves of every model, as Case.Weights does. A
// model that diverges is an error.
func (f *ShadowModels) Weights(ctx context.Context, m unlearn.Method) ([]nn.Params, error) {
	if err := f.Precompute(ctx, m); err != nil {
		return nil, err
	}
	var out []nn.Params
	for k, c := range f.Models {
		w, _, err := c.Weights(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("shadow model %d: %s: %w", k, m.Info().Name, err)
		}
		out = append(out, w)
	}
	return out, nil
}

// ShadowJobs lists the work behind the shadow models, model by model; see Jobs.
func (l *Lab) ShadowJobs(ctx context.Context, s Setting, models int, whole bool, methods ...unlearn.Method) ([]Job, error) {
	var out []Job
	for _, at := range s.ShadowSettings(models, whole) {
		jobs, err := l.Jobs(ctx, at, methods...)
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	return Dedup(out), nil
}
