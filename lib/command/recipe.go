// Making one table or figure: flags, formats, output files.

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/paper"

	"github.com/spf13/cobra"
)

// recipeRun is a request for tables or figures.
type recipeRun struct {
	kind               string
	scale, format, out string
	engine             string
	precision          string
	store              *string
	listJobs           bool
	runs               string   // csv or json: the values behind it, in a folder beside it
	folder             []string // formats written where out is a folder and no format is named
}

// allFormats are file endings that select a format; not every format exists for both kinds.
var allFormats = []string{"md", "json", "csv", "png", "svg", "pdf", "html"}

// runFormats are the formats of the values behind a table or figure.
var runFormats = []string{"csv", "json"}

// flags adds the flags of all tables and figures.
func (r *recipeRun) flags(c *cobra.Command, about string, scales, formats []string) {
	f := c.Flags()
	f.StringVar(&r.scale, "scale", paper.ScaleName(), about+": "+cli.List(scales)+" (default from "+paper.ScaleEnv+")")
	f.StringVar(&r.format, "format", "", "one of "+cli.List(formats)+" (default: the ending of --out, or "+formats[0]+")")
	f.StringVar(&r.out, "out", "", "write to this file, or into this folder ("+cli.List(r.folder)+", or --format)")
	f.StringVar(&r.engine, "engine", "", "lethe, xla, xla:cuda, xla:PLUGIN.so, go: GoMLX's (default: LETHE_ENGINE)")
	precisionFlag(c, &r.precision)
	f.BoolVar(&r.listJobs, "list-jobs", false, "list the jobs, their needs and their state, and compute nothing")
	f.StringVar(&r.runs, "runs", "",
		"write the values behind it, one record per run: "+cli.List(runFormats)+"; if --out is a folder in addition, otherwise instead")
	r.store = storeFlag(c)
	for name, values := range map[string][]string{"scale": scales, "format": formats} {
		cobra.CheckErr(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
}

// check refuses an unknown scale or format, and checks that the output can be written
// before anything is computed.
func (r *recipeRun) check(scales, formats []string) error {
	if err := cli.OneOf("scale", r.scale, scales...); err != nil {
		return err
	}
	if err := r.settleFormat(formats); err != nil {
		return err
	}
	return r.checkOut()
}

// checkOut makes the output folder and checks that the output can be written.
func (r *recipeRun) checkOut() error {
	path := r.out
	switch {
	case r.out == "" || r.listJobs:
		return nil
	case r.outIsFolder():
		path = filepath.Join(r.out, "x")
		if err := os.MkdirAll(r.out, 0o755); err != nil {
			return cli.Usagef("--out: %w", err)
		}
	}
	if err := files.Writable(path); err != nil {
		return cli.Usagef("--out: %w", err)
	}
	return nil
}

// settleFormat chooses what is written: the runs behind the output, or the output in the
// format of the flag, or of the file's ending.
func (r *recipeRun) settleFormat(formats []string) error {
	switch ending := strings.TrimPrefix(filepath.Ext(r.out), "."); {
	case r.runs != "" && r.format != "":
		return cli.Usagef("--runs %s writes no %s", r.runs, r.kind)
	case r.runs != "":
		return r.checkFormat("runs", r.runs, runFormats)
	case r.format != "":
		r.folder = []string{r.format}
		return r.checkFormat("format", r.format, formats)
	case slices.Contains(formats, ending):
		r.format = ending
	case slices.Contains(allFormats, ending) && !r.outIsFolder():
		return cli.Usagef("--out %s: a %s is written as %s, not as %s", r.out, r.kind, cli.List(formats), ending)
	default:
		r.format = formats[0]
	}
	return nil
}

// checkFormat refuses an unknown format of a flag, and a file whose ending promises another one.
func (r *recipeRun) checkFormat(flag, format string, known []string) error {
	if err := cli.OneOf(flag, format, known...); err != nil {
		return err
	}
	ending := strings.TrimPrefix(filepath.Ext(r.out), ".")
	if ending == format || !slices.Contains(allFormats, ending) || r.outIsFolder() {
		return nil
	}
	return cli.Usagef("--%s %s and --out %s ask for two formats", flag, format, r.out)
}

// outIsFolder reports whether out is a folder: an existing one, or a name without an
// ending.
func (r *recipeRun) outIsFolder() bool {
	if r.out == "" {
		return false
	}
	info, err := os.Stat(r.out)
	return err == nil && info.IsDir() || err != nil && filepath.Ext(r.out) == ""
}

// compute computes the recipes and writes them.
func (r *recipeRun) compute(cmd *cobra.Command, recipes []paper.Recipe, workers int) error {
	spec, err := withPrecision(r.engine, r.precision)
	if err != nil {
		return err
	}
	env, err := openEnv(cmd, *r.store, spec)
	if err != nil {
		return err
	}
	defer env.Engine.Close()
	env.Workers = workers
	if r.listJobs {
		jobs, err := paper.Jobs(cmd.Context(), env, r.scale, recipes...)
		if err != nil {
			return err
		}
		return r.showJobs(cmd, jobs)
	}
	for _, recipe := range recipes {
		out, err := recipe.Run(cmd.Context(), env, r.scale)
		if err != nil {
			if cmd.Context().Err() != nil {
				return fmt.Errorf("%w; finished results are in %s, and the same command resumes from there", err, env.Store.Dir())
			}
			return err
		}
		if err := r.write(cmd, recipe.File(), out); err != nil {
			return fmt.Errorf("%s: %w", recipe.ID, err)
		}
	}
	return nil
}

// write writes an output to standard output, to a file, or into a folder under its name.
func (r *recipeRun) write(cmd *cobra.Command, name string, out *paper.Output) error {
	format := r.format
	if r.runs != "" {
		format = runsEnding + r.runs
	}
	if !r.outIsFolder() {
		if r.out == "" {
			w := cmd.OutOrStdout()
			if format == "png" {
				w = cli.Raw(w)
			}
			return r.render(w, out, format)
		}
		return files.Write(r.out, func(w io.Writer) error { return r.render(w, out, format) })
	}
	formats := r.folder
	if r.runs != "" {
		formats = append(slices.Clone(formats), format)
	}
	for _, format := range formats {
		if drawn := format == "png" || format == "txt"; drawn && out.Figure == nil {
			continue
		}
		path := filepath.Join(r.out, name+"."+strings.Replace(format, "text", "txt", 1))
		if err := files.Write(path, func(w io.Writer) error { return r.render(w, out, format) }); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return nil
}

// runsEnding is before the ending of a file with the values behind an output.
const runsEnding = "runs."

// render writes the output in a format. For a picture it uses the figure of a table. A
// figure recipe without a figure is an error.
func (r *recipeRun) render(w io.Writer, out *paper.Output, format string) error {
	if r.kind == paper.Figure && format == "text" {
		format = "txt"
	}
	switch {
	case format == runsEnding+"csv":
		return out.CSV(w)
	case format == runsEnding+"json":
		return out.Records().JSON(w)
	case format == "png" || format == "svg" || format == "txt":
		if out.Figure == nil {
			return errors.New("this recipe made no figure; try lethe table")
		}
		return out.Figure.Render(w, format)
	case out.Table == nil:
		return errors.New("this recipe made no table; try lethe figure")
	case format == "md":
		return out.Table.Markdown(w)
	case format == "json":
		return out.Table.JSON(w)
	}
	return out.Table.Text(w)
}
