package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// quantisedParams are random tensors of several shapes.
func quantisedParams(seed uint64) Params {
	rng := rand.New(rand.NewPCG(seed, 5))
	p := Params{NewParam("dense.weight", 4, 7), NewParam("dense.bias", 4), NewParam("conv.weight", 3, 2, 2, 2), NewParam("mean", 2, 3), NewParam("row.weight", 1, 5)}
	p[3].State = true
	for _, v := range p {
		for i := range v.Data {
			v.Data[i] = float32(rng.NormFloat64())
		}
	}
	clear(p[0].Data[7:14]) // a row of zeros
	return p
}

// By brute force: no level is nearer than the one that was taken, and a row has at most that many.
func TestARoundedWeightIsTheNearestLevel(t *testing.T) {
	for _, bits := range []int{2, 4, 8} {
		p := quantisedParams(uint64(bits))
		before := p.Clone()
		got, err := p.Quantised(bits)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range p {
			if !slices.Equal(v.Data, before[i].Data) {
				t.Errorf("%s was changed", v.Name)
			}
			if v.State || len(v.Shape) < 2 {
				if !slices.Equal(got[i].Data, v.Data) {
					t.Errorf("%s is no matrix of weights and was rounded", v.Name)
				}
				continue
			}
			width := len(v.Data) / v.Shape[0]
			for at, w := range v.Data {
				row := v.Data[at/width*width : (at/width+1)*width]
				most := 0.0
				for _, x := range row {
					most = math.Max(most, math.Abs(float64(x)))
				}
				nearest := math.Inf(1)
				for k := -(1<<(bits-1) - 1); k <= 1<<(bits-1)-1; k++ {
					nearest = math.Min(nearest, math.Abs(float64(w)-most*float64(k)/float64(int(1)<<(bits-1)-1)))
				}
				if d := math.Abs(float64(w) - float64(got[i].Data[at])); math.Abs(d-nearest) > 1e-6 {
					t.Errorf("%s, %d bits: %v became %v, at a distance of %v; the nearest level is at %v", v.Name, bits, w, got[i].Data[at], d, nearest)
				}
			}
		}
	}
}

// The sign, a power of two and a second rounding change nothing; the largest weight of a row stays.
func TestRoundingIsSymmetric(t *testing.T) {
	p := quantisedParams(9)
	once, err := p.Quantised(4)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]float32{"the sign": -1, "a power of two": 8} {
		other := p.Clone()
		for _, v := range other {
			for i := range v.Data {
				v.Data[i] *= change
			}
		}
		got, err := other.Quantised(4)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			for k, w := range v.Data {
				if w != change*once[i].Data[k] {
					t.Fatalf("%s: %s has %v, want %v", name, v.Name, w, change*once[i].Data[k])
				}
			}
		}
	}
	twice, err := once.Quantised(4)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range twice {
		for k, w := range v.Data {
			if math.Abs(float64(w-once[i].Data[k])) > 1e-6 {
				t.Errorf("%s: rounded again, %v became %v", v.Name, once[i].Data[k], w)
			}
		}
	}
	if slices.Max(once[4].Data) != slices.Max(p[4].Data) && slices.Min(once[4].Data) != slices.Min(p[4].Data) {
		t.Error("the largest weight was rounded")
	}
}

func TestWeightsThatCannotBeRoundedAreRefused(t *testing.T) {
	p := quantisedParams(1)
	for _, bits := range []int{-1, 0, 1, 17, 64} {
		if _, err := p.Quantised(bits); err == nil {
			t.Errorf("%d bits were accepted", bits)
		}
	}
	p[0].Data[3] = float32(math.NaN())
	if _, err := p.Quantised(8); err == nil {
		t.Error("NaN was rounded")
	}
}
