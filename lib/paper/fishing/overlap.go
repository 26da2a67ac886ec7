package fishing

// Overlap of the Fisher information of forgotten and other cells.

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/defaults"
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

// Settings of the comparison.
const (
	overlapDraws = 10 // pairs of random sets in place of the forgotten type; 1 for the other types
	codedDraws   = 3  // pairs that are also estimated as coded; each takes a pass over all cells
	minTypeCells = 5  // cells of a type; a type with more than a third of all cells is not a forget set either
	// overlapVersion changes when the measurement changes. 2: the narrow autoencoder, and the
	// shared largest entries of random sets and as coded.
	overlapVersion = 2
	// overlapResults is the version of the numbers of these tables, which use no attacker.
	overlapResults = 2
)

// Overlap compares the Fisher information of a type's cells with that of all other cells, in one
// model.
type Overlap struct {
	Case    string         `json:"case"`
	Model   string         `json:"model"`
	Control bool           `json:"control"`
	Seed    int            `json:"seed"`
	Type    string         `json:"type"`
	Forgot  bool           `json:"forgotten"` // whether the case forgets this type
	Cells   int            `json:"n_cells"`
	Others  int            `json:"n_others"`
	Layers  []LayerOverlap `json:"layers"`
	// For the forgotten type alone: the correlation of the logarithms, exact without dead
	// weights and as coded with them.
	LogR      float64 `json:"log_r"`
	CodedLogR float64 `json:"coded_log_r"`
	// Accuracy of a classifier on its training cells.
	Accuracy float64 `json:"accuracy"`
	// Points of Figure 3 (one model) and of Proposition 1 (the autoencoder).
	Points      *Points      `json:"points,omitempty"`
	Proposition *Proposition `json:"proposition,omitempty"`
}

// LayerOverlap is Overlap for one category of layers.
type LayerOverlap struct {
	Layer   string `json:"layer"`
	Weights int    `json:"weights"` // including dead tensors
	// Cosine is the exact estimator's. Random is that of as many random other cells against the
	// remaining others, Pairs that of two disjoint random sets, one value per draw.
	Cosine float64   `json:"cosine"`
	Random []float64 `json:"random"`
	Pairs  []float64 `json:"pairs,omitempty"`
	// The same as coded, and the effective ranks divided by the number of weights: exact for
	// both sets, as coded for the forgotten one. For the forgotten type alone.
	Coded       float64   `json:"coded"`
	CodedRandom []float64 `json:"coded_random,omitempty"`
	Rank        float64   `json:"rank"`
	OthersRank  float64   `json:"others_rank"`
	CodedRank   float64   `json:"coded_rank"`
	// The shares of the largest 1 % and 10 % of entries that both sets have in common.
	Top1           float64            `json:"top1"`
	Top10          float64            `json:"top10"`
	TopRandom      []fisher.TopShares `json:"top_random,omitempty"`
	CodedTop       fisher.TopShares   `json:"coded_top"`
	CodedTopRandom []fisher.TopShares `json:"coded_top_random,omitempty"`
}

// overlaps is the data behind the tables on Fisher information of one scale.
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
		Methods: overlapMethods,
		Others: []paper.Models{{Setting: of.narrow(seed), Methods: overlapMethods},
			{Setting: of.conditional().setting(seed), Methods: overlapMethods[:1]}, {Setting: of.deep(seed), Methods: overlapMethods}},
		Key:     func(c *lab.Case) store.Key { return overlapKey(l, c, of) },
		Cost:    func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows * (3*c.Fit.Epochs + 8*(6+codedDraws))) },
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
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: of.Label, Goal: c.Goal, Fit: c.Fit, Forget: forgottenClass(c.Setting),
		Narrow:     networkKeyOn(c, of.narrow(0).Model),
		Classifier: networkKeyOn(c, deep.Model), DeepFit: deep.Fit.WithDefaults(),
		Version: overlapVersion, Results: overlapResults,
	}
	return l.Key("evidence/fishing/overlap", c.Problem, config, map[string]int64{"train": int64(c.Seed), "split": lab.CellsSeed})
}

func overlapName(c Case, seed int) string {
	return fmt.Sprintf("evidence/fishing/overlap/%s/%s/seed-%d", c.DataSet(), forgottenClass(c.Setting), seed)
}

// The models that the lab trains: the original, and a retrained one as the control without the
// forget set.
var overlapMethods = []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}}

// networkKeyOn is the key of a network of the sizes of a case's data.
func networkKeyOn(c *lab.Case, n model.Network) lab.NetworkKey {
	arch, err := model.Fit(n, model.Sizes{Features: c.Problem.Train.X.Cols, Classes: c.Classes()})
	if err != nil {
		return lab.NetworkKey{Model: err.Error()}
	}
	return lab.NetworkKeyOf(arch)
}

// narrow is the case with a quarter of the latent variables. This turns the paper's first
// autoencoder into its second (8 of 32), except for the training: the paper also changes the
// rate, the warm-up, the free bits and the choice of the epoch.
func (c Case) narrow(seed int) lab.Setting {
	s := c.setting(seed)
	if m, ok := c.Model.(vae.Cells); ok {
		m.Latent = max(1, defaults.Fill(m).Latent/4)
		s.Model = m
	}
	return s
}

// deepEpochs is the number of epochs of the deep classifier. The program stops at a training
// accuracy of 95 %; the notes of the table state the accuracy here.
const deepEpochs = 20

// deep is the case of the paper's deep classifier of the types of the same cells. The program's
// weight decay of 0.01 is left out, because it would be part of every weight's gradient and so
// another difference from the autoencoder.
func (c Case) deep(seed int) lab.Setting {
	s := c.Setting
	s.Goal, s.Model, s.Seed = nil, deepClassifier, seed
	if c.Deep != nil {
		s.Model = c.Deep
	}
	s.Fit = train.Config{Epochs: cmp.Or(c.DeepEpochs, deepEpochs), Batch: c.Fit.Batch, Optimizer: nn.Adam{}}
	return s
}
