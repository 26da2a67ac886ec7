package diffusion

// Data and training of the denoiser.

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// The groups of records, which are also the counters of their noise streams.
const (
	retainGroup = iota
	forgetGroup
	heldOutGroup
)

var groupNames = [3]string{"retained", "forgotten", "held out"}

// imageGroups are the images of the three groups, pixels between -1 and 1.
type imageGroups struct {
	groups    [3]array.Matrix[float32]
	shape     [3]int
	hash      string
	synthetic bool
}

// load draws the records: retained and forgotten ones from the training part,
// held-out ones from the test part.
func (d Setting) load(ctx context.Context) (*imageGroups, error) {
	info, err := images.Lookup(d.DataSet)
	if err != nil {
		return nil, err
	}
	inTrain := info.Rows - info.TestRows
	if 2*d.Records > inTrain || d.HeldOut > info.TestRows || info.Shape[1] != info.Shape[2] {
		return nil, fmt.Errorf("diffusion: %d retained, %d forgotten and %d held-out square images are needed; %s has %d "+
			"and %d of %v", d.Records, d.Records, d.HeldOut, d.DataSet, inTrain, info.TestRows, info.Shape)
	}
	rng := engine.Root(d.Seed).Stream(engine.StreamSplit)
	rows, test := rng.Perm(inTrain)[:2*d.Records], rng.Perm(info.TestRows)[:d.HeldOut]
	m, err := images.LoadRows(ctx, d.DataSet, rows, test)
	if err != nil {
		return nil, err
	}
	out := &imageGroups{shape: m.Shape, hash: m.Hash, synthetic: m.Synthetic}
	first, second := make([]int, d.Records), make([]int, d.Records)
	for i := range first {
		first[i], second[i] = i, d.Records+i
	}
	out.groups = [3]array.Matrix[float32]{m.Train.X.Gather(first), m.Train.X.Gather(second), m.Test.X}
	for _, g := range out.groups {
		for i, v := range g.Data {
			g.Data[i] = 2*v - 1
		}
	}
	return out, nil
}

// network is the trained network and its initial state.
type network struct {
	trained, untrained diffusion.Denoiser
	history            []train.Epoch
	run                string
}

// denoising is the goal of a denoiser: EDM's loss, as a mean over pixels, on images with noise
// from the problem's augmenter.
type denoising struct {
	diffusion.EDM
}

// Name implements lab.Goal.
func (denoising) Name() string { return "denoising" }

// Objective implements lab.Goal.
func (g denoising) Objective(p *lab.Problem, rows []int) (train.Objective, error) {
	x := p.Train.X.Gather(rows)
	return train.Objective{{Name: "retained", X: x, IDs: rows, Targets: []train.Target{{Loss: g.EDM, Weight: 1 / float64(x.Cols)}}}}, nil
}

// training is the training of the model on the retained records.
func (d Setting) training(l *lab.Lab, data *imageGroups) (lab.Training, error) {
	y := data.groups[retainGroup]
	about := datasets.About{Name: d.DataSet, Shape: data.shape}
	p, err := l.JoinDerived(&datasets.Prepared{About: about, Train: datasets.Part{X: y}, Hash: data.hash}, d.Net)
	if err != nil {
		return lab.Training{}, err
	}
	p.Augment = func(seed engine.Root) train.Augmenter {
		noise := d.Loss
		noise.Seed = seed
		return noise
	}
	rows := make([]int, y.Rows)
	for i := range rows {
		rows[i] = i
	}
	fit := d.Fit
	fit.Order = train.ShuffledSingle
	return lab.Training{Problem: p, Goal: denoising{d.Loss}, Fit: fit, Rows: rows, Job: d.trainJob().ID}, nil
}

// trained returns the model trained on the retained records, from the store or
// computed.
func (d Setting) trained(ctx context.Context, l *lab.Lab, data *imageGroups) (*network, error) {
	t, err := d.training(l, data)
	if err != nil {
		return nil, err
	}
	trained, err := l.Train(ctx, t)
	if err != nil {
		return nil, err
	}
	of := func(w nn.Params) diffusion.Denoiser {
		return diffusion.Denoiser{Runner: t.Problem.Runner, Weights: w, Condition: d.Loss.Condition}
	}
	return &network{of(trained.Final), of(t.Problem.InitialWeights(d.Fit.Seed)), trained.History, trained.Run}, nil
}

// noisy adds noise of standard deviation sigma to a group; it is the same in every call.
func (d Setting) noisy(data *imageGroups, group int, sigma float64) array.Matrix[float32] {
	return diffusion.AddNoise(data.groups[group], sigma, func(row int) *rand.Rand {
		return engine.Root(d.Seed).Stream(engine.StreamEncode, uint64(group), uint64(row))
	})
}

// encode returns the encoder's outputs on the three groups.
func (d Setting) encode(m diffusion.Denoiser, data *imageGroups) ([3]array.Matrix[float64], error) {
	var out [3]array.Matrix[float64]
	for g := range out {
		_, encoded, err := m.Denoise(d.noisy(data, g, d.Noise), d.Noise)
		if err != nil {
			return out, err
		}
		out[g] = array.Convert[float64](encoded)
	}
	return out, nil
}

// noiseShown are the noise levels at which denoising is measured.
var noiseShown = []float64{0.1, 0.5, 2}

// errors measures the denoiser on the three groups; a smaller error on retained records than on
// others means that they are memorised.
func (d Setting) errors(m diffusion.Denoiser, data *imageGroups) ([]Denoised, error) {
	var out []Denoised
	for _, sigma := range noiseShown {
		for g, name := range groupNames {
			guess, _, err := m.Denoise(d.noisy(data, g, sigma), sigma)
			if err != nil {
				return nil, err
			}
			each := make([]float64, guess.Rows)
			for i := range each {
				for j, v := range guess.Row(i) {
					diff := float64(v) - float64(data.groups[g].Row(i)[j])
					each[i] += float64(diff*diff) / float64(guess.Cols)
				}
			}
			e := stats.MeanInterval(each, 0.95, "images")
			e.Better = stats.LowerIsBetter
			out = append(out, Denoised{name, sigma, e})
		}
	}
	return out, nil
}

// gallery denoises held-out images and draws new ones.
func (d Setting) gallery(ctx context.Context, m diffusion.Denoiser, data *imageGroups) (Gallery, error) {
	g := Gallery{Shape: data.shape, NoiseShown: noiseShown[1]}
	few := make([]int, min(d.Samples, data.groups[heldOutGroup].Rows))
	for i := range few {
		few[i] = i
	}
	noisy := d.noisy(data, heldOutGroup, g.NoiseShown).Gather(few)
	guess, _, err := m.Denoise(noisy, g.NoiseShown)
	if err != nil {
		return g, err
	}
	rng := engine.Root(d.Seed).Stream(engine.StreamSample)
	drawn, err := diffusion.Sampler{}.Sample(ctx, d.Samples, d.Net.Pixels(), rng, func(x array.Matrix[float32], sigma float64) (array.Matrix[float32], error) {
		y, _, err := m.Denoise(x, sigma)
		return y, err
	})
	if err != nil {
		return g, err
	}
	g.Clean, g.Noisy = rowsOf(data.groups[heldOutGroup].Gather(few)), rowsOf(noisy)
	g.Guess, g.New = rowsOf(guess), rowsOf(drawn)
	return g, nil
}
