// lethe run: executes or lints notebooks without a browser.

package kernel

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/command"
	"github.com/lethe-ml/lethe/lib/paper"

	"github.com/spf13/cobra"
)

type runOptions struct {
	scale, out, module           string
	check, inPlace, noHTML, lint bool
	timeout, limit, states       time.Duration
	jobs                         int
	stdout, stderr               io.Writer
}

func newRun() *cobra.Command {
	var r runOptions
	c := &cobra.Command{
		Use:   "run [NOTEBOOK ...]",
		Short: "Execute notebooks without a browser",
		Long: `Execute notebooks in the kernel, as JupyterLab would, and save them with their outputs
and as web pages in out/notebooks. It stops at the first cell that fails; a failing
shell line (!) is a failure too. Without arguments all notebooks are executed.

NOTEBOOK is a file, or the beginning of the name of a notebook: start/00 is the first
one, and start a folder of them. In a clone of Lethe these are the clone's notebooks;
elsewhere they are unpacked as by "lethe lab".

A cell with sliders is drawn for some of their other values too, so that the sliders of the saved
notebook and of its web page move without a kernel. With --check the claims that the notebooks
print are compared with those saved in the files: the same statements with the same verdicts.`,
		Example: `  lethe run start/00
  lethe run
  lethe run my-own.ipynb --scale standard
  lethe run --check --jobs 2 --limit 20m
  lethe run --in-place --no-html notebooks/ruler/*.ipynb
  lethe run --lint`,
	}
	f := c.Flags()
	f.StringVar(&r.scale, "scale", "quick", "how much the cells compute: "+cli.List(scalesOf(&notebook.Notebook{}, command.Papers())))
	f.BoolVar(&r.check, "check", false, "compare the claims with those saved in the notebooks")
	f.BoolVar(&r.inPlace, "in-place", false, "save a notebook that ran to its end over the original")
	f.StringVar(&r.out, "out", "", "folder for the executed notebooks (default: out/notebooks in the clone, or in the folder of notebooks)")
	f.BoolVar(&r.noHTML, "no-html", false, "write no web pages")
	f.DurationVar(&r.timeout, "timeout", 10*time.Minute, "longest time of a cell, 0: no limit")
	f.DurationVar(&r.limit, "limit", 0, "longest time of a notebook, 0: no limit")
	f.DurationVar(&r.states, "states", 20*time.Second, "time per cell to draw what its sliders show elsewhere, for readers without a kernel; 0: none")
	f.IntVar(&r.jobs, "jobs", 1, "notebooks executed at a time, each on a kernel of its own")
	module := moduleFlag(c)
	f.BoolVar(&r.lint, "lint", false, "execute nothing, only report problems for readers")
	c.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case r.check && r.inPlace:
			return cli.Usagef("--check compares with what --in-place would replace: give one of them")
		case r.inPlace && r.out != "":
			return cli.Usagef("--in-place or --out: give one of them")
		case r.timeout < 0:
			return cli.Usagef("--timeout %v: expected 0 or more", r.timeout)
		case r.limit < 0:
			return cli.Usagef("--limit %v: expected 0 or more", r.limit)
		case r.states < 0:
			return cli.Usagef("--states %v: expected 0 or more", r.states)
		case r.jobs < 1:
			return cli.Usagef("--jobs %d: expected at least 1", r.jobs)
		}
		if _, err := chooseNotebooks(args); err != nil {
			return err
		}
		return cli.OneOf("scale", r.scale, scalesOf(&notebook.Notebook{}, command.Papers())...)
	}
	cli.MarkQuiet(c) // every cell is a line
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r.stdout, r.stderr, r.module = cmd.OutOrStdout(), cmd.ErrOrStderr(), *module
		if r.lint {
			return r.lintAll(args)
		}
		return r.run(cmd.Context(), args)
	}
	return c
}

func jupyterOf(ready *setup.Ready) notebook.Jupyter {
	return notebook.Jupyter{Python: ready.Python, Env: ready.Env, Kernel: ready.Kernel}
}

// checkScale refuses a scale that a notebook does not have.
func (r *runOptions) checkScale(all []chosen) error {
	for _, c := range all {
		nb, err := c.read()
		if err != nil {
			return err
		}
		if known := scalesOf(nb, command.Papers()); !slices.Contains(known, r.scale) {
			return cli.Usagef("--scale %s: %s has %s", r.scale, c.name, cli.List(known))
		}
	}
	return nil
}

// scalesOf returns the scales of the papers whose recipes a notebook imports. A notebook
// that imports none computes the same at every scale, and accepts all.
func scalesOf(nb *notebook.Notebook, all []paper.Paper) (known []string) {
	imported := slices.DeleteFunc(slices.Clone(all), func(p paper.Paper) bool { return !importsPaper(nb, p) })
	if len(imported) > 0 {
		return slices.DeleteFunc(imported[0].ScaleNames(), func(name string) bool {
			return slices.ContainsFunc(imported, func(p paper.Paper) bool { return !slices.Contains(p.ScaleNames(), name) })
		})
	}
	for _, p := range all {
		for _, name := range p.ScaleNames() {
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	return known
}

// importsPaper reports whether a cell imports the package of a paper's recipes, or one
// below it. The package has the paper's name, with "paper" appended if a package of the
// library has that name already.
func importsPaper(nb *notebook.Notebook, p paper.Paper) bool {
	named := regexp.MustCompile(`"` + regexp.QuoteMeta(setup.Module+"/lib/paper/"+p.Name) + `(?:paper)?["/]`)
	return slices.ContainsFunc(nb.Cells, func(c notebook.Cell) bool { return c.Kind == notebook.Code && named.MatchString(c.Source) })
}

func (r *runOptions) run(ctx context.Context, args []string) error {
	all, err := chooseNotebooks(args)
	if err != nil {
		return err
	}
	if err := r.checkScale(all); err != nil { // before anything is set up
		return err
	}
	o := setup.Options{Out: r.stderr, NoCompletion: true, Module: r.module} // no code completion
	if len(args) == 0 || anyNamed(all) {
		o.Notebooks = notebookFiles
	}
	ready, err := setup.Prepare(ctx, o)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if all, err = allNotebooks(ready.Notebooks); err != nil {
			return err
		}
		if err := r.checkScale(all); err != nil {
			return err
		}
	}
	return notebook.Batch{
		Run:  notebook.Run{Jupyter: jupyterOf(ready), Root: ready.Root, Scale: r.scale, Timeout: r.timeout, States: r.states},
		Jobs: r.jobs, Limit: r.limit,
		Base: ready.Notebooks, Out: cmp.Or(r.out, filepath.Join(outParent(ready), "out", "notebooks")),
		InPlace: r.inPlace, Pages: !r.noHTML, Check: r.check, Stdout: r.stdout,
	}.Execute(ctx, pathsOf(all, ready.Notebooks))
}

// outParent returns the folder of out/: in a clone its root, where git ignores out, elsewhere
// the folder of the notebooks.
func outParent(ready *setup.Ready) string {
	if below, err := filepath.Rel(ready.Root, ready.Notebooks); err == nil && filepath.IsLocal(below) {
		return ready.Root
	}
	return ready.Notebooks
}

// lintAll prints the problems of the notebooks, without executing them.
func (r *runOptions) lintAll(args []string) error {
	all, err := chooseNotebooks(args)
	if len(args) == 0 {
		all, err = allNotebooks("notebooks")
	}
	if err != nil {
		return err
	}
	n := 0
	for _, path := range pathsOf(all, "notebooks") {
		problems := notebook.Lint(os.DirFS(filepath.Dir(path)), filepath.Base(path))
		for _, p := range problems {
			p.Notebook = path
			fmt.Fprintln(r.stdout, p)
		}
		n += len(problems)
	}
	if n > 0 {
		return fmt.Errorf("%d problems in %d notebooks", n, len(all))
	}
	fmt.Fprintf(r.stdout, "no problems in %d notebooks\n", len(all))
	return nil
}
