package paper

// Measurements on the models of a study, and recipes made of them.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Measurement computes rows of R on one case and keeps them in the store.
type Measurement[R any] struct {
	ID      string // of its job, which begins with it and ends with the key: other settings are another job
	About   string // description: "PBMC-3k, seed 2"
	Setting lab.Setting
	Methods []unlearn.Method // whose models of the case it needs
	Others  []Models         // models of other cases that it needs
	// Required makes missing data an error; otherwise the measurement is then left out.
	Required bool
	// Parallel is the number of parallel jobs unless Env.Workers is set; 0: one per core.
	Parallel int
	DataName string // of its data in the provenance, "": the case's
	// Key is the key of the rows in the store: Lab.Key of a name of the measurement and of all that
	// Measure uses beside its case, also what a function literal captures, which nothing else
	// knows. Where Measure is not of Lethe's module, settings and methods are in the key without
	// being named. Two measurements with one key are an error.
	Key func(c *lab.Case) store.Key
	// Cost is roughly the number of records that pass through the case's network forward; in training a record counts as three.
	Cost    func(c *lab.Case) int64
	File    string // file name in the store, "": rows.json
	Measure func(ctx context.Context, c *lab.Case) ([]R, error)
}

// ForSeeds makes a measurement for every case and each of its seeds, case by case.
func ForSeeds[C, R any](cases []C, seeds int, piece func(of C, seed int) Measurement[R]) (out []Measurement[R]) {
	for _, of := range cases {
		for seed := range seeds {
			out = append(out, piece(of, seed))
		}
	}
	return out
}

// Models are the models that methods produce in the case of a setting.
type Models struct {
	Setting lab.Setting
	Methods []unlearn.Method
}

// Evidence is the result of the measurements of a study.
type Evidence[R any] struct {
	Rows      []R
	Runs      []string          // run IDs in the store
	Data      map[string]string // data set -> hash
	Caveats   []string
	Missing   []string // data sets whose files are not on this machine
	Synthetic []string // data sets that are generated
}

// Collect finds the measurements in the store or computes them, models and measurements in
// parallel. Cases whose data are not on this machine are left out. If none is left, the error
// says where each data set belongs.
func Collect[R any](ctx context.Context, e *Env, measurements []Measurement[R]) (*Evidence[R], error) {
	all, err := CollectAll(ctx, e, [][]Measurement[R]{measurements})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// CollectAll is Collect for several studies, whose models and measurements are computed side by
// side: no processor waits for the end of a study. The evidence is in the order of the studies.
func CollectAll[R any](ctx context.Context, e *Env, studies [][]Measurement[R]) (all []*Evidence[R], err error) {
	var open [][]*piece[R]
	var jobs []lab.Job
	workers := e.Workers
	for _, measurements := range studies {
		pieces, these, err := openAll(ctx, e.Lab(), measurements)
		if err != nil {
			return nil, err
		}
		ev, pieces, err := newEvidence(pieces)
		if err != nil {
			return nil, err
		}
		all, open, jobs = append(all, ev), append(open, pieces), append(jobs, these...)
		for _, m := range measurements {
			workers = cmp.Or(workers, m.Parallel)
		}
	}
	if err := e.Lab().Do(ctx, workers, lab.Dedup(jobs)); err != nil {
		return nil, err
	}
	for k, ev := range all {
		if err := ev.addRows(ctx, open[k]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// newEvidence is the evidence of a study without its rows, and the pieces whose data are on this machine.
func newEvidence[R any](pieces []*piece[R]) (ev *Evidence[R], present []*piece[R], err error) {
	ev = &Evidence[R]{Data: map[string]string{}}
	var missing []error
	for _, p := range pieces {
		switch data := p.Setting.DataSet(); {
		case p.missing == nil:
			present = append(present, p)
			ev.addData(p.c, cmp.Or(p.DataName, p.nameOfData()))
		case p.Required:
			return nil, nil, p.missing
		case !slices.Contains(ev.Missing, data):
			ev.Missing, missing = append(ev.Missing, data), append(missing, p.missing)
		}
	}
	if len(present) == 0 && len(missing) > 0 {
		return nil, nil, fmt.Errorf("no data set of this scale is on this machine: lethe data get %s: %w", strings.Join(ev.Missing, " "),
			errors.Join(missing...))
	}
	return ev, present, nil
}

// addRows adds the rows of measurements that are done.
func (ev *Evidence[R]) addRows(ctx context.Context, pieces []*piece[R]) error {
	for _, p := range pieces {
		rows, err := p.rows(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", p.About, err)
		}
		ev.Rows, ev.Runs = append(ev.Rows, rows...), append(ev.Runs, p.run.ID)
	}
	return nil
}

// MeasurementJobs lists the models of the measurements and the measurements, dependencies first.
func MeasurementJobs[R any](ctx context.Context, e *Env, measurements []Measurement[R]) ([]lab.Job, error) {
	_, jobs, err := openAll(ctx, e.Lab(), measurements)
	return jobs, err
}

// piece is a measurement with its open case.
type piece[R any] struct {
	Measurement[R]
	lab     *lab.Lab
	c       *lab.Case
	missing error // the data are not on this machine, and there is no case
	key     store.Key
	keyID   string
	jobID   string
	run     *store.Run // nil: not done
}

// openAll opens the measurements and lists their jobs and those of their models.
func openAll[R any](ctx context.Context, l *lab.Lab, measurements []Measurement[R]) (pieces []*piece[R], jobs []lab.Job, err error) {
	if lost := report.LostFields(reflect.TypeFor[R]()); len(lost) > 0 {
		return nil, nil, fmt.Errorf("rows of %v lose in the store: %s", reflect.TypeFor[R](), strings.Join(lost, ", "))
	}
	for _, m := range measurements {
		p := &piece[R]{Measurement: m, lab: l}
		these, err := p.open(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.About, err)
		}
		pieces, jobs = append(pieces, p), append(jobs, these...)
	}
	return pieces, lab.Dedup(jobs), checkDistinct(pieces)
}

// checkDistinct refuses measurements of one ID or of one key: one's rows would count as another's.
func checkDistinct[R any](pieces []*piece[R]) error {
	ids, keys := map[string]bool{}, map[string]string{}
	for _, p := range pieces {
		if p.missing != nil {
			continue
		}
		if ids[p.ID] {
			return fmt.Errorf("two measurements are called %s", p.ID)
		}
		ids[p.ID] = true
		if before, taken := keys[p.keyID]; taken {
			return fmt.Errorf("the measurements %s and %s have one key: their rows would be the same; name what they differ in, such as the seed, "+
				"in the setting or in Key", before, p.ID)
		}
		keys[p.keyID] = p.ID
	}
	return nil
}

// open opens the case and returns the jobs, dependencies first.
func (p *piece[R]) open(ctx context.Context) (out []lab.Job, err error) {
	if p.ID == "" || p.Key == nil || p.Cost == nil || p.Measure == nil {
		return nil, errors.New("a measurement needs ID, Key, Cost and Measure")
	}
	for _, m := range append([]Models{{p.Setting, p.Methods}}, p.Others...) {
		if slices.ContainsFunc(m.Methods, func(m unlearn.Method) bool { return m == nil }) {
			return nil, errors.New("one of its methods is nil")
		}
	}
	if p.c, err = p.lab.Case(ctx, p.Setting); errors.Is(err, datasets.ErrMissing) {
		p.c, p.missing = nil, err
	} else if err != nil {
		return nil, err
	}
	if out, err = p.lab.JobsIn(ctx, p.c, p.Setting, p.Methods...); err != nil {
		return nil, err
	}
	for _, m := range p.Others {
		models, err := p.lab.Jobs(ctx, m.Setting, m.Methods...)
		if err != nil {
			return nil, err
		}
		out = append(out, models...)
	}
	job := lab.Job{ID: p.ID, Needs: lab.JobIDs(out), Missing: p.missing != nil, Work: p.work}
	if p.missing == nil {
		p.key, job.Cost = p.storeKey(), lab.Cost(p.c.Problem.Arch, int(p.Cost(p.c)))
		if p.run, err = p.lab.Lookup(&job, p.key); err != nil {
			return nil, err
		}
		p.keyID, job.ID = job.Key, p.ID+"/"+job.Key[:8]
		p.c.ReleaseModels()
	}
	p.jobID = job.ID
	return append(out, job), nil
}

// storeKey is the key of the rows in the store. It includes the external code that the case or
// the measurement uses, whatever Key puts into the configuration. An external measurement's has its
// settings and methods too; Lethe's own name in Key what they differ in.
func (p *piece[R]) storeKey() store.Key {
	key := p.Key(p.c)
	if code, err := store.CodeOf(p.Measure); err != nil || len(code) > 0 {
		models := []string{lab.ModelsKey(p.Setting, p.Methods...)}
		for _, m := range p.Others {
			models = append(models, lab.ModelsKey(m.Setting, m.Methods...))
		}
		key.Config = externalKey{key.Config, models}
	}
	key.DependsOn = append(key.DependsOn, p.c.Goal, p.Measure)
	for _, m := range append([]Models{{p.Setting, p.Methods}}, p.Others...) {
		key.DependsOn = append(key.DependsOn, m.Setting.Goal, m.Setting.Data, m.Setting.Forget, m.Setting.Model, m.Methods)
	}
	return key
}

// externalKey is the configuration of a measurement from outside Lethe's module.
type externalKey struct {
	Measured any      `json:"measured"`
	Models   []string `json:"models"` // hashes of settings and methods
}

// work finds or computes the rows.
func (p *piece[R]) work(ctx context.Context) (run string, err error) {
	if p.missing != nil {
		return "", p.missing
	}
	defer p.c.ReleaseModels()
	p.run, err = p.lab.Store.Do(ctx, p.key, func(ctx context.Context, w *store.Work) error {
		ctx, task := lab.StartJob(ctx, p.jobID, p.About)
		defer task.Done()
		rows, err := p.Measure(ctx, p.c)
		if err != nil {
			return err
		}
		for i, row := range rows {
			if _, err := json.Marshal(row); err != nil {
				return fmt.Errorf("row %d of %d, %+v: %w", i, len(rows), row, err)
			}
		}
		return w.WriteJSON(p.file(), rows)
	})
	if err != nil {
		return "", err
	}
	lab.ReportDone(ctx, p.jobID)
	return p.run.ID, nil
}

// rows are the rows of a measurement that is done.
func (p *piece[R]) rows(ctx context.Context) (rows []R, err error) {
	if p.run == nil {
		if _, err := p.work(ctx); err != nil {
			return nil, err
		}
	}
	return rows, p.run.JSON(p.file(), &rows)
}

func (m Measurement[R]) file() string { return cmp.Or(m.File, "rows.json") }

// nameOfData is the name of the case's data. Data of another module stand under the name that it gives
// them, whatever they were made from.
func (p *piece[R]) nameOfData() string {
	if p.c.DataHash() != p.c.Hash {
		return p.Setting.DataSet()
	}
	return p.c.DataName()
}

// addData records the data set of a case under a name.
func (ev *Evidence[R]) addData(c *lab.Case, name string) {
	about := c.About
	AddHash(ev.Data, name, c.DataHash())
	if about.Synthetic && !slices.Contains(ev.Synthetic, about.Name) {
		ev.Synthetic = append(ev.Synthetic, about.Name)
	}
	if about.Caveat != "" && !slices.Contains(ev.Caveats, about.Caveat) {
		ev.Caveats = append(ev.Caveats, about.Caveat)
	}
}

// AddHash adds the hash of a data set to a list, under its name, or with a number after it where the
// name stands for other data already, such as more rows of the same set.
func AddHash(data map[string]string, name, hash string) {
	free := name
	for n := 2; data[free] != "" && data[free] != hash; n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	data[free] = hash
}

// StudyRecipe is a recipe that measures a study S at the requested scale and shows the result.
// Its rows are the values behind the output, unless show sets others.
func StudyRecipe[S, R any](r Recipe, study func(scale string) (S, error), pieces func(*Env, S) []Measurement[R],
	show func(*Env, S, *Evidence[R]) *Output) Recipe {
	shown := func(e *Env, s S, found *Evidence[R]) *Output {
		out := show(e, s, found)
		if out.Runs == nil {
			out.Runs = report.NewRecords(found.Rows)
		}
		return out
	}
	r.Jobs = func(ctx context.Context, e *Env, scale string) ([]lab.Job, error) {
		s, err := study(scale)
		if err != nil {
			return nil, err
		}
		return MeasurementJobs(ctx, e, pieces(e, s))
	}
	r.Make = func(ctx context.Context, e *Env, scale string) (*Output, error) {
		s, err := study(scale)
		if err != nil {
			return nil, err
		}
		found, err := Collect(ctx, e, pieces(e, s))
		if err != nil {
			return nil, err
		}
		return shown(e, s, found), nil
	}
	r.Evidence = []reflect.Type{reflect.TypeFor[R]()}
	r.FromRuns = func(e *Env, scale string, runs io.Reader) (*Output, error) {
		s, err := study(scale)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		rows, err := report.ReadRecords[R](runs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		return shown(e, s, &Evidence[R]{Rows: rows, Data: map[string]string{}}), nil
	}
	return r
}

// MissingNotes are notes on the missing data sets, one each.
func (ev *Evidence[R]) MissingNotes() []string {
	var out []string
	for _, m := range ev.Missing {
		out = append(out, fmt.Sprintf("Left out, its files are not on this machine: %s. Get it with: lethe data get %s", m, m))
	}
	return out
}

// Provenance is the provenance of a recipe's output from this evidence, on models of the
// given number of seeds.
func (ev *Evidence[R]) Provenance(e *Env, id, scale string, results, seeds int) report.Provenance {
	var all []int
	for s := range seeds {
		all = append(all, s+e.Shift)
	}
	return e.Provenance(id, scale, results, all, ev.Data, ev.Runs)
}

// Provenance is that of what is made at a scale from data, given by their hashes, and from runs
// in the store; id is the recipe's, "" if there is none.
func (e *Env) Provenance(id, scale string, results int, seeds []int, data map[string]string, runs []string) report.Provenance {
	var info engine.Info
	if e.Engine != nil { // committed values can be shown without an engine
		info = e.Engine.Info()
	}
	p := report.Provenance{
		Scale: scale, Engine: info.Kind, Kernel: info.Kernel, Device: info.Device.String(), ResultsVersion: fmt.Sprint(results), Data: data,
	}
	if id != "" {
		p.Command = e.Command(id, scale)
	}
	for _, s := range seeds {
		p.Seeds = append(p.Seeds, int64(s))
	}
	if len(runs) > 0 {
		p.Runs, p.RunsHash = CountRuns(runs)
	}
	return p
}
