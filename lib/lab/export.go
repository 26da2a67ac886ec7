// Writing stored models to folders in open formats.

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/torch"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// IsModel reports whether a job's result is a model, which Export can write.
func (j Job) IsModel() bool { return j.model != nil }

// Exported describes the content of an exported folder; it is written as about.json.
type Exported struct {
	Job      string            `json:"job"`
	Run      string            `json:"run"` // ID in the store
	DataSet  string            `json:"data_set"`
	DataHash string            `json:"data_hash"`
	Network  string            `json:"network"`
	Config   any               `json:"network_config"`
	Fit      any               `json:"fit"`
	Seed     int               `json:"seed"`
	Method   string            `json:"method,omitempty"`
	Setting  any               `json:"method_config,omitempty"`
	Files    map[string]string `json:"files"` // what each file holds
}

// ExportOptions say what Export writes.
type ExportOptions struct {
	Layers []string // names of activations; nil: all layers that the network names
	// PyTorch writes the weights as the state_dict of the equivalent PyTorch module
	// (package torch) instead of under this module's own names.
	PyTorch bool
}

// Export writes a stored model into a new folder below dir and returns the folder: the
// weights, the outputs for every record of both parts, embeddings and activations, the
// labels, and the rows of the forget and the retain set. All formats can be read from any
// language. It refuses a model that is not in the store; it trains nothing.
func (l *Lab) Export(ctx context.Context, j Job, dir string, o ExportOptions) (string, error) {
	switch {
	case j.model == nil:
		return "", fmt.Errorf("%s is not a model", j.ID)
	case j.Missing:
		return "", fmt.Errorf("%s: its data are not on this machine", j.ID)
	case !j.Done:
		return "", fmt.Errorf("%s is not in the store yet", j.ID)
	}
	c, err := l.Case(ctx, j.model.Setting)
	if err != nil {
		return "", err
	}
	weights, err := c.modelWeights(ctx, j.model.ModelSpec)
	if err != nil {
		return "", fmt.Errorf("%s: %w", j.ID, err)
	}
	folder := filepath.Join(dir, filepath.FromSlash(j.ID))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	w := writer{folder: folder, files: map[string]string{}}
	if err := c.export(&w, weights, o); err != nil {
		return "", fmt.Errorf("%s: %w", j.ID, err)
	}
	return folder, w.writeAbout(c, j)
}

// modelWeights returns the weights of a model.
func (c *Case) modelWeights(ctx context.Context, o ModelSpec) (nn.Params, error) {
	if o.Method != nil {
		w, _, err := c.Weights(ctx, o.Method)
		return w, err
	}
	t, err := c.TrainedModel(ctx, o)
	if err != nil {
		return nil, err
	}
	return t.Final, nil
}

func (c *Case) export(w *writer, weights nn.Params, o ExportOptions) error {
	if o.PyTorch {
		w.write("state_dict.safetensors", "the weights, as load_state_dict of the equivalent PyTorch module takes them", func(path string) error {
			return torch.Write(path, c.Problem.Arch, weights)
		})
	} else {
		w.write("weights.safetensors", "the weights, by name", func(path string) error {
			return safetensors.Write(path, weights.File(""))
		})
	}
	parts := []struct {
		name string
		x    array.Matrix[float32]
		y    []int
	}{{"train", c.Train.X, c.Train.Y}, {"test", c.Test.X, c.Test.Y}}
	for _, part := range parts {
		p, err := c.Runner.PredictNamed(weights, part.x, o.Layers...)
		if err != nil {
			return err
		}
		w.prediction(part.name, p)
		w.rows("labels_"+part.name, "the classes of the "+part.name+" part", part.y)
	}
	w.rows("forget", "rows of the train part that were to be forgotten", c.Forget)
	w.rows("retain", "rows of the train part that were retained", c.Retain)
	return w.err
}

// writer writes files into a folder until the first error.
type writer struct {
	folder string
	files  map[string]string
	err    error
}

func (w *writer) write(name, about string, write func(path string) error) {
	if w.err == nil {
		w.files[name], w.err = about, write(filepath.Join(w.folder, name))
	}
}

func (w *writer) matrix(name, about string, m array.Matrix[float32]) {
	w.write(name+".npy", about, func(path string) error { return npy.Write(path, m) })
}

func (w *writer) rows(name, about string, rows []int) {
	w.write(name+".npy", about, func(path string) error { return npy.WriteIndices(path, rows) })
}

// unsafeChars matches the characters of a layer's name that a file name should not have.
var unsafeChars = regexp.MustCompile(`[^A-Za-z0-9._-]`)

func (w *writer) prediction(part string, p *model.Prediction) {
	for name, m := range p.Outputs {
		w.matrix(name+"_"+part, "the output "+name+" for every record of the "+part+" part", m)
	}
	w.matrix("embedding_"+part, "what the last layer is given, for every record of the "+part+" part", p.Embedding)
	for name, m := range p.Layers {
		w.matrix("layer_"+unsafeChars.ReplaceAllString(name, "_")+"_"+part, "the activation "+name+" for every record of the "+part+" part", m)
	}
}

func (w *writer) writeAbout(c *Case, j Job) error {
	o, arch := j.model.ModelSpec, c.Problem.Arch
	fit := c.training(o).Fit
	x := Exported{
		Job: j.ID, Run: j.Key, DataSet: c.DataSet(), DataHash: c.Hash, Network: arch.Name(), Config: defaults.Fill(arch), Fit: fit, Seed: o.Seed,
		Files: w.files,
	}
	if o.Method != nil {
		x.Method, x.Setting = o.Method.Info().Name, defaults.Fill(o.Method)
	}
	b, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(w.folder, "about.json"), append(b, '\n'))
}
