package privacy

// Laplace and Gaussian mechanisms for releasing vectors.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
)

// Mechanism releases a vector with noise, so that an observer can hardly tell which vector it
// was made from. Any two vectors are neighbours (local privacy). It first scales the vector to a
// norm of at most Clip, so that the sensitivity is 2 Clip.
//
// The noise has mean 0. The published program of "BlindU" draws Laplace noise at location 1,
// which moves every released coordinate by 1, and states no clipping; its results with noise
// (epsilon = 2 in Table IV) are those of neither mechanism. Both mechanisms here spend that
// epsilon by default.
//
// The random numbers are good enough to test methods, not to protect real data: see
// train.Private.
type Mechanism interface {
	// Name is the mechanism's short name, for example "laplace".
	Name() string
	// Prepare computes the noise, or returns an error for invalid settings.
	Prepare() (Releaser, error)
}

// Releaser clips a vector, given in parts, and adds the noise, in place; part i draws from
// noise(i).
type Releaser func(parts [][]float64, noise func(part int) *rand.Rand)

// Laplace adds noise of density exp(-|t|/b)/(2b) to every coordinate of a vector whose L1 norm
// is at most Clip, with
//
//	b = 2 Clip Releases / Epsilon
//
// All releases together are (Epsilon, 0)-private, by basic composition.
type Laplace struct {
	Epsilon  float64 `json:"epsilon,omitempty" default:"2"`
	Clip     float64 `json:"clip,omitempty" default:"1"` // the L1 norm
	Releases int     `json:"releases,omitempty" default:"1"`
}

// Gaussian adds normal noise to every coordinate of a vector whose Euclidean norm is at most
// Clip, of standard deviation
//
//	sigma = 2 Clip Noise(Epsilon, Delta, 1, Releases)
//
// All releases together are (Epsilon, Delta)-private by RDP: each is a step at rate 1.
type Gaussian struct {
	Epsilon  float64 `json:"epsilon,omitempty" default:"2"`
	Delta    float64 `json:"delta,omitempty" default:"1e-5"`
	Clip     float64 `json:"clip,omitempty" default:"1"` // the L2 norm
	Releases int     `json:"releases,omitempty" default:"1"`
}

var _, _ Mechanism = Laplace{}, Gaussian{}

// Name implements Mechanism.
func (Laplace) Name() string { return "laplace" }

// Name implements Mechanism.
func (Gaussian) Name() string { return "gaussian" }

func checkRelease(name string, epsilon, clip float64, releases int) error {
	for what, v := range map[string]float64{"epsilon": epsilon, "longest vector": clip} {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("privacy: %s: the %s is %v, not a positive number", name, what, v)
		}
	}
	if releases < 1 {
		return fmt.Errorf("privacy: %s: %d releases", name, releases)
	}
	return nil
}

// Scale is b, the scale of the noise.
func (l Laplace) Scale() float64 {
	l = defaults.Fill(l)
	return 2 * l.Clip * float64(l.Releases) / l.Epsilon
}

// Std is sigma, the standard deviation of the noise.
func (g Gaussian) Std() (float64, error) {
	g = defaults.Fill(g)
	if err := checkRelease(g.Name(), g.Epsilon, g.Clip, g.Releases); err != nil {
		return 0, err
	}
	noise, err := Noise(g.Epsilon, g.Delta, 1, g.Releases)
	return 2 * g.Clip * noise, err
}

// History is the releases as steps, for the accountants.
func (g Gaussian) History() (History, error) {
	g = defaults.Fill(g)
	std, err := g.Std()
	if err != nil {
		return nil, err
	}
	return History{{Rate: 1, Noise: std / (2 * g.Clip), Times: g.Releases}}, nil
}

// Prepare implements Mechanism.
func (l Laplace) Prepare() (Releaser, error) {
	l = defaults.Fill(l)
	if err := checkRelease(l.Name(), l.Epsilon, l.Clip, l.Releases); err != nil {
		return nil, err
	}
	scale := l.Scale()
	return func(parts [][]float64, noise func(int) *rand.Rand) {
		clipNorm(parts, l.Clip, norm1(parts))
		addNoise(parts, noise, func(rng *rand.Rand) float64 { return scale * (rng.ExpFloat64() - rng.ExpFloat64()) })
	}, nil
}

// Prepare implements Mechanism.
func (g Gaussian) Prepare() (Releaser, error) {
	std, err := g.Std()
	if err != nil {
		return nil, err
	}
	clip := defaults.Fill(g).Clip
	return func(parts [][]float64, noise func(int) *rand.Rand) {
		clipNorm(parts, clip, norm2(parts))
		addNoise(parts, noise, func(rng *rand.Rand) float64 { return std * rng.NormFloat64() })
	}, nil
}

func norm1(parts [][]float64) (sum float64) {
	for _, part := range parts {
		for _, v := range part {
			sum += math.Abs(v)
		}
	}
	return sum
}

func norm2(parts [][]float64) float64 {
	sum := 0.0
	for _, part := range parts {
		for _, v := range part {
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}

// clipNorm scales a vector of the given norm down to clip.
func clipNorm(parts [][]float64, clip, norm float64) {
	if norm <= clip {
		return
	}
	for _, part := range parts {
		for j := range part {
			part[j] *= clip / norm
		}
	}
}

func addNoise(parts [][]float64, noise func(part int) *rand.Rand, draw func(*rand.Rand) float64) {
	for i, part := range parts {
		rng := noise(i)
		for j, v := range part {
			part[j] = v + float64(draw(rng))
		}
	}
}

// Release returns a copy of the rows with noise; each row is one vector. Row i is record number
// records[i], which draws from draws(number), as in Masking.Mask.
func Release(m Mechanism, x array.Matrix[float32], records []int, draws func(record int) *rand.Rand) (array.Matrix[float32], error) {
	release, err := m.Prepare()
	if err != nil {
		return x, err
	}
	if err := x.Check(m.Name()); err != nil {
		return x, fmt.Errorf("privacy: %w", err)
	}
	if len(records) != x.Rows {
		return x, fmt.Errorf("privacy: %s: %d rows with the numbers of %d records", m.Name(), x.Rows, len(records))
	}
	out := array.Convert[float64](x)
	for i := range out.Rows {
		release([][]float64{out.Row(i)}, func(int) *rand.Rand { return draws(records[i]) })
	}
	return array.Convert[float32](out), nil
}
