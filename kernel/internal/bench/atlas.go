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

// atlas goes once from counts to a training at the size of a set of cells.
type atlas struct {
	simulation cells.Simulation
	counting   *rand.Rand // draws the counts
	engine     string
	stages     []stage

	counts cells.Simulated
	kept   *cells.Chosen
	parts  *cells.Components
	places array.Matrix[float64]
	near   *cells.Neighbours // exact
	graph  array.Sparse[float64]
}

// stage is a step of the way and what it took.
type stage struct {
	Name    string  `json:"stage"`
	Seconds float64 `json:"seconds"`
	// Held is the memory that Go held when the stage was over, garbage not yet
	// collected included.
	Held uint64 `json:"bytes_held"`
	Note string `json:"note"`
}

// newAtlas makes lethe bench atlas.
func newAtlas() *cobra.Command {
	a := atlas{}
	a.simulation, a.counting = datacells.AtlasSimulation()
	c := &cobra.Command{
		Use:   "atlas",
		Short: "Time every step from counts to a trained network at the size of PBMC-33k",
		Long: `Draw the set simulated_atlas, which has the size of PBMC-33k, and go once through
every step of "Fishing for Privacy": cells and variable genes, components, exact neighbours,
their graph, communities, and an epoch of the paper's network on 85 % of the
cells. Reported are the seconds of each step and the memory held after it.`,
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

// run takes every step and names the engine.
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
		{"cells and genes chosen", a.choose}, {"components", a.components}, {"exact neighbours", a.neighbours},
		{"approximate neighbours", a.approximately}, {"graph", a.connect}, {"communities", a.communities},
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

// rng is the same in every run.
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
	a.places = array.New[float64](a.parts.Scores.Rows, used)
	for i := range a.places.Rows {
		copy(a.places.Row(i), a.parts.Scores.Row(i))
	}
	return fmt.Sprintf("%d, of which %d are used", a.parts.Scores.Cols, used), nil
}

func (a *atlas) neighbours() (note string, err error) {
	const k = 15
	a.near, err = cells.NearestOthers(a.places, k)
	return fmt.Sprintf("%d of every cell", k), err
}

// approximately is neighbours by a forest; nothing goes on with what it finds.
func (a *atlas) approximately() (string, error) {
	found, err := cells.Forest{}.NearestOthers(a.places, a.near.K)
	if err != nil {
		return "", err
	}
	hit := 0
	for i := range found.Rows {
		got, _ := found.Of(i)
		want, _ := a.near.Of(i)
		for _, j := range want {
			if slices.Contains(got, j) {
				hit++
			}
		}
	}
	return fmt.Sprintf("%.1f %% of them", 100*float64(hit)/float64(len(a.near.Index))), nil
}

func (a *atlas) connect() (note string, err error) {
	a.graph, err = a.near.Connectivities()
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

// train is an epoch of the paper's network with its optimiser and batches.
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
	p, history, err := train.Fit(ctx, r, arch.Init(a.rng()), o, c, train.Hooks{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d cells in %d steps, %d weights", x.Rows, history[0].Steps, weights(p)), nil
}

func (a *atlas) table(engine string) *report.Table {
	t := &report.Table{
		Title:   fmt.Sprintf("From counts to a network: simulated, %d cells x %d genes; %s", a.simulation.Cells, a.simulation.Genes, engine),
		Columns: []report.Column{{Name: "step"}, {Name: "time", Unit: "s"}, {Name: "memory held"}, {Name: "what"}},
		Notes:   []string{"Times are of one run: nothing is repeated. Memory is what Go held when a step was over; an XLA plugin's own is not in it."},
	}
	for _, s := range a.stages {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			report.Str(s.Name), report.Num(s.Seconds, 1), report.Str(cli.Bytes(int64(s.Held))), report.Str(s.Note)}})
	}
	return t
}
