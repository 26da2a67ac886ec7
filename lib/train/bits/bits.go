// Package bits checks that training gives the same bits on this machine as elsewhere. It
// trains networks of every kind for three steps on generated data and hashes their
// weights. On Lethe's own backend the hashes are the same on every processor (see package
// lib/engine/backend) and known. A test compares them with AVX-512, with AVX2 and with
// neither. Other engines give other hashes.
package bits

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// Reading is the hash of a network's weights after three steps.
type Reading struct {
	Network string `json:"network"`
	Hash    string `json:"hash"`  // of the weights, see nn.Params.Hash
	Known   string `json:"known"` // the expected hash; "" if none is known
}

// OK reports whether the hash is the expected one.
func (r Reading) OK() bool { return r.Known != "" && r.Hash == r.Known }

//go:embed known.json
var knownJSON []byte

// knownHashes returns the expected hashes on Lethe's own backend, by network.
func knownHashes() (out map[string]string, err error) {
	if err := json.Unmarshal(knownJSON, &out); err != nil {
		return nil, fmt.Errorf("bits: the known hashes: %w", err)
	}
	return out, nil
}

// The number of steps and the batch size, which no kernel's tile divides.
const (
	steps   = 3
	batch   = 37
	classes = 3
)

// subject is a network with its targets and configuration.
type subject struct {
	name    string
	arch    model.Architecture
	targets func(rng *rand.Rand, x array.Matrix[float32]) []train.Target
	config  train.Config
}

func subjects() (out []subject) {
	adam := train.Config{Optimizer: nn.Adam{}}
	for _, f := range tabular.All() {
		out = append(out, subject{f.Name, f.New(11, classes), labels, adam})
	}
	momentum := train.Config{Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 5e-4}}
	images := []model.Architecture{
		vision.SmallCNN{Channels: 3, Side: 12, Outputs: classes, Width: 17, Hidden: 17}, vision.AllCNN{Channels: 3, Side: 12, Outputs: classes, Width: 17},
		vision.ResNet18{Channels: 3, Side: 12, Outputs: classes, Width: 9},
	}
	for _, m := range images {
		out = append(out, subject{m.Name(), m, labels, momentum})
	}
	clipped := train.Config{Optimizer: nn.Adam{}, Clip: 1}
	bottleneck := ib.Bottleneck{Features: 45, Outputs: classes, Latent: 7}
	cells := vae.Cells{Genes: 45, Hidden: []int{33, 17}, Latent: 7}
	counted := cells
	counted.ZeroInflated = true
	return append(out,
		subject{bottleneck.Name(), bottleneck, latentTargets, clipped},
		subject{cells.Name(), cells, countTargets(loss.LibrarySquaredError{}), adam},
		subject{cells.Name() + ", zero-inflated", counted, countTargets(loss.ZeroInflated{}), adam})
}

func labels(rng *rand.Rand, x array.Matrix[float32]) []train.Target {
	y := make([]int, x.Rows)
	for i := range y {
		y[i] = rng.IntN(classes)
	}
	return []train.Target{train.CrossEntropy(y, classes, 1)}
}

func latentTargets(rng *rand.Rand, x array.Matrix[float32]) []train.Target {
	return append(labels(rng, x), train.Target{Loss: loss.LatentDivergence{}, Weight: 1e-3})
}

// countTargets returns targets of gene counts, about half of them 0, for the loss l.
func countTargets(l loss.Loss) func(_ *rand.Rand, x array.Matrix[float32]) []train.Target {
	return func(_ *rand.Rand, x array.Matrix[float32]) []train.Target {
		counts, library := array.New[float32](x.Rows, x.Cols), array.New[float32](x.Rows, 1)
		for i, v := range x.Data {
			counts.Data[i] = float32(int(16 * max(0, v-0.5)))
			library.Data[i/x.Cols] += counts.Data[i]
		}
		inputs := map[string]array.Matrix[float32]{loss.Target: counts, loss.Library: library}
		return []train.Target{{Loss: l, Inputs: inputs, Weight: 1}, {Loss: loss.LatentDivergence{}, Weight: 1}}
	}
}

// Read trains every network on an engine and returns the hashes.
func Read(ctx context.Context, e *engine.Engine) ([]Reading, error) {
	is, err := knownHashes()
	if err != nil {
		return nil, err
	}
	var out []Reading
	for _, s := range subjects() {
		hash, err := s.hash(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("bits: %s: %w", s.name, err)
		}
		out = append(out, Reading{s.name, hash, is[s.name]})
	}
	return out, nil
}

func (s subject) hash(ctx context.Context, e *engine.Engine) (string, error) {
	r, err := model.NewRunner(e, s.arch)
	if err != nil {
		return "", err
	}
	rng := engine.Root(1).Stream(engine.StreamBits)
	x := array.New[float32](steps*batch, s.arch.Inputs())
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	c := s.config
	c.Epochs, c.Batch, c.Seed = 1, batch, 1
	o := train.Objective{{Name: "bits", X: x, Targets: s.targets(rng, x)}}
	p, _, err := train.Fit(ctx, r, model.InitialWeights(s.arch, rng), o, c, train.Hooks{})
	if err != nil {
		return "", err
	}
	return p.Hash(), nil
}
