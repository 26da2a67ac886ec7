package fishing

// The table of the Gaussian mixture.

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/utility"
)

var mixture = paper.Recipe{
	ID:    "fishing/mixture",
	Title: "Fishing, the toy of the paper's program. A mixture of Gaussians: is there anything to find?",
	Doc: "6,000 records of three Gaussians in five dimensions, one of which is forgotten. The program's attackers find nothing, in any model, and it gives " +
		"up the toy. A fit of a Gaussian's mean shows why: with n members in d dimensions the AUC of the density that was fitted is I_x(d/2, d/2) at " +
		"x = (n + 1)/2n, the regularised incomplete beta function, between a member and a record that the mean was fitted without. " +
		"That is one half but for 0.0005 in the toy, and 0.93 where 30 cells of 2,000 genes are fitted: what is to be found depends on how " +
		"many members there are for each dimension.",
}

// expectedAUC is the AUC of the density of a Gaussian with known variance whose mean was fitted
// to n members in d dimensions: members against other records of the same distribution. A
// member's difference from the mean has variance 1 - 1/n, another record's 1 + 1/n,
// independently, so that the ratio of squares follows F(d, d).
func expectedAUC(n, d int) float64 {
	half := float64(d) / 2
	return mathext.RegIncBeta(half, half, (float64(n)+1)/(2*float64(n)))
}

// fittedGaussians are the fits of the table: numbers of members and dimensions, the first those
// of the mixture.
var fittedGaussians = []struct{ members, dimensions int }{{1600, 5}, {100, 5}, {30, 5}, {10, 5}, {30, 100}, {30, 2000}}

const (
	fitDraws    = 300 // of every fit
	mixtureSize = 6000
	mixtureDims = 5
	// mixtureResults is the version of this table's numbers.
	mixtureResults = 2
)

// fitAUC are the AUCs of a fit's density, and of a mean fitted to other records, with as many
// non-members as members.
func fitAUC(n, d int, rng *rand.Rand) (met, unmet float64, err error) {
	draw := func() array.Matrix[float64] {
		m := array.New[float64](n, d)
		for i := range m.Data {
			m.Data[i] = rng.NormFloat64()
		}
		return m
	}
	members, nonmembers := draw(), draw()
	density := func(of, x array.Matrix[float64]) []float64 {
		mean, out := make([]float64, d), make([]float64, n)
		for i := range n {
			for j, v := range of.Row(i) {
				mean[j] += v / float64(n)
			}
		}
		for i := range n {
			for j, v := range x.Row(i) {
				out[i] -= float64((v - mean[j]) * (v - mean[j]))
			}
		}
		return out
	}
	if met, err = stats.AUC(density(members, members), density(members, nonmembers)); err != nil {
		return 0, 0, err
	}
	others := draw()
	unmet, err = stats.AUC(density(others, members), density(others, nonmembers))
	return met, unmet, err
}

// mixtureStudy are the records of the mixture in the program's split.
type mixtureStudy struct {
	x                      array.Matrix[float32]
	forget, retain, unseen []int // unseen: of the forgotten component
	runner                 *model.Runner
	fit                    train.Config
}

// mixtureMeans are the program's, each with variance one half.
var mixtureMeans = [][]float64{{0, 0}, {5, 0}, {2.5, 5}}

func newMixtureStudy(e *engine.Engine, seed int) (*mixtureStudy, error) {
	rng := engine.Root(seed).Stream(engine.StreamMixture, 0)
	t := &mixtureStudy{x: array.New[float32](mixtureSize, mixtureDims)}
	for i := range mixtureSize {
		k := rng.IntN(len(mixtureMeans))
		for j := range mixtureDims {
			at := 0.0
			if j < len(mixtureMeans[k]) {
				at = mixtureMeans[k][j]
			}
			t.x.Row(i)[j] = float32(at + float64(0.7071067811865476*rng.NormFloat64()))
		}
		switch trained := i < mixtureSize*8/10; {
		case trained && k == 0:
			t.forget = append(t.forget, i)
		case trained:
			t.retain = append(t.retain, i)
		case k == 0:
			t.unseen = append(t.unseen, i)
		}
	}
	t.fit = train.Config{Epochs: 100, Batch: 256, Optimizer: nn.Adam{LR: 1e-3}, Seed: engine.Root(seed)}
	r, err := model.NewRunner(e, vae.Gaussian{Features: mixtureDims, Hidden: 64, Latent: 2})
	t.runner = r
	return t, err
}

// objective is the program's, with a decoder of variance one.
func (t *mixtureStudy) objective(d unlearn.Data) (train.Objective, error) {
	return train.Objective{{Name: "records", X: d.X, IDs: d.IDs, Targets: []train.Target{{
		Loss: loss.GaussianELBO{}, Inputs: map[string]array.Matrix[float32]{loss.Target: d.X}, Weight: 1}}}}, nil
}

func (t *mixtureStudy) data(rows []int) unlearn.Data {
	return unlearn.Data{X: t.x.Gather(rows), IDs: rows}
}

// trainWeights trains a model on some records.
func (t *mixtureStudy) trainWeights(ctx context.Context, rows []int, seed engine.Root) (nn.Params, error) {
	o, err := t.objective(t.data(rows))
	if err != nil {
		return nil, err
	}
	c := t.fit
	c.Seed = seed
	p, _, err := train.Fit(ctx, t.runner, model.InitialWeights(t.runner.Arch, seed.Stream(engine.StreamInit)), o, c, train.Hooks{})
	return p, err
}

// mixtureSeed is added to a seed for the other oracle.
const mixtureSeed = 10_000

// mixtureAscent is what the program calls Fisher scrubbing here: 50 steps of Adam that increase
// the loss of the forgotten records, then 20 epochs of fine-tuning.
const mixtureAscent = "ascent by Adam, fine-tuning"

// models are the models of the table, in its order.
func (t *mixtureStudy) models(ctx context.Context, seed int) ([]mixtureModel, error) {
	root := engine.Root(seed)
	original, err := t.trainWeights(ctx, append(append([]int(nil), t.forget...), t.retain...), root)
	if err != nil {
		return nil, err
	}
	out := []mixtureModel{{Original, true, original}}
	for _, m := range []struct {
		label string
		seed  engine.Root
	}{{Retrained, root}, {OtherSeed, root + mixtureSeed}} {
		w, err := t.trainWeights(ctx, t.retain, m.seed)
		if err != nil {
			return nil, err
		}
		out = append(out, mixtureModel{m.label, true, w})
	}
	request := unlearn.Request{Runner: t.runner, Original: original, Forget: t.data(t.forget), Retain: t.data(t.retain), Objective: t.objective, Fit: t.fit,
		Seed: root + 1}
	scrubbed, _, err := unlearn.Apply(ctx, unlearn.FisherScrub{Sum: true}, request)
	if err != nil {
		return nil, err
	}
	up, _, err := unlearn.Apply(ctx, unlearn.GradientAscent{Epochs: 50, LR: 1e-3}, request)
	if err != nil {
		return nil, err
	}
	request.Original, request.Batch = up, t.fit.Batch
	tuned, _, err := unlearn.Apply(ctx, unlearn.RetainTuning{Epochs: 20}, request)
	if err != nil {
		return nil, err
	}
	return append(out, mixtureModel{FisherSum, false, scrubbed}, mixtureModel{mixtureAscent, false, tuned}), nil
}

type mixtureModel struct {
	label   string
	control bool
	weights nn.Params
}

// attackAUCs are the AUCs of the loss (low for members) and of the cross-fitted attacker.
func (t *mixtureStudy) attackAUCs(ctx context.Context, e *engine.Engine, w nn.Params, seed int) (byLoss, fair float64, err error) {
	var known [2]array.Matrix[float64]
	var scores [2][]float64
	for k, rows := range [][]int{t.forget, t.unseen} {
		x := t.x.Gather(rows)
		p, err := t.runner.Predict(w, x)
		if err != nil {
			return 0, 0, err
		}
		mu, logVar := p.Outputs[loss.LatentMean], p.Outputs[loss.LatentLogVar]
		divergence, err := utility.Divergences(mu, logVar)
		if err != nil {
			return 0, 0, err
		}
		recon, out := make([]float64, x.Rows), p.Outputs[nn.Output]
		for i := range x.Rows {
			for j, v := range x.Row(i) {
				d := float64(v) - float64(out.Row(i)[j])
				recon[i] += float64(d*d) / 2
			}
			scores[k] = append(scores[k], -recon[i]-divergence[i])
		}
		if known[k], err = features.Full(features.Posterior{Recon: recon, KL: divergence, Mu: mu, LogVar: logVar}); err != nil {
			return 0, 0, err
		}
	}
	if byLoss, err = stats.AUC(scores[0], scores[1]); err != nil {
		return 0, 0, err
	}
	q := learned.Target{Model: learned.Records{Members: known[0], Nonmembers: known[1]}}
	r, err := learned.CrossFitted(nil).Run(ctx, e, q, engine.Root(attackSeed+seed))
	if err != nil {
		return 0, 0, err
	}
	return byLoss, r.AUC.Value, nil
}

// makeMixture makes the table; everything is computed anew.
func makeMixture(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return nil, err
	}
	seeds := max(3, s.Seeds)
	t := &report.Table{
		ID: mixture.ID, Title: mixture.Title, Caption: mixture.Doc,
		Provenance: (&paper.Evidence[Row]{}).Provenance(e, mixture.ID, scale, mixtureResults, seeds),
		Columns: []report.Column{
			{Name: "model"}, {Name: "members"}, {Name: "non-members"},
			{Name: "AUC, loss", Note: "a fit's density, or an autoencoder's loss, low for a member; null 0.5; mean with its 95 % interval"},
			{Name: "AUC, cross-fitted", Note: "ours, of the autoencoder's features; null 0.5"},
			{Name: "closed form", Note: "of the fit's density"},
			{Name: "paper", Note: "not in the paper, in its program's recorded outputs: one model, logistic regression on five features"},
		},
		Notes: []string{
			fmt.Sprintf("Fits: %d draws each, as many non-members as members; variances are known. A mean that others were fitted to is "+
				"the oracle: the roles are exchangeable.", fitDraws),
			fmt.Sprintf("Autoencoders: %d draws with a model each, of three components with the program's means and variance; a hidden "+
				"layer of 64 units on either side, two latent "+
				"variables, 100 epochs, a decoder of variance one, where the program's learns its own. Non-members are the unseen records "+
				"of the forgotten component. "+
				"Its extra-gradient here is another method than elsewhere, with a critic of its own, and is left out (0.498*).", seeds),
		},
	}
	for k, f := range fittedGaussians {
		rows, err := fitRows(f.members, f.dimensions, func(draw int) *rand.Rand {
			return engine.Root(e.Shift).Stream(engine.StreamMixture, 1, uint64(k), uint64(draw))
		})
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, rows...)
	}
	rows, err := autoencoderRows(ctx, e, seeds)
	t.Rows = append(t.Rows, rows...)
	return &paper.Output{Table: t}, err
}

// fitRows are the rows of a fit: with the members' own mean, and with the mean of others.
func fitRows(n, d int, rng func(draw int) *rand.Rand) ([]report.Row, error) {
	var met, unmet []float64
	for draw := range fitDraws {
		a, b, err := fitAUC(n, d, rng(draw))
		if err != nil {
			return nil, err
		}
		met, unmet = append(met, a), append(unmet, b)
	}
	count := report.Num(float64(n), 0)
	row := func(label string, auc []float64, closed float64) report.Row {
		return report.Row{Group: fmt.Sprintf("a fitted mean, %d dimensions", d), Kind: report.Control, Cells: []report.Cell{report.Str(label), count, count,
			report.Est(stats.MeanInterval(auc, 0.95, "draws").ClampedTo(0, 1), 3), report.Gap("not asked"), report.Num(closed, 4), report.Str("")}}
	}
	return []report.Row{row("fit to the members", met, expectedAUC(n, d)), row("fit to others", unmet, 0.5)}, nil
}

// recordedMixture are the AUCs in the program's outputs.
func recordedMixture(model string) string {
	return map[string]string{Original: "0.501*", Retrained: "0.501*", mixtureAscent: "0.508*"}[model]
}

// autoencoderRows are the rows of the autoencoders.
func autoencoderRows(ctx context.Context, e *paper.Env, seeds int) ([]report.Row, error) {
	type found struct{ members, others, byLoss, fair []float64 }
	by, order := map[string]*found{}, []mixtureModel(nil)
	for seed := range seeds {
		seed += e.Shift
		t, err := newMixtureStudy(e.Engine, seed)
		if err != nil {
			return nil, err
		}
		models, err := t.models(ctx, seed)
		if err != nil {
			return nil, err
		}
		order = models
		for _, m := range models {
			byLoss, fair, err := t.attackAUCs(ctx, e.Engine, m.weights, seed)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.label, err)
			}
			if by[m.label] == nil {
				by[m.label] = &found{}
			}
			f := by[m.label]
			f.members, f.others = append(f.members, float64(len(t.forget))), append(f.others, float64(len(t.unseen)))
			f.byLoss, f.fair = append(f.byLoss, byLoss), append(f.fair, fair)
		}
	}
	var out []report.Row
	for _, m := range order {
		f := by[m.label]
		over := func(x []float64) report.Cell {
			return report.Est(stats.MeanInterval(x, 0.95, stats.OverModels).ClampedTo(0, 1), 3)
		}
		row := report.Row{Group: fmt.Sprintf("an autoencoder, %d dimensions", mixtureDims), Cells: []report.Cell{report.Str(m.label),
			report.Num(meanOf(f.members), 0), report.Num(meanOf(f.others), 0), over(f.byLoss), over(f.fair),
			report.Gap("none"), report.Str(recordedMixture(m.label))}}
		if m.control {
			row.Kind = report.Control
		}
		out = append(out, row)
	}
	return out, nil
}

// mixtureRecipe is the recipe of the mixture, which stores nothing.
func mixtureRecipe(r paper.Recipe) paper.Recipe {
	r.Make = makeMixture
	return r
}
