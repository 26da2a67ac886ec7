// lethe bench text: training steps of BERT.

package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"

	"github.com/spf13/cobra"
)

// goalText is the greatest ratio of a training step to PyTorch's, goalTextMemory that of the peak memory.
const goalText, goalTextMemory = 0.8, 0.5

// textRun is a comparison of training steps of masked language modelling.
type textRun struct {
	comparison
	batch, tokens int
}

func newText() *cobra.Command {
	var v textRun
	c := &cobra.Command{
		Use:   "text",
		Short: "Time training steps of masked language modelling, beside PyTorch if installed",
		Long: `Time a training step (AdamW) of BERT with the sizes of MiniLM-L6 (6 layers of width 384,
30,522 tokens), which predicts 15 % of the tokens of random texts without padding.

With --peer PYTHON the same network trains in PyTorch, with its
scaled_dot_product_attention, a head that computes the hidden tokens only and the same
number of threads. Each side is a process of its own; they alternate. The output has
medians per step, their ratio (below 1: Lethe is faster) and the peak memory.`,
		Example: "  lethe bench text --peer python3\n  lethe bench text --tokens 128 --batch 8 --json",
	}
	v.commonFlags(c, 5)
	v.deviceFlags(c)
	c.Flags().IntVar(&v.batch, "batch", 16, "texts per step")
	c.Flags().IntVar(&v.tokens, "tokens", 64, "tokens of a text")
	c.Flags().IntVar(&v.steps, "steps", 24, "steps per repetition")
	asJSON := cli.JSONFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := (text.BERT{Tokens: v.tokens}).Check(); err != nil {
			return cli.Usagef("--tokens %d: %v", v.tokens, err)
		}
		return v.check(cmd, args, limit{"batch", v.batch, 1}, limit{"tokens", v.tokens, 8}, limit{"steps", v.steps, 1})
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		title := fmt.Sprintf("Training step of BERT (6 x 384) on %d texts of %d tokens, AdamW; %d threads, %d repetitions of %d steps each",
			v.batch, v.tokens, v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, []task{v.task()})
	}
	return c
}

func (v *textRun) task() task {
	size := []string{strconv.Itoa(v.batch), strconv.Itoa(v.tokens), strconv.Itoa(v.steps)}
	return task{name: "bert", repeat: 1,
		letheArgs: append([]string{"text"}, size...),
		script:    "text.py", args: append(size, strconv.Itoa(v.threads)),
		goals: []goal{{Of: goalRatio, AtMost: goalText}, {Of: goalMemory, AtMost: goalTextMemory}}}
}

// text trains the network on random tokens. An epoch has as many batches as a repetition has steps.
func (d server) text(ctx context.Context, args []string) error {
	n, err := positiveInts(args...)
	if err != nil {
		return err
	}
	batch, tokens, steps := n[0], n[1], n[2]
	const mask, cls, sep, first = 103, 101, 102, 1000 // as in published vocabularies; before first there are signs
	rng, m := engine.Root(1).Stream(engine.StreamBench), text.BERT{Tokens: tokens}
	texts := make([][]int, batch*steps)
	for i := range texts {
		texts[i] = make([]int, tokens)
		for k := range texts[i] {
			texts[i][k] = first + rng.IntN(m.VocabularySize()-first)
		}
		texts[i][0], texts[i][tokens-1] = cls, sep
	}
	x, err := m.Records(texts)
	if err != nil {
		return err
	}
	c := train.Config{Batch: batch, Optimizer: nn.AdamW{LR: 5e-5, WeightDecay: 0.01}}
	return d.serveTraining(ctx, timedTraining{arch: m, x: x, config: c, warmupEpochs: 1, steps: steps,
		augment: m.Masking(engine.Root(1), mask, cls, sep), targets: []train.Target{{Loss: m.Loss(), Weight: 1}}}, rng)
}
