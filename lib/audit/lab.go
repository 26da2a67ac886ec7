package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Results is the version of the numbers: it goes up when a change of the
// program changes a result, and with it every store key.
const Results = 1

// Lab trains and unlearns models and keeps them in a store. It may be used by
// several goroutines.
type Lab struct {
	Engine *engine.Engine
	Store  *store.Store
	// Progress is told how far a training or an unlearning is, after every epoch.
	// It may be nil; with several goroutines it is called by all of them.
	Progress func(Progress)

	mu      sync.Mutex
	runners map[string]*model.Runner
}

// Progress says how far a piece of work is.
type Progress struct {
	Done, Total int64 // epochs
	What        string
}

// Open opens the engine that LETHE_ENGINE names, or the best there is, and the
// store that LETHE_STORE names, or the one in the user's cache folder.
func Open() (*Lab, error) {
	e, err := engine.Open("")
	if err != nil {
		return nil, err
	}
	dir, err := store.DefaultDir()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Lab{Engine: e, Store: s}, nil
}

// Problem is a prepared data set joined to a network.
type Problem struct {
	*datasets.Prepared
	Arch   model.Architecture
	Runner *model.Runner
	// Augment changes the training records of every epoch; nil leaves them alone.
	// It must be plain data: its JSON is part of the names in the store.
	Augment train.Augmenter
}

// Problem joins a network to a prepared data set; runners are shared by all
// problems with the same network.
func (l *Lab) Problem(p *datasets.Prepared, arch model.Architecture) (*Problem, error) {
	key := fmt.Sprintf("%s%+v", arch.Name(), arch)
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.runners[key]
	if r == nil {
		var err error
		if r, err = model.NewRunner(l.Engine, arch); err != nil {
			return nil, err
		}
		if l.runners == nil {
			l.runners = map[string]*model.Runner{}
		}
		l.runners[key] = r
	}
	return &Problem{Prepared: p, Arch: arch, Runner: r}, nil
}

// Classes is the number of classes of the data set.
func (p *Problem) Classes() int { return len(p.About.Classes) }

// Records are the given rows of the train part with their labels; they are named
// by these rows.
func (p *Problem) Records(rows []int) unlearn.Data {
	d := p.Train.Gather(rows)
	return unlearn.Data{X: d.X, Y: d.Y, IDs: rows}
}

// Key is the name in the store of something computed from the problem.
func (l *Lab) Key(recipe string, p *Problem, config any, seeds map[string]int64) store.Key {
	return store.Key{
		Recipe: recipe, Config: config, Seeds: seeds,
		Data:   map[string]string{p.About.Name: p.Hash},
		Engine: l.Engine.Info().String(), Results: Results,
	}
}

// fitConfig identifies the training of a model in the store.
type fitConfig struct {
	Model   string             `json:"model"`
	Arch    model.Architecture `json:"arch"`
	Fit     train.Config       `json:"fit"`
	Rows    string             `json:"rows"` // hash of the training rows' numbers
	Augment train.Augmenter    `json:"augment,omitempty"`
	Keep    []int              `json:"keep,omitempty"` // epochs after which the weights are kept too
}

// Trained returns the weights of a model trained on the given training rows
// with the seed, which also draws its initial weights, from the store or
// computed. An interrupted training goes on where it stopped.
func (l *Lab) Trained(ctx context.Context, p *Problem, fit train.Config, rows []int, seed int) (nn.Params, error) {
	c, err := l.TrainedCourse(ctx, p, fit, rows, seed, nil)
	if err != nil {
		return nil, err
	}
	return c.Final, nil
}

// Trajectory is a training of which more than the end was kept.
type Trajectory struct {
	Final nn.Params
	At    map[int]nn.Params // by the number of epochs done
}

// TrainedCourse is Trained with the weights after some epochs, ascending and
// before the last.
func (l *Lab) TrainedCourse(ctx context.Context, p *Problem, fit train.Config, rows []int, seed int, keep []int) (*Trajectory, error) {
	fit = fit.WithDefaults()
	fit.Seed = engine.Root(seed)
	if err := checkKeep(keep, fit.Epochs); err != nil {
		return nil, err
	}
	config := fitConfig{p.Arch.Name(), p.Arch, fit, hashInts(rows), p.Augment, keep}
	key := l.Key("train", p, config, map[string]int64{"train": int64(seed)})
	fresh := p.Arch.Init(fit.Seed.Stream(engine.StreamInit))
	run, err := l.Store.Do(ctx, key, func(ctx context.Context, w *store.Work) error {
		d := p.Records(rows)
		o := train.Objective{{Name: "training", X: d.X, IDs: d.IDs, Augment: p.Augment, Targets: []train.Target{train.CrossEntropy(d.Y, p.Classes(), 1)}}}
		hooks, err := Checkpoints(ctx, w, fresh, keep)
		if err != nil {
			return err
		}
		hooks.Progress = l.progress(fmt.Sprintf("training on %s, seed %d", p.About.Name, seed), fit.Epochs)
		weights, history, err := train.Fit(ctx, p.Runner, fresh, o, fit, hooks)
		if err != nil {
			return err
		}
		if err := w.WriteTensors("weights.safetensors", weights.File("")); err != nil {
			return err
		}
		return w.WriteJSON("history.json", history)
	})
	if err != nil {
		return nil, err
	}
	out := &Trajectory{At: map[int]nn.Params{}}
	for _, epoch := range keep {
		if out.At[epoch], err = weightsOf(run, keptName(epoch), fresh); err != nil {
			return nil, err
		}
	}
	out.Final, err = weightsOf(run, "weights.safetensors", fresh)
	return out, err
}

func checkKeep(keep []int, epochs int) error {
	for i, e := range keep {
		if e < 1 || e >= epochs || i > 0 && e <= keep[i-1] {
			return fmt.Errorf("audit: the epochs to keep %v do not rise from 1 to %d", keep, epochs-1)
		}
	}
	return nil
}

func keptName(epoch int) string { return fmt.Sprintf("weights-%d.safetensors", epoch) }

func (l *Lab) progress(what string, total int) func(train.Epoch) {
	if l.Progress == nil {
		return nil
	}
	return func(e train.Epoch) { l.Progress(Progress{Done: int64(e.Epoch), Total: int64(total), What: what}) }
}

func weightsOf(run *store.Run, file string, like nn.Params) (nn.Params, error) {
	f, err := run.Tensors(file)
	if err != nil {
		return nil, err
	}
	return nn.FromFile(f, "", like)
}

// checkpointEvery bounds what a killed training loses.
const checkpointEvery = 5 * time.Second

// Checkpoints are hooks that save a training's state in the run's work folder, at
// most every few seconds and when the work is stopped, and resume what is there.
// The weights after the epochs in keep go to the run's files, with a checkpoint
// behind them that holds them. like has the names and shapes of the weights.
func Checkpoints(ctx context.Context, w *store.Work, like nn.Params, keep []int) (train.Hooks, error) {
	h := train.Hooks{SaveEvery: 1}
	last := time.Now()
	h.Save = func(s *train.State) error {
		kept := ctx.Err() == nil && slices.Contains(keep, s.Done)
		if kept {
			if err := w.WriteTensors(keptName(s.Done), s.Params.File("")); err != nil {
				return err
			}
		}
		if ctx.Err() == nil && !kept && time.Since(last) < checkpointEvery {
			return nil
		}
		last = time.Now()
		f, state := s.File()
		return w.SaveCheckpoint(f, state)
	}
	f, state, ok, err := w.LoadCheckpoint()
	if err != nil || !ok {
		return h, err
	}
	h.Resume, err = train.LoadState(f, state, like)
	return h, err
}

// unlearnConfig identifies an unlearned model in the store.
type unlearnConfig struct {
	Method   string             `json:"method"`
	Setting  unlearn.Method     `json:"setting"`
	Model    string             `json:"model"`
	Arch     model.Architecture `json:"arch"`
	Original string             `json:"original"` // hash of its weights
	Forget   string             `json:"forget"`
	Batch    int                `json:"batch"`
	Earlier  string             `json:"earlier,omitempty"` // hash of its weights
	Epoch    int                `json:"epoch,omitempty"`   // of Earlier
	Augment  train.Augmenter    `json:"augment,omitempty"`
}

// Unlearned returns the weights that a method makes of the request's original,
// and its report, from the store or computed.
func (l *Lab) Unlearned(ctx context.Context, p *Problem, m unlearn.Method, r unlearn.Request) (nn.Params, *unlearn.Report, error) {
	cfg := unlearnConfig{
		Method: m.Name(), Setting: m, Model: p.Arch.Name(), Arch: p.Arch, Original: r.Original.Hash(),
		Forget: hashInts(r.Forget.IDs), Batch: r.Batch, Augment: r.Augment,
	}
	if m.Sees().Earlier && r.Earlier != nil {
		cfg.Earlier, cfg.Epoch = r.Earlier.Params.Hash(), r.Earlier.Epoch
	}
	key := l.Key("unlearn", p, cfg, map[string]int64{"unlearn": int64(r.Seed)})
	run, err := l.Store.Do(ctx, key, func(ctx context.Context, w *store.Work) (err error) {
		if r.Hooks, err = Checkpoints(ctx, w, r.Original, nil); err != nil {
			return err
		}
		weights, rep, err := unlearn.Apply(ctx, m, r)
		if err != nil {
			return err
		}
		if err := w.WriteTensors("weights.safetensors", weights.File("")); err != nil {
			return err
		}
		return w.WriteJSON("report.json", rep)
	})
	if err != nil {
		return nil, nil, err
	}
	weights, err := weightsOf(run, "weights.safetensors", r.Original)
	if err != nil {
		return nil, nil, err
	}
	var rep unlearn.Report
	return weights, &rep, run.JSON("report.json", &rep)
}

// hashInts is the SHA-256 of a list of row numbers.
func hashInts(rows []int) string {
	b := make([]byte, 0, 8*len(rows))
	for _, r := range rows {
		b = binary.LittleEndian.AppendUint64(b, uint64(r))
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Prepare loads a data set, keeps at most maxRows of its rows (0: all), splits
// it by class with the seed and standardises it. The rows kept are a random
// subset, in their order.
func Prepare(ctx context.Context, name string, maxRows int, testFraction float64, seed uint32) (*datasets.Prepared, error) {
	t, err := datasets.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	t = capRows(t, maxRows, seed)
	split, err := datasets.StratifiedSplit(t.Y, testFraction, seed)
	if err != nil {
		return nil, err
	}
	return datasets.Prepare(t, split)
}

func capRows(t *datasets.Table, n int, seed uint32) *datasets.Table {
	if n == 0 || t.X.Rows <= n {
		return t
	}
	rows := engine.Root(seed).Stream(engine.StreamSplit).Perm(t.X.Rows)[:n]
	slices.Sort(rows)
	part := *t
	part.X, part.Y = t.X.Gather(rows), make([]int, n)
	at := map[int]int{}
	for i, r := range rows {
		part.Y[i], at[r] = t.Y[r], i
	}
	part.Planted = nil
	for name, old := range t.Planted {
		if part.Planted == nil {
			part.Planted = map[string][]int{}
		}
		for _, r := range old {
			if i, kept := at[r]; kept {
				part.Planted[name] = append(part.Planted[name], i)
			}
		}
	}
	return &part
}
