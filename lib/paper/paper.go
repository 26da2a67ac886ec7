// Package paper is what the reproductions of papers have in common: a paper is a
// list of recipes, each of which makes one table or figure again at a named
// scale. The command line, a notebook and a test call the same recipes. Every
// paper has a package of its own below this one, whose function Paper lists its
// recipes; the program knows the papers by that list alone.
package paper

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
)

// The kinds of output that a recipe is listed under.
const (
	Table  = "table"
	Figure = "figure"
)

// Paper is a paper whose tables and figures are made again.
type Paper struct {
	Name  string // in commands and IDs: "ruler"
	Title string // as it calls itself: "RULER"
	ArXiv string // its number, "2605.27569"; "" of a collection of ours
	// Scales are ordered by work, the smallest first.
	Scales  []Scale
	Recipes []Recipe
}

// Scale says how much of a paper is computed.
type Scale struct {
	Name string // "quick"
	// About goes on where the name stops: "takes minutes on two cores".
	About string
}

// Recipe makes one table or figure.
type Recipe struct {
	ID    string // "ruler/table1": the paper's name and the recipe's
	Title string
	Doc   string // what the paper claims with it, and what to look at
	// Timed is of times by the clock, which are measured on this machine each time that it
	// is made: nothing of them is kept. "all" leaves it out.
	Timed bool
	// Jobs lists what it computes at the scale of that name and keeps in the store,
	// of the same declarations that Make works off; nil where there is nothing.
	Jobs func(ctx context.Context, e *Env, scale string) ([]lab.Job, error)
	// Make makes it at the scale of that name.
	Make func(ctx context.Context, e *Env, scale string) (*Output, error)
	// Evidence are the types of what it is made of: the rows that it keeps of its runs.
	// None of them leaves a number out that is 0.
	Evidence []reflect.Type
	// FromRuns makes it of the values behind an output of that scale, as CSV has them, and
	// neither trains nor measures; nil where they do not hold all that is shown.
	FromRuns func(e *Env, scale string, runs io.Reader) (*Output, error)
}

// Output is what a recipe makes: a table, a figure or both.
type Output struct {
	Table  *report.Table
	Figure plot.Figure
	// RunRecords are the values behind it, one record per run; empty where the cells of the
	// table are those of single runs.
	Runs report.Records
}

// Records are the values behind the output: its runs, or the table's own cells.
func (o *Output) Records() report.Records {
	if len(o.Runs) == 0 && o.Table != nil {
		return o.Table.Records()
	}
	return o.Runs
}

// CSV writes the values behind the output, with the hash of the table's runs.
func (o *Output) CSV(w io.Writer) error {
	hash := ""
	if o.Table != nil {
		hash = o.Table.Provenance.RunsHash
	}
	return o.Records().CSVWithHash(w, hash)
}

// Progress says how far the work is, in lab.CostUnit of the jobs of the recipe
// that runs.
type Progress = lab.Progress

// Job is a piece of work behind a recipe.
type Job = lab.Job

// Unit is what Progress counts.
const Unit = lab.CostUnit

// Env is what recipes run in. Its fields are set before the first recipe runs
// and not changed after.
type Env struct {
	Engine *engine.Engine
	Store  *store.Store
	// Shift is added to every seed: see engine.SeedShift.
	Shift int
	// Workers is the number of jobs done side by side, 0: one per core.
	Workers int
	// Progress hears how much is done. It may be nil and is never called by two
	// goroutines at once.
	Progress func(Progress)

	mu     sync.Mutex
	shared map[reflect.Type]any
}

// Lab is where the recipes run in e train: they share its data and networks.
func (e *Env) Lab() *lab.Lab {
	return Shared(e, func(e *Env) *lab.Lab {
		return &lab.Lab{Engine: e.Engine, Store: e.Store, Shift: e.Shift, Progress: e.Progress}
	})
}

// Shared returns the one *T that all recipes run in e share, such as the data
// sets that one of them has loaded. create makes it for the first who asks.
func Shared[T any](e *Env, create func(*Env) *T) *T {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := reflect.TypeFor[T]()
	if v, ok := e.shared[key]; ok {
		return v.(*T)
	}
	if e.shared == nil {
		e.shared = map[reflect.Type]any{}
	}
	v := create(e)
	e.shared[key] = v
	return v
}

// Run makes the table or figure at the scale of that name. Its errors begin with
// the recipe's ID.
func (r Recipe) Run(ctx context.Context, e *Env, scale string) (*Output, error) {
	out, err := r.run(ctx, e, scale)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	return out, nil
}

// run makes it, with a bar that knows its end where somebody looks.
func (r Recipe) run(ctx context.Context, e *Env, scale string) (*Output, error) {
	if e.Progress != nil {
		jobs, err := r.List(ctx, e, scale)
		if err != nil {
			return nil, err
		}
		e.Lab().TrackJobs(jobs)
		defer e.Lab().TrackJobs(nil)
	}
	return r.Make(ctx, e, scale)
}

// List lists the recipe's jobs, each once, what is needed first coming first.
func (r Recipe) List(ctx context.Context, e *Env, scale string) ([]lab.Job, error) {
	if r.Jobs == nil {
		return nil, nil
	}
	jobs, err := r.Jobs(ctx, e, scale)
	return lab.Dedup(jobs), err
}

// Jobs lists the jobs of recipes, those that several share once.
func Jobs(ctx context.Context, e *Env, scale string, recipes ...Recipe) ([]lab.Job, error) {
	var out []lab.Job
	for _, r := range recipes {
		jobs, err := r.List(ctx, e, scale)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		out = append(out, jobs...)
	}
	return lab.Dedup(out), nil
}

// Short is the ID without the paper, "table1"; the only recipe of a paper may
// have the paper's name alone.
func (r Recipe) Short() string {
	name, short, inner := strings.Cut(r.ID, "/")
	if !inner {
		return name
	}
	return short
}

// File is what its files are called in a folder, where those of other papers may be:
// the short name, or the paper's where that says only that it is a figure.
func (r Recipe) File() string {
	if name, short, _ := strings.Cut(r.ID, "/"); short == Figure {
		return name
	}
	return r.Short()
}

// Kind is Figure for a recipe whose short name begins with that word, and Table
// for every other.
func (r Recipe) Kind() string {
	if strings.HasPrefix(r.Short(), Figure) {
		return Figure
	}
	return Table
}

// Name is the short name without the kind, as it is typed after it: "1", or
// "claims" where the short name does not begin with the kind.
func (r Recipe) Name() string { return strings.TrimPrefix(r.Short(), r.Kind()) }

// Command is how a reader makes the output of the recipe with that ID again.
func Command(id, scale string) string {
	r := Recipe{ID: id}
	name, _, inner := strings.Cut(id, "/")
	if inner && r.Name() != "" {
		name += " " + r.Name()
	}
	return fmt.Sprintf("lethe %s %s --scale %s", r.Kind(), name, scale)
}

// Cite is the title with the paper's number.
func (p Paper) Cite() string {
	if p.ArXiv == "" {
		return p.Title
	}
	return fmt.Sprintf("%s (arXiv %s)", p.Title, p.ArXiv)
}

// RecipesOfKind lists the paper's recipes of a kind.
func (p Paper) RecipesOfKind(kind string) []Recipe {
	var out []Recipe
	for _, r := range p.Recipes {
		if r.Kind() == kind {
			out = append(out, r)
		}
	}
	return out
}

// OnlyRecipe is the paper's only recipe of a kind where that has the paper's name, or the
// kind's behind it ("lenses", "lenses/figure"), and so needs none of its own.
func (p Paper) OnlyRecipe(kind string) (Recipe, bool) {
	only := p.RecipesOfKind(kind)
	if len(only) == 1 && (only[0].ID == p.Name || only[0].ID == p.Name+"/"+kind) {
		return only[0], true
	}
	return Recipe{}, false
}

// Find finds a recipe by its ID "ruler/table1", its short name "table1" or, with
// the kind "table", by its name "1".
func (p Paper) Find(kind, name string) (Recipe, error) {
	for _, r := range p.Recipes {
		short := r.Short()
		if name == r.ID || name == short || kind+name == short {
			return r, nil
		}
	}
	var known []string
	for _, r := range p.RecipesOfKind(kind) {
		known = append(known, r.Short())
	}
	return Recipe{}, fmt.Errorf("no %s %q of %s; there are %s", kind, name, p.Title, strings.Join(known, ", "))
}

// ScaleNames lists the names of the paper's scales.
func (p Paper) ScaleNames() []string {
	var out []string
	for _, s := range p.Scales {
		out = append(out, s.Name)
	}
	return out
}
