// lethe e2e: tests of the notebooks in a browser.

package kernel

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/lethe-ml/lethe/kernel/e2e"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

func newE2E() *cobra.Command {
	c := &cobra.Command{
		Use:   "e2e",
		Short: "Test the notebooks in a real browser",
		Long: `Test the notebooks in JupyterLab, in a real browser, as a reader would use them.

For developers of Lethe, in a clone. Copies of the notebooks are opened in a headless
Chromium: Run All, sliders, an interrupted training, an untrusted copy, completion,
errors. Each step prints one line. Screenshots are written to out/e2e.

It needs Node.js 20 with npm. Playwright, which controls the browser, is installed in
the folder that LETHE_HOME names. The browser is chromium or Google Chrome on PATH, or
the program that LETHE_CHROMIUM names; on Debian, for root, it is installed.`,
		Example: "  lethe e2e\n  lethe e2e --only run-all --only sliders",
		Args:    cobra.NoArgs,
	}
	only := c.Flags().StringArray("only", nil, "run only this step; may be given more than once: "+cli.List(e2e.Steps()))
	shots := c.Flags().String("shots", "", "folder for the screenshots (default: out/e2e in the clone)")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, step := range *only {
			if err := cli.OneOf("only", step, e2e.Steps()...); err != nil {
				return err
			}
		}
		return browserTest(cmd, *only, *shots)
	}
	cli.MarkQuiet(c)
	return c
}

func browserTest(cmd *cobra.Command, only []string, shots string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
	defer stop()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ready, err := setup.Prepare(ctx, setup.Options{Out: cmd.ErrOrStderr()})
	if err != nil {
		return err
	}
	if !ready.Clone {
		return fmt.Errorf("the test in the browser needs a clone of Lethe: start it there")
	}
	if shots == "" {
		shots = filepath.Join(ready.Root, "out", "e2e")
	}
	if shots, err = filepath.Abs(shots); err != nil {
		return err
	}
	return e2e.Run(ctx, e2e.Options{
		Program: program, Root: ready.Root, Home: ready.Home, Notebooks: notebookFiles,
		Shots: shots, Only: only, Out: cmd.OutOrStdout(), Notes: cmd.ErrOrStderr(),
	})
}
