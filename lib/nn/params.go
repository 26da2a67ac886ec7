// Package nn has the parts of models: named parameters in host memory, initialisers,
// layers with hand-written gradients on a tape, the builder that networks are declared with,
// optimisers, and PyTorch's state_dict.
//
// Activations in graphs are feature-major: a batch of n records with d features is a
// [d, n] node. A dense layer is W x with W of [out, in], as PyTorch stores it, and the
// backward pass needs no transposed copy of an activation.
//
// Functions that take and return *Node build graphs. They panic on a programming error, as
// GoMLX does; everything else returns errors.
package nn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// Param is one named weight tensor in row-major host memory.
type Param struct {
	Name  string
	Shape []int
	Data  []float32
	// State marks a tensor of the model that is not a weight, such as a running mean. It
	// is saved, hashed and copied like a weight, but no optimiser updates it and no
	// distance between models counts it.
	State bool
	// Latest marks state that is replaced by the statistic of the latest batch. Other
	// state moves towards it (UpdateRunning).
	Latest bool
}

// Params are the weights of a model in the order in which its layers take them.
type Params []Param

// NewParam returns a zero parameter.
func NewParam(name string, shape ...int) Param {
	p := Param{Name: name, Shape: shape}
	p.checkSize()
	p.Data = make([]float32, shapeSize(shape))
	return p
}

// newParam is NewParam with memory for numbers only if there is a generator to draw them.
func newParam(rng *rand.Rand, name string, shape ...int) Param {
	p := Param{Name: name, Shape: shape}
	p.checkSize()
	if rng != nil {
		p.Data = make([]float32, shapeSize(shape))
	}
	return p
}

// checkSize panics for a shape with more than maxParamSize elements.
func (p Param) checkSize() {
	n := 1
	for _, d := range p.Shape {
		if d > 0 && n > maxParamSize/d {
			panic(&TooLarge{p.Name, p.Shape})
		}
		n *= d
	}
}

// maxParamSize is the largest size of a parameter (2 GiB).
const maxParamSize = 1 << 29

// TooLarge is the error of a parameter with too many elements. NewParam panics with it, as
// functions that build graphs do; model.WeightShapes returns it.
type TooLarge struct {
	Name  string
	Shape []int
}

// Error implements error.
func (e *TooLarge) Error() string { return fmt.Sprintf("%s would have the shape %v", e.Name, e.Shape) }

func shapeSize(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Clone returns a deep copy.
func (p Params) Clone() Params { return p.CloneIn(nil) }

// CloneIn returns a deep copy that reuses the memory of spare, which is no longer needed,
// for tensors of the same size.
func (p Params) CloneIn(spare Params) Params {
	out := make(Params, len(p))
	kernels.Pool{Workers: runtime.GOMAXPROCS(0)}.Run(len(p), 1, func(from, to int) {
		for i := from; i < to; i++ {
			v := p[i]
			var memory []float32
			if i < len(spare) && len(spare[i].Data) == len(v.Data) {
				memory = spare[i].Data[:0]
			}
			v.Shape, v.Data = slices.Clone(v.Shape), append(memory, v.Data...)
			out[i] = v
		}
	})
	return out
}

// Size returns the number of weights, without state.
func (p Params) Size() int {
	n := 0
	for _, v := range p {
		if !v.State {
			n += shapeSize(v.Shape)
		}
	}
	return n
}

// Hash returns the SHA-256 of the names, shapes and bits of all weights.
func (p Params) Hash() string {
	h := sha256.New()
	for _, v := range p {
		fmt.Fprintf(h, "%s%v", v.Name, v.Shape)
		b := make([]byte, 0, 4*len(v.Data))
		for _, x := range v.Data {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Check returns an error for the first weight that is not finite.
func (p Params) Check() error {
	for _, v := range p {
		if len(v.Data) != shapeSize(v.Shape) {
			return fmt.Errorf("weights %s: %d values do not fill shape %v", v.Name, len(v.Data), v.Shape)
		}
		if i := firstNotFinite(v.Data); i >= 0 {
			return NotFinitef(v.Name, "weights %s: element %d is %v", v.Name, i, v.Data[i])
		}
	}
	return nil
}

// Displacement returns the relative distance ||p - from|| / ||from|| over all weights,
// without state. It is NaN if from is all zero.
func (p Params) Displacement(from Params) (float64, error) {
	if err := SameShape(p, from); err != nil {
		return math.NaN(), err
	}
	var d2, n2 float64
	for i := range p {
		if p[i].State {
			continue
		}
		for j, x := range p[i].Data {
			a, b := float64(x), float64(from[i].Data[j])
			d2 += float64((a - b) * (a - b))
			n2 += float64(b * b)
		}
	}
	if n2 == 0 {
		return math.NaN(), nil
	}
	return math.Sqrt(d2) / math.Sqrt(n2), nil
}

// SameShape returns an error for the first tensor in which two sets of weights differ in
// name or shape.
func SameShape(a, b Params) error {
	if len(a) != len(b) {
		return fmt.Errorf("weights: %d tensors against %d", len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name || fmt.Sprint(a[i].Shape) != fmt.Sprint(b[i].Shape) {
			return fmt.Errorf("weights: tensor %d is %s %v in one and %s %v in the other", i, a[i].Name, a[i].Shape, b[i].Name, b[i].Shape)
		}
	}
	return nil
}

// File returns the weights as a safetensors file, with prefix before every name.
func (p Params) File(prefix string) *safetensors.File {
	f := &safetensors.File{}
	for _, v := range p {
		f.Tensors = append(f.Tensors, safetensors.FromFloat32(prefix+v.Name, v.Shape, v.Data))
	}
	return f
}

// FromFile reads weights with the names and shapes of like. The error names the tensor that
// is missing or does not fit.
func FromFile(f *safetensors.File, prefix string, like Params) (Params, error) {
	byName := make(map[string]safetensors.Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		byName[t.Name] = t
	}
	out := make(Params, len(like))
	for i, want := range like {
		t, ok := byName[prefix+want.Name]
		if !ok {
			return nil, fmt.Errorf("weights: tensor %s is missing", prefix+want.Name)
		}
		if fmt.Sprint(t.Shape) != fmt.Sprint(want.Shape) {
			return nil, fmt.Errorf("weights: tensor %s has shape %v, the model needs %v", t.Name, t.Shape, want.Shape)
		}
		data, err := t.Float32s()
		if err != nil {
			return nil, fmt.Errorf("weights: tensor %s: %w", t.Name, err)
		}
		out[i] = want
		out[i].Shape, out[i].Data = append([]int(nil), want.Shape...), data
	}
	return out, nil
}
