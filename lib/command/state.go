// lethe state: runs a PyTorch state_dict of a known architecture.

package command

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/torch"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

func newState() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "state [FILE.safetensors --data X.npy --out FOLDER] --arch NETWORK",
		Short: "Run a PyTorch model of one of Lethe's architectures, from its state_dict",
		Long: `Run a PyTorch model of one of Lethe's own architectures, from its state_dict saved as
safetensors, and write its values for every record as npy: outputs, the embedding (the
input of the last linear layer) and the layers that you name. In Python:

  safetensors.torch.save_file(model.state_dict(), "original.safetensors")

NETWORK is a name with settings, resnet-18:width=16,outputs=100; the names are
` + strings.Join(torch.Names(), ", ") + `.
Without a file the command lists the tensors of NETWORK's state_dict with shapes, and
the layers that can be named. A PyTorch class for each NETWORK:
https://github.com/lethe-ml/lethe/blob/main/docs/guide/state-dicts.md
X.npy has a row per record, images as (channels, side, side). The file is only read,
never executed; a file of torch.save (.pt) is refused.`,
		Example: `  lethe state --arch resnet-18:width=16
  lethe state after.safetensors --arch resnet-18:width=16 --data X.npy --out audit/unlearned`,
		Args: cobra.MaximumNArgs(1),
	}
	c.Flags().StringVar(&name, "arch", "", "the network, with its settings")
	var run runFlags
	run.add(c)
	cobra.CheckErr(c.MarkFlagRequired("arch"))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		arch, err := torch.Parse(name)
		if err != nil {
			return cli.Usagef("--arch: %v", err)
		}
		switch {
		case len(args) == 0 && run.data != "":
			return cli.Usagef("--data: name the file of the network's state_dict")
		case len(args) == 0:
			return listState(cmd, arch, run.engine)
		}
		m, err := torch.Open(args[0], arch)
		if err != nil {
			return err
		}
		if run.data == "" {
			fmt.Fprintf(cmd.OutOrStdout(), "%s is a state_dict of %s; --data and --out run it\n", cli.Printable(args[0]), arch.Name())
			return nil
		}
		return run.runNetwork(cmd, m)
	}
	return c
}

// listState lists the tensors of a network's state_dict, and its layers.
func listState(cmd *cobra.Command, arch model.Architecture, spec string) error {
	e, err := engine.Open(spec)
	if err != nil {
		return err
	}
	defer e.Close()
	r, err := model.NewRunner(e, arch)
	if err != nil {
		return err
	}
	t := &report.Table{
		Title:   fmt.Sprintf("The state_dict of %s, which takes records of %d numbers", arch.Name(), arch.Inputs()),
		Columns: report.Columns("tensor", "shape", "type"),
	}
	for _, s := range model.StateDict(arch, r.WeightShapes()) {
		kind := "float32"
		if s.Counter {
			kind = "int64"
		}
		t.Add(report.Str(s.Name), report.Str(fmt.Sprint(s.Shape)), report.Str(kind))
	}
	if err := t.Text(cmd.OutOrStdout()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nlayers: %s\n", strings.Join(r.LayerNames(), ", "))
	return nil
}
