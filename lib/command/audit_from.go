// The sources of an audit's arrays: exported networks, state_dicts, and Python kits.

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/audit/judge/kit"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/outside"
	"github.com/lethe-ml/lethe/lib/model/torch"

	"github.com/spf13/cobra"
)

// auditSource says where an audit's arrays come from, unless another program has written
// them.
type auditSource struct {
	kit         string
	onnx, state map[string]string
	tofu        map[string]string // TOFU's own logs, by the models' names
	openLogs    map[string]string // open-unlearning's
	arch, data  string
	output      *string  // of onnx
	notes       []string // for the report: where arrays came from and what else could have been meant
}

func (s *auditSource) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.kit, "kit", "", "print a program for "+cli.List(kit.Frameworks()))
	pairsFlag(f, &s.onnx, "onnx", "`M=FILE`: ONNX networks of models M to run on --data")
	pairsFlag(f, &s.state, "state", "`M=FILE`: PyTorch's .safetensors, with --arch")
	f.StringVar(&s.arch, "arch", "", "network of --state, such as resnet-18:width=16")
	f.StringVar(&s.data, "data", "", "npy file of records for --onnx and --state")
	pairsFlag(f, &s.tofu, "tofu", "`M=FILE`: TOFU's published logs of models M")
	pairsFlag(f, &s.openLogs, "open-unlearning", "`M=DIR`: folders with open-unlearning's TOFU_EVAL.json")
	s.output = outputFlag(c)
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

// networks opens the networks, by the names of their models.
func (s *auditSource) networks(cmd *cobra.Command) (map[string]outside.Network, error) {
	out := map[string]outside.Network{}
	for _, name := range slices.Sorted(maps.Keys(s.onnx)) {
		m, err := openONNX(cmd, s.onnx[name], *s.output)
		if err != nil {
			return nil, err
		}
		out[name] = m
		if several := m.Choices(); len(several) > 1 {
			s.notes = append(s.notes, fmt.Sprintf("%s/outputs.npy holds %s of %s, one of its outputs %s; --output chooses.", name, m.Output(),
				filepath.Base(s.onnx[name]), cli.List(several)))
		}
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

// check refuses flags that do not go together.
func (s *auditSource) check(folder string) error {
	switch {
	case *s.output != "" && len(s.onnx) == 0:
		return cli.Usagef("--output: needs networks named by --onnx")
	case s.data == "":
		return cli.Usagef("--data: name the records that the networks are run on")
	case folder == "":
		return cli.Usagef("--onnx, --state: name the folder to write into")
	}
	for flag, files := range map[string]map[string]string{"onnx": s.onnx, "state": s.state} {
		for name, path := range files {
			if err := judge.CheckName(name); err != nil {
				return cli.Usagef("--%s %s=%s: %w", flag, name, path, err)
			}
			if path == "" {
				return cli.Usagef("--%s %s: the name of its file is empty", flag, name)
			}
		}
	}
	return nil
}

// networkFiles returns the files that the networks' folders will hold, relative to the
// audit's folder. It refuses a folder with arrays of other models or layers: they may be of
// an earlier audit, and would be measured together with the new ones.
func networkFiles(networks map[string]outside.Network, folder, config string) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(networks)) {
		for _, f := range outside.ExpectedFiles(networks[name], filepath.FromSlash(name)) {
			out = append(out, f.Path)
		}
	}
	others, err := judge.OtherArrays(folder, config, out)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("%s holds arrays that this call does not write, and that would be measured together with the new ones: %s; move them away, "+
			"give their networks too, or name them in audit.json", folder, cli.List(others))
	}
	return out, err
}

// checkAllUsed returns an error if a written file is not among the files of the audit,
// because a config names others.
func checkAllUsed(e *judge.Evidence, written []string) error {
	for _, path := range written {
		name := filepath.ToSlash(path)
		if !slices.ContainsFunc(e.Files, func(f judge.File) bool { return f.Name == name }) {
			return fmt.Errorf("%s: %s was written and is not used: audit.json or --config names other arrays in its place", e.Folder, name)
		}
	}
	return nil
}

// readLogs writes what logs of the TOFU benchmark say as arrays, and returns the files.
func (s *auditSource) readLogs(folder string) ([]string, error) {
	flag, paths, read := "--tofu", s.tofu, judge.ReadTOFU
	if len(s.openLogs) > 0 {
		flag, paths, read = "--open-unlearning", s.openLogs, judge.ReadOpenUnlearning
	}
	switch {
	case len(s.tofu) > 0 && len(s.openLogs) > 0:
		return nil, cli.Usagef("--tofu and --open-unlearning are two kinds of logs; give one")
	case len(s.onnx)+len(s.state) > 0 || s.data != "":
		return nil, cli.Usagef("%s reads logs and runs no network; leave out --onnx, --state and --data", flag)
	case folder == "":
		return nil, cli.Usagef("%s: name the folder to write into", flag)
	}
	models, err := read(paths)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	written, err := judge.WriteTOFU(folder, models)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return written, nil
}

// run runs the networks on the records, writes a folder for each, and returns the files.
func (s *auditSource) run(cmd *cobra.Command, folder, config string) ([]string, error) {
	if len(s.tofu)+len(s.openLogs) > 0 {
		return s.readLogs(folder)
	}
	if len(s.onnx)+len(s.state) == 0 {
		if s.data != "" {
			return nil, cli.Usagef("--data: name networks to run on it, by --onnx or --state")
		}
		if *s.output != "" {
			return nil, cli.Usagef("--output: needs networks named by --onnx")
		}
		return nil, nil
	}
	if err := s.check(folder); err != nil {
		return nil, err
	}
	networks, err := s.networks(cmd)
	if err != nil {
		return nil, err
	}
	x, err := outside.Read(s.data, slices.Collect(maps.Values(networks))...)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	files, err := networkFiles(networks, folder, config)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open("")
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if err := checkInputs(folder, s.data, x); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(networks)) {
		if _, err := outside.Write(cmd.Context(), networks[name], e, x, filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return files, writeInputs(folder, config, x)
}

// inputsFile holds what models are given of the records of an audit's folder.
const inputsFile = "inputs.npy"

// checkInputs refuses a folder whose inputs are not the records that networks are about to be run on. They
// may be those of an earlier call.
func checkInputs(folder, data string, x array.Rows) error {
	path := filepath.Join(folder, inputsFile)
	there, err := npy.ReadRows(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !array.Same(there, x):
		return fmt.Errorf("%s holds other records than --data %s: move it away, or name the data that it belongs to", path, data)
	}
	return nil
}

// writeInputs writes the records on which networks were run beside their outputs, so that copies among them are
// found, unless the folder or a config says what models are given.
func writeInputs(folder, config string, x array.Rows) error {
	known, err := judge.HasInputs(folder, config)
	if err != nil || known {
		return err
	}
	path := filepath.Join(folder, inputsFile)
	if m, ok := x.(array.Matrix[float32]); ok {
		return npy.Write(path, m)
	}
	rows, cols := x.Shape()
	m := array.New[float64](rows, cols)
	for i := range rows {
		copy(m.Row(i), x.Read(m.Row(i), i))
	}
	return npy.Write(path, m)
}
