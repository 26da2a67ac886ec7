// lethe xla: gets XLA's plugin for the CPU or for NVIDIA's cards.

package kernel

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/engine"

	"github.com/spf13/cobra"
)

func newXLA() *cobra.Command {
	c := &cobra.Command{
		Use:   "xla",
		Short: "Get XLA's plugin for the CPU, or for an NVIDIA card, and print its path",
		Long: `Get XLA's plugin for the CPU and print its path; with --cuda, that for NVIDIA's cards.
Both are downloaded once, with pip, at a pinned version, and their hashes are checked.
Then --engine xla:cpu and --engine xla:cuda use them.

With --cuda the plugin of an installed JAX is used where a Python on PATH has one;
otherwise the plugin and CUDA's libraries are downloaded: 2 GB, 3 GB on the disk. It
needs Linux and NVIDIA's driver 580 or newer, and no CUDA on the machine. "lethe doctor"
tests the card.

The next "lethe lab" sets up a second notebook kernel for each: Lethe (Go, XLA) and Lethe
(Go, CUDA). XLA is in every program that was built on Linux with a C compiler.
"lethe clean --all" removes the plugins.`,
		Example: "  lethe xla\n  lethe xla --cuda",
		Args:    cobra.NoArgs,
	}
	f := c.Flags()
	cuda := f.Bool("cuda", false, "the plugin for NVIDIA's cards")
	download := f.Bool("download", false, "with --cuda: download the pinned plugin even if there is a JAX")
	rocm := f.Bool("rocm", false, "say what AMD's cards would need")
	tpu := f.Bool("tpu", false, "say what Google's TPUs would need")
	c.MarkFlagsMutuallyExclusive("cuda", "rocm", "tpu")
	c.MarkFlagsMutuallyExclusive("download", "rocm")
	c.MarkFlagsMutuallyExclusive("download", "tpu")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		o := setup.Options{Out: cmd.ErrOrStderr()}
		switch {
		case *rocm:
			return errors.New(needsROCm)
		case *tpu:
			return errors.New(needsTPU)
		case *cuda || *download:
			return getCUDA(cmd, o, *download)
		}
		path, err := setup.Plugin(cmd.Context(), o)
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), path)
			sayHowToBuild(cmd)
		}
		return err
	}
	return c
}

// What the devices would need that Lethe gets no plugin for, in two lines each.
const (
	needsROCm = `for AMD's cards Lethe gets no plugin, and is not tried on them: they need Linux, ROCm 7, and pip install jax-rocm7-pjrt
then name its file: --engine xla:.../site-packages/jax_plugins/xla_rocm7/xla_rocm_plugin.so`
	needsTPU = `for TPUs Lethe gets no plugin, and is not tried on them: they need a machine of Google Cloud with a TPU, and pip install libtpu
then name its file: --engine xla:.../site-packages/libtpu/libtpu.so`
)

func getCUDA(cmd *cobra.Command, o setup.Options, download bool) error {
	got, err := setup.CUDAPlugin(cmd.Context(), o, download)
	if err != nil {
		return err
	}
	if got.JAX != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "lethe: using the plugin of an installed JAX, %s (--download gets the pinned one)\n", got.JAX)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "lethe: --engine xla:cuda uses it from now on; lethe doctor --engine xla:cuda tests it")
	sayHowToBuild(cmd)
	fmt.Fprintln(cmd.OutOrStdout(), got.Path)
	return nil
}

// sayHowToBuild says how to get a program that can use a plugin.
func sayHowToBuild(cmd *cobra.Command) {
	if !engine.WithXLA {
		fmt.Fprintln(cmd.ErrOrStderr(), "lethe: this program was built without XLA; to use the plugin,", engine.HowToBuild())
	}
}
