// PyTorch state_dicts in safetensors: the map between parameters and tensors, reading and writing.

package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// StateDict maps the parameters of a network to the tensors of a PyTorch state_dict: their
// names and shapes, and which of Lethe's parameters each has. The same list serves reading
// and writing.
//
// Layers use PyTorch's layouts (Dense [out, in], Conv2D [out, in, k, k]), so by default a
// parameter is the tensor of the same name; the methods below change that. A tensor that
// only PyTorch has has no parameter: it is written as zeros and ignored when read.
type StateDict []StateTensor

// StateTensor is one tensor of a state_dict.
type StateTensor struct {
	Name  string
	Shape []int
	// Params are the names of the parameters in the tensor, concatenated along the first
	// axis; nil: none. An empty name is a part that only PyTorch has, zeros when it is
	// written; there is at most one, which has what the others leave.
	Params []string
	// Transposed marks a matrix that is stored in x out, as in Hugging Face's Conv1D; Shape
	// is that of the file.
	Transposed bool
	// Counter marks a counter (int64); other tensors are float32.
	Counter bool
}

// NewStateDict returns the state_dict of a network in which every parameter has the same
// name in PyTorch.
func NewStateDict(like Params) StateDict {
	var d StateDict
	for _, p := range like {
		d = append(d, StateTensor{Name: p.Name, Shape: p.Shape, Params: []string{p.Name}})
		if module, ok := strings.CutSuffix(p.Name, runningVariance); ok {
			d = append(d, batchCounter(module))
		}
	}
	return d
}

// Module renames the tensors of a module, whose names are the module's path and one word.
// ours and torch are the paths in Lethe and in PyTorch.
func (d StateDict) Module(ours, torch string) {
	for i, s := range d {
		if path, word, ok := cutLast(s.Name); ok && path == ours {
			d[i].Name = torch + "." + word
		}
	}
}

// Tensor renames one tensor and sets its shape in PyTorch; without shape it stays.
func (d StateDict) Tensor(ours, torch string, shape ...int) {
	i := d.index(ours)
	d[i].Name = torch
	if len(shape) > 0 {
		d[i].Shape = shape
	}
}

// Stack maps two or more of Lethe's modules to one of PyTorch, whose weight is the
// concatenation of their weights and whose bias that of their biases.
func (d *StateDict) Stack(torch string, ours ...string) {
	for _, word := range []string{"weight", "bias"} {
		all := StateTensor{Name: torch + "." + word}
		for k, path := range ours {
			i := d.index(path + "." + word)
			s := (*d)[i]
			all.Params = append(all.Params, s.Params...)
			if k == 0 {
				all.Shape = slices.Clone(s.Shape)
			} else {
				all.Shape[0] += s.Shape[0]
			}
			*d = slices.Delete(*d, i, i+1)
		}
		*d = append(*d, all)
	}
}

// AddUnused adds a tensor that only PyTorch has.
func (d *StateDict) AddUnused(name string, shape ...int) {
	*d = append(*d, StateTensor{Name: name, Shape: shape})
}

func (d StateDict) index(name string) int {
	i := slices.IndexFunc(d, func(s StateTensor) bool { return s.Name == name })
	if i < 0 {
		panic(fmt.Errorf("state_dict: the network has no tensor %s", name))
	}
	return i
}

func cutLast(name string) (path, word string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// File returns the parameters as a file that PyTorch's load_state_dict reads with
// strict=True. p must have the names and shapes of the list.
func (d StateDict) File(p Params) *safetensors.File {
	byName := map[string][]float32{}
	for _, v := range p {
		byName[v.Name] = v.Data
	}
	f := &safetensors.File{}
	for _, s := range d {
		if s.Counter {
			f.Tensors = append(f.Tensors, safetensors.FromInt64(s.Name, s.Shape, make([]int64, shapeSize(s.Shape))))
			continue
		}
		f.Tensors = append(f.Tensors, safetensors.FromFloat32(s.Name, s.Shape, s.data(byName)))
	}
	return f
}

// wrappers are the name prefixes that DataParallel and torch.compile add.
var wrappers = []string{"module.", "_orig_mod."}

// Read reads the parameters from a file of a state_dict; like has their names and shapes.
// All names may have the prefix of DataParallel or torch.compile; counters of batches may
// be missing. wrong lists all errors: tensors that are missing, unknown, of another shape or
// type, and numbers that are not finite. With errors p is nil.
func (d StateDict) Read(f *safetensors.File, like Params) (p Params, wrong []string) {
	found := map[string]safetensors.Tensor{}
	prefix := wrapperPrefix(f)
	for _, t := range f.Tensors {
		t.Name = strings.TrimPrefix(t.Name, prefix)
		found[t.Name] = t
	}
	parts := map[string][]float32{}
	for _, s := range d {
		t, ok := found[s.Name]
		delete(found, s.Name)
		if !ok && s.Counter {
			continue // old versions of PyTorch did not write them, and they are not used
		}
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s %v is missing", s.Name, s.Shape))
			continue
		}
		if why := s.read(t, like, parts); why != "" {
			wrong = append(wrong, s.Name+" "+why)
		}
	}
	for _, t := range f.Tensors { // in their order
		name := strings.TrimPrefix(t.Name, prefix)
		if _, left := found[name]; left {
			wrong = append(wrong, fmt.Sprintf("%s %v is not a tensor of the network", name, t.Shape))
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	for _, v := range like {
		v.Shape, v.Data = slices.Clone(v.Shape), parts[v.Name]
		p = append(p, v)
	}
	return p, nil
}

// FirstFaults joins what is wrong with a file: the first few, and how many more there are.
func FirstFaults(wrong []string) string {
	const most = 8
	if len(wrong) <= most {
		return strings.Join(wrong, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(wrong[:most], "; "), len(wrong)-most)
}

// Bytes returns the size of the tensors in bytes.
func (d StateDict) Bytes() int {
	n := 0
	for _, s := range d {
		n += 4 * shapeSize(s.Shape)
		if s.Counter {
			n += 4 * shapeSize(s.Shape)
		}
	}
	return n
}

// wrapperPrefix returns the prefix that wrappers put before every name of the file.
func wrapperPrefix(f *safetensors.File) string {
	prefix := ""
	for again := len(f.Tensors) > 0; again; {
		again = false
		for _, w := range wrappers {
			if !slices.ContainsFunc(f.Tensors, func(t safetensors.Tensor) bool { return !strings.HasPrefix(t.Name, prefix+w) }) {
				prefix, again = prefix+w, true
			}
		}
	}
	return prefix
}

// read splits a tensor of a file into its parameters, or returns why it does not fit.
func (s StateTensor) read(t safetensors.Tensor, like Params, parts map[string][]float32) (why string) {
	want := safetensors.F32
	if s.Counter {
		want = safetensors.I64
	}
	switch {
	case !slices.Equal(t.Shape, s.Shape):
		return fmt.Sprintf("has shape %v, the network's is %v", t.Shape, s.Shape)
	case t.DType != want && s.Counter:
		return fmt.Sprintf("is of type %s and should be %s", t.DType, want)
	case t.DType != want:
		return fmt.Sprintf("is of type %s; %s is read, which model.float().state_dict() gives", t.DType, want)
	case s.Params == nil:
		return ""
	}
	data, err := t.Float32s()
	if err != nil {
		return err.Error()
	}
	if i := firstNotFinite(data); i >= 0 {
		return fmt.Sprintf("is not finite: element %d is %v", i, data[i])
	}
	s.split(data, like, parts)
	return ""
}
