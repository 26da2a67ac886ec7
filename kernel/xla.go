// lethe xla: downloads XLA's plugin for the CPU.

package kernel

import (
	"fmt"

	"github.com/lethe-ml/lethe/kernel/setup"

	"github.com/spf13/cobra"
)

func newXLA() *cobra.Command {
	return &cobra.Command{
		Use:   "xla",
		Short: "Download XLA's plugin for the CPU and print its path",
		Long: `Download XLA's plugin for the CPU, as the OpenXLA authors publish it for Python, and
print its path. It is downloaded once, with pip, and its hash is checked.

Programs built with XLA then use it, unless this machine has another plugin, and so does
a second notebook kernel, Lethe (Go, XLA), which the next "lethe lab" sets up. Building
with XLA needs cgo and a C compiler: go run -tags xla . in a clone. "lethe clean --all"
removes the plugin.

For a GPU, name the plugin of a JAX installation: --engine
xla:.../jax_plugins/xla_cuda13/xla_cuda_plugin.so`,
		Example: "  lethe xla",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := setup.Plugin(cmd.Context(), setup.Options{Out: cmd.ErrOrStderr()})
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return err
		},
	}
}
