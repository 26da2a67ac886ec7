package fishing

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// What is compared, beside the models.
const (
	overlapDraws = 10 // pairs of random sets that stand for the forgotten type, 1 for the other types
	codedDraws   = 3  // of them as coded, which takes a pass over all cells each
	minTypeCells = 5  // cells of a type, and at most a third of all: a larger type is no forget set
	// overlapVersion goes up when what is measured changes.
	// 2: the narrow autoencoder, and the largest entries in common of random sets and as coded.
	overlapVersion = 2
	// overlapResults is the version of these tables' numbers, in which no attacker has a part.
	overlapResults = 2
)

// Overlap is what the Fisher information of a type's cells has in common with that
// of all other cells, at one model.
type Overlap struct {
	Case    string         `json:"case"`
	Model   string         `json:"model"`
	Control bool           `json:"control"`
	Seed    int            `json:"seed"`
	Type    string         `json:"type"`
	Forgot  bool           `json:"forgotten"` // whether it is the type that the case forgets
	Cells   int            `json:"n_cells"`
	Others  int            `json:"n_others"`
	Layers  []LayerOverlap `json:"layers"`
	// Of the forgotten type alone: the correlation of the logarithms, exact without dead
	// weights and as coded with them.
	LogR      float64 `json:"log_r"`
	CodedLogR float64 `json:"coded_log_r"`
	// Accuracy of a classifier on the cells that it was trained on.
	Accuracy float64 `json:"accuracy"`
	// Points of Figure 3 and Proposition, of one model and of the autoencoder.
	Points      *Points      `json:"points,omitempty"`
	Proposition *Proposition `json:"proposition,omitempty"`
}

// LayerOverlap is Overlap in a category of layers.
type LayerOverlap struct {
	Layer   string `json:"layer"`
	Weights int    `json:"weights"` // those of dead tensors too
	// Cosine is the exact estimator's; Random that of as many other cells, drawn at
	// random, against the remaining others, and Pairs of two such sets without a cell
	// in common, one value per draw.
	Cosine float64   `json:"cosine"`
	Random []float64 `json:"random"`
	Pairs  []float64 `json:"pairs,omitempty"`
	// The same as coded, and the effective ranks over the number of weights: exact of
	// both sets, and of the forgotten one as coded. Of the forgotten type alone.
	Coded       float64   `json:"coded"`
	CodedRandom []float64 `json:"coded_random,omitempty"`
	Rank        float64   `json:"rank"`
	OthersRank  float64   `json:"others_rank"`
	CodedRank   float64   `json:"coded_rank"`
	// The shares of the largest 1 % and 10 % of either set's entries in common.
	Top1           float64            `json:"top1"`
	Top10          float64            `json:"top10"`
	TopRandom      []fisher.TopShares `json:"top_random,omitempty"`
	CodedTop       fisher.TopShares   `json:"coded_top"`
	CodedTopRandom []fisher.TopShares `json:"coded_top_random,omitempty"`
}

// overlaps is what the tables on Fisher information of one scale are made of.
type overlaps struct {
	Study
	env *paper.Env
	*paper.Evidence[Overlap]
}

func collectOverlaps(ctx context.Context, e *paper.Env, s Study) (*overlaps, error) {
	found, err := paper.Collect(ctx, e, overlapPieces(e, s))
	return &overlaps{s, e, found}, err
}

func (o *overlaps) provenance(id string) report.Provenance {
	return o.Provenance(o.env, id, o.Scale, overlapResults, o.Seeds)
}

func overlapPieces(e *paper.Env, s Study) []paper.Measurement[Overlap] {
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, seed int) paper.Measurement[Overlap] { return overlapPiece(e, of, seed) })
}

func overlapPiece(e *paper.Env, of Case, seed int) paper.Measurement[Overlap] {
	l := e.Lab()
	return paper.Measurement[Overlap]{
		ID: overlapName(of, seed), About: fmt.Sprintf("Fisher information, %s, seed %d", of.Label, seed), Setting: of.setting(seed), File: "overlaps.json",
		Models: []paper.Models{{Setting: of.setting(seed), Methods: overlapMethods}, {Setting: of.narrow(seed), Methods: overlapMethods},
			{Setting: of.conditional().setting(seed), Methods: overlapMethods[:1]}, {Setting: of.deep(seed), Methods: overlapMethods}},
		Key:     func(c *lab.Case) store.Key { return overlapKey(l, c, of) },
		Cost:    func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows * (c.Fit.Epochs + 8*(6+codedDraws))) },
		Measure: func(ctx context.Context, c *lab.Case) ([]Overlap, error) { return measureOverlaps(ctx, c, of) },
	}
}

func overlapKey(l *lab.Lab, c *lab.Case, of Case) store.Key {
	deep := of.deep(0)
	config := struct {
		lab.NetworkKey
		Case       string         `json:"case"`
		Goal       lab.Goal       `json:"goal"`
		Fit        train.Config   `json:"fit"`
		Forget     string         `json:"forget"`
		Narrow     lab.NetworkKey `json:"narrow"`
		Classifier lab.NetworkKey `json:"classifier"`
		DeepFit    train.Config   `json:"deep_fit"`
		Version    int            `json:"version"`
		Results    int            `json:"results"`
	}{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: of.Label, Goal: c.Goal, Fit: c.Fit, Forget: c.Class,
		Narrow:     lab.NetworkKeyOf(of.narrow(0).Arch(c.Problem.Train.X.Cols, c.Classes())),
		Classifier: lab.NetworkKeyOf(deep.Arch(c.Problem.Train.X.Cols, c.Classes())), DeepFit: deep.Fit.WithDefaults(),
		Version: overlapVersion, Results: overlapResults,
	}
	return l.Key("evidence/fishing/overlap", c.Problem, config, map[string]int64{"train": int64(c.Seed), "split": lab.CellsSeed})
}

func overlapName(c Case, seed int) string {
	return fmt.Sprintf("evidence/fishing/overlap/%s/%s/seed-%d", c.DataSet, c.Class, seed)
}

// The models of a case that the lab knows: the original, and a retrained one as the
// control that never met what is forgotten.
var overlapMethods = []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}}

// narrow is a case with a quarter of the latent variables, which makes the paper's second
// autoencoder of its first, 8 of 32, but for the training: the paper changes the rate, the
// warm-up, the free bits and who chooses the epoch along with them.
func (c Case) narrow(seed int) lab.Setting {
	s := c.setting(seed)
	s.Arch = func(genes, types int) model.Architecture {
		m, ok := c.Arch(genes, types).WithDefaults().(vae.Cells)
		if !ok {
			return c.Arch(genes, types)
		}
		m.Latent = max(1, m.Latent/4)
		return m
	}
	return s
}

// deepEpochs is how long the deep classifier is trained. The program stops when 95 % of
// the cells are right in training; the notes of the table say how many are here.
const deepEpochs = 20

// deep is a case of the paper's deep classifier, of the types of the same cells. The
// program's weight decay of 0.01 is left out: it is a part of the gradient of every
// weight, and so another difference from the autoencoder.
func (c Case) deep(seed int) lab.Setting {
	s := c.Setting
	s.Goal, s.Arch, s.Seed = nil, deepClassifier, seed
	if c.Deep != nil {
		s.Arch = c.Deep
	}
	s.Fit = train.Config{Epochs: cmp.Or(c.DeepEpochs, deepEpochs), Batch: c.Fit.Batch, Optimizer: nn.Adam{}}
	return s
}
