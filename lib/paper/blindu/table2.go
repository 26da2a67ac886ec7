package blindu

import (
	"github.com/lethe-ml/lethe/lib/lab"
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

// structures are the first case of a scale with other networks.
func structures(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	c.Only = []string{Original, Retrained, With, Without}
	s.Cases = nil
	for _, n := range networks(scale) {
		at := c
		at.Label, at.Network = n.label, n.label
		if n.of != nil {
			at.Arch = n.of
		}
		if n.epochs > 0 {
			at.Fit.Epochs = n.epochs
		}
		s.Cases = append(s.Cases, at)
	}
	return s, nil
}

// network is a bottleneck by name; nil is that of the case.
type network struct {
	label  string
	of     func(features, classes int) model.Architecture
	epochs int // 0: as the case's
}

// networks are those of a scale. A ResNet on all of MNIST takes hours without a graphics
// card, and is there at the paper's scale alone.
func networks(scale string) []network {
	plain := network{label: "MLP, MLP"}
	if scale == "quick" {
		return []network{
			plain, {"MLP, ViT", narrowed(ib.MLP{Hidden: 48}, 1, 4), 0}, {"ResNet of width 4, ViT", narrowed(ib.ResNet{Channels: 1, Width: 4}, 1, 4), 6},
		}
	}
	out := []network{plain, {"MLP, ViT", wide(ib.MLP{}), 0}}
	if scale == "paper" {
		out = append(out, network{"ResNet, ViT", wide(ib.ResNet{Channels: 1}), 0})
	}
	return out
}

// narrowed has a code of channels x side x side variables before a small transformer.
func narrowed(compressor ib.Half, channels, side int) func(int, int) model.Architecture {
	return func(features, classes int) model.Architecture {
		return ib.Bottleneck{
			Features: features, Outputs: classes, Latent: channels * side * side, Compressor: compressor,
			Approximator: ib.ViT{Channels: channels, Width: 16, Heads: 2, Blocks: 1},
		}
	}
}

// wide has MNIST's code of 49 variables, as 7 x 7, before a transformer of two blocks.
func wide(compressor ib.Half) func(int, int) model.Architecture {
	return func(features, classes int) model.Architecture {
		return ib.Bottleneck{Features: features, Outputs: classes, Compressor: compressor, Approximator: ib.ViT{Channels: 1, Width: 32, Blocks: 2}}
	}
}

// printed2 are the paper's values: backdoor accuracy and accuracy in per cent.
func printed2(c Case, arm string) string {
	return map[string]string{
		"mnist ResNet, ViT " + With: "4.40 +- 1.12  96.38 +- 0.34", "mnist ResNet, ViT " + Without: "1.72 +- 0.83  95.05 +- 0.46",
		"mnist MLP, MLP " + With: "1.89 +- 1.29  94.55 +- 0.85", "mnist MLP, MLP " + Without: "1.56 +- 0.95  94.65 +- 0.67",
	}[c.DataSet+" "+c.Network+" "+arm]
}

func (ev *evidence) table2() *paper.Output {
	t := &report.Table{
		ID: table2.ID, Title: table2.Title, Caption: table2.Doc, Provenance: ev.provenance(table2.ID), Notes: ev.notes(),
		Columns: []report.Column{
			{Name: "model"}, {Name: "weights", Note: "of the network"},
			{Name: "erased", Note: "share of the forget set whose label the model gives, records as they are; nearest to 'retrained' is best"},
			{Name: "triggered", Note: "share of unseen records with the trigger that are taken for the backdoor's class"},
			{Name: "test", Note: "share of right answers on unseen records that no method may look at; higher is better"},
			{Name: "paper", Note: "backdoor accuracy and accuracy in per cent, as printed; 'MLP, MLP' is printed as ResNet-18"},
		},
	}
	for _, c := range ev.Cases {
		for _, a := range c.arms() {
			if rows := ev.of(c.Label, a.Label); len(rows) > 0 {
				t.Rows = append(t.Rows, row2(c, a, rows))
			}
		}
	}
	return &paper.Output{Table: t}
}

func row2(c Case, a lab.Arm, rows []Row) report.Row {
	l := paper.NewLine(c.Label, a.Label, a.Control, rows, func(r Row) string { return r.Diverged })
	l.Add(report.Num(float64(rows[0].Weights), 0))
	l.Share(func(r Row) float64 { return r.Erased })
	l.Share(func(r Row) float64 { return r.Open })
	l.Share(func(r Row) float64 { return r.Test })
	l.Add(report.Str(printed2(c, a.Label)))
	return l.Row()
}

// sizeOf is how many weights there are.
func sizeOf(p nn.Params) (n int) {
	for _, w := range p {
		if !w.State {
			n += len(w.Data)
		}
	}
	return n
}
