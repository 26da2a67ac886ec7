// Training and unlearning with the store.

package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Training is a training run: together with the data, everything that its weights depend
// on.
type Training struct {
	Problem *Problem
	Goal    Goal         // nil: Labels
	Fit     train.Config // its seed also draws the initial weights
	Rows    []int        // of the train part
	Keep    []int        // epochs, ascending and before the last, whose weights are kept too
	Job     string       // ID in a list of jobs, if it is in one
	// Federated trains by federated averaging; nil: centrally.
	Federated *Federated
}

func (t Training) goal() Goal { return goalWithDefaults(t.Goal) }

// Trajectory is the result of a training: its final weights, history and kept checkpoints.
type Trajectory struct {
	Final   nn.Params
	AtEpoch map[int]nn.Params // by the number of epochs done
	History []train.Epoch
	Run     string // ID in the store
}

// Train returns the weights of a training, from the store or computed. An interrupted
// training resumes where it stopped.
func (l *Lab) Train(ctx context.Context, t Training) (*Trajectory, error) {
	return l.train(ctx, t, t.Job)
}

// train is Train with a job ID.
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

// initialWeights returns the weights that a training starts from.
func (t Training) initialWeights() nn.Params {
	return t.Problem.InitialWeights(t.Fit.WithDefaults().Seed)
}

// trainRun returns the stored run of a training, training it if needed.
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
		hooks.Progress = l.AfterEpoch
		ctx, task := StartJob(ctx, job, what)
		defer task.Done()
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
		ReportDone(ctx, job)
	}
	return run, err
}

// InitialWeights returns the weights that a training with the seed starts from.
func (p *Problem) InitialWeights(seed engine.Root) nn.Params {
	return model.InitialWeights(p.Arch, seed.Stream(engine.StreamInit))
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

// checkpointPause returns how long to wait after a checkpoint that took the given time: a
// few seconds, and long enough that checkpoints take at most a fiftieth of the time. A
// killed training loses at most that much.
func checkpointPause(took time.Duration) time.Duration { return max(5*time.Second, 50*took) }

// CheckpointHooks returns hooks that save a training's state in the run's work folder, at
// most every few seconds and when the work is stopped, and that resume from it. The weights
// after the epochs in keep become files of the run. like has the names and shapes of the
// weights.
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
		if ctx.Err() == nil && !kept && time.Now().Before(next) {
			return nil
		}
		return h.SaveLast(s)
	}
	h.SaveLast = func(s *train.State) error {
		begun := time.Now()
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

// divergedName is the file of a run whose method diverged. The run has no weights. It is
// stored like any other result and not computed again.
const divergedName = "diverged.json"

// unlearn returns the weights and the report of a method for a request, from the store or
// computed. A method that diverged is the error train.Diverged.
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

// unlearnRun returns the stored run of an unlearning, computing it if needed.
func (l *Lab) unlearnRun(ctx context.Context, p *Problem, goal Goal, m unlearn.Method, r unlearn.Request, job string) (*store.Run, error) {
	run, err := l.Store.Do(ctx, l.unlearnKey(p, goal, m, r), func(ctx context.Context, w *store.Work) (err error) {
		if r.Hooks, err = CheckpointHooks(ctx, w, r.Original, nil); err != nil {
			return err
		}
		ctx, task := StartJob(ctx, job, fmt.Sprintf("%s on %s", m.Info().Name, p.About.Name))
		defer task.Done()
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
		ReportDone(ctx, job)
	}
	return run, err
}
