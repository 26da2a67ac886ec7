package kernel

import (
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/paper"

	"github.com/spf13/cobra"
)

// newLenses makes "table lenses".
func newLenses() *cobra.Command {
	run := recipeRun{kind: paper.Table, folder: []string{"md", "json"}}
	scales, formats := []string{"quick", "standard", "paper"}, []string{"text", "md", "json"}
	c := &cobra.Command{
		Use:   "lenses",
		Short: "Every method and control through every lens, and where the lenses disagree",
		Long: `Look at every unlearning method and every control of several cases through every
lens at once: the attack on outputs, RULER's M2 and M4, SDE's subsets. Each cell
says where the lens places the model between the original, of which nothing was
unlearned, and the oracle, retrained without the records; the last column says
where the lenses disagree.

Scale quick needs no data files and takes a minute or two; standard and paper add
RULER's ten tables and photographs.`,
		Example: `  lethe table lenses
  lethe table lenses --scale standard --out figures/audit`,
		Annotations: withEngine(),
	}
	run.flags(c, "which cases", scales, formats)
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := cobra.NoArgs(cmd, args); err != nil {
			return usagef("%v", err)
		}
		return run.check(scales, formats)
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		e, s, err := run.open(cmd)
		if err != nil {
			return err
		}
		defer e.Close()
		p := newProgress(cmd.ErrOrStderr(), "cases")
		defer p.finish()
		lab := &audit.Lab{Engine: e, Store: s}
		t, err := lab.LensTable(cmd.Context(), run.scale, func(now audit.Progress) { p.update(now.Done, now.Total, now.What) })
		p.finish()
		if err != nil {
			return err
		}
		return run.write(cmd, "lenses", &paper.Output{Table: t})
	}
	return c
}
