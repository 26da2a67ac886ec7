package tabular

import "github.com/lethe-ml/lethe/lib/model"

// Family is one of the package's networks.
type Family struct {
	Name  string // as in model.Architecture
	About string // one line
	// New returns the network in its default setting.
	New func(features, outputs int) model.Architecture
}

// All lists the networks: those of RULER's Table 12 in its order, then that of SDE's toy
// example and the deep classifier of "Fishing for Privacy".
func All() []Family {
	return []Family{
		{MLP{}.Name(), "the paper's TabularMLP: two hidden layers of 128 units, ReLU, dropout 0.2",
			func(f, o int) model.Architecture { return MLP{Features: f, Outputs: o} }},
		{ResMLP{}.Name(), "residual MLP: 2 pre-norm blocks of width 128 with 256 hidden units, dropout 0.2",
			func(f, o int) model.Architecture { return ResMLP{Features: f, Outputs: o} }},
		{FTTransformer{}.Name(), "FT-Transformer: 3 pre-norm blocks over feature tokens of width 128, 4 heads, ReGLU",
			func(f, o int) model.Architecture { return FTTransformer{Features: f, Outputs: o} }},
		{OneHidden{}.Name(), "the toy of SDE: one hidden layer of 128 units, ReLU",
			func(f, o int) model.Architecture { return OneHidden{Features: f, Outputs: o} }},
		{Blocks{}.Name(), "the deep classifier of single cells: blocks of 512 and 128 units, layer normalisation, ReLU, dropout 0.3",
			func(f, o int) model.Architecture { return Blocks{Features: f, Outputs: o} }},
	}
}
