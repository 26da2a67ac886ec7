package nn

import (
	"fmt"
	"math"
	"testing"
)

// Moments of 200,000 draws against those of the distribution: for a uniform the
// variance is bound^2/3, and the sample's is within 1 percent.
func TestInitialWeightsHaveTheirDistribution(t *testing.T) {
	const in, out = 500, 400
	for _, c := range []struct {
		init     Init
		variance float64
		bound    float64 // 0: unbounded
		kurtosis float64 // of the fourth moment: 1.8 uniform, 3 normal
		bias     bool
	}{
		{PyTorch, 1.0 / (3 * in), 1 / math.Sqrt(in), 1.8, true},
		{HeNormal, 2.0 / in, 0, 3, false},
		{GlorotUniform, 2.0 / (in + out), math.Sqrt(6.0 / (in + out)), 1.8, false},
	} {
		p := c.init.DenseInit(generator(20), "layer", in, out)
		if p[0].Name != "layer.weight" || fmt.Sprint(p[0].Shape) != "[400 500]" || p[1].Name != "layer.bias" || fmt.Sprint(p[1].Shape) != "[400]" {
			t.Errorf("init %d: tensors %s %v, %s %v", c.init, p[0].Name, p[0].Shape, p[1].Name, p[1].Shape)
		}
		mean, variance, fourth, top := moments(p[0].Data)
		if math.Abs(mean) > 4*math.Sqrt(c.variance/(in*out)) {
			t.Errorf("init %d: mean %v", c.init, mean)
		}
		if math.Abs(variance/c.variance-1) > 0.015 {
			t.Errorf("init %d: variance %v, want %v", c.init, variance, c.variance)
		}
		if k := fourth / (variance * variance); math.Abs(k-c.kurtosis) > 0.06 {
			t.Errorf("init %d: kurtosis %v, want %v", c.init, k, c.kurtosis)
		}
		if c.bound > 0 && (top > c.bound*(1+1e-6) || top < 0.999*c.bound) {
			t.Errorf("init %d: largest weight %v, bound %v", c.init, top, c.bound)
		}
		_, biasVariance, _, biasTop := moments(p[1].Data)
		if c.bias && (math.Abs(biasVariance*3*in-1) > 0.25 || biasTop > 1/math.Sqrt(in)*(1+1e-6)) {
			t.Errorf("init %d: biases have variance %v and reach %v", c.init, biasVariance, biasTop)
		}
		if !c.bias && biasTop != 0 {
			t.Errorf("init %d: biases reach %v, want 0", c.init, biasTop)
		}
	}
}

func moments(data []float32) (mean, variance, fourth, top float64) {
	n := float64(len(data))
	for _, v := range data {
		mean += float64(v) / n
		top = math.Max(top, math.Abs(float64(v)))
	}
	for _, v := range data {
		d := float64(v) - mean
		variance += d * d / n
		fourth += d * d * d * d / n
	}
	return mean, variance, fourth, top
}

func TestTheZeroInitIsPyTorchsAndTheOthersDiffer(t *testing.T) {
	var zero Init
	if zero != PyTorch {
		t.Error("the zero value is not PyTorch's default")
	}
	hashes := map[string]Init{}
	for _, k := range []Init{PyTorch, HeNormal, GlorotUniform} {
		h := k.DenseInit(generator(21), "layer", 4, 3).Hash()
		if other, twice := hashes[h]; twice {
			t.Errorf("inits %d and %d are equal", k, other)
		}
		hashes[h] = k
		if k.DenseInit(generator(21), "layer", 4, 3).Hash() != h {
			t.Errorf("init %d: the same generator gives other weights", k)
		}
	}
}
