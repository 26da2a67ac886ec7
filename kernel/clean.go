// lethe clean: processes and folders of killed kernels.

package kernel

import (
	"fmt"

	"github.com/lethe-ml/lethe/kernel/e2e"
	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

func newClean() *cobra.Command {
	c := &cobra.Command{
		Use:   "clean",
		Short: "Stop processes and remove folders that notebook kernels left behind",
		Long: `Stop processes and remove folders that notebook kernels left behind.

It stops gonb, gopls and lethe-kernel processes of Lethe whose kernel or Jupyter has
ended, and removes temporary folders of kernels that no longer run. Notebooks, data
sets and results are never changed.`,
		Example: "  lethe clean\n  lethe clean --all                also what lethe lab has set up",
		Args:    cobra.NoArgs,
	}
	all := c.Flags().Bool("all", false, "also remove what lethe lab and lethe e2e have set up; the next start sets it up again")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		home, err := paths.Home()
		if err != nil {
			return err
		}
		left, err := setup.FindLeftovers(home)
		if err != nil {
			return err
		}
		w := cmd.OutOrStdout()
		for _, p := range left.Processes {
			fmt.Fprintf(w, "stopped: %s, process %d\n", p.Name, p.PID)
		}
		for _, dir := range left.Folders {
			fmt.Fprintf(w, "removed: %s (%s)\n", dir, cli.Bytes(setup.FolderSize(dir)))
		}
		if err := left.Stop(cmd.Context()); err != nil || !*all {
			return err
		}
		for _, remove := range []func() (string, int64, error){
			func() (string, int64, error) { return setup.Remove(cmd.Context(), home) },
			func() (string, int64, error) { return e2e.Remove(home) },
		} {
			dir, size, err := remove()
			if err != nil {
				return err
			}
			if size > 0 {
				fmt.Fprintf(w, "removed: %s (%s)\n", dir, cli.Bytes(size))
			}
		}
		return nil
	}
	return c
}
