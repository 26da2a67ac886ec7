package kernel

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/kernel/cli"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit/judge/kit"
	"github.com/lethe-ml/lethe/lib/model/onnx"
	"github.com/lethe-ml/lethe/lib/model/outside"
	"github.com/lethe-ml/lethe/lib/model/torch"

	"github.com/spf13/cobra"
)

// auditSource is where an audit's arrays come from, if not from the reader's program.
type auditSource struct {
	kit         string
	onnx, state map[string]string
	arch, data  string
}

func (s *auditSource) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.kit, "kit", "", "print a Python file that writes such a folder, "+cli.List(kit.Frameworks()))
	f.StringToStringVar(&s.onnx, "onnx", nil, "model=FILE.onnx: run exported networks on --data first, and put what they say into FOLDER/model")
	f.StringToStringVar(&s.state, "state", nil, "model=FILE.safetensors: the same of state_dicts of PyTorch, of the network --arch")
	f.StringVar(&s.arch, "arch", "", "the network of --state with its settings, resnet-18:width=16 (see lethe state)")
	f.StringVar(&s.data, "data", "", "npy file with the records that --onnx and --state models are run on")
	c.MarkFlagsRequiredTogether("state", "arch")
}

func printKit(cmd *cobra.Command, framework string) error {
	text, err := kit.Text(framework)
	if err != nil {
		return cli.Usagef("--kit: %v", err)
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// open reads the networks, by the names of their models.
func (s *auditSource) open() (map[string]outside.Network, error) {
	out := map[string]outside.Network{}
	for name, path := range s.onnx {
		m, err := onnx.Open(path)
		if err != nil {
			return nil, err
		}
		out[name] = m
	}
	if len(s.state) == 0 {
		return out, nil
	}
	arch, err := torch.Parse(s.arch)
	if err != nil {
		return nil, cli.Usagef("--arch: %v", err)
	}
	for name, path := range s.state {
		if out[name] != nil {
			return nil, cli.Usagef("--onnx and --state both give %s", name)
		}
		if out[name], err = torch.Open(path, arch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// check reports flags that do not go together.
func (s *auditSource) check(folder string) error {
	switch {
	case s.data == "":
		return cli.Usagef("--data: name the records that the networks are run on")
	case folder == "":
		return cli.Usagef("--onnx, --state: name the folder to write into")
	}
	for flag, files := range map[string]map[string]string{"onnx": s.onnx, "state": s.state} {
		for name, path := range files {
			if !filepath.IsLocal(name) {
				return cli.Usagef("--%s %s=%s: %q is no name for a model's folder", flag, name, path, name)
			}
		}
	}
	return nil
}

// run gives the networks the records and writes a folder for each.
func (s *auditSource) run(cmd *cobra.Command, folder string) error {
	if len(s.onnx)+len(s.state) == 0 {
		if s.data != "" {
			return cli.Usagef("--data: name networks to run on it, by --onnx or --state")
		}
		return nil
	}
	if err := s.check(folder); err != nil {
		return err
	}
	networks, err := s.open()
	if err != nil {
		return err
	}
	x, _, err := npy.ReadRecords(s.data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	e, err := openEngine("")
	if err != nil {
		return err
	}
	defer e.Close()
	for _, name := range slices.Sorted(maps.Keys(networks)) {
		if _, err := outside.Write(cmd.Context(), networks[name], e, x, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}
