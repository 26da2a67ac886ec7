// lethe bench vision: training steps of the image networks.

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"

	"github.com/spf13/cobra"
)

// goalsVision are the greatest ratios of a training step to PyTorch's.
var goalsVision = map[string]float64{vision.SmallCNN{}.Name(): 0.8, vision.AllCNN{}.Name(): 0.8, vision.ResNet18{}.Name(): 0.9}

// visionRun is a comparison of training steps of the image networks.
type visionRun struct {
	comparison
	networks []string
	batch    int
}

func newVision() *cobra.Command {
	var v visionRun
	c := &cobra.Command{
		Use:   "vision",
		Short: "Time training steps of the image networks, beside PyTorch if installed",
		Long: `Time a training step (SGD with momentum 0.9 and weight decay, batch normalisation
in training) of the image networks at full width: small-cnn on 28 x 28 x 1 pixels,
all-cnn and resnet-18 on 32 x 32 x 3.

With --peer PYTHON the same networks train in PyTorch with the same number of
threads. Each side is a process of its own; they alternate. The output has
medians per step, their ratio (below 1: Lethe is faster) and the peak memory.`,
		Example: "  lethe bench vision --peer python3\n  lethe bench vision --networks small-cnn --rounds 9 --json\n" +
			"  lethe bench vision --engine xla --peer python3",
	}
	v.commonFlags(c, 7)
	v.deviceFlags(c)
	c.Flags().StringSliceVar(&v.networks, "networks", []string{"small-cnn", "all-cnn", "resnet-18"}, "networks, separated by commas")
	c.Flags().IntVar(&v.batch, "batch", 32, "records per step")
	c.Flags().IntVar(&v.steps, "steps", 4, "steps per repetition")
	asJSON := cli.JSONFlag(c)
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := v.check(cmd, args, limit{"batch", v.batch, 2}, limit{"steps", v.steps, 1}, limit{"networks", len(v.networks), 1}); err != nil {
			return err
		}
		for _, name := range v.networks {
			if _, err := network(name); err != nil {
				return cli.Usagef("--networks %w", err)
			}
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		title := fmt.Sprintf("Training step of %d images, SGD; %d threads, %d repetitions of %d steps each", v.batch, v.threads, v.rounds, v.steps)
		return v.report(cmd, *asJSON, title, v.tasks())
	}
	return c
}

func (v *visionRun) tasks() []task {
	var out []task
	for _, name := range v.networks {
		batch, steps := strconv.Itoa(v.batch), strconv.Itoa(v.steps)
		out = append(out, task{name: name, repeat: 1,
			letheArgs: []string{"vision", name, batch, steps},
			script:    "vision.py", args: []string{name, batch, steps, strconv.Itoa(v.threads)},
			goals: []goal{{Of: goalRatio, AtMost: goalsVision[name]}}})
	}
	return out
}

// network returns the named network in its default setting, at full width.
func network(name string) (model.Architecture, error) {
	known := []model.Architecture{vision.SmallCNN{}, vision.AllCNN{}, vision.ResNet18{}}
	var names []string
	for _, a := range known {
		if a.Name() == name {
			return a, nil
		}
		names = append(names, a.Name())
	}
	return nil, fmt.Errorf("%q: there are %s", name, strings.Join(names, ", "))
}

// vision trains a network. An epoch has as many batches as a repetition has steps.
func (d server) vision(ctx context.Context, args []string) error {
	arch, err := network(args[0])
	if err != nil {
		return err
	}
	n, err := positiveInts(args[1:]...)
	if err != nil {
		return err
	}
	rng := engine.Root(1).Stream(engine.StreamBench)
	return d.serveTraining(ctx, imageTraining(rng, arch, n[0], n[1]), rng)
}

// imageTraining returns a training on random images.
func imageTraining(rng *rand.Rand, arch model.Architecture, batch, steps int) timedTraining {
	c := train.Config{Batch: batch, Optimizer: nn.SGD{LR: 0.01, Momentum: 0.9, WeightDecay: 5e-4}}
	return timedTraining{arch: arch, x: gaussian(rng, batch*steps, arch.Inputs()), config: c, warmupEpochs: 1, steps: steps}
}
