package toy

// Training with checkpoints.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
)

// fit is the configuration of a training in the store.
type fit struct {
	Model  string       `json:"model"`
	Arch   any          `json:"arch"`
	Fit    train.Config `json:"fit"`
	Epochs []int        `json:"epochs"` // whose weights are kept
}

func (r *experiment) fit(p part) fit {
	return fit{r.arch.Name(), defaults.Fill(r.arch), r.config(p), r.Epochs}
}

func (r *experiment) key(recipe string, p part, config any) store.Key {
	return store.Key{
		Recipe: recipe, Config: config, Seeds: map[string]int64{"train": int64(p.seed)},
		Data:   map[string]string{dataSet: r.table.Hash},
		Engine: r.runner.Engine.Info().String(), Results: lab.ResultsVersion,
	}
}

func (r *experiment) trainKey(p part) store.Key { return r.key("train/toy", p, r.fit(p)) }

// batches is the name of the part's order.
func (p part) batches() string {
	if p.order == train.Fixed {
		return "fixed"
	}
	return "fresh"
}

// trainJob is the job of a part's training.
func (r *experiment) trainJob(p part) lab.Job {
	return lab.Job{ID: fmt.Sprintf("train/toy/%s/seed-%d", p.batches(), p.seed), Cost: lab.Cost(r.arch, 3*r.x.Rows*r.last())}
}

// evidenceJob is the job of a measurement; its cost is that of as many records as are permuted.
func (r *experiment) evidenceJob(p part, epoch int) lab.Job {
	return lab.Job{
		ID:    fmt.Sprintf("evidence/toy/%s/seed-%d/epoch-%d", p.batches(), p.seed, epoch),
		Needs: []string{r.trainJob(p).ID}, Cost: lab.Cost(r.arch, r.Batches*r.Batch*(1+r.Permutations)),
	}
}

// Jobs lists the trainings and measurements at a scale.
func Jobs(ctx context.Context, l *lab.Lab, scale string) ([]lab.Job, error) {
	return SettingAt(scale).jobs(ctx, l)
}

func (s Setting) jobs(ctx context.Context, l *lab.Lab) ([]lab.Job, error) {
	r, err := s.withDefaults().open(ctx, l.Engine, l.Store)
	if err != nil {
		return nil, err
	}
	var out []lab.Job
	for _, p := range r.parts() {
		job := r.trainJob(p)
		job.Work = func(ctx context.Context) (string, error) {
			trained, err := r.train(ctx, p)
			if err != nil {
				return "", err
			}
			return trained.ID, nil
		}
		if _, err := l.Lookup(&job, r.trainKey(p)); err != nil {
			return nil, err
		}
		out = append(out, job)
		for _, epoch := range r.Epochs {
			job := r.evidenceJob(p, epoch)
			job.Work = func(ctx context.Context) (string, error) {
				trained, err := r.train(ctx, p)
				if err != nil {
					return "", err
				}
				_, run, err := r.evidence(ctx, p, epoch, trained)
				return run, err
			}
			if _, err := l.Lookup(&job, r.evidenceKey(p, epoch)); err != nil {
				return nil, err
			}
			out = append(out, job)
		}
	}
	return out, nil
}

func file(epoch int) string { return fmt.Sprintf("epoch-%d.safetensors", epoch) }

// train keeps the weights of every requested epoch, and a checkpoint of each to continue an
// interrupted training.
func (r *experiment) train(ctx context.Context, p part) (*store.Run, error) {
	config := r.config(p)
	fresh := model.InitialWeights(r.arch, config.Seed.Stream(engine.StreamInit))
	o := train.Objective{{Name: "training", X: r.x, Targets: []train.Target{train.CrossEntropy(r.table.Y, r.arch.Outputs, 1)}}}
	return r.store.Do(ctx, r.trainKey(p), func(ctx context.Context, w *store.Work) error {
		f, state, ok, err := w.LoadCheckpoint()
		if err != nil {
			return err
		}
		k := &checkpointer{ctx: ctx, w: w, epochs: r.Epochs}
		hooks := train.Hooks{SaveEvery: 1, Save: k.save}
		if ok {
			hooks.Resume, err = k.resume(f, state, fresh)
		} else if r.Epochs[0] == 0 {
			err = w.WriteTensors(file(0), fresh.File(""))
		}
		if err != nil {
			return err
		}
		_, history, err := train.Fit(ctx, r.runner, fresh, o, config, hooks)
		if err != nil {
			return err
		}
		return w.WriteJSON("history.json", history)
	})
}

// checkpointer writes weights and checkpoints while a training runs.
type checkpointer struct {
	ctx    context.Context
	w      *store.Work
	epochs []int
	kept   int // the last epoch whose weights are written
}

func (k *checkpointer) resume(f *safetensors.File, state []byte, like nn.Params) (*train.State, error) {
	s, err := train.LoadState(f, state, like)
	if err == nil {
		k.kept = s.Done
	}
	return s, err
}

func (k *checkpointer) save(s *train.State) error {
	keep := s.Done > k.kept && slices.Contains(k.epochs, s.Done)
	if keep {
		if err := k.w.WriteTensors(file(s.Done), s.Params.File("")); err != nil {
			return err
		}
		k.kept = s.Done
	}
	if !keep && k.ctx.Err() == nil {
		return nil
	}
	f, state := s.File()
	return k.w.SaveCheckpoint(f, state)
}

// weights are those of an epoch.
func (r *experiment) weights(trained *store.Run, epoch int) (nn.Params, error) {
	f, err := trained.Tensors(file(epoch))
	if err != nil {
		return nil, err
	}
	return nn.FromFile(f, "", model.InitialWeights(r.arch, engine.Root(0).Stream(engine.StreamInit)))
}
