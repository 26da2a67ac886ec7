package fishing

// A small autoencoder for notebooks.

import (
	"cmp"
	"context"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/utility"
)

// Autoencoder is a network trained on the simulated cells, for notebooks that explain such a
// network.
type Autoencoder struct {
	*lab.Case
	Weights nn.Params
	Unseen  *model.Prediction // outputs on the cells that it was not trained on
}

// smallAutoencoder is the case of a small network: with more genes and fewer units than at scale
// quick, it learns the common structure of the types in a few epochs.
func smallAutoencoder() Case {
	c := simulated()
	c.genes(500)
	c.Fit.Epochs, c.Fit.Batch, c.LR = 60, 64, 1e-3
	c.Model = vae.Cells{Hidden: []int{64, 32}, Latent: 8}
	return c
}

// TrainAutoencoder trains the network with a seed, or finds it in the store. change, if not nil,
// changes its setting.
func TrainAutoencoder(ctx context.Context, l *lab.Lab, seed int, change func(*lab.Setting)) (*Autoencoder, error) {
	s := smallAutoencoder().setting(seed)
	if change != nil {
		change(&s)
	}
	c, err := l.Case(ctx, s)
	if err != nil {
		return nil, err
	}
	w, _, err := c.Weights(ctx, unlearn.NoOp{})
	if err != nil {
		return nil, err
	}
	p, err := c.Runner.Predict(w, c.Test.X)
	return &Autoencoder{c, w, p}, err
}

// Losses are the reconstruction losses of unseen cells, with library size, and their
// divergences.
func (a *Autoencoder) Losses() (recon, divergence []float64, err error) {
	if recon, err = utility.SquaredErrors(a.Unseen.Outputs[loss.Proportion], a.Test.X, utility.LibrarySizes(a.Test.X)); err != nil {
		return nil, nil, err
	}
	divergence, err = utility.Divergences(a.Means(), a.Unseen.Outputs[loss.LatentLogVar])
	return recon, divergence, err
}

// Means are the latent means of unseen cells, a row per cell.
func (a *Autoencoder) Means() array.Matrix[float32] { return a.Unseen.Outputs[loss.LatentMean] }

// Summary is the mean over unseen cells of both losses, and the silhouette of the cell types.
func (a *Autoencoder) Summary() (recon, divergence, silhouette float64, err error) {
	r, d, err := a.Losses()
	if err != nil {
		return 0, 0, 0, err
	}
	if recon, err = stats.Mean(r); err != nil {
		return 0, 0, 0, err
	}
	if divergence, err = stats.Mean(d); err != nil {
		return 0, 0, 0, err
	}
	silhouette, err = utility.Silhouette(array.Convert[float64](a.Means()), a.Test.Y)
	return recon, divergence, silhouette, err
}

// DivergenceByVariable is the mean divergence of unseen cells in every latent variable.
func (a *Autoencoder) DivergenceByVariable() ([]float64, error) {
	mean, logVar := a.Means(), a.Unseen.Outputs[loss.LatentLogVar]
	out := make([]float64, mean.Cols)
	for k := range out {
		column := func(m array.Matrix[float32]) array.Matrix[float32] {
			c := array.New[float32](m.Rows, 1)
			for i := range m.Rows {
				c.Data[i] = m.Row(i)[k]
			}
			return c
		}
		of, err := utility.Divergences(column(mean), column(logVar))
		if err != nil {
			return nil, err
		}
		if out[k], err = stats.Mean(of); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Threshold is the AUC of a threshold on the reconstruction loss of the network with these
// weights: cells to forget, as members, against all unseen cells. bare leaves out the library
// size, as the published program does. Null: 0.5.
func (a *Autoencoder) Threshold(w nn.Params, bare bool) (float64, error) {
	lower := func(part datasets.Part) ([]float64, error) {
		s, err := predictCells(a.Runner, w, part)
		out := s.recon
		if bare {
			out = s.bare
		}
		for i, v := range out {
			out[i] = -v
		}
		return out, err
	}
	members, err := lower(a.Problem.Train.Gather(a.Forget))
	if err != nil {
		return 0, err
	}
	others, err := lower(a.Test)
	if err != nil {
		return 0, err
	}
	return stats.AUC(members, others)
}

// Plane shows unseen cells by their first two latent means, coloured by type, common types
// first.
func (a *Autoencoder) Plane(title string) plot.Scatter {
	f := plot.Scatter{Meta: plot.Meta{Title: title}, X: plot.Axis{Label: "first latent mean"}, Y: plot.Axis{Label: "second latent mean"}}
	for class, name := range a.About.Classes {
		cloud := plot.Cloud{Name: name}
		for i, y := range a.Test.Y {
			if y == class {
				cloud.X, cloud.Y = append(cloud.X, float64(a.Means().Row(i)[0])), append(cloud.Y, float64(a.Means().Row(i)[1]))
			}
		}
		if len(cloud.X) > 0 {
			f.Clouds = append(f.Clouds, cloud)
		}
	}
	slices.SortStableFunc(f.Clouds, func(a, b plot.Cloud) int { return cmp.Compare(len(b.X), len(a.X)) })
	return f
}
