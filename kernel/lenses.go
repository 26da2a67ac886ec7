package kernel

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	paper "github.com/lethe-ml/lethe/lib/paper/ruler"

	"github.com/spf13/cobra"
)

// newLenses makes "table lenses".
func newLenses() *cobra.Command {
	run := recipeRun{kind: "table", folder: []string{"md", "json"}}
	formats := []string{"text", "md", "json"}
	c := &cobra.Command{
		Use:   "lenses",
		Short: "Every method and control through every lens, and where the lenses disagree",
		Long: `Look at every unlearning method and every control of several cases through every
lens at once: the attack on outputs, RULER's M2 and M4, SDE's subsets. Each cell
says where the lens places the model between the original, of which nothing was
unlearned, and the oracle, retrained without the records; the last column says
where the lenses disagree.

Scale quick needs no data files and takes about a minute; standard and paper add
RULER's ten tables.`,
		Example: `  lethe table lenses
  lethe table lenses --scale standard --out figures/audit`,
		Annotations: withEngine(),
	}
	f := c.Flags()
	scales := []string{"quick", "standard", "paper"}
	f.StringVar(&run.scale, "scale", envOr("LETHE_SCALE", "quick"), "which cases: "+list(scales)+" (default from LETHE_SCALE)")
	f.StringVar(&run.format, "format", "", "one of "+list(formats)+" (default: the ending of --out, or text)")
	f.StringVar(&run.out, "out", "", "write to this file, or into this folder ("+list(run.folder)+")")
	f.StringVar(&run.engine, "engine", "", "auto, go, xla, xla:cuda or xla:/path/to/plugin.so (default: LETHE_ENGINE, or auto)")
	dir := storeFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := cobra.NoArgs(cmd, args); err != nil {
			return usagef("%v", err)
		}
		if err := oneOf("scale", run.scale, scales...); err != nil {
			return err
		}
		return run.chooseFormat(formats)
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := openStore(cmd, *dir)
		if err != nil {
			return err
		}
		if err := run.makeFolder(); err != nil {
			return err
		}
		e, err := engine.Open(run.engine)
		if err != nil {
			return err
		}
		defer e.Close()
		fmt.Fprintln(cmd.ErrOrStderr(), "lethe:", e)
		p := newProgress(cmd.ErrOrStderr(), "cases")
		defer p.finish()
		lab := &audit.Lab{Engine: e, Store: s}
		t, err := lab.LensTable(cmd.Context(), run.scale, func(now audit.Progress) { p.update(now.Done, now.Total, now.What) })
		p.finish()
		if err != nil {
			return err
		}
		return run.write(cmd, paper.Recipe{ID: "lenses"}, &paper.Output{Table: t})
	}
	return c
}
