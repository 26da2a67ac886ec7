package kernel

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/kernel/cli"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit/judge/kit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/onnx"

	"github.com/spf13/cobra"
)

// auditSource is where an audit's arrays come from, if not from the reader's program.
type auditSource struct {
	kit  string
	onnx map[string]string
	data string
}

func (s *auditSource) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.kit, "kit", "", "print a Python file that writes such a folder, "+cli.List(kit.Frameworks()))
	f.StringToStringVar(&s.onnx, "onnx", nil, "model=FILE.onnx: run exported networks on --data first, and put what they say into FOLDER/model")
	f.StringVar(&s.data, "data", "", "npy file with the records that --onnx models are run on")
	c.MarkFlagsRequiredTogether("onnx", "data")
}

func printKit(cmd *cobra.Command, framework string) error {
	text, err := kit.Text(framework)
	if err != nil {
		return cli.Usagef("--kit: %v", err)
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// run gives the exported networks the records and writes a folder for each.
func (s *auditSource) run(cmd *cobra.Command, folder string) error {
	if len(s.onnx) == 0 {
		return nil
	}
	if folder == "" {
		return cli.Usagef("--onnx: name the folder to write into")
	}
	x, _, err := npy.ReadRecords(s.data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	e, err := engine.Open("")
	if err != nil {
		return err
	}
	defer e.Close()
	for _, name := range slices.Sorted(maps.Keys(s.onnx)) {
		if !filepath.IsLocal(name) {
			return cli.Usagef("--onnx %s=%s: %q is no name for a model's folder", name, s.onnx[name], name)
		}
		m, err := onnx.Open(s.onnx[name])
		if err != nil {
			return err
		}
		if _, err := m.Write(cmd.Context(), e, x, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}
