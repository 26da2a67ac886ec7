// Package torch reads and writes the state_dict of a network that was trained in PyTorch
// and that this module can build: the weights as safetensors, the architecture by its name
// here.
//
//	safetensors.torch.save_file(model.state_dict(), "original.safetensors")
//
// The networks themselves say how PyTorch names and stores their parameters (nn.StateDict);
// docs/guide/state-dicts.md has a PyTorch class for each, which a test runs. Files that PyTorch
// pickles (torch.save) are refused, since reading a pickle runs code.
package torch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/outside"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// Error lists every reason why a file is not a state_dict of a network.
type Error struct {
	Path, Network string
	Wrong         []string // a tensor and what is wrong with it
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s is not a state_dict of %s:\n  %s", e.Path, e.Network, strings.Join(e.Wrong, "\n  "))
}

// maxExtraBytes is by how much a file may exceed four times the network's size and still
// get a full list of what is wrong.
const maxExtraBytes = 1 << 26

// Read reads the weights of a network from a state_dict saved as safetensors. For a file of
// another network it returns an [Error] with everything that is wrong. Of a file many times
// the network's size it reads nothing.
func Read(path string, arch model.Architecture) (nn.Params, error) {
	want, err := model.WeightShapes(arch)
	if err != nil {
		return nil, err
	}
	if err := refusePickle(path); err != nil {
		return nil, err
	}
	dict := model.StateDict(arch, want)
	f, err := safetensors.ReadExpected(path, func(f *safetensors.File) error {
		if have, most := f.Bytes(), dict.Bytes(); have > 4*most+maxExtraBytes {
			return fmt.Errorf("its tensors have %d bytes, those of %s have %d: it belongs to another network", have, arch.Name(), most)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, wrong := dict.Read(f, want)
	if wrong != nil {
		return nil, &Error{Path: path, Network: arch.Name(), Wrong: wrong}
	}
	return p, nil
}

// pickleMagic are the first bytes of files written by torch.save: a zip archive or, in the
// old format, a pickle of protocol 2 to 5.
var pickleMagic = [][]byte{[]byte("PK\x03\x04"), {0x80, 2}, {0x80, 3}, {0x80, 4}, {0x80, 5}}

func refusePickle(path string) error {
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	start := make([]byte, 16)
	n, _ := io.ReadFull(f, start)
	// A safetensors file may begin with the same bytes, the length of its header; its ninth
	// byte is the header's first.
	if n > 8 && start[8] == '{' && start[7] == 0 {
		return nil
	}
	if slices.ContainsFunc(pickleMagic, func(p []byte) bool { return bytes.HasPrefix(start[:n], p) }) {
		return fmt.Errorf("%s was written by torch.save: it is a pickle, which contains code and is not read here; in Python: "+
			"safetensors.torch.save_file(torch.load(%q, weights_only=True), %q)", path, path, strings.TrimSuffix(path, ".pt")+".safetensors")
	}
	return nil
}

// Write writes weights as a state_dict for
// model.load_state_dict(safetensors.torch.load_file(path)).
func Write(path string, arch model.Architecture, p nn.Params) error {
	want, err := model.WeightShapes(arch)
	if err != nil {
		return err
	}
	if err := nn.SameShape(p, want); err != nil {
		return fmt.Errorf("the weights do not fit %s: %w", arch.Name(), err)
	}
	f := model.StateDict(arch, want).File(p)
	f.Metadata = map[string]string{"format": "pt"} // the Python package warns if it is missing
	return safetensors.Write(path, f)
}

// Model is a network with the weights of a state_dict.
type Model struct {
	path    string
	arch    model.Architecture
	weights nn.Params
}

var (
	_ outside.Network = (*Model)(nil)
	_ outside.Shaped  = (*Model)(nil)
)

// Open reads a state_dict of a network.
func Open(path string, arch model.Architecture) (*Model, error) {
	p, err := Read(path, arch)
	if err != nil {
		return nil, err
	}
	return &Model{path: path, arch: arch, weights: p}, nil
}

// embedding is the name of the embedding; no layer of a network has this name.
const embedding = "(embedding)"

// Output implements outside.Network: the network's first output.
func (m *Model) Output() string { return m.arch.Returns()[0].Name }

// Embedding implements outside.Network.
func (m *Model) Embedding() (name string, ok bool) { return embedding, true }

// Input implements outside.Shaped.
func (m *Model) Input() []int {
	if s, ok := m.arch.(model.Shaped); ok {
		return s.Axes()
	}
	return []int{m.arch.Inputs()}
}

// Run implements outside.Network, for the output, the embedding and layers. It holds a
// float32 copy of x.
func (m *Model) Run(ctx context.Context, e *engine.Engine, x array.Rows, names ...string) (map[string]array.Matrix[float32], error) {
	r, err := model.NewRunner(e, m.arch)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	layers := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == embedding || n == m.Output() })
	predict := r.Predict
	if len(layers) > 0 {
		predict = func(p nn.Params, x array.Matrix[float32]) (*model.Prediction, error) {
			return r.PredictNamed(p, x, layers...)
		}
	}
	found, err := predict(m.weights, toFloat32(x))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	out := found.Layers
	if out == nil {
		out = map[string]array.Matrix[float32]{}
	}
	out[embedding], out[m.Output()] = found.Embedding, found.Outputs[m.Output()]
	return out, nil
}

func toFloat32(x array.Rows) array.Matrix[float32] {
	if same, ok := x.(array.Matrix[float32]); ok {
		return same
	}
	n, cols := x.Shape()
	out, buffer := array.New[float32](n, cols), make([]float64, cols)
	for i := range n {
		row := out.Row(i)
		for j, v := range x.Read(buffer, i) {
			row[j] = float32(v)
		}
	}
	return out
}
