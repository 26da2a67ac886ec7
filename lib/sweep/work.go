package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// Worker does the jobs of a shard.
type Worker struct {
	Dir        string // of the sweep
	Shard      int
	ShardCount int    // shards that the caller believes there are
	Stage      int    // -1: all, one after the other
	Job        string // this job alone, whatever its shard
	// Program is the path of the program that runs, Engine what it computes with.
	Program, Engine string
	// List lists the jobs of the plan's recipes, whose work goes to a store.
	List func(*store.Store) ([]lab.Job, error)
	Out  io.Writer
	// WaitLimit is how long a job waits for word of what it needs: a network file
	// system shows new names late. 0: two minutes.
	WaitLimit time.Duration
	Log       string // path of what the worker prints, where it is known
}

// ErrStopped says that the context ended the work, whose state is saved.
var ErrStopped = errors.New("stopped; what was done is kept")

// ErrRefused is wrapped where a worker must not work on a sweep.
var ErrRefused = errors.New("refused")

// attempt is one worker at work.
type attempt struct {
	*Worker
	*Progress
	name      string
	store     *store.Store
	listed    map[string]lab.Job
	fallbacks map[string]bool // stores behind
	failed    int
	waited    bool
}

// Work does what is left of the shard. Every job that fails is written down and does
// not keep the others from being done; the error then says how many there were.
func (w *Worker) Work(ctx context.Context) error {
	g, err := openProgress(w.Dir)
	if err != nil {
		return err
	}
	if err := w.check(g.Plan); err != nil {
		return err
	}
	jobs, err := w.selectJobs(g)
	if err != nil {
		return err
	}
	g.shards = g.shardsOf(jobs)
	if err := g.reload(); err != nil {
		return err
	}
	jobs = slices.DeleteFunc(jobs, func(j Job) bool { _, done := g.Done[j.ID]; return done })
	if len(jobs) == 0 {
		fmt.Fprintln(w.Out, "nothing is left to do here")
		return nil
	}
	w.WaitLimit = cmp.Or(w.WaitLimit, 2*time.Minute)
	a := &attempt{Worker: w, Progress: g, fallbacks: map[string]bool{}}
	if err := a.begin(jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if err := a.doJob(ctx, j); err != nil {
			return err
		}
	}
	if err := a.record(Record{Kind: Ended, Stage: jobs[len(jobs)-1].Stage}); err != nil {
		return err
	}
	if a.failed > 0 {
		return fmt.Errorf("%d of %d jobs failed; %s says why", a.failed, len(jobs), filepath.Join(g.Dir, failedDirName))
	}
	return nil
}

// check refuses what would compute other results than were planned.
func (w *Worker) check(p *Plan) error {
	switch {
	case w.Job == "" && w.ShardCount != p.Shards:
		return fmt.Errorf("%w: shard %d/%d, but the sweep has %d shards", ErrRefused, w.Shard, w.ShardCount, p.Shards)
	case w.Job == "" && (w.Shard < 0 || w.Shard >= p.Shards):
		return fmt.Errorf("%w: shard %d/%d: shards are numbered from 0 to %d", ErrRefused, w.Shard, w.ShardCount, p.Shards-1)
	case w.Stage < -1 || w.Stage >= p.Stages:
		return fmt.Errorf("%w: stage %d: stages are numbered from 0 to %d", ErrRefused, w.Stage, p.Stages-1)
	case w.Engine != p.Engine.Identity:
		return fmt.Errorf("%w: this node computes with the engine %s, the sweep was planned for %s: the results would have other names",
			ErrRefused, w.Engine, p.Engine.Identity)
	}
	hash, err := hashFile(w.Program)
	if err != nil {
		return err
	}
	if hash != p.Program.SHA256 {
		return fmt.Errorf("%w: this program (%s) has SHA-256 %.12s, the sweep was planned by one with %.12s: run %s", ErrRefused, w.Program, hash,
			p.Program.SHA256, filepath.Join(w.Dir, p.Program.Name))
	}
	return nil
}

// openProgram opens the program of the sweep's folder, and refuses another one than was
// planned.
func (g *Progress) openProgram() (*os.File, error) {
	f, err := files.Open(filepath.Join(g.Dir, g.Program.Name))
	if err != nil {
		return nil, err
	}
	hash, err := hashReader(f)
	if err == nil && hash != g.Program.SHA256 {
		err = fmt.Errorf("%w: %s has SHA-256 %.12s, the sweep was planned by one with %.12s", ErrRefused, f.Name(), hash, g.Program.SHA256)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func hashFile(path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(f)
}

func hashReader(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// selectJobs are those that the worker is asked for, in their order.
func (w *Worker) selectJobs(g *Progress) ([]Job, error) {
	if w.Job != "" {
		j, err := g.Find(w.Job)
		w.Shard = j.Shard
		return []Job{j}, err
	}
	var out []Job
	for stage := range g.Stages {
		if w.Stage < 0 || w.Stage == stage {
			out = append(out, g.jobsOfShard(stage, w.Shard)...)
		}
	}
	return out, nil
}

// begin opens the attempt's own store and compares what is to be done with what was
// planned. The jobs are listed before there is anything behind the store: listing
// would read it all.
func (a *attempt) begin(jobs []Job) (err error) {
	dir, err := a.makeStoreDir()
	if err != nil {
		return err
	}
	if err := a.record(Record{Kind: Began, Stage: jobs[0].Stage}); err != nil {
		return err
	}
	if a.store, err = store.OpenWithoutLocks(dir); err != nil {
		return err
	}
	a.store.OnWarning = func(text string) { fmt.Fprintln(a.Out, text) }
	listed, err := a.List(a.store)
	if err != nil {
		return err
	}
	a.listed = map[string]lab.Job{}
	for _, j := range listed {
		a.listed[j.ID] = j
	}
	if err := a.checkJobs(jobs); err != nil {
		return err
	}
	return a.addEarlierStores()
}

// makeStoreDir makes the folder of a new attempt. Two that begin at once have different
// names, whatever the file system shows them of each other.
func (a *attempt) makeStoreDir() (string, error) {
	shard := filepath.Join(a.Progress.Dir, storesDirName, strconv.Itoa(a.Shard))
	if err := os.MkdirAll(shard, 0o755); err != nil {
		return "", err
	}
	earlier, err := os.ReadDir(shard)
	if err != nil {
		return "", err
	}
	a.name = fmt.Sprintf("%03d-%s", len(earlier), randomDigits())
	dir := filepath.Join(shard, a.name)
	return dir, os.Mkdir(dir, 0o755)
}

// checkJobs refuses jobs, keys and data that are not as planned.
func (a *attempt) checkJobs(jobs []Job) error {
	for _, j := range jobs {
		here, ok := a.listed[j.ID]
		switch {
		case !ok:
			return fmt.Errorf("%w: this program knows no job %s of %s", ErrRefused, j.ID, strings.Join(a.Recipes, ", "))
		case here.Missing:
			return fmt.Errorf("%w: %s: its data are not on this node; set LETHE_DATA to a folder that it sees", ErrRefused, j.ID)
		}
		for name, hash := range here.Data {
			if planned := a.Data[name]; !slices.Contains(planned, hash) {
				return fmt.Errorf("%w: the data %s have hash %s here, %s where the sweep was planned", ErrRefused, name, hash,
					strings.Join(planned, " or "))
			}
		}
		if j.Key != "" && here.Key != "" && j.Key != here.Key {
			return fmt.Errorf("%w: %s is run %.12s here, %.12s in the plan", ErrRefused, j.ID, here.Key, j.Key)
		}
	}
	return nil
}

// addEarlierStores puts the stores of earlier attempts at the shard behind the attempt's own,
// the newest first: their runs count, and their checkpoints are gone on from.
func (a *attempt) addEarlierStores() error {
	shard := path.Join(storesDirName, strconv.Itoa(a.Shard))
	before, err := os.ReadDir(filepath.Join(a.Progress.Dir, filepath.FromSlash(shard)))
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(before) {
		a.addFallback(path.Join(shard, e.Name()))
	}
	return nil
}

// addFallback puts a store of the sweep behind the attempt's own, once. One that cannot be
// read costs time, not the job: what is in it is computed again.
func (a *attempt) addFallback(dir string) {
	full := filepath.Join(a.Progress.Dir, filepath.FromSlash(dir))
	if a.fallbacks[dir] || full == a.store.Dir() || !store.Exists(full) {
		return
	}
	a.fallbacks[dir] = true
	s, err := store.Open(full)
	if err != nil {
		fmt.Fprintln(a.Out, err)
		return
	}
	a.store.AddFallbacks(s)
}

// doJob does a job and writes down how it ended. Only what ends the attempt is returned.
func (a *attempt) doJob(ctx context.Context, j Job) error {
	began := time.Now()
	r := Record{Kind: Done, Stage: j.Stage, Job: j.ID}
	err := a.waitForNeeds(ctx, j)
	if err == nil {
		r.Run, r.Dir, err = a.runJob(ctx, j)
	}
	r.Seconds = time.Since(began).Seconds()
	switch {
	case err == nil:
		a.Done[j.ID] = r
		fmt.Fprintf(a.Out, "%s: done in %.1f s\n", j.ID, r.Seconds)
	case ctx.Err() != nil:
		return errors.Join(ErrStopped, a.record(Record{Kind: Stopped, Stage: j.Stage}))
	default:
		r.Kind, r.Error, r.Command = Failed, err.Error(), a.commandLine(j.ID)
		a.Failed[j.ID], a.failed = r, a.failed+1
		fmt.Fprintf(a.Out, "%s: failed: %v\n", j.ID, err)
	}
	return a.record(r)
}

// runJob computes a job, or finds it, and returns its run and where in the sweep it is.
func (a *attempt) runJob(ctx context.Context, j Job) (id, dir string, err error) {
	if id, err = a.listed[j.ID].Work(ctx); err != nil || id == "" {
		return "", "", err
	}
	if j.Key != "" && id != j.Key {
		return "", "", fmt.Errorf("it was planned as run %.12s and became %.12s", j.Key, id)
	}
	full, ok := a.store.Has(id)
	if !ok {
		return "", "", fmt.Errorf("its run %.12s is in no store of the sweep", id)
	}
	dir, err = filepath.Rel(a.Progress.Dir, full)
	return id, filepath.ToSlash(dir), err
}

// waitForNeeds brings what a job needs within reach. The stage before is over when a job
// begins, but its last words may not be seen yet: they are waited for, once.
func (a *attempt) waitForNeeds(ctx context.Context, j Job) error {
	needs := a.allNeeds(j)
	for until := time.Now().Add(a.WaitLimit); ; {
		missing := slices.DeleteFunc(slices.Clone(needs), func(n string) bool { _, done := a.Done[n]; return done })
		if len(missing) == 0 {
			break
		}
		if a.waited || time.Now().After(until) {
			a.waited = true
			return a.missingError(missing[0])
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(5*time.Second, a.WaitLimit/4)):
		}
		if err := a.reload(); err != nil {
			return err
		}
	}
	for _, n := range needs {
		if dir := storeDirOf(a.Done[n]); dir != "" {
			a.addFallback(dir)
		}
	}
	return nil
}

// missingError says why a job that is needed is not there.
func (a *attempt) missingError(id string) error {
	if r, failed := a.Failed[id]; failed {
		return fmt.Errorf("it needs %s, which failed: %s", id, r.Error)
	}
	return fmt.Errorf("it needs %s, which is not done and of which there is no word", id)
}

// storeDirOf is the store of a record's run, stores/<shard>/<attempt>, or "".
func storeDirOf(r Record) string {
	parts := strings.Split(path.Clean(r.Dir), "/")
	if len(parts) < 4 || parts[0] != storesDirName {
		return ""
	}
	return path.Join(parts[:3]...)
}

// record writes a record of the attempt down.
func (a *attempt) record(r Record) error {
	r.Time, r.Shard, r.Attempt, r.Log = time.Now().UTC(), a.Shard, a.name, a.Log
	r.Host, _ = os.Hostname()
	return appendRecord(a.Progress.Dir, r)
}

// shardsOf are the shards of jobs and of all that they need.
func (p *Plan) shardsOf(jobs []Job) map[int]bool {
	out := map[int]bool{}
	for _, j := range jobs {
		out[j.Shard] = true
		for _, n := range p.allNeeds(j) {
			out[p.Jobs[p.index[n]].Shard] = true
		}
	}
	return out
}

// allNeeds are the jobs behind a job, at any distance, each once.
func (p *Plan) allNeeds(j Job) (out []string) {
	if p.index == nil {
		p.index = map[string]int{}
		for i, j := range p.Jobs {
			p.index[j.ID] = i
		}
	}
	seen := map[string]bool{}
	var add func(Job)
	add = func(j Job) {
		for _, n := range j.Needs {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
				add(p.Jobs[p.index[n]])
			}
		}
	}
	add(j)
	return out
}
