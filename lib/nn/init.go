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

// DenseInit draws the weight [out, in] and bias [out] of a dense layer called name.
func (k Init) DenseInit(rng *rand.Rand, name string, in, out int) Params {
	w, b := NewParam(name+".weight", out, in), NewParam(name+".bias", out)
	switch k {
	case HeNormal:
		sd := math.Sqrt(2 / float64(in))
		for i := range w.Data {
			w.Data[i] = float32(sd * rng.NormFloat64())
		}
	case GlorotUniform:
		uniform(rng, w.Data, math.Sqrt(6/float64(in+out)))
	default:
		bound := 1 / math.Sqrt(float64(in))
		uniform(rng, w.Data, bound)
		uniform(rng, b.Data, bound)
	}
	return Params{w, b}
}

func uniform(rng *rand.Rand, data []float32, bound float64) {
	for i := range data {
		data[i] = float32((2*rng.Float64() - 1) * bound)
	}
}
