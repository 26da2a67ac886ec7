package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"

	"github.com/spf13/cobra"
)

// goalFT is how much longer than PyTorch a training step may take.
const goalFT = 1.0

// ftRun is a comparison of training steps of the FT-Transformer.
type ftRun struct {
	comparison
	batch, features int
}

func newFT() *cobra.Command {
	var v ftRun
	c := &cobra.Command{
		Use:   "ft",
		Short: "Time training steps of the FT-Transformer for tables, beside PyTorch where you have it",
		Long: `Time a training step (Adam) of RULER's FT-Transformer: width 128, four heads, three
blocks, dropout on attention weights and in the feed-forward layers.

With --peer PYTHON the same network trains in PyTorch, whose attention is its own
scaled_dot_product_attention, with the same number of threads. Each side is a process
of its own; they work in turns. Reported are medians per step, their ratio (below 1:
Lethe is faster) and the peak memory.`,
		Example: "  lethe bench ft --peer python3\n  lethe bench ft --columns 8 --batch 128 --json",
	}
	v.flags(c, 7)
	v.places(c)
	c.Flags().IntVar(&v.batch, "batch", 256, "records per step")
	c.Flags().IntVar(&v.features, "columns", 14, "columns of the table, each a token (14: Adult)")
	c.Flags().IntVar(&v.steps, "steps", 4, "steps per turn")
	asJSON := cli.JSONFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		return v.check(cmd, args, limit{"batch", v.batch, 1}, limit{"columns", v.features, 1}, limit{"steps", v.steps, 1})
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		title := fmt.Sprintf("Training step of an FT-Transformer on %d records of %d columns, Adam; %d threads, %d turns of %d steps each",
			v.batch, v.features, v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, []task{v.task()})
	}
	return c
}

func (v *ftRun) task() task {
	size := []string{strconv.Itoa(v.batch), strconv.Itoa(v.features), strconv.Itoa(v.steps)}
	return task{name: "ft-transformer", repeat: 1,
		own:    append([]string{"ft"}, size...),
		script: "ft.py", args: append(size, strconv.Itoa(v.threads)),
		goals: []goal{{Of: ofRatio, AtMost: goalFT}}}
}

// ft trains the network on random records; an epoch has as many batches as a turn has
// steps.
func (d duty) ft(ctx context.Context, args []string) error {
	n, err := counts(args...)
	if err != nil {
		return err
	}
	batch, features, steps := n[0], n[1], n[2]
	rng := engine.Root(1).Stream(engine.StreamBench)
	c := train.Config{Batch: batch, Optimizer: nn.Adam{}}
	arch := tabular.FTTransformer{Features: features, Outputs: 2}
	return d.fit(ctx, fitting{arch: arch, x: gaussian(rng, batch*steps, features), config: c, warm: 1, steps: steps}, rng)
}
