package nn

import (
	"math"
	"math/rand/v2"
)

// Init is the initialisation of a dense layer's weights.
type Init int

// PyTorch is torch.nn.Linear's default, weights and biases uniform on
// +-1/sqrt(in); the other two are common alternatives with zero biases.
const (
	PyTorch       Init = iota // U(-1/sqrt(in), 1/sqrt(in)) for weights and bias
	HeNormal                  // N(0, 2/in), bias 0
	GlorotUniform             // U(+-sqrt(6/(in+out))), bias 0
)

// Initializer draws the weights of dense layers.
type Initializer interface {
	// DenseInit draws the weight [out, in] and bias [out] of a dense layer called name. Without a
	// generator they have no numbers.
	DenseInit(rng *rand.Rand, name string, in, out int) Params
}

// NormalWeights draws weights from a normal distribution with mean 0 and this standard deviation;
// biases are 0.
type NormalWeights float64

// DenseInit implements Initializer.
func (sd NormalWeights) DenseInit(rng *rand.Rand, name string, in, out int) Params {
	w, b := newParam(rng, name+".weight", out, in), newParam(rng, name+".bias", out)
	sd.Fill(rng, w.Data)
	return Params{w, b}
}

// Fill draws the numbers of data.
func (sd NormalWeights) Fill(rng *rand.Rand, data []float32) {
	for i := range data {
		data[i] = float32(float64(sd) * rng.NormFloat64())
	}
}

// UniformWeights draws weights uniformly between minus this number and it.
type UniformWeights float64

// Fill draws the numbers of data.
func (bound UniformWeights) Fill(rng *rand.Rand, data []float32) {
	for i := range data {
		data[i] = float32((2*rng.Float64() - 1) * float64(bound))
	}
}

// DenseInit implements Initializer.
func (k Init) DenseInit(rng *rand.Rand, name string, in, out int) Params {
	w, b := newParam(rng, name+".weight", out, in), newParam(rng, name+".bias", out)
	switch k {
	case HeNormal:
		NormalWeights(math.Sqrt(2/float64(in))).Fill(rng, w.Data)
	case GlorotUniform:
		UniformWeights(math.Sqrt(6/float64(in+out))).Fill(rng, w.Data)
	default:
		bound := UniformWeights(1 / math.Sqrt(float64(in)))
		bound.Fill(rng, w.Data)
		bound.Fill(rng, b.Data)
	}
	return Params{w, b}
}

// FillOnes fills data with 1: where gains begin.
func FillOnes(_ *rand.Rand, data []float32) {
	for i := range data {
		data[i] = 1
	}
}
