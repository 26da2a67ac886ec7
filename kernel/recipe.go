package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
	paper "github.com/lethe-ml/lethe/lib/paper/ruler"

	"github.com/spf13/cobra"
)

func newTable() *cobra.Command {
	return newPaper("table", "Make a table of a paper again, with the controls it lacks",
		[]string{"text", "md", "json"}, []string{"md", "json", "png"},
		`  lethe table ruler                    which there are
  lethe table ruler 1                  small scale, about a minute
  lethe table ruler 1 --scale paper --format md --out table1.md
  lethe table ruler all --out figures/ruler
  lethe table lenses                   through every lens at once`, newLenses())
}

func newFigure() *cobra.Command {
	return newPaper("figure", "Make a figure of a paper again",
		[]string{"text", "png", "svg"}, []string{"png", "txt"},
		`  lethe figure ruler                   which there are
  lethe figure ruler 5                 as text, for the terminal
  lethe figure ruler 5 --out figure5.png
  lethe figure ruler all --scale paper --out figures/ruler`)
}

// newPaper makes "table" or "figure", with a sub-command per paper.
func newPaper(kind, short string, formats, folder []string, example string, others ...*cobra.Command) *cobra.Command {
	c := asGroup(&cobra.Command{Use: kind, Short: short, Example: example})
	c.AddCommand(newRuler(kind, formats, folder, example))
	c.AddCommand(others...)
	return c
}

// recipeRun is a table or figure that was asked for.
type recipeRun struct {
	kind, scale, format, out string
	engine, store            string
	workers                  int
	folder                   []string // formats written where out is a folder
}

func newRuler(kind string, formats, folder []string, example string) *cobra.Command {
	run := recipeRun{kind: kind, folder: folder}
	c := &cobra.Command{
		Use:   "ruler [NAME...]",
		Short: fmt.Sprintf("A %s of RULER (arXiv 2605.27569)", kind),
		Long: fmt.Sprintf(`Make a %s of RULER (arXiv 2605.27569), or "all". Without a name the list of
what there is.

Scale quick takes minutes on two cores, standard an hour or so, paper is the
published size. Results are kept in the store: the second time they are there at
once, and an interrupted command goes on where it stopped.`, kind),
		Example:     example,
		Annotations: withEngine(),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return recipeNames(kind), cobra.ShellCompDirectiveNoFileComp
		},
	}
	var scales []string
	for _, s := range paper.Scales() {
		scales = append(scales, s.Name)
	}
	f := c.Flags()
	f.StringVar(&run.scale, "scale", envOr("LETHE_SCALE", "quick"), "how much of the paper's grid: "+list(scales)+" (default from LETHE_SCALE)")
	f.StringVar(&run.format, "format", "", "one of "+list(formats)+" (default: the ending of --out, or "+formats[0]+")")
	f.StringVar(&run.out, "out", "", "write to this file, or into this folder ("+list(folder)+")")
	f.StringVar(&run.engine, "engine", "", "auto, go, xla, xla:cuda or xla:/path/to/plugin.so (default: LETHE_ENGINE, or auto)")
	dir, workers := storeFlag(c), workersFlag(c)
	for name, values := range map[string][]string{"scale": scales, "format": formats} {
		cobra.CheckErr(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	c.Args = func(_ *cobra.Command, names []string) error {
		if err := oneOf("scale", run.scale, scales...); err != nil {
			return err
		}
		if *workers < 0 {
			return usagef("--workers %d: expected a number of cells, or 0 for one per core", *workers)
		}
		if err := run.chooseFormat(formats); err != nil {
			return err
		}
		recipes, err := run.recipes(names)
		if err == nil && len(recipes) > 1 && !run.intoFolder() {
			err = usagef("--out: %d %ss need a folder", len(recipes), kind)
		}
		if len(names) == 0 {
			c.Annotations = nil // the list needs no engine
		}
		return err
	}
	c.RunE = func(cmd *cobra.Command, names []string) error {
		if len(names) == 0 {
			return listRecipes(cmd, kind)
		}
		run.store, run.workers = *dir, *workers
		recipes, err := run.recipes(names)
		if err != nil {
			return err
		}
		return run.make(cmd, recipes)
	}
	return c
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// chooseFormat settles the format: the flag, or the ending of the file's name.
func (r *recipeRun) chooseFormat(formats []string) error {
	if r.format != "" {
		return oneOf("format", r.format, formats...)
	}
	r.format = formats[0]
	ending := strings.TrimPrefix(filepath.Ext(r.out), ".")
	for _, f := range formats {
		if f == ending {
			r.format = f
		}
	}
	return nil
}

// intoFolder reports whether out is a folder: one that is there, or a name
// without an ending.
func (r *recipeRun) intoFolder() bool {
	if r.out == "" {
		return false
	}
	info, err := os.Stat(r.out)
	return err == nil && info.IsDir() || err != nil && filepath.Ext(r.out) == ""
}

// makeFolder makes the folder that was asked for.
func (r *recipeRun) makeFolder() error {
	if !r.intoFolder() {
		return nil
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// ofKind reports whether a recipe is shown as a table or a figure.
func ofKind(r paper.Recipe, kind string) bool {
	return strings.HasPrefix(shortName(r), "figure") == (kind == "figure")
}

func shortName(r paper.Recipe) string { return strings.TrimPrefix(r.ID, "ruler/") }

func recipeNames(kind string) []string {
	var names []string
	for _, r := range paper.Recipes() {
		if ofKind(r, kind) {
			names = append(names, strings.TrimPrefix(shortName(r), kind))
		}
	}
	return append(names, "all")
}

func (r *recipeRun) recipes(names []string) ([]paper.Recipe, error) {
	var out []paper.Recipe
	for _, name := range names {
		if name == "all" {
			for _, recipe := range paper.Recipes() {
				if ofKind(recipe, r.kind) {
					out = append(out, recipe)
				}
			}
			continue
		}
		recipe, err := paper.RecipeByID(r.kind, name)
		if err != nil {
			return nil, err
		}
		out = append(out, recipe)
	}
	return out, nil
}

func listRecipes(cmd *cobra.Command, kind string) error {
	t := words("", "command", "what it is")
	for _, r := range paper.Recipes() {
		if ofKind(r, kind) {
			t.Rows = append(t.Rows, row(fmt.Sprintf("lethe %s ruler %s", kind, strings.TrimPrefix(shortName(r), kind)), r.Title))
		}
	}
	return t.Text(cmd.OutOrStdout())
}

// make computes the recipes and writes them.
func (r *recipeRun) make(cmd *cobra.Command, recipes []paper.Recipe) error {
	scale, err := paper.ScaleByName(r.scale)
	if err != nil {
		return err
	}
	s, err := openStore(cmd, r.store)
	if err != nil {
		return err
	}
	if err := r.makeFolder(); err != nil {
		return err
	}
	e, err := engine.Open(r.engine)
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Fprintln(cmd.ErrOrStderr(), "lethe:", e)
	p := newProgress(cmd.ErrOrStderr(), "rows")
	defer p.finish()
	env := &paper.Env{Engine: e, Store: s, Workers: r.workers, Progress: func(now paper.Progress) { p.update(now.Done, now.Total, now.What) }}
	for _, recipe := range recipes {
		out, err := recipe.Run(cmd.Context(), env, scale)
		p.finish()
		if err != nil {
			if cmd.Context().Err() != nil {
				return fmt.Errorf("%w; what was finished is in %s, the same command goes on from there", err, s.Dir())
			}
			return err
		}
		if err := r.write(cmd, recipe, out); err != nil {
			return err
		}
	}
	return nil
}

// write puts a recipe's output where it was asked for.
func (r *recipeRun) write(cmd *cobra.Command, recipe paper.Recipe, out *paper.Output) error {
	if !r.intoFolder() {
		if r.out == "" {
			return render(cmd.OutOrStdout(), out, r.kind, r.format)
		}
		return writeFile(r.out, func(w io.Writer) error { return render(w, out, r.kind, r.format) })
	}
	for _, format := range r.folder {
		if drawn := format == "png" || format == "txt"; drawn && out.Figure == nil {
			continue
		}
		path := filepath.Join(r.out, shortName(recipe)+"."+format)
		if err := writeFile(path, func(w io.Writer) error { return render(w, out, r.kind, format) }); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return nil
}

// render writes the output in a format. A table's own figure is written where
// a picture is asked for; as a figure, a recipe that has none is an error.
func render(w io.Writer, out *paper.Output, kind, format string) error {
	if kind == "figure" && format == "text" {
		format = "txt"
	}
	switch {
	case format == "png" || format == "svg" || format == "txt":
		if out.Figure == nil {
			return errors.New("this recipe has no figure; try lethe table")
		}
		return out.Figure.Render(w, format)
	case out.Table == nil:
		return errors.New("this recipe has no table; try lethe figure")
	case format == "md":
		return out.Table.Markdown(w)
	case format == "json":
		return out.Table.JSON(w)
	}
	return out.Table.Text(w)
}
