// lethe bench atlas: the steps from counts to a trained network.

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/utility"

	"github.com/spf13/cobra"
)

// atlas is one run from counts to a training at the size of a set of cells.
type atlas struct {
	simulation cells.Simulation
	counting   *rand.Rand // draws the counts
	engine     string
	stages     []stage

	counts  cells.Simulated
	kept    *cells.Chosen
	parts   *cells.Components
	scores  array.Matrix[float64]
	nearest *cells.Neighbours // exact
	graph   array.Sparse[float64]
}

// stage is a step of the run with its time and memory.
type stage struct {
	Name    string  `json:"stage"`
	Seconds float64 `json:"seconds"`
	// Held is the memory that Go held after the stage, including garbage that was
	// not yet collected.
	Held uint64 `json:"bytes_held"`
	Note string `json:"note"`
}

// newAtlas returns the command lethe bench atlas.
func newAtlas() *cobra.Command {
	a := atlas{}
	a.simulation, a.counting = datacells.AtlasSimulation()
	c := &cobra.Command{
		Use:   "atlas",
		Short: "Time every step from counts to a trained network at the size of PBMC-33k",
		Long: `Draw the set simulated_atlas, which has the size of PBMC-33k, and run every step of
"Fishing for Privacy" once: cells and variable genes, principal components, exact
neighbours, their graph, communities, and an epoch of the paper's network on 85 % of
the cells. The output has the seconds of each step and the memory held after it.`,
		Example: "  lethe bench atlas\n  lethe bench atlas --cells 4000 --genes 8000 --json",
		Args:    cobra.NoArgs,
	}
	c.Flags().IntVar(&a.simulation.Cells, "cells", a.simulation.Cells, "cells")
	c.Flags().IntVar(&a.simulation.Genes, "genes", a.simulation.Genes, "genes")
	c.Flags().StringVar(&a.engine, "engine", "auto", "engine that trains")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if a.simulation.Cells < 500 || a.simulation.Genes < 3000 {
			return cli.Usagef("--cells %d --genes %d: expected at least 500 and 3000", a.simulation.Cells, a.simulation.Genes)
		}
		info, err := a.run(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), a.stages)
		}
		return a.table(info).Text(cmd.OutOrStdout())
	}
	return c
}

// run runs every step and returns a description of the engine.
func (a *atlas) run(ctx context.Context) (string, error) {
	e, err := engine.Open(a.engine)
	if err != nil {
		return "", err
	}
	defer e.Close()
	for _, s := range []struct {
		name string
		do   func() (string, error)
	}{
		{"counts drawn", func() (string, error) { return a.draw(ctx) }},
		{"cells and genes chosen", a.choose}, {"components", a.components}, {"exact neighbours", a.exactNeighbours},
		{"approximate neighbours", a.approximateNeighbours}, {"graph", a.buildGraph}, {"communities", a.communities},
		{"an epoch", func() (string, error) { return a.train(ctx, e) }},
	} {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		began := time.Now()
		note, err := s.do()
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		a.stages = append(a.stages, stage{s.name, time.Since(began).Seconds(), m.HeapSys - m.HeapReleased, note})
	}
	return fmt.Sprintf("%s, %d threads", e.Info(), e.Cores()), nil
}

// rng returns the same generator in every run.
func (a *atlas) rng() *rand.Rand { return engine.Root(1).Stream(engine.StreamBench) }

func (a *atlas) draw(ctx context.Context) (string, error) {
	m, err := a.simulation.Draw(ctx, a.counting)
	if err != nil {
		return "", err
	}
	a.counts = *m
	return fmt.Sprintf("%d cells x %d genes, %d counts above 0", m.Counts.Rows, m.Counts.Cols, len(m.Counts.Values)), nil
}

func (a *atlas) choose() (note string, err error) {
	if a.kept, err = (cells.Choice{OnCounts: true}).Choose(a.counts.Counts, a.counts.Genes); err != nil {
		return "", err
	}
	a.counts.Counts = array.Sparse[float32]{}
	return fmt.Sprintf("%d cells, %d genes", len(a.kept.Cells), len(a.kept.Genes)), nil
}

func (a *atlas) components() (note string, err error) {
	a.parts, err = cells.PCA{}.Sparse(a.kept.Logged)
	if err != nil {
		return "", err
	}
	const used = 30
	a.scores = array.New[float64](a.parts.Scores.Rows, used)
	for i := range a.scores.Rows {
		copy(a.scores.Row(i), a.parts.Scores.Row(i))
	}
	return fmt.Sprintf("%d, of which %d are used", a.parts.Scores.Cols, used), nil
}

func (a *atlas) exactNeighbours() (note string, err error) {
	const k = 15
	a.nearest, err = cells.NearestOthers(a.scores, k)
	return fmt.Sprintf("%d of every cell", k), err
}

// approximateNeighbours finds neighbours by a forest and returns its recall; the next steps use
// the exact ones.
func (a *atlas) approximateNeighbours() (string, error) {
	found, err := cells.Forest{}.NearestOthers(a.scores, a.nearest.K)
	if err != nil {
		return "", err
	}
	hit := 0
	for i := range found.Rows {
		got, _ := found.Row(i)
		want, _ := a.nearest.Row(i)
		for _, j := range want {
			if slices.Contains(got, j) {
				hit++
			}
		}
	}
	return fmt.Sprintf("%.1f %% of them", 100*float64(hit)/float64(len(a.nearest.Index))), nil
}

func (a *atlas) buildGraph() (note string, err error) {
	a.graph, err = a.nearest.Connectivities()
	return fmt.Sprintf("%d edges", len(a.graph.Values)/2), err
}

func (a *atlas) communities() (string, error) {
	found, err := cells.Leiden{}.Clusters(a.graph, a.rng())
	if err != nil {
		return "", err
	}
	types := make([]int, len(a.kept.Cells))
	for k, i := range a.kept.Cells {
		types[k] = a.counts.Type[i]
	}
	agreement, err := stats.AdjustedRandIndex(found, types)
	return fmt.Sprintf("%d, adjusted Rand index %.2f with the planted types", slices.Max(found)+1, agreement), err
}

// train trains the paper's network for an epoch, with its optimiser and batch size.
func (a *atlas) train(ctx context.Context, e *engine.Engine) (string, error) {
	x := a.kept.Logged.Dense()
	x.Rows = x.Rows * 85 / 100
	x.Data = x.Data[:x.Rows*x.Cols]
	arch := vae.Cells{Genes: x.Cols}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		return "", err
	}
	library := array.Convert[float32](array.Matrix[float64]{Rows: x.Rows, Cols: 1, Data: utility.LibrarySizes(x)})
	o := train.Objective{{Name: "cells", X: x, Targets: []train.Target{
		{Loss: loss.LibrarySquaredError{}, Inputs: map[string]array.Matrix[float32]{loss.Target: x, loss.Library: library}, Weight: 1},
		{Loss: loss.LatentDivergence{}, Weight: 1},
	}}}
	c := train.Config{Epochs: 1, Batch: 256, Optimizer: nn.Adam{LR: 1e-4}}
	p, history, err := train.Fit(ctx, r, model.InitialWeights(arch, a.rng()), o, c, train.Hooks{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d cells in %d steps, %d weights", x.Rows, history[0].Steps, weights(p)), nil
}

func (a *atlas) table(engine string) *report.Table {
	t := &report.Table{
		Title:   fmt.Sprintf("From counts to a network: simulated, %d cells x %d genes; %s", a.simulation.Cells, a.simulation.Genes, engine),
		Columns: []report.Column{{Name: "step"}, {Name: "time", Unit: "s"}, {Name: "memory held"}, {Name: "what"}},
		Notes:   []string{"Times are of a single run. Memory is what Go held after a step, without that of an XLA plugin."},
	}
	for _, s := range a.stages {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			report.Str(s.Name), report.Num(s.Seconds, 1), report.Str(cli.Bytes(int64(s.Held))), report.Str(s.Note)}})
	}
	return t
}
