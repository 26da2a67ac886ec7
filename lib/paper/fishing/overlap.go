package fishing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// What is compared, beside the models.
const (
	overlapDraws = 10 // pairs of random sets that stand for the forgotten type, 1 for the other types
	codedDraws   = 3  // of them as coded, which takes a pass over all cells each
	fewest       = 5  // cells of a type, and at most a third of all: a larger type is no forget set
	// overlapVersion goes up when what is measured changes.
	overlapVersion = 1
)

// Overlap is what the Fisher information of a type's cells has in common with that
// of all other cells, at one model.
type Overlap struct {
	Case    string         `json:"case"`
	Model   string         `json:"model"`
	Control bool           `json:"control"`
	Seed    int            `json:"seed"`
	Type    string         `json:"type"`
	Forgot  bool           `json:"forgotten"` // whether it is the type that the case forgets
	Cells   int            `json:"n_cells"`
	Others  int            `json:"n_others"`
	Layers  []LayerOverlap `json:"layers"`
	// Of the forgotten type alone: the correlation of the logarithms, exact without dead
	// weights and as coded with them.
	LogR      float64 `json:"log_r,omitempty"`
	CodedLogR float64 `json:"coded_log_r,omitempty"`
	// Accuracy of a classifier on the cells that it was trained on.
	Accuracy float64 `json:"accuracy,omitempty"`
	// Points of Figure 3 and Proposition, of one model and of the autoencoder.
	Points      *Points      `json:"points,omitempty"`
	Proposition *Proposition `json:"proposition,omitempty"`
}

// LayerOverlap is Overlap in a category of layers.
type LayerOverlap struct {
	Layer   string `json:"layer"`
	Weights int    `json:"weights"` // those of dead tensors too
	// Cosine is the exact estimator's; Random that of as many other cells, drawn at
	// random, against the remaining others, and Pairs of two such sets without a cell
	// in common, one value per draw.
	Cosine float64   `json:"cosine"`
	Random []float64 `json:"random"`
	Pairs  []float64 `json:"pairs,omitempty"`
	// The same as coded, and the effective ranks over the number of weights: exact of
	// both sets, and of the forgotten one as coded. Of the forgotten type alone.
	Coded       float64   `json:"coded,omitempty"`
	CodedRandom []float64 `json:"coded_random,omitempty"`
	Rank        float64   `json:"rank,omitempty"`
	OthersRank  float64   `json:"others_rank,omitempty"`
	CodedRank   float64   `json:"coded_rank,omitempty"`
	Top1        float64   `json:"top1,omitempty"`
	Top10       float64   `json:"top10,omitempty"`
}

// overlaps is what the tables on Fisher information of one scale are made of.
type overlaps struct {
	evidence
	found []Overlap
}

func collectOverlaps(ctx context.Context, e *paper.Env, s Study) (*overlaps, error) {
	o := &overlaps{evidence: evidence{Study: s, env: e, data: map[string]string{}}}
	for _, c := range s.Cases {
		for seed := range s.Seeds {
			err := o.add(ctx, c, seed)
			if errors.Is(err, datasets.ErrMissing) {
				o.missing = append(o.missing, c.DataSet)
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s, seed %d: %w", c.Label, seed, err)
			}
		}
	}
	if o.missing = slices.Compact(o.missing); len(o.found) == 0 {
		return nil, fmt.Errorf("no set of cells of scale %s is on this machine: lethe data get %s: %w", s.Scale, o.missing[0], datasets.ErrMissing)
	}
	return o, nil
}

// add finds or computes what is known of a case with a seed.
func (o *overlaps) add(ctx context.Context, of Case, seed int) error {
	l := o.env.Lab()
	c, err := l.Case(ctx, of.at(seed))
	if err != nil {
		return err
	}
	o.data[c.About.Name] = c.Hash
	o.generated = o.generated || c.About.Synthetic
	if caveat := c.About.Caveat; caveat != "" && !slices.Contains(o.caveats, caveat) {
		o.caveats = append(o.caveats, caveat)
	}
	run, err := l.Store.Do(ctx, overlapKey(l, c, of), func(ctx context.Context, w *store.Work) error {
		found, err := measureOverlaps(ctx, c, of)
		if err != nil {
			return err
		}
		return w.WriteJSON("overlaps.json", found)
	})
	if err != nil {
		return err
	}
	l.Finish(overlapName(of, seed), fmt.Sprintf("Fisher information, %s, seed %d", of.Label, seed))
	var found []Overlap
	if err := run.JSON("overlaps.json", &found); err != nil {
		return err
	}
	o.found, o.runs = append(o.found, found...), append(o.runs, run.ID)
	return nil
}

func overlapKey(l *lab.Lab, c *lab.Case, of Case) store.Key {
	deep := of.deep(0)
	config := struct {
		lab.NetworkKey
		Goal       lab.Goal       `json:"goal"`
		Fit        train.Config   `json:"fit"`
		Forget     string         `json:"forget"`
		Classifier lab.NetworkKey `json:"classifier"`
		DeepFit    train.Config   `json:"deep_fit"`
		Version    int            `json:"version"`
		Results    int            `json:"results"`
	}{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Goal: c.Goal, Fit: c.Fit, Forget: c.Class,
		Classifier: lab.NetworkKeyOf(deep.Arch(c.Problem.Train.X.Cols, c.Classes())), DeepFit: deep.Fit.WithDefaults(),
		Version: overlapVersion, Results: Results,
	}
	return l.Key("evidence/fishing/overlap", c.Problem, config, map[string]int64{"train": int64(c.Seed), "split": lab.CellsSeed})
}

func overlapName(c Case, seed int) string {
	return fmt.Sprintf("evidence/fishing/overlap/%s/%s/seed-%d", c.DataSet, c.Class, seed)
}

// The models of a case that the lab knows: the original, and a retrained one as the
// control that never met what is forgotten.
var overlapArms = []unlearn.Method{unlearn.DoNothing{}, unlearn.Retrain{}}

// overlapJobs lists the models of a scale and what is measured on them.
func overlapJobs(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return nil, err
	}
	var out []lab.Job
	for _, of := range s.Cases {
		for seed := range s.Seeds {
			var models []lab.Job
			for _, setting := range []lab.Setting{of.at(seed), of.deep(seed)} {
				jobs, err := e.Lab().Jobs(ctx, setting, overlapArms...)
				if err != nil {
					return nil, err
				}
				models = append(models, jobs...)
			}
			job := lab.Job{ID: overlapName(of, seed), Needs: lab.IDs(models)}
			c, err := e.Lab().Case(ctx, of.at(seed))
			switch {
			case errors.Is(err, datasets.ErrMissing):
				job.Missing = true
			case err != nil:
				return nil, err
			default:
				job.Cost = int64(c.Problem.Train.X.Rows * (c.Fit.Epochs + 6*(6+codedDraws)))
				if err := e.Lab().Look(&job, overlapKey(e.Lab(), c, of)); err != nil {
					return nil, err
				}
			}
			out = append(append(out, models...), job)
		}
	}
	return lab.Once(out), nil
}

// deepEpochs is how long the deep classifier is trained. The program stops when 95 % of
// the cells are right in training; the notes of the table say how many are here.
const deepEpochs = 20

// deep is a case of the paper's deep classifier, of the types of the same cells. The
// program's weight decay of 0.01 is left out: it is a part of the gradient of every
// weight, and so another difference from the autoencoder.
func (c Case) deep(seed int) lab.Setting {
	s := c.Setting
	s.Goal, s.Arch, s.Seed = nil, deepClassifier, seed
	if c.Deep != nil {
		s.Arch = c.Deep
	}
	s.Fit = train.Config{Epochs: cmp.Or(c.DeepEpochs, deepEpochs), Batch: c.Fit.Batch, Optimizer: nn.Adam{}}
	return s
}
