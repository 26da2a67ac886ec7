// Workers: the processes that run the jobs of a shard.

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

// Worker runs the jobs of a shard.
type Worker struct {
	Dir        string // of the sweep
	Shard      int
	ShardCount int    // number of shards that the caller expects
	Stage      int    // -1: all, one after the other
	Job        string // this job only, in any shard
	// Program is the path of the running program, Engine the identity of its engine.
	Program, Engine string
	// List lists the jobs of the plan's recipes, with work that writes to the store.
	List func(*store.Store) ([]lab.Job, error)
	Out  io.Writer
	// WaitLimit is how long a job waits for the records of its needs: a network file
	// system shows new names late. 0: two minutes.
	WaitLimit time.Duration
	Log       string // path of what the worker prints, where it is known
}

// ErrStopped reports that the context ended the work, whose state is saved.
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
	fallbacks map[string]bool // folders of the fallback stores
	failed    int
	waited    bool
}

// Work runs the remaining jobs of the shard. A job that fails is recorded, and the others
// go on; the error then says how many failed.
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
		fmt.Fprintln(w.Out, "nothing is left to do")
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

// check refuses a worker that would compute other results than planned.
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

// openProgram opens the program in the sweep's folder, and refuses one whose hash is not
// the plan's.
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

// selectJobs returns the jobs of this worker, in order.
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

// begin opens the attempt's own store and compares the jobs with the plan. The jobs are
// listed before the store has fallbacks: listing would read them all.
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
// names, even if the file system does not show them each other.
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

// checkJobs refuses jobs, keys and data that differ from the plan.
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

// addEarlierStores adds the stores of earlier attempts at the shard as fallbacks, newest
// first, so that their runs and checkpoints are used, and the runs from before the sweep.
func (a *attempt) addEarlierStores() error {
	shard := path.Join(storesDirName, strconv.Itoa(a.Shard))
	before, err := os.ReadDir(filepath.Join(a.Progress.Dir, filepath.FromSlash(shard)))
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(before) {
		a.addFallback(path.Join(shard, e.Name()))
	}
	a.addFallback(beforeDir)
	return nil
}

// addFallback adds a store of the sweep as a fallback, once. If it cannot be read, its runs
// are computed again.
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

// doJob runs a job and records how it ended. It returns only errors that end the attempt.
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

// runJob computes or finds the run of a job, and returns its ID and its folder within the
// sweep.
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

// waitForNeeds adds the stores of the jobs that j needs. Their stage is over, but a network
// file system may show their records late: it waits for them, once.
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

// missingError returns the reason why a needed job is missing.
func (a *attempt) missingError(id string) error {
	if r, failed := a.Failed[id]; failed {
		return fmt.Errorf("it needs %s, which failed: %s", id, r.Error)
	}
	return fmt.Errorf("it needs %s, which is not done and has no record", id)
}

// storeDirOf returns the store of a record's run, stores/<shard>/<attempt>, or "".
func storeDirOf(r Record) string {
	parts := strings.Split(path.Clean(r.Dir), "/")
	if len(parts) < 4 || parts[0] != storesDirName {
		return ""
	}
	return path.Join(parts[:3]...)
}

// record writes a record of the attempt.
func (a *attempt) record(r Record) error {
	r.Time, r.Shard, r.Attempt, r.Log = time.Now().UTC(), a.Shard, a.name, a.Log
	r.Host, _ = os.Hostname()
	return appendRecord(a.Progress.Dir, r)
}

// shardsOf returns the shards of jobs and of all that they need.
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

// allNeeds returns all direct and indirect needs of a job, each once.
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
