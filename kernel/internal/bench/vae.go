// lethe bench vae: training steps of the variational autoencoder of single cells.

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"

	"github.com/spf13/cobra"
)

// goalVAE is the greatest ratio of a training step to PyTorch's, goalPrivate of a private
// epoch to a plain one.
const (
	goalVAE     = 0.8
	goalPrivate = 2.5
)

// likelihoods are those of the network of single cells, by name.
var likelihoods = []string{"mse", "nb"}

// vaeRun is a comparison of training steps of the network of single cells.
type vaeRun struct {
	comparison
	batches     []int
	likelihoods []string
	private     bool
	nonzero     int // of a hundred counts
}

func newVAE() *cobra.Command {
	var v vaeRun
	c := &cobra.Command{
		Use:   "vae",
		Short: "Time training steps of the network of single cells, beside PyTorch if installed",
		Long: `Time a training step (Adam) of the variational autoencoder of single cells at the
paper's size: 2,000 genes, 7,349,984 weights, dropout and latent variables drawn.
The loss of the likelihood mse is the squared error; nb is negative binomial with a
dispersion per cell and gene.

With --peer PYTHON the same network trains in PyTorch with the same number of
threads; its negative binomial likelihood is scvi-tools' formula, in float32 as
there. Each side is a process of its own; they alternate. The output has medians
per step, their ratio (below 1: Lethe is faster) and the peak memory.

The counts are random. --nonzero of a hundred are not 0, on both sides; the default is
that of PBMC-3k's 2,000 most variable genes. Lethe's matrix products skip the zeros.

With --private the command times private training (DP-SGD: cells drawn one by one,
gradients clipped per cell, noise) beside Lethe's plain training.`,
		Example: "  lethe bench vae --peer python3\n  lethe bench vae --batches 512 --likelihoods nb --json\n" +
			"  lethe bench vae --engine xla --peer python3\n  lethe bench vae --private --batches 256 --steps 8",
	}
	v.commonFlags(c, 7)
	v.deviceFlags(c)
	c.Flags().IntSliceVar(&v.batches, "batches", []int{128, 512}, "cells per step, several separated by commas")
	c.Flags().StringSliceVar(&v.likelihoods, "likelihoods", likelihoods, "likelihoods, separated by commas")
	c.Flags().IntVar(&v.nonzero, "nonzero", 9, "how many of a hundred counts are not 0")
	c.Flags().BoolVar(&v.private, "private", false, "time private training beside plain training")
	c.Flags().IntVar(&v.steps, "steps", 16, "steps per repetition, which is an epoch (PBMC-3k has 20 of 128 cells)")
	asJSON := cli.JSONFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		limits := []limit{{"steps", v.steps, 1}, {"batches", len(v.batches), 1}, {"likelihoods", len(v.likelihoods), 1}}
		for _, n := range v.batches {
			limits = append(limits, limit{"batches", n, 1})
		}
		if err := v.check(cmd, args, limits...); err != nil {
			return err
		}
		if v.nonzero < 1 || v.nonzero > 99 {
			return cli.Usagef("--nonzero %d: counts of a hundred, from 1 to 99", v.nonzero)
		}
		for _, name := range v.likelihoods {
			if !slices.Contains(likelihoods, name) {
				return cli.Usagef("--likelihoods %q: there are mse and nb", name)
			}
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		title := fmt.Sprintf("Training step of cells of 2,000 genes, %d %% of the counts not 0, Adam; %d threads, %d repetitions of %d steps each",
			v.nonzero, v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, v.tasks())
	}
	return c
}

func (v *vaeRun) tasks() []task {
	var out []task
	for _, name := range v.likelihoods {
		for _, n := range v.batches {
			args := []string{name, strconv.Itoa(n), strconv.Itoa(v.steps), strconv.Itoa(v.nonzero)}
			if v.private {
				out = append(out, task{name: fmt.Sprintf("private, %s, %d cells", name, n), repeat: 1,
					letheArgs: append([]string{"private"}, args...), otherArgs: append([]string{"vae"}, args...),
					goals: []goal{{Of: goalRatio, AtMost: goalPrivate}}})
				continue
			}
			out = append(out, task{name: fmt.Sprintf("%s, %d cells", name, n), repeat: 1,
				letheArgs: append([]string{"vae"}, args...),
				script:    "vae.py", args: append(args, strconv.Itoa(v.threads)),
				goals: []goal{{Of: goalRatio, AtMost: goalVAE}}})
		}
	}
	return out
}

// vae trains the network on random counts.
func (d server) vae(ctx context.Context, args []string) error { return d.cells(ctx, args, nil) }

// private is vae with differential privacy.
func (d server) private(ctx context.Context, args []string) error {
	return d.cells(ctx, args, &train.Private{Norm: 1, Noise: 0.7})
}

// cells trains the network. An epoch has as many batches as a repetition has steps.
func (d server) cells(ctx context.Context, args []string, private *train.Private) error {
	n, err := positiveInts(args[1:]...)
	if err != nil {
		return err
	}
	rng := engine.Root(1).Stream(engine.StreamBench)
	f := cellsTraining(rng, args[0], n[0], n[1], n[2])
	f.private = private
	return d.serveTraining(ctx, f, rng)
}

// cellsTraining returns a training of the network on random counts, of which so many of a hundred
// are not 0.
func cellsTraining(rng *rand.Rand, likelihood string, batch, steps, nonzero int) timedTraining {
	m := vae.Cells{}
	x := randomCounts(rng, batch*steps, m.Inputs(), float64(nonzero)/100)
	library := array.New[float32](x.Rows, 1)
	for i := range x.Rows {
		for _, v := range x.Row(i) {
			library.Data[i] += v
		}
	}
	law := loss.Loss(loss.LibrarySquaredError{})
	if likelihood == "nb" {
		law = loss.NegativeBinomial{}
	}
	c := train.Config{Batch: batch, Optimizer: nn.Adam{LR: 1e-4}}
	return timedTraining{arch: m, x: x, config: c, warmupEpochs: 1, steps: steps, targets: []train.Target{
		{Loss: law, Inputs: map[string]array.Matrix[float32]{loss.Target: x, loss.Library: library}, Weight: 1},
		{Loss: loss.LatentDivergence{}, Weight: 1},
	}}
}

// randomCounts returns geometric counts, of which the given share is not 0, and at least one per
// row.
func randomCounts(rng *rand.Rand, rows, cols int, nonzero float64) array.Matrix[float32] {
	m := array.New[float32](rows, cols)
	for i := range m.Data {
		for rng.Float64() < nonzero {
			m.Data[i]++
		}
		if i%cols == 0 {
			m.Data[i]++
		}
	}
	return m
}
