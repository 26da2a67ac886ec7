// lethe install and uninstall: the kernel for the user's own Jupyter.

package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lethe-ml/lethe/kernel/setup"

	"github.com/spf13/cobra"
)

func newInstall() *cobra.Command {
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the notebook kernel for your own JupyterLab or VS Code",
		Long: `Install the notebook kernel for users who start JupyterLab or VS Code themselves.

The kernel is set up as by "lethe lab", and a kernelspec with absolute paths is written
where your Jupyter finds it. In a clone, cells use the library of the clone, with your
changes; elsewhere that of the clone that --module names, or the library at the version
of this program. After an update of the clone or of lethe, install again.`,
		Example: "  lethe install\n  lethe install --sys-prefix       into the active virtual or conda environment",
		Args:    cobra.NoArgs,
	}
	where := dataDirFlags(c)
	noCompletion, module := noCompletionFlag(c), moduleFlag(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := where()
		if err != nil {
			return err
		}
		ready, err := setup.Prepare(cmd.Context(), setup.Options{Out: cmd.ErrOrStderr(), NoCompletion: *noCompletion, Module: *module})
		if err != nil {
			return err
		}
		dirs, err := ready.Install(dir)
		for _, d := range dirs {
			fmt.Fprintln(cmd.OutOrStdout(), "installed:", d)
		}
		return err
	}
	return c
}

func newUninstall() *cobra.Command {
	c := &cobra.Command{
		Use:     "uninstall",
		Short:   "Remove the kernels that lethe install has installed",
		Long:    "Remove the kernelspecs that lethe install has written, and nothing else.",
		Example: "  lethe uninstall\n  lethe uninstall --sys-prefix",
		Args:    cobra.NoArgs,
	}
	where := dataDirFlags(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := where()
		if err != nil {
			return err
		}
		dirs, err := setup.Uninstall(dir)
		for _, d := range dirs {
			fmt.Fprintln(cmd.OutOrStdout(), "removed:", d)
		}
		if err == nil && len(dirs) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "lethe: there is no kernel of lethe below %s\n", dir)
		}
		return err
	}
	return c
}

// dataDirFlags adds --user and --sys-prefix and returns a function for the chosen data
// folder of Jupyter.
func dataDirFlags(c *cobra.Command) func() (string, error) {
	user := c.Flags().Bool("user", false, "for this user (default)")
	prefix := c.Flags().Bool("sys-prefix", false, "for the active virtual or conda environment, otherwise for the python3 on PATH")
	c.MarkFlagsMutuallyExclusive("user", "sys-prefix")
	return func() (string, error) {
		if *prefix && !*user {
			return prefixData()
		}
		return userData()
	}
}

// userData returns the folder in which Jupyter looks for what a user has installed.
func userData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

func prefixData() (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			return filepath.Join(dir, "share", "jupyter"), nil
		}
	}
	out, err := exec.Command("python3", "-c", "import sys; print(sys.prefix)").Output()
	if err != nil {
		return "", errors.New("--sys-prefix: there is no active environment and no python3 that works on PATH")
	}
	return filepath.Join(strings.TrimSpace(string(out)), "share", "jupyter"), nil
}
