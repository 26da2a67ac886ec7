package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// StateDict says how PyTorch keeps the parameters of a network: what the tensors of
// a module's state_dict are called, which shape they have, and which parameters of
// ours are in each. One list serves reading and writing.
//
// Layers store what PyTorch's do, in its layouts (Dense [out, in], Conv2D [out, in,
// k, k]), so that a parameter is a tensor of its own name but for what the methods
// below say. What PyTorch has and we lack is a tensor that holds no parameter: zeros
// are written and what is read is dropped.
type StateDict []StateTensor

// StateTensor is one tensor of a state_dict.
type StateTensor struct {
	Name  string
	Shape []int
	// Params names the parameters that it holds, one behind the other along the
	// first axis; nil: none of ours.
	Params []string
	// Counter marks a whole number (int64); other tensors are float32.
	Counter bool
}

// NewStateDict is the state_dict of a network whose PyTorch twin calls every
// parameter as we do.
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

// Module calls the tensors of a module otherwise: those whose names are the path of
// the module and one word.
func (d StateDict) Module(ours, torch string) {
	for i, s := range d {
		if path, word, ok := cutLast(s.Name); ok && path == ours {
			d[i].Name = torch + "." + word
		}
	}
}

// Tensor calls one tensor otherwise and says its shape there; no shape: the same.
func (d StateDict) Tensor(ours, torch string, shape ...int) {
	i := d.index(ours)
	d[i].Name = torch
	if len(shape) > 0 {
		d[i].Shape = shape
	}
}

// Stack makes one module of two or more of ours, word by word: its weight holds our
// weights, one below the other, and its bias our biases.
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

// AddUnused adds a tensor that holds nothing of ours.
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

// File writes parameters as PyTorch's load_state_dict takes them, with its defaults
// strict. p has the names and shapes that the list was made of.
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
		var data []float32
		for _, name := range s.Params {
			data = append(data, byName[name]...)
		}
		if s.Params == nil {
			data = make([]float32, shapeSize(s.Shape))
		}
		f.Tensors = append(f.Tensors, safetensors.FromFloat32(s.Name, s.Shape, data))
	}
	return f
}

// wrappers are put before every name by what wraps a module: DataParallel and
// torch.compile.
var wrappers = []string{"module.", "_orig_mod."}

// Read takes the parameters out of a file of a state_dict; like has their names and
// shapes and is left alone. Names may all begin with what DataParallel or
// torch.compile put there; counters of batches may be missing. wrong lists everything for which the file is not the
// network's: tensors that are missing, that it does not know, of another shape or
// another type, and numbers that are not finite. Nothing is returned then.
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
			continue // PyTorch did not always write them, and we read none
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
			wrong = append(wrong, fmt.Sprintf("%s %v belongs to no part of the network", name, t.Shape))
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

// Bytes is how many bytes its tensors have.
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

// wrapperPrefix is what every name of the file begins with beside the network's own.
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

// read parts a tensor of a file among the parameters that it holds, or says why it
// is not the one.
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
	for _, name := range s.Params {
		n := shapeSize(like[slices.IndexFunc(like, func(p Param) bool { return p.Name == name })].Shape)
		parts[name], data = data[:n:n], data[n:]
	}
	return ""
}
