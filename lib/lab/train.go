package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Training is what a model is trained by: with the data, everything that its
// weights depend on.
type Training struct {
	Problem *Problem
	Goal    Goal         // nil: Labels
	Fit     train.Config // its seed also draws the initial weights
	Rows    []int        // of the train part
	Keep    []int        // epochs, ascending and before the last, after which the weights are kept too
	Job     string       // its name in a list of jobs, if it is in one
	// Federated has users train together; nil: at one place.
	Federated *Federated
}

func (t Training) goal() Goal { return goalWithDefaults(t.Goal) }

// Trajectory is a training of which more than the end may have been kept.
type Trajectory struct {
	Final   nn.Params
	AtEpoch map[int]nn.Params // by the number of epochs done
	History []train.Epoch
	Run     string // its name in the store
}

// Train returns the weights of a training, from the store or computed. An
// interrupted training goes on where it stopped.
func (l *Lab) Train(ctx context.Context, t Training) (*Trajectory, error) {
	return l.train(ctx, t, t.Job)
}

// train is Train of the job of that name.
func (l *Lab) train(ctx context.Context, t Training, job string) (*Trajectory, error) {
	run, err := l.trainRun(ctx, t, job)
	if err != nil {
		return nil, err
	}
	out, fresh := &Trajectory{AtEpoch: map[int]nn.Params{}, Run: run.ID}, t.initialWeights()
	if err := run.JSON("history.json", &out.History); err != nil {
		return nil, err
	}
	for _, epoch := range t.Keep {
		if out.AtEpoch[epoch], err = readWeights(run, checkpointFile(epoch), fresh); err != nil {
			return nil, err
		}
	}
	out.Final, err = readWeights(run, "weights.safetensors", fresh)
	return out, err
}

// initialWeights are the weights that a training begins with.
func (t Training) initialWeights() nn.Params {
	return t.Problem.InitialWeights(t.Fit.WithDefaults().Seed)
}

// trainRun is the run of a training, found or computed.
func (l *Lab) trainRun(ctx context.Context, t Training, job string) (*store.Run, error) {
	fit, fresh := t.Fit.WithDefaults(), t.initialWeights()
	if err := checkKeep(t.Keep, fit.Epochs); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("training on %s, seed %d", t.Problem.About.Name, fit.Seed)
	run, err := l.Store.Do(ctx, l.TrainKey(t), func(ctx context.Context, w *store.Work) error {
		hooks, err := CheckpointHooks(ctx, w, fresh, t.Keep)
		if err != nil {
			return err
		}
		hooks.Progress = l.epochProgress(job, what, t.saveSteps(fit))
		weights, history, err := t.fitModel(ctx, fresh, fit, hooks)
		if err != nil {
			return err
		}
		if err := w.WriteTensors("weights.safetensors", weights.File("")); err != nil {
			return err
		}
		return w.WriteJSON("history.json", history)
	})
	if err == nil {
		l.ReportDone(job, what)
	}
	return run, err
}

// InitialWeights are the weights that a seed's training begins with.
func (p *Problem) InitialWeights(seed engine.Root) nn.Params {
	return p.Arch.Init(seed.Stream(engine.StreamInit))
}

func checkKeep(keep []int, epochs int) error {
	for i, e := range keep {
		if e < 1 || e >= epochs || i > 0 && e <= keep[i-1] {
			return fmt.Errorf("lab: the epochs to keep %v do not rise from 1 to %d", keep, epochs-1)
		}
	}
	return nil
}

func checkpointFile(epoch int) string { return fmt.Sprintf("weights-%d.safetensors", epoch) }

func readWeights(run *store.Run, file string, like nn.Params) (nn.Params, error) {
	f, err := run.Tensors(file)
	if err != nil {
		return nil, err
	}
	return nn.FromFile(f, "", like)
}

// checkpointPause is how long no checkpoint is made after one that took so long: a few seconds, or as
// much longer as keeps checkpoints to a fiftieth of the time. It is what a killed training
// loses.
func checkpointPause(took time.Duration) time.Duration { return max(5*time.Second, 50*took) }

// CheckpointHooks are hooks that save a training's state in the run's work folder, at
// most every few seconds and when the work is stopped, and resume what is there.
// The weights after the epochs in keep go to the run's files, with a checkpoint
// behind them that holds them. like has the names and shapes of the weights.
func CheckpointHooks(ctx context.Context, w *store.Work, like nn.Params, keep []int) (train.Hooks, error) {
	h := train.Hooks{SaveEvery: 1}
	next := time.Now().Add(checkpointPause(0))
	h.Save = func(s *train.State) error {
		kept := ctx.Err() == nil && slices.Contains(keep, s.Done)
		if kept {
			if err := w.WriteTensors(checkpointFile(s.Done), s.Params.File("")); err != nil {
				return err
			}
		}
		begun := time.Now()
		if ctx.Err() == nil && !kept && begun.Before(next) {
			return nil
		}
		f, state := s.File()
		err := w.SaveCheckpoint(f, state)
		end := time.Now()
		next = end.Add(checkpointPause(end.Sub(begun)))
		return err
	}
	f, state, ok, err := w.LoadCheckpoint()
	if err != nil || !ok {
		return h, err
	}
	h.Resume, err = train.LoadState(f, state, like)
	return h, err
}

// divergedName is the file of a run whose method has left the range of numbers.
// It is a result like another: the same bytes come of the same key, so that it
// is kept and not computed again. It stands alone, without weights.
const divergedName = "diverged.json"

// unlearn returns the weights that a method makes of the request's original, and
// its report, from the store or computed. A method that has diverged, now or when
// it was computed, is the error train.Diverged.
func (l *Lab) unlearn(ctx context.Context, p *Problem, goal Goal, m unlearn.Method, r unlearn.Request, job string) (nn.Params, *unlearn.Report, error) {
	run, err := l.unlearnRun(ctx, p, goal, m, r, job)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(run.Files(), divergedName) {
		d := &train.Diverged{}
		if err := run.JSON(divergedName, d); err != nil {
			return nil, nil, err
		}
		return nil, nil, d
	}
	weights, err := readWeights(run, "weights.safetensors", r.Original)
	if err != nil {
		return nil, nil, err
	}
	var rep unlearn.Report
	return weights, &rep, run.JSON("report.json", &rep)
}

// unlearnRun is the run of an unlearning, found or computed.
func (l *Lab) unlearnRun(ctx context.Context, p *Problem, goal Goal, m unlearn.Method, r unlearn.Request, job string) (*store.Run, error) {
	run, err := l.Store.Do(ctx, l.unlearnKey(p, goal, m, r), func(ctx context.Context, w *store.Work) (err error) {
		if r.Hooks, err = CheckpointHooks(ctx, w, r.Original, nil); err != nil {
			return err
		}
		weights, rep, err := unlearn.Apply(ctx, m, r)
		if d := (*train.Diverged)(nil); errors.As(err, &d) {
			return w.WriteJSON(divergedName, d)
		}
		if err != nil {
			return err
		}
		if err := w.WriteTensors("weights.safetensors", weights.File("")); err != nil {
			return err
		}
		return w.WriteJSON("report.json", rep)
	})
	if err == nil {
		l.ReportDone(job, fmt.Sprintf("%s on %s", m.Name(), p.About.Name))
	}
	return run, err
}
