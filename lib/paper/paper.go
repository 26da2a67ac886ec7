// Package paper is the common part of the reproductions of papers. A paper is a list of recipes;
// each recipe makes one table or figure at a named scale. The command line, notebooks and tests
// call the same recipes. Every paper has its own package below this one, with a function Paper
// that lists its recipes.
package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
)

// The kinds of output.
const (
	Table  = "table"
	Figure = "figure"
)

// Paper is a paper whose tables and figures are reproduced.
type Paper struct {
	Name  string // in commands and IDs: "ruler"
	Title string // title: "RULER"
	ArXiv string // number: "2605.27569"; "" if it is not a published paper
	// Scales are ordered by work, the smallest first.
	Scales  []Scale
	Recipes []Recipe
}

// Scale is how much of a paper is computed.
type Scale struct {
	Name string // "quick"
	// About continues the name in a sentence: "takes minutes on two cores".
	About string
}

// Recipe makes one table or figure.
type Recipe struct {
	ID    string // "ruler/table1": the names of paper and recipe
	Title string
	Doc   string // what the paper claims with it, and what to look for
	// Timed marks a recipe of wall-clock times. They are measured on this machine whenever the
	// recipe runs and are not stored; "all" leaves it out.
	Timed bool
	// Jobs lists what Make computes at that scale and keeps in the store; nil if nothing.
	Jobs func(ctx context.Context, e *Env, scale string) ([]lab.Job, error)
	// Make makes the output at that scale.
	Make func(ctx context.Context, e *Env, scale string) (*Output, error)
	// Evidence are the row types that the recipe stores for its runs. None of them omits a
	// number that is 0.
	Evidence []reflect.Type
	// FromRuns makes the output from the values behind an earlier output of that scale, as its
	// CSV has them, without training or measuring; nil if the values do not suffice.
	FromRuns func(e *Env, scale string, runs io.Reader) (*Output, error)
}

// Output is the result of a recipe: a table, a figure or both.
type Output struct {
	Table  *report.Table
	Figure plot.Figure
	// Runs are the values behind the output, one record per run; empty if the table's cells are
	// those values.
	Runs report.Records
}

// Records are the values behind the output: its runs, or the table's cells.
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

// Job is one job of a recipe.
type Job = lab.Job

// Unit is the unit of the cost of jobs.
const Unit = lab.CostUnit

// Env is the environment of recipes. Its fields are set before the first recipe runs and do not
// change.
type Env struct {
	Engine *engine.Engine
	Store  *store.Store
	// Shift is added to every seed: see engine.SeedShift.
	Shift int
	// Workers is the number of parallel jobs, 0: one per core.
	Workers int
	// Program is the name of a program whose commands make the recipes, as package kernel's Main is one: the
	// provenance of a table then says how to make it again. "": it does not.
	Program string

	mu     sync.Mutex
	shared map[reflect.Type]any
}

// Lab is the lab of the recipes in e; they share its data and networks.
func (e *Env) Lab() *lab.Lab {
	return Shared(e, func(e *Env) *lab.Lab {
		return &lab.Lab{Engine: e.Engine, Store: e.Store, Shift: e.Shift}
	})
}

// Shared returns the one *T that all recipes in e share, for example loaded data sets. The first
// call creates it.
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

// Run makes the table or figure at that scale. Errors begin with the recipe's ID. A recipe that panics, or that makes
// nothing, is an error.
func (r Recipe) Run(ctx context.Context, e *Env, scale string) (*Output, error) {
	if r.Make == nil {
		return nil, fmt.Errorf("%s: the recipe has no Make", r.ID)
	}
	out, err := r.run(ctx, e, scale)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	return out, nil
}

// run makes the output. Where somebody sees the progress it first adds up the jobs' cost.
func (r Recipe) run(ctx context.Context, e *Env, scale string) (*Output, error) {
	if !progress.HasDisplay() {
		return r.makeOutput(ctx, e, scale)
	}
	jobs, err := r.list(ctx, e, scale)
	if err != nil {
		return nil, err
	}
	ctx, task := lab.TrackJobs(ctx, r.ID, jobs)
	defer task.Done()
	return r.makeOutput(ctx, e, scale)
}

// makeOutput returns what Make makes, which is code that comes from anywhere.
func (r Recipe) makeOutput(ctx context.Context, e *Env, scale string) (out *Output, err error) {
	err = panics.Catch("Make", func() error {
		out, err = r.Make(ctx, e, scale)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case out == nil:
		return nil, errors.New("Make returned no output and no error (nil, nil)")
	case out.Table == nil && out.Figure == nil && len(out.Runs) == 0:
		return nil, errors.New("Make returned an output without a table, a figure or runs")
	}
	return out, nil
}

// list is List with its progress.
func (r Recipe) list(ctx context.Context, e *Env, scale string) ([]lab.Job, error) {
	ctx, task := progress.Start(ctx, "listing the work of "+r.ID, 0)
	defer task.Done()
	return r.List(ctx, e, scale)
}

// List lists the recipe's jobs, each once, dependencies first.
func (r Recipe) List(ctx context.Context, e *Env, scale string) ([]lab.Job, error) {
	if r.Jobs == nil {
		return nil, nil
	}
	var jobs []lab.Job
	err := panics.Catch("Jobs", func() (err error) {
		jobs, err = r.Jobs(ctx, e, scale)
		return err
	})
	return lab.Dedup(jobs), err
}

// Jobs lists the jobs of recipes; shared jobs appear once.
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

// Short is the ID without the paper, "table1". The only recipe of a paper may be named like the
// paper.
func (r Recipe) Short() string {
	name, short, inner := strings.Cut(r.ID, "/")
	if !inner {
		return name
	}
	return short
}

// File is the base name of its files in a folder that other papers may share: the short name, or
// the paper's name if the short name is only "figure".
func (r Recipe) File() string {
	if name, short, _ := strings.Cut(r.ID, "/"); short == Figure {
		return name
	}
	return r.Short()
}

// Kind is Figure if the short name begins with that word, otherwise Table.
func (r Recipe) Kind() string {
	if strings.HasPrefix(r.Short(), Figure) {
		return Figure
	}
	return Table
}

// Name is the short name without the kind, as typed after it: "1", or "claims" if the short name
// does not begin with the kind.
func (r Recipe) Name() string { return strings.TrimPrefix(r.Short(), r.Kind()) }

// Command is the command that makes the output of the recipe with that ID, "" without a program.
func (e *Env) Command(id, scale string) string {
	if e.Program == "" {
		return ""
	}
	r := Recipe{ID: id}
	name, _, inner := strings.Cut(id, "/")
	if inner && r.Name() != "" {
		name += " " + r.Name()
	}
	return fmt.Sprintf("%s %s %s --scale %s", e.Program, r.Kind(), name, scale)
}

// Cite is the title with the arXiv number.
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

// Check returns an error for a paper that a command line could not show: it has no name or scales, or a recipe without
// Make, with the ID of another, or with one that does not begin with the paper's name.
func (p Paper) Check() error {
	if p.Name == "" || p.Title == "" || strings.ContainsAny(p.Name, "/ \t\n") {
		return fmt.Errorf("a paper called %q with the title %q: both are needed, and the name is one word without a slash", p.Name, p.Title)
	}
	if len(p.Scales) == 0 || len(p.Recipes) == 0 {
		return fmt.Errorf("%s has %d scales and %d recipes; at least one of each is needed", p.Name, len(p.Scales), len(p.Recipes))
	}
	if again := repeated(p.ScaleNames()); again != "" {
		return fmt.Errorf("%s: a scale has no name, or that of another: %s", p.Name, again)
	}
	var ids []string
	for _, r := range p.Recipes {
		if name, _, _ := strings.Cut(r.ID, "/"); name != p.Name {
			return fmt.Errorf("%s: the ID of the recipe %q does not begin with the paper's name and a slash", p.Name, r.ID)
		}
		if r.Make == nil {
			return fmt.Errorf("%s: the recipe has no Make", r.ID)
		}
		ids = append(ids, r.ID)
	}
	if again := repeated(ids); again != "" {
		return fmt.Errorf("%s: two recipes have the ID %s", p.Name, again)
	}
	return nil
}

// repeated returns an empty name or one that is there twice, "" in quotes for the first; "" if there is none.
func repeated(names []string) string {
	seen := map[string]bool{"": true}
	for _, n := range names {
		if seen[n] {
			return cmp.Or(n, `""`)
		}
		seen[n] = true
	}
	return ""
}

// OnlyRecipe is the paper's only recipe of a kind, if it is named like the paper, with or
// without the kind ("lenses", "lenses/figure"). It then needs no name on the command line.
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
	for i, r := range p.Recipes {
		short := r.Short()
		if name != r.ID && name != short && kind+name != short {
			continue
		}
		if slices.ContainsFunc(p.Recipes[i+1:], func(o Recipe) bool { return o.ID == r.ID }) {
			return Recipe{}, fmt.Errorf("two recipes of %s have the ID %s", p.Title, r.ID)
		}
		return r, nil
	}
	var known, near []string
	for _, r := range p.RecipesOfKind(kind) {
		known = append(known, r.Short())
		if datasets.Similar(name, r.Short()) {
			near = append(near, r.Short())
		}
	}
	if len(near) == 1 {
		return Recipe{}, fmt.Errorf("no %s %q of %s; did you mean %s?", kind, name, p.Title, near[0])
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
