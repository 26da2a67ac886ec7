// The precision of matrix products and convolutions, as a part of an engine's name.

package engine

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Precision says how products and convolutions compute. Weights, sums and everything else are
// float32.
type Precision string

// The precisions. Float32 is the default and is not part of an engine's name.
const (
	Float32 Precision = "float32" // IEEE single precision
	TF32    Precision = "tf32"    // operands rounded to 10 bits of mantissa, by the tensor cores of NVIDIA's cards
	BF16    Precision = "bf16"    // operands rounded to bfloat16 (7 bits of mantissa), sums in float32
)

// Precisions returns the names of all precisions, the default first.
func Precisions() []string { return []string{string(Float32), string(TF32), string(BF16)} }

// WithPrecision returns the spec of an engine with a precision, for Open: "xla:cuda,tf32". An
// empty name leaves the spec as it is; otherwise an empty spec means LETHE_ENGINE, as for Open.
// It is an error if the spec names another precision.
func WithPrecision(spec, name string) (string, error) {
	if name == "" {
		return spec, nil
	}
	spec = cmp.Or(spec, os.Getenv(EnvEngine))
	if !slices.Contains(Precisions(), name) {
		return "", fmt.Errorf("%q is no precision: float32, tf32 or bf16", name)
	}
	for _, other := range Precisions() {
		base, named := strings.CutSuffix(spec, ","+other)
		switch {
		case named && other != name:
			return "", fmt.Errorf("the engine %s names a precision, and %s is another one", spec, name)
		case named:
			return base + "," + name, nil
		}
	}
	return spec + "," + name, nil
}

// splitPrecision splits a spec into the engine and its precision. A comma in a plugin's path is
// not taken for one.
func splitPrecision(spec string) (string, Precision, error) {
	i := strings.LastIndexByte(spec, ',')
	if i < 0 || strings.ContainsAny(spec[i:], `/\`) {
		return spec, Float32, nil
	}
	base, name := spec[:i], spec[i+1:]
	switch {
	case slices.Contains(Precisions(), name):
		return base, Precision(name), nil
	case strings.ContainsAny(base, `/\`):
		return spec, Float32, nil
	}
	return "", "", fmt.Errorf("engine: %q: %q is no precision: float32, tf32 or bf16, behind one of auto, lethe, go, xla, xla:cuda, "+
		"xla:/path/to/plugin.so", spec, name)
}

// suffix returns what a precision adds to the name of a kernel.
func (p Precision) suffix() string {
	if p == Float32 {
		return ""
	}
	return ", " + string(p)
}
