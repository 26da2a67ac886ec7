// Package nn holds the parts that models are built from: named parameters that
// live in plain host memory, PyTorch's and other initialisers, a tape of
// layers with hand-written backward steps, and the loss that every method of
// the library minimises.
//
// Activations inside graphs are feature-major: a batch of n records with d
// features is a [d, n] node. A dense layer is then W x with W of [out, in], as
// PyTorch stores it, and no product of the backward pass needs a transposed
// copy of an activation.
//
// Functions that take and return *Node build graphs and panic on a
// programmer's mistake, which is GoMLX's convention; everything else returns
// errors.
package nn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
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
	// State marks a tensor that belongs to the model and is no weight, such as a
	// running mean: it is saved, hashed and copied like one, but no optimiser
	// moves it and no distance between models counts it.
	State bool
	// Latest marks state that takes what a batch says of it as it is; other state
	// only moves towards it (UpdateRunning).
	Latest bool
}

// Params are a model's weights in the order in which its Forward takes them.
type Params []Param

// NewParam returns a zero parameter.
func NewParam(name string, shape ...int) Param {
	n := 1
	for _, d := range shape {
		if d > 0 && n > maxParamSize/d {
			panic(&TooLarge{name, shape})
		}
		n *= d
	}
	return Param{Name: name, Shape: shape, Data: make([]float32, n)}
}

// maxParamSize is how many numbers a parameter has at most, 2 GiB of them: more than any
// network here has, and less than what ends a program that asks for it.
const maxParamSize = 1 << 29

// TooLarge is the error of a parameter that no machine holds. A network draws its
// weights without an error to return, so that NewParam panics with it; model.WeightShapes
// returns it.
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

// CloneIn returns a deep copy in the memory of another one that nobody needs any more, as
// far as its tensors are of the same sizes. New memory for millions of weights takes longer
// than the copy.
func (p Params) CloneIn(spare Params) Params {
	out := make(Params, len(p))
	kernels.Pool{Workers: runtime.GOMAXPROCS(0)}.Run(len(p), 1, func(from, to int) {
		for i := from; i < to; i++ {
			v := p[i]
			var room []float32
			if i < len(spare) && len(spare[i].Data) == len(v.Data) {
				room = spare[i].Data[:0]
			}
			v.Shape, v.Data = slices.Clone(v.Shape), append(room, v.Data...)
			out[i] = v
		}
	})
	return out
}

// Size is the number of weights, without state.
func (p Params) Size() int {
	n := 0
	for _, v := range p {
		if !v.State {
			n += len(v.Data)
		}
	}
	return n
}

// Hash is the SHA-256 of names, shapes and bits of all weights.
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

// Check reports the first weight that is not finite.
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

// Displacement is the relative distance ||p - from|| / ||from|| over all
// weights, without state: how far a method moved the model. It is NaN when from
// is all zero.
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

// SameShape reports the first tensor in which two sets of weights differ in
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

// File turns the weights into a safetensors file; prefix goes before every name.
func (p Params) File(prefix string) *safetensors.File {
	f := &safetensors.File{}
	for _, v := range p {
		f.Tensors = append(f.Tensors, safetensors.FromFloat32(prefix+v.Name, v.Shape, v.Data))
	}
	return f
}

// FromFile reads weights with the names and shapes of like, which it leaves
// alone, and names the tensor that is missing or does not fit.
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
