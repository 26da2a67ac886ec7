// Package sweep runs the jobs of recipes on the nodes of a cluster, or the cores of one
// machine, and merges their runs into one store.
//
// A sweep is a folder that all nodes see:
//
//	plan.json              what is to be done: jobs as data, each with its stage and shard
//	lethe                  the program that planned it; workers must be this program
//	stores/<shard>/<n>/    a store per shard and attempt, which only that attempt writes
//	journal/, failed/      what each attempt has done, and what failed; a file per attempt
//	logs/                  what the workers printed
//	slurm/, submitted.jsonl  scripts and numbers of submitted jobs
//
// No process locks, renames, changes or deletes a file of another one, so that every
// network file system will do: it must only keep files that one process has written and
// closed. Two attempts may work on the same shard at the same time, for instance when
// the cluster took one for dead; both compute the same bytes.
//
// The folder may be untrusted. Its program is started only after its SHA-256 was compared
// with the plan's; scripts quote everything that comes from the plan; and a plan cannot
// name a library to load.
package sweep

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// PlanFile is the plan's name in the folder of its sweep.
const PlanFile = "plan.json"

const planFormat = 1

// Plan lists the jobs of a sweep and what they need.
type Plan struct {
	Format  int      `json:"format"`
	ID      string   `json:"id"` // of this sweep alone: it is in the names of its logs
	Recipes []string `json:"recipes"`
	Scale   string   `json:"scale"`
	Shift   int      `json:"shift"` // of every seed
	Engine  Engine   `json:"engine"`
	Program Program  `json:"program"`
	// Data are the hashes of all data in keys, by name; a data set that is prepared in
	// several ways has several.
	Data   map[string][]string `json:"data"`
	Shards int                 `json:"shards"`
	Stages int                 `json:"stages"`
	Jobs   []Job               `json:"jobs"` // in an order in which needs come first
	// LeftOut are jobs whose data were not on the machine that planned.
	LeftOut []string `json:"left_out,omitempty"`

	index map[string]int // of jobs, by ID
}

// Engine is the engine that jobs compute with.
type Engine struct {
	Spec     string `json:"open"` // as given to engine.Open: "auto", "xla:cuda"
	Identity string `json:"is"`   // as in store keys: "lethe/3"
}

// Program is the program beside the plan.
type Program struct {
	Name   string `json:"name"` // of its file
	SHA256 string `json:"sha256"`
}

// Job is one job as data.
type Job struct {
	ID    string   `json:"id"` // recipe and coordinates; the key may depend on other jobs' weights
	Needs []string `json:"needs,omitempty"`
	Key   string   `json:"key,omitempty"` // of its run, if it is known without computing
	Cost  int64    `json:"cost"`          // in lab.CostUnit
	Stage int      `json:"stage"`
	Shard int      `json:"shard"`
	// Command runs this job alone, in the sweep's folder.
	Command []string `json:"command"`
}

// Options are the options of New. Zero values are defaults.
type Options struct {
	Recipes []string
	Scale   string
	Shift   int
	Engine  Engine
	Shards  int // 0: 16, or one per job where there are fewer
	// Runs are the runs of jobs that were computed before, by the jobs' IDs: they cost nothing. See AddRuns.
	Runs map[string]string
}

const defaultShards = 16

// New plans jobs, which are sorted so that a job follows those that it needs.
func New(jobs []lab.Job, o Options) (*Plan, error) {
	p := &Plan{
		Format: planFormat, Recipes: o.Recipes, Scale: o.Scale, Shift: o.Shift, Engine: o.Engine, Data: map[string][]string{}, Shards: o.Shards,
	}
	for _, j := range jobs {
		if j.Missing {
			p.LeftOut = append(p.LeftOut, j.ID)
			continue
		}
		if j.Work == nil {
			return nil, fmt.Errorf("sweep: job %s has no work", j.ID)
		}
		for name, hash := range j.Data {
			if !slices.Contains(p.Data[name], hash) {
				p.Data[name] = append(p.Data[name], hash)
			}
		}
		if o.Runs[j.ID] != "" {
			j.Cost = 0
		}
		p.Jobs = append(p.Jobs, Job{ID: j.ID, Needs: j.Needs, Key: j.Key, Cost: j.Cost})
	}
	if len(p.Jobs) == 0 {
		return nil, fmt.Errorf("sweep: nothing to do: of %d jobs %d have no data on this machine", len(jobs), len(p.LeftOut))
	}
	if p.Shards == 0 {
		p.Shards = min(defaultShards, len(p.Jobs))
	}
	if p.Shards < 1 || p.Shards > maxShards {
		return nil, fmt.Errorf("sweep: %d shards: expected 1 to %d", p.Shards, maxShards)
	}
	for _, hashes := range p.Data {
		slices.Sort(hashes)
	}
	p.Stages = assignJobs(p.Jobs, p.Shards)
	p.ID = newSweepID(o.Recipes, o.Scale)
	return p, nil
}

// AddRuns copies runs that were computed before into the sweep's folder, where its workers find them.
func AddRuns(ctx context.Context, dir string, from *store.Store, runs map[string]string) (store.Merged, error) {
	ids := map[string]bool{}
	for _, id := range runs {
		ids[id] = true
	}
	to, err := store.Open(filepath.Join(dir, filepath.FromSlash(beforeDir)))
	if err != nil {
		return store.Merged{}, err
	}
	return to.MergeRuns(ctx, from, ids)
}

// maxShards is above the size of any cluster's array.
const maxShards = 10_000_000

var unusualChars = regexp.MustCompile(`[^a-z0-9]+`)

// newSweepID returns a sweep's name: its recipe and scale, and eight random digits, because
// a cluster may use the number of an old job again.
func newSweepID(recipes []string, scale string) string {
	what := "sweep"
	if len(recipes) > 0 {
		what = recipes[0]
	}
	what = strings.Trim(unusualChars.ReplaceAllString(strings.ToLower(what+"-"+scale), "-"), "-")
	return what[:min(len(what), 32)] + "-" + randomDigits()
}

func randomDigits() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// jobGroup is a group of jobs in one shard.
type jobGroup struct {
	jobs  []int
	cost  int64
	stage int
}

// assignJobs assigns every job to a stage and a shard, and returns the number of stages. A
// job that needs only jobs of one group joins it, so that it need not wait for other
// shards. It starts a new group, in the stage after those that it needs, if it needs
// several groups, or if its group would exceed a shard's fair share. In each stage the most
// expensive group goes first, to the shard with the least work.
func assignJobs(jobs []Job, shards int) (stages int) {
	index, of := map[string]int{}, make([]*jobGroup, len(jobs))
	var total int64
	for i, j := range jobs {
		index[j.ID] = i
		total += j.Cost
	}
	fair := total / int64(shards)
	var all []*jobGroup
	for i, j := range jobs {
		var needs []*jobGroup
		stage := 0
		for _, n := range j.Needs {
			at, listed := index[n]
			if !listed || of[at] == nil {
				continue
			}
			if c := of[at]; !slices.Contains(needs, c) {
				needs = append(needs, c)
				stage = max(stage, c.stage+1)
			}
		}
		c := &jobGroup{stage: stage}
		if len(needs) == 1 && needs[0].cost+j.Cost <= fair {
			c = needs[0]
		} else {
			all = append(all, c)
		}
		c.jobs, c.cost, of[i] = append(c.jobs, i), c.cost+j.Cost, c
	}
	slices.SortStableFunc(all, func(a, b *jobGroup) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(b.cost, a.cost)) })
	var load []int64
	for k, c := range all {
		if k == 0 || c.stage != all[k-1].stage {
			load = make([]int64, shards)
		}
		at := slices.Index(load, slices.Min(load))
		load[at] += max(1, c.cost)
		for _, i := range c.jobs {
			jobs[i].Stage, jobs[i].Shard = c.stage, at
		}
		stages = max(stages, c.stage+1)
	}
	return stages
}

// programNames are the names that the program beside a plan may have.
var programNames = []string{"lethe", "lethe.exe"}

// Create makes the folder of a sweep: a copy of the program, and the plan beside it. The
// plan is written last and atomically. A folder that holds anything but the remains of a
// killed Create is refused.
func (p *Plan) Create(dir, program string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p.Program.Name = programNames[0]
	if strings.HasSuffix(program, ".exe") {
		p.Program.Name = programNames[1]
	}
	for i := range p.Jobs {
		p.Jobs[i].Command = p.command(p.Jobs[i].ID)
	}
	if err := p.check(); err != nil {
		return err
	}
	if err := clearFolder(dir, program); err != nil {
		return err
	}
	copied := filepath.Join(dir, p.Program.Name)
	if err := copyProgram(copied, program); err != nil {
		return err
	}
	var err error
	if p.Program.SHA256, err = hashFile(copied); err != nil {
		return err
	}
	b, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(dir, PlanFile), append(b, '\n'))
}

// clearFolder removes from a folder what a killed Create has left, and refuses a folder
// that holds anything else.
func clearFolder(dir, program string) error {
	if _, err := os.Lstat(filepath.Join(dir, PlanFile)); err == nil {
		return fmt.Errorf("%s is there already: a sweep is planned into a folder of its own", filepath.Join(dir, PlanFile))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var left []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type().IsRegular() && strings.HasPrefix(e.Name(), files.TempPrefix):
			left = append(left, path)
		case strings.HasPrefix(e.Name(), "."): // a file system's own
		case e.Type().IsRegular() && slices.Contains(programNames, e.Name()) && !files.SameFile(path, program):
		default:
			return fmt.Errorf("%s holds %q: a sweep is planned into a folder of its own", dir, e.Name())
		}
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func copyProgram(to, from string) error {
	in, err := files.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	err = files.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
	return errors.Join(err, os.Chmod(to, 0o755))
}

// command returns the command for one job, to be run in the sweep's folder.
func (p *Plan) command(job string) []string {
	return []string{"./" + p.Program.Name, "sweep", "work", ".", "--job", job}
}

// maxPlanBytes bounds the size of a plan: about a million jobs.
const maxPlanBytes = 1 << 31

// Read reads the plan of the sweep in a folder and refuses an inconsistent one.
func Read(dir string) (*Plan, error) {
	path := filepath.Join(dir, PlanFile)
	p := &Plan{}
	err := files.ReadJSON(path, maxPlanBytes, p)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no sweep: it has no %s (lethe sweep plan makes one)", dir, PlanFile)
	}
	if err != nil {
		return nil, err
	}
	if err = p.check(); err == nil && !hashPattern.MatchString(p.Program.SHA256) {
		err = fmt.Errorf("program: %q with SHA-256 %q", p.Program.Name, p.Program.SHA256)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

var (
	idPattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,60}$`)
	hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// enginePattern allows no path: the library of that path would be loaded.
	enginePattern = regexp.MustCompile(`^[a-z0-9_]+(:[A-Za-z0-9_-]+)?$`)
)

func (p *Plan) check() error {
	switch {
	case p.Format != planFormat:
		return fmt.Errorf("format %d, this program knows %d", p.Format, planFormat)
	case !idPattern.MatchString(p.ID):
		return fmt.Errorf("id %q: expected small letters, digits and dashes", p.ID)
	case p.Shards < 1 || p.Shards > maxShards || p.Stages < 1 || p.Stages > len(p.Jobs):
		return fmt.Errorf("%d jobs in %d shards and %d stages", len(p.Jobs), p.Shards, p.Stages)
	case p.Engine.Identity == "":
		return errors.New("engine: no identity")
	case !enginePattern.MatchString(p.Engine.Spec):
		return fmt.Errorf("engine: %q: a plan names no file to load; plan for xla and set LETHE_XLA_PLUGIN on every node", p.Engine.Spec)
	case !slices.Contains(programNames, p.Program.Name):
		return fmt.Errorf("program: %q is none of %q", p.Program.Name, programNames)
	}
	seen := map[string]Job{}
	for i, j := range p.Jobs {
		if err := p.checkJob(j, seen); err != nil {
			return fmt.Errorf("job %d (%s): %w", i, j.ID, err)
		}
		seen[j.ID] = j
	}
	return nil
}

func (p *Plan) checkJob(j Job, before map[string]Job) error {
	_, twice := before[j.ID]
	switch {
	case j.ID == "":
		return errors.New("it has no id")
	case twice:
		return errors.New("it is listed twice")
	case j.Stage < 0 || j.Stage >= p.Stages:
		return fmt.Errorf("stage %d of %d", j.Stage, p.Stages)
	case j.Shard < 0 || j.Shard >= p.Shards:
		return fmt.Errorf("shard %d of %d", j.Shard, p.Shards)
	case j.Command != nil && !slices.Equal(j.Command, p.command(j.ID)):
		return fmt.Errorf("the command %q does something else than the job", j.Command)
	}
	for _, id := range j.Needs {
		n, ok := before[id]
		switch {
		case !ok:
			return fmt.Errorf("it needs %s, which is not listed before it", id)
		case n.Stage > j.Stage || n.Stage == j.Stage && n.Shard != j.Shard:
			return fmt.Errorf("it is in stage %d, shard %d, and needs %s of stage %d, shard %d", j.Stage, j.Shard, id, n.Stage, n.Shard)
		}
	}
	return nil
}

// jobsOfShard returns the jobs of a shard in a stage, in the plan's order.
func (p *Plan) jobsOfShard(stage, shard int) []Job {
	var out []Job
	for _, j := range p.Jobs {
		if j.Stage == stage && j.Shard == shard {
			out = append(out, j)
		}
	}
	return out
}

// Find returns the job of that ID.
func (p *Plan) Find(id string) (Job, error) {
	if i := slices.IndexFunc(p.Jobs, func(j Job) bool { return j.ID == id }); i >= 0 {
		return p.Jobs[i], nil
	}
	return Job{}, fmt.Errorf("no job %q in this sweep of %d jobs; %s lists them", id, len(p.Jobs), PlanFile)
}

// Cost returns the cost of all jobs of a stage, in lab.CostUnit.
func (p *Plan) Cost(stage int) (total int64) {
	for _, j := range p.Jobs {
		if j.Stage == stage {
			total += j.Cost
		}
	}
	return total
}
