// Package kernel is the program lethe: the commands of the library, and those that open,
// execute and test notebooks, one file per command.
package kernel

import (
	"github.com/lethe-ml/lethe/kernel/internal/bench"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/command"

	"github.com/spf13/cobra"
)

// Main runs the program and returns its exit code.
func Main() int {
	setup.OfferPlugin()
	return cli.Main(newRoot())
}

func newRoot() *cobra.Command {
	return command.Root(
		bench.New(), newLab(), newRun(), newInstall(), newUninstall(), newXLA(), newDoctor(), newClean(), newE2E(),
	)
}
