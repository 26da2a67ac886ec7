// lethe export: the stored models behind a table, for other programs.

package command

import (
	"fmt"
	"regexp"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"

	"github.com/spf13/cobra"
)

// layouts are the layouts of exported weights.
var layouts = []string{"lethe", "pytorch"}

func newExport() *cobra.Command {
	var opt lab.ExportOptions
	c := &cobra.Command{
		Use:   "export PAPER NAME... --out FOLDER",
		Short: "Write the models behind a table for other programs: weights, outputs, embeddings",
		Long: `Write the stored models behind a table or figure, each into a folder: weights
(safetensors), outputs, embeddings and named activations of every record (npy),
labels, the row numbers of the forget and retain sets, and about.json, which describes
the files. Nothing is trained: make the table first. "lethe table PAPER NAME
--list-jobs" lists the models' names.`,
		Example: "  lethe table ruler 1\n  lethe export ruler 1 --only breast_cancer/.*seed-0 --out models\n  lethe export sde 5 --out models --layout pytorch",
		Args:    cobra.MinimumNArgs(2),
	}
	f := c.Flags()
	scale := f.String("scale", paper.ScaleName(), "the scale at which the table was made")
	only := f.String("only", "", "models whose name matches this regular expression")
	out := f.String("out", "", "the folder to write into")
	f.StringSliceVar(&opt.Layers, "layers", nil, "named activations to write (default: all that the network has)")
	layout := f.String("layout", layouts[0], "names and layout of the weights: lethe, or pytorch for a state_dict (see lethe state)")
	requireFlags(c, "out")
	dir := storeFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		match, err := regexp.Compile(*only)
		if err != nil {
			return cli.Usagef("--only: %v", err)
		}
		if err := cli.OneOf("layout", *layout, layouts...); err != nil {
			return err
		}
		opt.PyTorch = *layout == layouts[1]
		recipes, err := recipesNamed(args[0], args[1:], *scale)
		if err != nil {
			return err
		}
		env, err := openEnv(cmd, *dir, "")
		if err != nil {
			return err
		}
		defer env.Engine.Close()
		jobs, err := paper.Jobs(cmd.Context(), env, *scale, recipes...)
		if err != nil {
			return err
		}
		return exportModels(cmd, env, jobs, match, *out, opt)
	}
	return c
}

// exportModels writes the models that match and are in the store.
func exportModels(
	cmd *cobra.Command, env *paper.Env, jobs []paper.Job, match *regexp.Regexp, out string, opt lab.ExportOptions,
) error {
	written, waiting := 0, 0
	for _, j := range jobs {
		if !j.IsModel() || !match.MatchString(j.ID) {
			continue
		}
		if !j.Done {
			waiting++
			continue
		}
		folder, err := env.Lab().Export(cmd.Context(), j, out, opt)
		if err != nil {
			return err
		}
		written++
		fmt.Fprintln(cmd.OutOrStdout(), folder)
	}
	switch {
	case written+waiting == 0:
		return cli.Usagef("--only %q: no model behind it has such a name; --list-jobs of lethe table lists them", match)
	case written == 0:
		return fmt.Errorf("none of %d models is in the store %s yet; make the table first", waiting, env.Store.Dir())
	case waiting > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "lethe: %d models are not in the store yet and were left out\n", waiting)
	}
	return nil
}
