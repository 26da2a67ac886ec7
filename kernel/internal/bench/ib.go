// lethe bench ib: training steps of the information bottleneck.

package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"

	"github.com/spf13/cobra"
)

// goalIB is the greatest ratio of a training step to PyTorch's.
const goalIB = 0.8

// ibRun is a comparison of training steps of the information bottleneck.
type ibRun struct {
	comparison
	batches []int
}

func newIB() *cobra.Command {
	var v ibRun
	c := &cobra.Command{
		Use:   "ib",
		Short: "Time training steps of BlindU's information bottleneck, beside PyTorch if installed",
		Long: `Time a training step of BlindU's information bottleneck for MNIST: two networks with
one hidden layer each, 90,636 weights, codes of 49 variables drawn anew in every
step, cross-entropy and the divergence of the codes, gradients clipped to norm 1,
Adam. The paper's batch has 20 images; a federated user's has 100.

With --peer PYTHON the same network trains in PyTorch with the same number of
threads. Each side is a process of its own; they alternate. The output has
medians per step, their ratio (below 1: Lethe is faster) and the peak memory.`,
		Example: "  lethe bench ib --peer python3\n  lethe bench ib --batches 20 --threads 1 --peer python3 --json",
	}
	v.commonFlags(c, 9)
	v.deviceFlags(c)
	c.Flags().IntSliceVar(&v.batches, "batches", []int{20, 100}, "images per step, several separated by commas")
	c.Flags().IntVar(&v.steps, "steps", 300, "steps per repetition")
	asJSON := cli.JSONFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		limits := []limit{{"steps", v.steps, 1}, {"batches", len(v.batches), 1}}
		for _, n := range v.batches {
			limits = append(limits, limit{"batches", n, 1})
		}
		return v.check(cmd, args, limits...)
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		title := fmt.Sprintf("Training step of an information bottleneck on images of 28 x 28, Adam; %d threads, %d repetitions of %d steps each",
			v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, v.tasks())
	}
	return c
}

func (v *ibRun) tasks() []task {
	var out []task
	for _, n := range v.batches {
		batch, steps := strconv.Itoa(n), strconv.Itoa(v.steps)
		out = append(out, task{name: batch + " images", repeat: 1,
			letheArgs: []string{"ib", batch, steps},
			script:    "ib.py", args: []string{batch, steps, strconv.Itoa(v.threads)},
			goals: []goal{{Of: goalRatio, AtMost: goalIB}}})
	}
	return out
}

// ib trains the network on random images. An epoch has as many batches as a repetition has steps.
func (d server) ib(ctx context.Context, args []string) error {
	n, err := positiveInts(args...)
	if err != nil {
		return err
	}
	batch, steps := n[0], n[1]
	rng, m := engine.Root(1).Stream(engine.StreamBench), ib.Bottleneck{}
	x := array.New[float32](batch*steps, m.Inputs())
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	c := train.Config{Batch: batch, Optimizer: nn.Adam{}, Clip: 1}
	codes := train.Target{Loss: loss.LatentDivergence{}, Weight: 1e-3 / float64(m.Returns()[1].Width)}
	return d.serveTraining(ctx, timedTraining{arch: m, x: x, config: c, warmupEpochs: 1, steps: steps,
		targets: append(randomLabels(rng, x.Rows, m.Classes()), codes)}, rng)
}
