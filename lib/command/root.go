// Package command is the command line of the library: one file per sub-command, and no
// numerical code. Results go to standard output; progress, notes and errors go to
// standard error. The commands for notebooks are in package kernel.
package command

import (
	"runtime/debug"

	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Root returns the program lethe: the commands of this package, and others.
func Root(others ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "lethe",
		Short: "Has this model really forgotten? Experiments and audits of machine unlearning",
		Long: `lethe measures whether a model has really forgotten.

It reproduces tables and figures of machine-unlearning papers, with the controls that
they lack, and audits your own models, trained in any framework, from arrays saved
with numpy.save.

Results go to standard output, progress and errors to standard error. Exit codes:
0 success, 1 failure, 2 wrong usage, 130 interrupted.`,
		Example: `  lethe table ruler 1                  RULER's main table, small scale
  lethe figure ruler 5 --out fig5.png  a figure
  lethe list                           methods, attacks, metrics, data sets, ...
  lethe audit my-model                 has your own model forgotten?
  lethe score --members m.npy --nonmembers n.npy`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkFlagValues(cmd) }
	measuring := []*cobra.Command{newAudit(), newVerify(), newScore(), newAttack(), newONNX(), newState(), newList(), newFederated(), newTry()}
	cli.MarkInterruptible(measuring...)
	root.AddCommand(measuring...)
	root.AddCommand(newTable(), newFigure(), newExport(), newData(), newRuns(), newSweep())
	root.AddCommand(others...)
	cli.Group(root)
	cli.MarkFailures(root)
	return root
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// checkFlagValues refuses flags with an empty value, such as that of an unset shell
// variable: it would mean the default.
func checkFlagValues(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); v == "" || v == "[]" {
			err = cli.Usagef("--%s: its value is empty", f.Name)
		}
	})
	return err
}
