package blindu

// Table II: other networks.

import (
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var table2 = paper.Recipe{
	ID:    "blindu/table2",
	Title: "BlindU Table II. Other networks",
	Doc: "The backdoor's records are to be forgotten by networks with other halves. The paper has a vision transformer behind a ResNet, of which it " +
		"says no sizes and there is no program: every size here is ours. 'erased' is on the records as they are.",
}

// table2Study is the first case of a scale with other networks.
func table2Study(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	c.Only = []string{Original, Retrained, WithReplacement, WithoutReplacement}
	s.Cases = nil
	for _, n := range networks(scale) {
		at := c
		at.Label, at.Network = n.label, n.label
		if n.half != nil {
			at.Model = n.half
		}
		if n.epochs > 0 {
			at.Fit.Epochs = n.epochs
		}
		s.Cases = append(s.Cases, at)
	}
	return s, nil
}

// network is a named bottleneck; nil is the case's own.
type network struct {
	label  string
	half   model.Network
	epochs int // 0: as the case's
}

// networks are those of a scale. A ResNet on all of MNIST is at the paper's scale only, because
// it takes hours without a GPU.
func networks(scale string) []network {
	small := ib.ViT{Channels: 1, Width: 16, Heads: 2, Blocks: 1} // codes as 4 x 4 images
	larger := ib.ViT{Channels: 1, Width: 32, Blocks: 2}          // MNIST's codes as 7 x 7 images
	plain, photographs := network{label: "MLP, MLP"}, network{label: "ResNet, ResNet"}
	switch scale {
	case "quick":
		return []network{
			plain, {"MLP, ViT", bottleneck(ib.MLP{Hidden: 48}, 16, small), 0},
			{"ResNet of width 4, ViT", bottleneck(ib.ResNet{Channels: 1, Width: 4}, 16, small), 6},
		}
	case "photographs", "copies":
		return []network{photographs, {"ResNet, ViT", bottleneck(narrow, resNetLatent, ib.ViT{}), 0}}
	case "lossy", "collections":
		return []network{photographs, {"ResNet, ViT", bottleneck(ib.ResNet{}, resNetLatent, ib.ViT{}), 0}}
	}
	out := []network{plain, {"MLP, ViT", bottleneck(ib.MLP{}, 0, larger), 0}}
	if scale == "paper" {
		out = append(out, network{"ResNet, ViT", bottleneck(ib.ResNet{Channels: 1}, 0, larger), 0})
	}
	return out
}

// printed2 are the paper's values: backdoor accuracy and accuracy in per cent.
func printed2(c Case, variant string) string {
	return map[string]string{
		"mnist ResNet, ViT " + WithReplacement: "4.40 +- 1.12  96.38 +- 0.34", "mnist ResNet, ViT " + WithoutReplacement: "1.72 +- 0.83  95.05 +- 0.46",
		"mnist MLP, MLP " + WithReplacement: "1.89 +- 1.29  94.55 +- 0.85", "mnist MLP, MLP " + WithoutReplacement: "1.56 +- 0.95  94.65 +- 0.67",
		"cifar10 ResNet, ViT " + WithReplacement: "2.49 +- 0.81  76.14 +- 0.32", "cifar10 ResNet, ViT " + WithoutReplacement: "4.57 +- 0.98  74.95 +- 0.39",
		"cifar10 ResNet, ResNet " + WithReplacement:    "7.11 +- 0.37  75.83 +- 0.94",
		"cifar10 ResNet, ResNet " + WithoutReplacement: "6.57 +- 0.51  74.39 +- 0.77",
	}[c.publishedDataSet()+" "+c.Network+" "+variant]
}

func (ev *evidence) table2() *paper.Output {
	return &paper.Output{Table: ev.variantTable(table2, []column{
		{Name: "weights", Note: "of the network", Cell: func(l line) report.Cell { return report.Num(float64(l.Models[0].Weights), 0) }},
		erasedColumn, triggeredColumn, testColumn,
		paper.TextColumn("paper", "backdoor accuracy and accuracy in per cent, as printed, on the whole set; MNIST's 'MLP, MLP' is printed as ResNet-18", "",
			func(l line) string { return printed2(ev.caseOf(l), l.Label) }),
	})}
}

// sizeOf is the number of weights.
func sizeOf(p nn.Params) (n int) {
	for _, w := range p {
		if !w.State {
			n += len(w.Data)
		}
	}
	return n
}
