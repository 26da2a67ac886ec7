package sde

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
	verify "github.com/lethe-ml/lethe/lib/verify/sde"
)

// desk is what the recipes of one environment share.
type desk struct {
	lab  *audit.Lab
	sets map[string]*prepared
}

// prepared is a setting whose images are loaded.
type prepared struct {
	Setting
	*audit.Problem
}

func deskOf(e *paper.Env) *desk {
	d := paper.Shared(e, func(e *paper.Env) *desk {
		return &desk{lab: &audit.Lab{Engine: e.Engine, Store: e.Store}, sets: map[string]*prepared{}}
	})
	d.lab.Progress = e.Progress
	return d
}

func (d *desk) open(ctx context.Context, s Setting) (*prepared, error) {
	key := fmt.Sprintf("%+v", s)
	if p := d.sets[key]; p != nil {
		return p, nil
	}
	arch, err := s.arch()
	if err != nil {
		return nil, err
	}
	problem, err := d.lab.ImageProblem(ctx, s.DataSet, s.Images, s.Held, arch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Label, err)
	}
	p := &prepared{Setting: s, Problem: problem}
	d.sets[key] = p
	return p, nil
}

// forgetSeed draws the records to forget, the same for every seed of a model.
const forgetSeed = 999

// divide returns the training rows to forget and the others.
func (p *prepared) divide(fraction float64) (forget, retain []int, err error) {
	return datasets.ForgetSet(p.Train.X.Rows, fraction, forgetSeed)
}

// kept are the epochs after which weights are kept: those of the course, and the
// start of the last epoch, which Unroll goes back to.
func (p *prepared) kept(course []int) []int {
	var out []int
	for _, percent := range course {
		out = append(out, p.epochAt(percent))
	}
	out = append(out, p.Fit.Epochs-1)
	slices.Sort(out)
	return slices.Compact(out)
}

// epochAt is the epoch that ends after the given part of the training, at least
// the first and before the last.
func (p *prepared) epochAt(percent int) int {
	return min(max(1, int(math.Round(float64(p.Fit.Epochs*percent)/100))), p.Fit.Epochs-1)
}

// trained returns the model of a seed on some rows, with its course.
func (d *desk) trained(ctx context.Context, p *prepared, rows []int, seed int, course []int) (*audit.Trajectory, error) {
	problem := *p.Problem
	if p.Setting.Augment {
		problem.Augment = audit.NewAugmenter(p.Prepared, images.Augmentation{}, engine.Root(seed))
	}
	return d.lab.TrainedCourse(ctx, &problem, p.Fit, rows, seed, p.kept(course))
}

// untrained are the weights that a seed's training began with.
func (p *prepared) untrained(seed int) nn.Params {
	return p.Arch.Init(engine.Root(seed).Stream(engine.StreamInit))
}

// Layers are the activations of figure 4, from the first stage to the logits.
func (p *prepared) layers() []string {
	if strings.HasPrefix(p.Net, "small") {
		return []string{"h1", "h2", "hp", "h"}
	}
	return []string{"h1", "h2", "h3", "h4", "hp", "h"}
}

// activations are one layer's for the training and the test images.
type activations struct{ train, test verify.Matrix }

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

// bandwidth is the paper's for a layer: sqrt(dim), and 128 for ten logits
// (appendix D).
func (p *prepared) bandwidth(layer string) verify.Bandwidth {
	if layer == "h" && p.Classes() <= 10 {
		return verify.Fixed(verify.LogitSigma)
	}
	return verify.SqrtDim()
}

// request asks for the fraction to be forgotten by the seed's original.
func (d *desk) request(ctx context.Context, p *prepared, fraction float64, seed int, course []int) (unlearn.Request, error) {
	forget, retain, err := p.divide(fraction)
	if err != nil {
		return unlearn.Request{}, err
	}
	every := append(slices.Clone(forget), retain...)
	slices.Sort(every)
	original, err := d.trained(ctx, p, every, seed, course)
	if err != nil {
		return unlearn.Request{}, err
	}
	fit := p.Fit
	fit.Seed = engine.Root(seed)
	last := p.Fit.Epochs - 1
	r := unlearn.Request{
		Runner: p.Runner, Original: original.Final, Forget: p.Records(forget), Retain: p.Records(retain),
		Earlier: &unlearn.Checkpoint{Params: original.At[last], Epoch: last},
		Fit:     fit, Seed: unlearnSeed, Batch: p.Fit.Batch,
	}
	if p.Setting.Augment {
		r.Augment = audit.NewAugmenter(p.Prepared, images.Augmentation{}, unlearnSeed)
	}
	return r, nil
}

const unlearnSeed = 100
