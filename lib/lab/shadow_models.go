package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// ShadowModels are models of one recipe, each trained on a random half of the records that
// are dealt: see Half. They differ in their seeds too. Every model is a case, whose
// forget set is what it was dealt, so that methods unlearn it like any other.
type ShadowModels struct {
	Lab      *Lab
	Models   []*Case // 2j and 2j+1 are a pair
	Assigned []int   // rows of the train part, ascending
}

// ShadowModels are the settings of the models of a fleet: the seed of model k is the
// setting's and k more. whole deals the whole train part and not the forget set alone.
func (s Setting) ShadowSettings(models int, whole bool) []Setting {
	out := make([]Setting, models)
	for k := range out {
		out[k] = s
		out[k].Seed += k
		out[k].ShadowSplit = &ShadowSplit{Model: k, Whole: whole}
	}
	return out
}

// ShadowModels prepares a fleet of pairs. Nothing is trained before it is asked for. The data
// and the compiled network are those of one case.
func (l *Lab) ShadowModels(ctx context.Context, s Setting, models int, whole bool) (*ShadowModels, error) {
	if models < 2 || models%2 == 1 {
		return nil, fmt.Errorf("lab: a fleet of %d models is not one of pairs", models)
	}
	f := &ShadowModels{Lab: l}
	for _, at := range s.ShadowSettings(models, whole) {
		c, err := l.Case(ctx, at)
		if err != nil {
			return nil, err
		}
		f.Models = append(f.Models, c)
	}
	// A pair shares what is dealt between its models: each has what the other has not.
	f.Assigned = slices.Concat(f.Models[0].Out, f.Models[1].Out)
	slices.Sort(f.Assigned)
	return f, nil
}

// Membership tells of every model which of the dealt records it was trained on.
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

// Precompute computes the models that methods leave of every model of the fleet, as many
// at a time as the engine has cores, so that they are in the store when they are asked
// for.
func (f *ShadowModels) Precompute(ctx context.Context, methods ...unlearn.Method) error {
	var tasks []func() error
	for k, c := range f.Models {
		tasks = append(tasks, func() error {
			own := *c
			own.trained = map[ModelSpec]*Trajectory{}
			for _, m := range methods {
				if err := own.precompute(ctx, m); err != nil {
					return fmt.Errorf("model %d of the fleet: %s: %w", k, m.Name(), err)
				}
			}
			return nil
		})
	}
	return f.Lab.RunParallel(tasks...)
}

// Weights are those that a method leaves of every model, as Case.Weights has them;
// one that diverges is an error.
func (f *ShadowModels) Weights(ctx context.Context, m unlearn.Method) ([]nn.Params, error) {
	if err := f.Precompute(ctx, m); err != nil {
		return nil, err
	}
	var out []nn.Params
	for k, c := range f.Models {
		w, _, err := c.Weights(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("model %d of the fleet: %s: %w", k, m.Name(), err)
		}
		out = append(out, w)
	}
	return out, nil
}

// ShadowJobs lists the work behind a fleet, model by model; see Jobs.
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
