// lethe bench device: epochs of training on a device, beside PyTorch and JAX.

package bench

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

// torchWays are PyTorch's ways to train.
var torchWays = []string{"eager", "compile", "graph"}

// deviceBench is a comparison of epochs on a device.
type deviceBench struct {
	comparison
	networks      []string
	batch, epochs int
	ways          []string // PyTorch's
	deterministic bool     // PyTorch's deterministic algorithms too
	asDevice      bool     // treat the engine as one with separate memory
	missing       map[string]bool
}

func newDevice() *cobra.Command {
	v := deviceBench{missing: map[string]bool{}}
	c := &cobra.Command{
		Use:   "device",
		Short: "Time epochs of training on a GPU, beside PyTorch and JAX if installed",
		Long: `Time the steps of an epoch on a device with its own memory, such as a GPU: records and weights are
on the device, and an epoch is one execution. Records are random, their order new in every epoch:

  mlp             RULER's MLP, 256 records of 50 features, Adam
  ft-transformer  256 records of 14 columns, Adam
  small-cnn       three convolutions, 128 images of 28 x 28 pixels, SGD
  all-cnn         128 images of 3 x 32 x 32, SGD
  resnet-18       128 images of 3 x 32 x 32, SGD
  cells           the network of single cells, 512 cells of 2,000 counts, Adam

The first epoch, which compiles, is timed apart. A repetition trains one epoch that is not timed and
--epochs that are; the table has the median step.
With --peer PYTHON the same networks train beside it, in full float32, in what that Python has, on
the device that it finds. PyTorch trains in three ways: eager, by torch.compile, and with the whole
step as a CUDA graph; in each with its fastest and its deterministic algorithms. Lethe's are
deterministic. JAX trains with Lethe's XLA flags; its epoch is a scan in one execution. Each side
is a process of its own; they alternate. Ratios below 1: Lethe is faster.`,
		Example: "  lethe bench device --networks mlp,ft-transformer --peer python3 --json\n" +
			"  lethe bench device --networks resnet-18 --rounds 3 --epochs 1 --ways eager,graph --peer python3",
	}
	f := c.Flags()
	v.commonFlags(c, 5)
	f.StringVar(&v.engine, "engine", "xla:cuda", "engine of Lethe's side: xla:cuda, xla:/path/to/plugin.so")
	f.StringSliceVar(&v.networks, "networks", deviceNetworkNames(), "by name")
	f.IntVar(&v.batch, "batch", 0, "records per step (default: as above)")
	f.IntVar(&v.steps, "steps", 64, "steps per epoch")
	f.IntVar(&v.epochs, "epochs", 3, "timed epochs per repetition")
	f.StringSliceVar(&v.ways, "ways", torchWays, "PyTorch's ways to train, separated by commas")
	f.BoolVar(&v.deterministic, "deterministic", true, "time PyTorch's deterministic algorithms too")
	f.BoolVar(&v.asDevice, "as-device", false, "treat the engine as one with separate memory, for tests")
	_ = f.MarkHidden("as-device")
	asJSON := cli.JSONFlag(c)
	c.Args = v.checkFlags
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		v.stderr = cmd.ErrOrStderr()
		results, err := v.run(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), results)
		}
		return v.table(results).Text(cmd.OutOrStdout())
	}
	return c
}

// checkFlags checks the flags before anything starts.
func (v *deviceBench) checkFlags(cmd *cobra.Command, args []string) error {
	limits := []limit{{"steps", v.steps, 1}, {"epochs", v.epochs, 1}, {"networks", len(v.networks), 1}, {"ways", len(v.ways), 1}}
	if cmd.Flags().Changed("batch") {
		limits = append(limits, limit{"batch", v.batch, 2})
	}
	if err := v.check(cmd, args, limits...); err != nil {
		return err
	}
	for i, name := range v.networks {
		if _, err := deviceNetworkNamed(name); err != nil {
			return cli.Usagef("--networks %w", err)
		}
		if slices.Contains(v.networks[:i], name) {
			return cli.Usagef("--networks %s: given twice", name)
		}
	}
	for i, way := range v.ways {
		if err := cli.OneOf("ways", way, torchWays...); err != nil {
			return err
		}
		if slices.Contains(v.ways[:i], way) {
			return cli.Usagef("--ways %s: given twice", way)
		}
	}
	if v.peer == "" {
		for _, flag := range []string{"ways", "deterministic"} {
			if cmd.Flags().Changed(flag) {
				return cli.Usagef("--%s needs --peer PYTHON", flag)
			}
		}
	}
	return nil
}

// deviceResult compares the sides on one network.
type deviceResult struct {
	Network string        `json:"network"`
	Batch   int           `json:"batch"`
	Steps   int           `json:"steps"` // per epoch
	Weights int           `json:"weights"`
	Engine  string        `json:"engine"`
	Device  string        `json:"device"` // of Lethe's side
	Flags   string        `json:"xla_flags,omitempty"`
	Lethe   epochTimes    `json:"lethe"`
	PyTorch []epochTimes  `json:"pytorch,omitempty"` // by way and algorithms
	JAX     *epochTimes   `json:"jax,omitempty"`
	Ratios  *deviceRatios `json:"ratios,omitempty"`
	Goals   []goal        `json:"goals,omitempty"`
	Notes   []string      `json:"notes,omitempty"` // what a peer lacks
}

// deviceRatios are Lethe's median step over those of others; nil where there is none.
type deviceRatios struct {
	PyTorch       *float64 `json:"pytorch,omitempty"`               // its fastest way
	Deterministic *float64 `json:"deterministic_pytorch,omitempty"` // its fastest way with deterministic algorithms
	JAX           *float64 `json:"jax,omitempty"`
}

// epochTimes are the times of one way to train.
type epochTimes struct {
	What          string    `json:"what"` // the program with its version
	Device        string    `json:"device,omitempty"`
	Way           string    `json:"way"`
	Deterministic bool      `json:"deterministic"`
	First         float64   `json:"first_epoch_seconds"`
	Median        float64   `json:"median_seconds"` // per step
	Seconds       []float64 `json:"seconds"`        // per step, by timed epoch
	Loss          float64   `json:"loss"`           // of the last epoch
	Best          bool      `json:"best,omitempty"` // PyTorch's fastest
	Failed        string    `json:"failed,omitempty"`
}

// fastest returns the number of the fastest of some ways, -1 if none ran.
func fastest(ways []epochTimes, among func(epochTimes) bool) int {
	best := -1
	for i, w := range ways {
		if w.Failed == "" && among(w) && (best < 0 || w.Median < ways[best].Median) {
			best = i
		}
	}
	return best
}

// compare marks PyTorch's best and computes ratios and goals.
func (r *deviceResult) compare(goals []goal) {
	ratio := func(of epochTimes) *float64 {
		v := r.Lethe.Median / of.Median
		return &v
	}
	var out deviceRatios
	if i := fastest(r.PyTorch, func(epochTimes) bool { return true }); i >= 0 {
		r.PyTorch[i].Best, out.PyTorch = true, ratio(r.PyTorch[i])
	}
	if i := fastest(r.PyTorch, func(w epochTimes) bool { return w.Deterministic }); i >= 0 {
		out.Deterministic = ratio(r.PyTorch[i])
	}
	if r.JAX != nil && r.JAX.Failed == "" {
		out.JAX = ratio(*r.JAX)
	}
	if out != (deviceRatios{}) {
		r.Ratios = &out
	}
	values := map[string]*float64{goalBest: out.PyTorch, goalRepeats: out.Deterministic, goalJAX: out.JAX}
	for _, g := range goals {
		if v := values[g.Of]; v != nil {
			r.Goals = append(r.Goals, g.judgeValue(v))
		}
	}
}

// The programs.
const (
	letheTitle = "Lethe"
	torchTitle = "PyTorch"
	jaxTitle   = "JAX"
)

// noteMissing says once that the peer's Python lacks a program.
func (v *deviceBench) noteMissing(title string) {
	if !v.missing[title] {
		fmt.Fprintf(v.stderr, "lethe: %s has no %s: the table has no column of it\n", v.peer, title)
	}
	v.missing[title] = true
}
