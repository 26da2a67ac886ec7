// Package vision has the networks for images: those of the experiments with split-half
// dependence. A record is a row of pixels, channel by channel and row by row (CHW), of a
// square image.
//
// Every network reports its layers as h1, h2, ..., the activations after its stages, hp,
// the input of the last layer, and h, the logits.
package vision

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Family is one of the package's networks.
type Family struct {
	Name  string // as in model.Architecture
	About string // one line
	// New returns the network in its default setting for square images.
	New func(channels, side, outputs int) model.Architecture
}

// All lists the networks from small to large.
func All() []Family {
	return []Family{
		{SmallCNN{}.Name(), "three convolutions with ReLU and max-pooling, a hidden layer of 128 units",
			func(c, s, o int) model.Architecture { return SmallCNN{Channels: c, Side: s, Outputs: o} }},
		{AllCNN{}.Name(), "eight convolutions with batch normalisation, no pooling before the global mean",
			func(c, s, o int) model.Architecture { return AllCNN{Channels: c, Side: s, Outputs: o} }},
		{ResNet18{}.Name(), "ResNet-18 for small images: 3x3 stem, no max-pooling, four stages of two blocks",
			func(c, s, o int) model.Architecture { return ResNet18{Channels: c, Side: s, Outputs: o} }},
	}
}

// chunkRows is the number of images per execution where batches are cut.
const chunkRows = 32

// checkImage returns an error for an image or a width that no network can be built for;
// least is the smallest side that the strides allow.
func checkImage(name string, channels, side, least, outputs, width int) error {
	switch {
	case channels < 1:
		return fmt.Errorf("%s: images of %d channels", name, channels)
	case side < least:
		return fmt.Errorf("%s: images of %d x %d pixels, need at least %d x %d", name, side, side, least, least)
	case outputs < 2:
		return fmt.Errorf("%s: %d outputs, need at least 2", name, outputs)
	case width < 1:
		return fmt.Errorf("%s: width %d", name, width)
	}
	return nil
}

// imageSize returns the number of values of an image.
func imageSize(channels, side int) float64 { return float64(channels) * float64(side) * float64(side) }

// imageHead is the last, linear layer of a network on the penultimate activation. It names the
// layers: the stages, the penultimate activation, the logits.
func imageHead(b *nn.Builder, stages []nn.Image, embedding *Node, outputs int) model.Trace {
	logits := b.Dense("head", embedding, outputs)
	tr := model.ClassifierTrace(logits, embedding)
	for i, m := range stages {
		tr.Layers = append(tr.Layers, model.Layer{Name: fmt.Sprintf("h%d", i+1), Value: m.Flat()})
	}
	tr.Layers = append(tr.Layers, model.Layer{Name: "hp", Value: embedding}, model.Layer{Name: "h", Value: logits})
	return tr
}
