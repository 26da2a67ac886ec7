package nn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// twoParams returns a matrix and a vector.
func twoParams() Params {
	return Params{
		{Name: "layer.weight", Shape: []int{2, 3}, Data: []float32{1, 2, 3, 4, 5, 6}},
		{Name: "layer.bias", Shape: []int{2}, Data: []float32{7, 8}},
	}
}

func TestACloneSharesNothing(t *testing.T) {
	p := twoParams()
	c := p.Clone()
	c[0].Data[0], c[1].Shape[0] = 99, 99
	if p[0].Data[0] != 1 || p[1].Shape[0] != 2 {
		t.Error("writing to the clone changed the weights")
	}
	if p.Size() != 8 {
		t.Errorf("size %d", p.Size())
	}
}

func TestTheHashDependsOnEveryNameShapeAndBit(t *testing.T) {
	seen := map[string]string{twoParams().Hash(): "unchanged"}
	for name, change := range map[string]func(p Params){
		"value":         func(p Params) { p[0].Data[4] = math.Nextafter32(5, 6) },
		"sign of zero":  func(p Params) { p[0].Data[0] = float32(math.Copysign(0, -1)) },
		"zero":          func(p Params) { p[0].Data[0] = 0 },
		"name":          func(p Params) { p[1].Name = "layer.bIas" },
		"shape":         func(p Params) { p[0].Shape = []int{3, 2} },
		"order":         func(p Params) { p[0], p[1] = p[1], p[0] },
		"order of data": func(p Params) { p[1].Data[0], p[1].Data[1] = 8, 7 },
	} {
		p := twoParams()
		change(p)
		if other, twice := seen[p.Hash()]; twice {
			t.Errorf("%s: the hash is that of %s", name, other)
		}
		seen[p.Hash()] = name
	}
	if twoParams().Hash() != twoParams().Clone().Hash() {
		t.Error("a clone has another hash")
	}
}

func TestCheckNamesTheTensorAndTheElement(t *testing.T) {
	if err := twoParams().Check(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		p := twoParams()
		p[1].Data[1] = bad
		wantPanic(t, p.Check(), "layer.bias", "element 1", fmt.Sprint(bad))
	}
	p := twoParams()
	p[0].Data = p[0].Data[:5]
	wantPanic(t, p.Check(), "layer.weight", "5 values", "[2 3]")
}

func TestDisplacementIsTheRelativeDistance(t *testing.T) {
	p, from := twoParams(), twoParams()
	if d, err := p.Displacement(from); err != nil || d != 0 {
		t.Errorf("of itself: %v, %v", d, err)
	}
	p[0].Data[0] += 3
	p[1].Data[0] -= 4
	want := 5 / math.Sqrt(1+4+9+16+25+36+49+64)
	if d, err := p.Displacement(from); err != nil || math.Abs(d-want) > 1e-15 {
		t.Errorf("displacement %v, want %v (%v)", d, want, err)
	}
	zero := twoParams()
	for _, v := range zero {
		clear(v.Data)
	}
	if d, err := p.Displacement(zero); err != nil || !math.IsNaN(d) {
		t.Errorf("from zero weights: %v, %v", d, err)
	}
	if d, err := zero.Displacement(zero); err != nil || !math.IsNaN(d) {
		t.Errorf("of zero weights from themselves: %v, %v", d, err)
	}
	_, err := p.Displacement(from[:1])
	wantPanic(t, err, "2 tensors against 1")
}

func TestSameShapeNamesTheFirstDifference(t *testing.T) {
	if err := SameShape(twoParams(), twoParams()); err != nil {
		t.Error(err)
	}
	p := twoParams()
	p[1].Shape = []int{2, 1}
	wantPanic(t, SameShape(p, twoParams()), "tensor 1", "[2 1]", "[2]")
	p = twoParams()
	p[0].Name = "other"
	wantPanic(t, SameShape(p, twoParams()), "tensor 0", "other", "layer.weight")
}

func TestWeightsSurviveAFileBitForBit(t *testing.T) {
	p := twoParams()
	p[0].Data = []float32{float32(math.NaN()), float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, math.MaxFloat32, float32(math.Inf(-1)), 1.0 / 3}
	for _, prefix := range []string{"", "adam.m."} {
		b, err := safetensors.Encode(p.File(prefix))
		if err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		like := twoParams()
		got, err := FromFile(f, prefix, like)
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != p.Hash() {
			t.Errorf("prefix %q: the weights have changed", prefix)
		}
		if like.Hash() != twoParams().Hash() {
			t.Error("reading wrote to the model it compares with")
		}
		_, err = FromFile(f, "x.", like)
		wantPanic(t, err, "x.layer.weight", "missing")
	}
}

func TestFromFileNamesTheTensorThatDoesNotFit(t *testing.T) {
	f := twoParams().File("")
	like := twoParams()
	like[1] = NewParam("layer.bias", 3)
	_, err := FromFile(f, "", like)
	wantPanic(t, err, "layer.bias", "[2]", "[3]")
	f.Tensors[1] = safetensors.FromFloat64("layer.bias", []int{2}, []float64{7, 8})
	_, err = FromFile(f, "", twoParams())
	wantPanic(t, err, "layer.bias", "F64")
}

func wantPanic(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
