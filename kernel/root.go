package kernel

import (
	"runtime/debug"

	"github.com/lethe-ml/lethe/bench"
	"github.com/lethe-ml/lethe/kernel/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "lethe",
		Short: "Has this model really forgotten? A machine-unlearning laboratory",
		Long: `lethe asks whether a model has really forgotten, and shows the evidence.

It reproduces tables and figures of machine-unlearning papers with the controls
that they lack, and measures models of your own, trained in any framework, from
arrays saved with numpy.save.

Results go to standard output, progress and errors to standard error. Exit codes:
0 success, 1 failure, 2 wrong usage, 130 interrupted.`,
		Example: `  lethe table ruler 1                  RULER's main table, small scale
  lethe figure ruler 5 --out fig5.png  a figure
  lethe list                           everything there is
  lethe audit my-model                 has this model of yours forgotten?
  lethe score --members m.npy --nonmembers n.npy`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return given(cmd) }
	root.AddCommand(
		newTable(), newFigure(), newExport(), newAudit(), newVerify(), newScore(), newAttack(), newONNX(), newState(), newFederated(),
		newList(), newData(), newRuns(), newSweep(), bench.New(),
		newLab(), newRun(), newInstall(), newUninstall(), newXLA(), newDoctor(), newClean(), newE2E(),
	)
	asGroup(root)
	cli.MarkFailures(root)
	return root
}

// asGroup makes a command out of one that only has sub-commands: a word that it
// does not know is an error, and alone it prints its help or does what it does.
func asGroup(c *cobra.Command) *cobra.Command {
	alone := c.RunE
	c.Args = cobra.ArbitraryArgs
	c.SuggestionsMinimumDistance = 2
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return cli.UnknownCommand(cmd, args[0])
		case alone != nil:
			return alone(cmd, nil)
		}
		return cmd.Help()
	}
	return c
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// given refuses flags whose value is empty, such as that of a variable of the shell
// that nobody set: it would mean the default.
func given(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); v == "" || v == "[]" {
			err = cli.Usagef("--%s: its value is empty", f.Name)
		}
	})
	return err
}
