package sdepaper

// Settings with loaded data, their models and activations.

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// labEnv is the environment that recipes share.
type labEnv struct{ lab *lab.Lab }

// prepared is a setting with loaded images.
type prepared struct {
	Setting
	*lab.Problem
	shift int // of the lab's seeds
}

func newLabEnv(e *paper.Env) *labEnv { return &labEnv{e.Lab()} }

func (d *labEnv) openSetting(ctx context.Context, s Setting) (*prepared, error) {
	network, err := s.imageNetwork()
	if err != nil {
		return nil, err
	}
	p, err := d.lab.Problem(ctx, lab.Setting{Data: lab.Images{Set: s.DataSet, MaxTrain: s.Images, MaxTest: s.Held}, Model: network, Augment: s.Augment})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Label, err)
	}
	return &prepared{s, p, d.lab.Shift}, nil
}

// coordinates are the lab's setting of a seed and a fraction in a study.
func (s Study) coordinates(of Setting, fraction float64, seed int) (lab.Setting, error) {
	network, err := of.imageNetwork()
	if err != nil {
		return lab.Setting{}, err
	}
	return lab.Setting{
		Data: lab.Images{Set: of.DataSet, MaxTrain: of.Images, MaxTest: of.Held}, Forget: lab.Random{Fraction: fraction}, Seed: seed,
		Fit: of.Fit, Model: network, Augment: of.Augment, Keep: of.checkpointEpochs(s.Checkpoints),
	}, nil
}

// openCase is the case of a seed and a fraction, without training anything.
func (d *labEnv) openCase(ctx context.Context, s Study, of Setting, fraction float64, seed int) (*lab.Case, error) {
	at, err := s.coordinates(of, fraction, seed)
	if err != nil {
		return nil, err
	}
	return d.lab.Case(ctx, at)
}

// divide returns the training rows to forget and the others.
func (p *prepared) divide(fraction float64) (forget, retain []int, err error) {
	return lab.Setting{Forget: lab.Random{Fraction: fraction, Seed: uint32(lab.ForgetSeed + p.shift)}}.Divide(p.Prepared)
}

// checkpointEpochs are the epochs after which weights are kept: those of the checkpoints, and
// the start of the last epoch, which Unroll needs.
func (s Setting) checkpointEpochs(checkpoints []int) []int {
	var out []int
	for _, percent := range checkpoints {
		out = append(out, s.epochAt(percent))
	}
	out = append(out, s.Fit.Epochs-1)
	slices.Sort(out)
	return slices.Compact(out)
}

// epochAt is the epoch that ends after the given per cent of the training, at least the first
// and before the last.
func (s Setting) epochAt(percent int) int {
	return min(max(1, int(math.Round(float64(s.Fit.Epochs*percent)/100))), s.Fit.Epochs-1)
}

// untrained are the initial weights of a seed's training.
func (p *prepared) untrained(seed int) nn.Params {
	return p.InitialWeights(engine.Root(seed + p.shift))
}

// layers are the layers of figure 4, from the first stage to the logits.
func (p *prepared) layers() []string {
	if p.Layers != nil {
		return p.Layers
	}
	if strings.HasPrefix(p.Net, "small") {
		return []string{"h1", "h2", "hp", "h"}
	}
	return []string{"h1", "h2", "h3", "h4", "hp", "h"}
}

// activations are one layer's activations for the training and the test images.
type activations struct{ train, test sde.Matrix }

// activations runs a model once over all images for the named layers.
func (p *prepared) activations(w nn.Params, names ...string) (map[string]activations, error) {
	a, err := p.Runner.PredictNamed(w, p.Train.X, names...)
	if err != nil {
		return nil, err
	}
	b, err := p.Runner.PredictNamed(w, p.Test.X, names...)
	if err != nil {
		return nil, err
	}
	out := map[string]activations{}
	for _, n := range names {
		out[n] = activations{array.Convert[float64](a.Layers[n]), array.Convert[float64](b.Layers[n])}
	}
	return out, nil
}

// bandwidth is the paper's for a layer: sqrt(dim), and 128 for ten logits (appendix D).
func (p *prepared) bandwidth(layer string) sde.Bandwidth {
	if layer == "h" && p.Classes() <= 10 {
		return sde.Fixed(sde.LogitSigma)
	}
	return sde.SqrtDim()
}

// forgetFraction is the share of the train part that a case forgets.
func forgetFraction(c *lab.Case) float64 {
	f, _ := c.Setting.Forget.(lab.Random)
	return f.Fraction
}
