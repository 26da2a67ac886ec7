// Attackers across shadow models: each model's records are scored by an attacker
// trained on other models.

package learned

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
)

// ShadowModels holds features of the same records in several models, each trained on some of them.
type ShadowModels struct {
	Features []array.Matrix[float64] // of each model: a row per record
	In       [][]bool                // In[m][i]: model m was trained on record i
	Pairs    bool                    // models 2j and 2j+1 are a pair, see shadow.Models: they are in one fold
	// FeaturesFor returns the features in every model as an attacker of model k has them, for
	// instance in the axes of k. Every model then has an attacker of its own. nil: Features.
	FeaturesFor func(k int) ([]array.Matrix[float64], error)
}

// AcrossModels scores the records in every model by an attacker that was trained on other models;
// models are assigned to folds in turn. No matched non-members are needed. The attacker has not
// seen the model that it scores. It has seen the record itself in other models, in some as a member
// and in others as a non-member. Features are standardised within every model, because models
// differ.
//
// Null: AUC 0.5. What fold j teaches about fold k, k teaches about j: pass mutual = true to
// shadow.Models.ReportScores.
func AcrossModels(ctx context.Context, e *engine.Engine, a Attacker, f ShadowModels, folds int, seed engine.Root) ([][]float64, error) {
	if err := f.check(folds); err != nil {
		return nil, fmt.Errorf("learned: across models: %w", err)
	}
	out := make([][]float64, len(f.Features))
	ctx, task := progress.Start(ctx, a.Name()+" across models", len(f.Features))
	defer task.Done()
	for k := range folds {
		var scorer Scorer
		var known []array.Matrix[float64]
		for m := range f.Features {
			if f.fold(m, folds) != k {
				continue
			}
			var err error
			if scorer == nil || f.FeaturesFor != nil {
				if known, err = f.standardised(m); err != nil {
					return nil, fmt.Errorf("learned: across models: %w", err)
				}
				root := engine.Root(seed.Counter(engine.StreamAttacker, 1, uint64(k)))
				if scorer, err = Fit(ctx, e, a, f.trainingRecords(k, folds, known), root); err != nil {
					return nil, err
				}
			}
			if out[m], err = scorer(known[m]); err != nil {
				return nil, err
			}
			task.Add(1)
		}
	}
	return out, nil
}

// standardised returns the features in every model as an attacker of model k has them.
func (f ShadowModels) standardised(k int) (out []array.Matrix[float64], err error) {
	if f.FeaturesFor != nil {
		if f.Features, err = f.FeaturesFor(k); err == nil {
			err = f.checkFeatures()
		}
		if err != nil {
			return nil, fmt.Errorf("features for an attacker of model %d: %w", k, err)
		}
	}
	for _, x := range f.Features {
		out = append(out, newScale(x).apply(x))
	}
	return out, nil
}

func (f ShadowModels) fold(m, folds int) int {
	if f.Pairs {
		m /= 2
	}
	return m % folds
}

// trainingRecords returns the records in the models of all folds but one.
func (f ShadowModels) trainingRecords(fold, folds int, features []array.Matrix[float64]) (out Records) {
	cols := features[0].Cols
	out.Members.Cols, out.Nonmembers.Cols = cols, cols
	for m, x := range features {
		if f.fold(m, folds) == fold {
			continue
		}
		for i, had := range f.In[m] {
			side := &out.Nonmembers
			if had {
				side = &out.Members
			}
			side.Data = append(side.Data, x.Row(i)...)
			side.Rows++
		}
	}
	return out
}

func (f ShadowModels) check(folds int) error {
	draws := len(f.Features)
	if f.Pairs {
		draws /= 2
	}
	if folds < 2 || draws < folds {
		return fmt.Errorf("%d models in %d folds", len(f.Features), folds)
	}
	return f.checkFeatures()
}

func (f ShadowModels) checkFeatures() error {
	if len(f.In) != len(f.Features) {
		return fmt.Errorf("%d models, training sets of %d", len(f.Features), len(f.In))
	}
	var errs []error
	for m, x := range f.Features {
		if x.Rows != len(f.In[m]) || x.Cols != f.Features[0].Cols || x.Rows == 0 {
			errs = append(errs, fmt.Errorf("model %d: features of %d x %d, membership of %d records", m, x.Rows, x.Cols, len(f.In[m])))
			continue
		}
		errs = append(errs, x.Check(fmt.Sprintf("features in model %d", m)))
	}
	return errors.Join(errs...)
}
