package audit

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// problem loads what a setting names, a table or a set of images, and joins its
// network to it.
func (l *Lab) problem(ctx context.Context, s Setting) (*Problem, error) {
	if _, err := images.Lookup(s.DataSet); err == nil {
		return l.ImageProblem(ctx, s.DataSet, s.MaxRows, s.TestRows, s.Arch)
	}
	data, err := Prepare(ctx, s.DataSet, s.MaxRows, testFraction, defaultSeed)
	if err != nil {
		return nil, err
	}
	return l.Problem(data, s.Arch(data.Train.X.Cols, len(data.About.Classes)))
}

// ImageProblem draws training and test images of a set (0: all of them),
// normalises them and joins a network to them. The draw is always the same.
func (l *Lab) ImageProblem(ctx context.Context, name string, train, test int, arch func(features, classes int) model.Architecture) (*Problem, error) {
	rng := engine.Root(defaultSeed).Stream(engine.StreamSplit, uint64(train), uint64(test))
	data, err := images.Prepare(ctx, name, train, test, rng)
	if err != nil {
		return nil, err
	}
	return l.Problem(data, arch(data.Train.X.Cols, len(data.About.Classes)))
}

// ForImages is a Setting's Arch out of a family of networks for images, grey or
// in colour, by the number of their pixels.
func ForImages(f vision.Family) func(features, classes int) model.Architecture {
	return func(features, classes int) model.Architecture {
		channels, side := 1, root(features)
		if side == 0 {
			channels, side = 3, root(features/3)
		}
		return f.New(channels, side, classes)
	}
}

// root is the square root of a square number, 0 of others.
func root(n int) int {
	for r := 1; r*r <= n; r++ {
		if r*r == n {
			return r
		}
	}
	return 0
}

// Network is a family of networks for images by its name.
func Network(name string) (vision.Family, error) {
	for _, f := range vision.All() {
		if f.Name == name {
			return f, nil
		}
	}
	return vision.Family{}, fmt.Errorf("no network for images is called %q", name)
}
