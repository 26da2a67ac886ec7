// Package kernel is the program lethe: the commands of the library, and those that open,
// execute and test notebooks, one file per command.
package kernel

import (
	"fmt"
	"os"

	"github.com/lethe-ml/lethe/kernel/internal/bench"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/command"
	"github.com/lethe-ml/lethe/lib/paper"

	"github.com/spf13/cobra"
)

// Main runs the program and returns its exit code. Papers of another module stand beside Lethe's in a program of
// that module: func main() { os.Exit(kernel.Main(mine.Paper())) }.
func Main(papers ...paper.Paper) int {
	if err := command.AddPapers(papers...); err != nil {
		fmt.Fprintln(os.Stderr, "lethe:", err)
		return cli.ExitFailure
	}
	setup.OfferPlugin()
	return cli.Main(newRoot())
}

func newRoot() *cobra.Command {
	return command.Root(
		bench.New(), newLab(), newRun(), newInstall(), newUninstall(), newXLA(), newDoctor(), newClean(), newE2E(),
	)
}
