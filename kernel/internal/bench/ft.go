// lethe bench ft: training steps of the FT-Transformer.

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"

	"github.com/spf13/cobra"
)

// goalFT is the greatest ratio of a training step to PyTorch's.
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
		Short: "Time training steps of the FT-Transformer for tables, beside PyTorch if installed",
		Long: `Time a training step (Adam) of RULER's FT-Transformer: width 128, four heads, three
blocks, dropout on attention weights and in the feed-forward layers.

With --peer PYTHON the same network trains in PyTorch, with its
scaled_dot_product_attention and the same number of threads. Each side is a process
of its own; they alternate. The output has medians per step, their ratio (below
1: Lethe is faster) and the peak memory.`,
		Example: "  lethe bench ft --peer python3\n  lethe bench ft --columns 8 --batch 128 --json",
	}
	v.commonFlags(c, 7)
	v.deviceFlags(c)
	c.Flags().IntVar(&v.batch, "batch", 256, "records per step")
	c.Flags().IntVar(&v.features, "columns", 14, "columns of the table, each a token (14: Adult)")
	c.Flags().IntVar(&v.steps, "steps", 4, "steps per repetition")
	asJSON := cli.JSONFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		return v.check(cmd, args, limit{"batch", v.batch, 1}, limit{"columns", v.features, 1}, limit{"steps", v.steps, 1})
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		title := fmt.Sprintf("Training step of an FT-Transformer on %d records of %d columns, Adam; %d threads, %d repetitions of %d steps each",
			v.batch, v.features, v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, []task{v.task()})
	}
	return c
}

func (v *ftRun) task() task {
	size := []string{strconv.Itoa(v.batch), strconv.Itoa(v.features), strconv.Itoa(v.steps)}
	return task{name: "ft-transformer", repeat: 1,
		letheArgs: append([]string{"ft"}, size...),
		script:    "ft.py", args: append(size, strconv.Itoa(v.threads)),
		goals: []goal{{Of: goalRatio, AtMost: goalFT}}}
}

// ft trains the network on random records. An epoch has as many batches as a repetition has steps.
func (d server) ft(ctx context.Context, args []string) error {
	n, err := positiveInts(args...)
	if err != nil {
		return err
	}
	rng := engine.Root(1).Stream(engine.StreamBench)
	return d.serveTraining(ctx, tableTraining(rng, tabular.FTTransformer{Features: n[1], Outputs: 2}, n[0], n[2]), rng)
}

// tableTraining returns a training on random records.
func tableTraining(rng *rand.Rand, arch model.Architecture, batch, steps int) timedTraining {
	c := train.Config{Batch: batch, Optimizer: nn.Adam{}}
	return timedTraining{arch: arch, x: gaussian(rng, batch*steps, arch.Inputs()), config: c, warmupEpochs: 1, steps: steps}
}
