// lethe onnx: runs a network in ONNX and writes its outputs.

package command

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/onnx"
	"github.com/lethe-ml/lethe/lib/model/outside"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

func newONNX() *cobra.Command {
	c := &cobra.Command{
		Use:   "onnx MODEL.onnx --data X.npy --out FOLDER",
		Short: "Run a network that another framework exported, and write its outputs and embeddings",
		Long: `Run a network that PyTorch, JAX or scikit-learn has exported as ONNX on Lethe's own
engine, and write its values for every record as npy: outputs, the embedding (the
input of the last linear layer) and the layers that you name. The folder is one model
of an audit:

  lethe onnx before.onnx --data X.npy --out audit/original
  lethe onnx after.onnx  --data X.npy --out audit/unlearned

If there are several outputs, the first of floats is used, or the one that --output
names: classifiers of scikit-learn have the label first and then the probabilities. A
network with an unknown operation, attribute or version is refused, and so is one
whose output for a record depends on the other records in its batch.

X.npy has a row per record, in the network's input shape or flat. NaN and infinity are
refused, in the records and in the network's values. Without --data the command lists
the network's values. The file is only read, never executed.`,
		Example: `  lethe onnx model.onnx
  lethe onnx model.onnx --data X.npy --out audit/unlearned --layers relu_1,relu_2
  lethe onnx forest.onnx --data X.npy --out audit/unlearned --output probabilities`,
		Args: cobra.ExactArgs(1),
	}
	var run runFlags
	run.add(c)
	output := outputFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := openONNX(cmd, args[0], *output)
		if err != nil {
			return err
		}
		if run.data == "" {
			return onnxTable(m, args[0]).Text(cmd.OutOrStdout())
		}
		return run.runNetwork(cmd, m)
	}
	return c
}

// outputFlag adds the flag for the output of an exported network.
func outputFlag(c *cobra.Command) *string {
	return c.Flags().String("output", "", "an ONNX network's output, by name (default: the first of floats)")
}

// openONNX opens a network and chooses the output of that name, or the first of floats. If
// there are several it prints which.
func openONNX(cmd *cobra.Command, path, output string) (*onnx.Model, error) {
	m, err := onnx.Open(path)
	if err != nil {
		return nil, err
	}
	if output != "" {
		if err := m.Choose(output); err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		return m, nil
	}
	if several := m.Choices(); len(several) > 1 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s has several outputs: %s is used; --output names another of %s\n",
			cli.Printable(path), cli.Printable(m.Output()), cli.Printable(cli.List(several)))
	}
	return m, nil
}

// runFlags say which data an external network is run on, and where its values go.
type runFlags struct {
	data, out, engine string
	layers            []string
}

func (r *runFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.data, "data", "", "npy file with the records")
	f.StringVar(&r.out, "out", "", "the folder to write into")
	f.StringSliceVar(&r.layers, "layers", nil, "values to write as named activations")
	f.StringVar(&r.engine, "engine", "", "auto, lethe, go or xla")
	c.MarkFlagsRequiredTogether("data", "out")
}

// runNetwork runs a network and prints what was written.
func (r *runFlags) runNetwork(cmd *cobra.Command, m outside.Network) error {
	x, err := outside.Read(r.data, m)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	e, err := engine.Open(r.engine)
	if err != nil {
		return err
	}
	defer e.Close()
	files, err := outside.Write(cmd.Context(), m, e, x, r.out, r.layers...)
	for _, w := range files {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %d x %d\n", cli.Printable(w.Path), cli.Printable(w.Value), w.Records, w.Width)
	}
	return err
}

// onnxTable lists a network's values.
func onnxTable(m *onnx.Model, path string) *report.Table {
	embedding, _ := m.Embedding()
	t := &report.Table{Title: fmt.Sprintf("%s takes records of shape %v", path, m.Input()), Columns: report.Columns("value", "made by", "")}
	for _, l := range m.Layers() {
		what := ""
		switch {
		case l.Name == m.Output():
			what = "output"
		case l.Name == embedding:
			what = "embedding"
		case slices.Contains(m.Outputs(), l.Name):
			what = "another output"
		}
		t.Add(report.Str(l.Name), report.Str(l.Op), report.Str(what))
	}
	return t
}
