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

// goalVAE is how much longer than PyTorch a training step may take, goalPrivate how
// much longer than a plain epoch a private one.
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
		Short: "Time training steps of the network of single cells, beside PyTorch where you have it",
		Long: `Time a training step (Adam) of the variational autoencoder of single cells at the
paper's size: 2,000 genes, 7,349,984 weights, dropout and latent variables drawn.
With the likelihood mse it is the squared error, with nb the negative binomial one
with a dispersion per cell and gene.

With --peer PYTHON the same network trains in PyTorch with the same number of
threads; its negative binomial likelihood is scvi-tools' formula, in float32 as
there. Each side is a process of its own; they work in turns. Reported are medians
per step, their ratio (below 1: Lethe is faster) and the peak memory.

The counts are random. Of a hundred --nonzero are not 0, on both sides: as many as of
PBMC-3k's 2,000 most variable genes unless you say otherwise. Lethe's products go
without the zeros.

With --private it is private training (DP-SGD: cells drawn one by one, gradients
clipped cell by cell, noise) that is timed, beside plain training of Lethe's own.`,
		Example: "  lethe bench vae --peer python3\n  lethe bench vae --batches 512 --likelihoods nb --json\n" +
			"  lethe bench vae --engine xla --peer python3\n  lethe bench vae --private --batches 256 --steps 8",
	}
	v.flags(c, 7)
	v.places(c)
	c.Flags().IntSliceVar(&v.batches, "batches", []int{128, 512}, "cells per step, several separated by commas")
	c.Flags().StringSliceVar(&v.likelihoods, "likelihoods", likelihoods, "likelihoods, separated by commas")
	c.Flags().IntVar(&v.nonzero, "nonzero", 9, "counts of a hundred that are not 0")
	c.Flags().BoolVar(&v.private, "private", false, "private training beside plain training")
	c.Flags().IntVar(&v.steps, "steps", 16, "steps per turn, which is an epoch (PBMC-3k has 20 of 128 cells)")
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
		title := fmt.Sprintf("Training step of cells of 2,000 genes, %d %% of the counts not 0, Adam; %d threads, %d turns of %d steps each",
			v.nonzero, v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, v.tasks())
	}
	return c
}

func (v *vaeRun) tasks() []task {
	var out []task
	for _, name := range v.likelihoods {
		for _, n := range v.batches {
			of := []string{name, strconv.Itoa(n), strconv.Itoa(v.steps), strconv.Itoa(v.nonzero)}
			if v.private {
				out = append(out, task{name: fmt.Sprintf("private, %s, %d cells", name, n), repeat: 1,
					own: append([]string{"private"}, of...), beside: append([]string{"vae"}, of...),
					goals: []goal{{Of: ofRatio, AtMost: goalPrivate}}})
				continue
			}
			out = append(out, task{name: fmt.Sprintf("%s, %d cells", name, n), repeat: 1,
				own:    append([]string{"vae"}, of...),
				script: "vae.py", args: append(of, strconv.Itoa(v.threads)),
				goals: []goal{{Of: ofRatio, AtMost: goalVAE}}})
		}
	}
	return out
}

// vae trains the network on random counts.
func (d duty) vae(ctx context.Context, args []string) error { return d.cells(ctx, args, nil) }

// private is vae with differential privacy.
func (d duty) private(ctx context.Context, args []string) error {
	return d.cells(ctx, args, &train.Private{Norm: 1, Noise: 0.7})
}

// cells trains the network; an epoch has as many batches as a turn has steps.
func (d duty) cells(ctx context.Context, args []string, private *train.Private) error {
	n, err := counts(args[1:]...)
	if err != nil {
		return err
	}
	batch, steps, nonzero := n[0], n[1], n[2]
	rng, m := engine.Root(1).Stream(engine.StreamBench), vae.Cells{}
	x := random(rng, batch*steps, m.Inputs(), float64(nonzero)/100)
	library := array.New[float32](x.Rows, 1)
	for i := range x.Rows {
		for _, v := range x.Row(i) {
			library.Data[i] += v
		}
	}
	law := loss.Loss(loss.LibrarySquaredError{})
	if args[0] == "nb" {
		law = loss.NegativeBinomial{}
	}
	c := train.Config{Batch: batch, Optimizer: nn.Adam{LR: 1e-4}}
	return d.fit(ctx, fitting{arch: m, x: x, config: c, warm: 1, steps: steps, private: private, targets: []train.Target{
		{Loss: law, Inputs: map[string]array.Matrix[float32]{loss.Target: x, loss.Library: library}, Weight: 1},
		{Loss: loss.LatentDivergence{}, Weight: 1},
	}}, rng)
}

// random are geometric counts of which that share is not 0, and at least one in a row.
func random(rng *rand.Rand, rows, cols int, nonzero float64) array.Matrix[float32] {
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
