// lethe bench worker: Lethe's own side of a benchmark, a child process.

package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/ruler"

	"github.com/spf13/cobra"
)

// serverTasks are the benchmarks of Lethe's side; the folder peer has the other sides.
var serverTasks = []struct {
	name, args string
	do         func(d server, ctx context.Context, args []string) error
}{
	{"step", "ROWS", server.step},
	{"m4", "ROWS FILE", server.m4},
	{"sde", "FOLDER SIZE DIM SUBSETS CHECKED METHOD PROTOCOL", server.sde},
	{"vision", "NETWORK BATCH STEPS", server.vision},
	{"ft", "BATCH COLUMNS STEPS", server.ft},
	{"ib", "BATCH STEPS", server.ib},
	{"text", "BATCH TOKENS STEPS", server.text},
	{"blindu", "DATA RECORDS EPOCHS SHARE BETA ROUNDS LOCAL", server.blindu},
	{"vae", "LIKELIHOOD BATCH STEPS NONZERO", server.vae},
	{"private", "LIKELIHOOD BATCH STEPS NONZERO", server.private},
	{"device", "NETWORK BATCH STEPS", server.device},
}

func newWorker() *cobra.Command {
	var on *string
	var asDevice *bool
	c := &cobra.Command{
		Use:    "worker TASK ...",
		Short:  "Lethe's side of a benchmark: runs repetitions requested on standard input",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress.Show(nil, progress.Timing{}) // nothing is drawn while times are taken
			for _, task := range serverTasks {
				if task.name != args[0] {
					continue
				}
				if len(args)-1 != len(strings.Fields(task.args)) {
					return cli.Usagef("bench worker %s %s: got %q", task.name, task.args, args[1:])
				}
				e, err := engine.Open(*on)
				if err != nil {
					return err
				}
				defer e.Close()
				if *asDevice {
					e = e.WithSeparateMemory()
				}
				return task.do(server{in: bufio.NewScanner(cmd.InOrStdin()), out: cmd.OutOrStdout(), engine: e}, cmd.Context(), args[1:])
			}
			return cli.Usagef("bench worker: unknown task %q", args[0])
		},
	}
	cli.MarkQuiet(c)
	on = c.Flags().String("engine", "lethe", "engine")
	asDevice = c.Flags().Bool("as-device", false, "treat the engine as one with separate memory, for tests")
	return c
}

// positiveInts parses arguments that are whole numbers above 0.
func positiveInts(args ...string) ([]int, error) {
	out := make([]int, len(args))
	for i, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil || n < 1 {
			return nil, cli.Usagef("%q is not a whole number above 0", a)
		}
		out[i] = n
	}
	return out, nil
}

// server answers requests for repetitions.
type server struct {
	in     *bufio.Scanner
	out    io.Writer
	engine *engine.Engine
}

func (d server) sendReady(weights int) error {
	what := fmt.Sprintf("Lethe, %s", d.engine.Info())
	if d.engine.Info().Kind != "xla" { // XLA takes all cores
		what += fmt.Sprintf(", %d threads", d.engine.Cores())
	}
	return d.sendAnswer(answer{Ready: what, Weights: weights})
}

func (d server) sendAnswer(a answer) error { return json.NewEncoder(d.out).Encode(a) }

// readRequest reads the next number of repetitions; 0 means the end.
func (d server) readRequest() (int, error) {
	if !d.in.Scan() {
		return 0, d.in.Err()
	}
	return strconv.Atoi(strings.TrimSpace(d.in.Text()))
}

// serve runs work as often as requested.
func (d server) serve(work func() (float64, error)) error {
	if err := d.sendReady(0); err != nil {
		return err
	}
	for {
		n, err := d.readRequest()
		if err != nil || n < 1 {
			return err
		}
		began := time.Now()
		var value float64
		for range n {
			if value, err = work(); err != nil {
				return err
			}
		}
		if err := d.sendAnswer(answer{Seconds: time.Since(began).Seconds() / float64(n), Value: value}); err != nil {
			return err
		}
	}
}

// timedTraining is a training whose steps are timed.
type timedTraining struct {
	arch         model.Architecture
	x            array.Matrix[float32]
	config       train.Config
	warmupEpochs int // epochs before the first measurement
	steps        int // per epoch
	// targets are the losses; nil: random labels.
	targets []train.Target
	augment train.Augmenter // nil: the records as they are
	private *train.Private  // nil: plain training
}

// serveTraining trains for as many epochs as requested and answers with the time of a step.
func (d server) serveTraining(ctx context.Context, f timedTraining, rng *rand.Rand) error {
	left, total := f.warmupEpochs, 0
	var began time.Time
	return d.fit(ctx, f, rng, func(t trained) (more bool, err error) {
		if left--; left > 0 {
			return true, nil
		}
		if total == 0 {
			err = d.sendReady(t.weights)
		} else {
			err = d.sendAnswer(answer{Seconds: time.Since(began).Seconds() / float64(total*f.steps), Value: t.loss})
		}
		if err == nil {
			total, err = d.readRequest()
		}
		left, began = total, time.Now()
		return total > 0, err
	})
}

// trained is what a training has to say after an epoch.
type trained struct {
	began   time.Time // when the training began
	loss    float64   // of the epoch
	weights int       // number of trained weights
}

// fit trains until after, which is called after every epoch, returns false or an error.
func (d server) fit(ctx context.Context, f timedTraining, rng *rand.Rand, after func(trained) (more bool, err error)) error {
	r, err := model.NewRunner(d.engine, f.arch)
	if err != nil {
		return err
	}
	if f.targets == nil {
		f.targets = randomLabels(rng, f.x.Rows, model.OutputWidths(f.arch)[nn.Logits])
	}
	p := model.InitialWeights(f.arch, rng)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	began, n := time.Now(), weights(p)
	h := train.Hooks{Progress: func(e train.Epoch) {
		more := false
		if more, failed = after(trained{began, e.Loss, n}); failed != nil || !more {
			stop()
		}
	}}
	o := train.Objective{{Name: "bench", X: f.x, Targets: f.targets, Augment: f.augment}}
	f.config.Epochs = 1 << 30 // after ends the training
	if f.private == nil {
		_, _, err = train.Fit(ctx, r, p, o, f.config, h)
	} else {
		every := func(int) ([]train.Objective, error) { return []train.Objective{o}, nil }
		_, _, err = train.FitPlan(ctx, r, p, train.Plan{Passes: every, Private: f.private}, f.config, h)
	}
	if ctx.Err() != nil {
		return failed
	}
	return err
}

func randomLabels(rng *rand.Rand, rows, classes int) []train.Target {
	y := make([]int, rows)
	for i := range y {
		y[i] = rng.IntN(classes)
	}
	return []train.Target{train.CrossEntropy(y, classes, 1)}
}

// weights returns the number of trained weights.
func weights(p nn.Params) int {
	n := 0
	for _, t := range p {
		if !t.State {
			n += len(t.Data)
		}
	}
	return n
}

// step trains RULER's MLP. An epoch is one full-batch step.
func (d server) step(ctx context.Context, args []string) error {
	rows, err := positiveInts(args...)
	if err != nil {
		return err
	}
	const features, classes, warm = 50, 2, 3
	rng := engine.Root(1).Stream(engine.StreamBench)
	arch := tabular.MLP{Features: features, Outputs: classes}
	return d.serveTraining(ctx, timedTraining{arch: arch, x: gaussian(rng, rows[0], features), warmupEpochs: warm, steps: 1}, rng)
}

// m4 ranks the first twentieth of a random network's embeddings among all others, and writes the
// embeddings to a file for the peer.
func (d server) m4(_ context.Context, args []string) error {
	given, err := positiveInts(args[0])
	if err != nil {
		return err
	}
	rows, file := given[0], args[1]
	const inputs = 10
	arch := tabular.MLP{Features: inputs, Outputs: 2}
	r, err := model.NewRunner(d.engine, arch)
	if err != nil {
		return err
	}
	rng := engine.Root(1).Stream(engine.StreamBench)
	p, err := r.Predict(model.InitialWeights(arch, rng), gaussian(rng, rows, inputs))
	if err != nil {
		return err
	}
	u := array.Convert[float64](p.Embedding)
	if err := npy.Write(file, u); err != nil {
		return err
	}
	forget, retain := make([]int, rows/20), make([]int, rows-rows/20)
	for i := range rows {
		if i < len(forget) {
			forget[i] = i
		} else {
			retain[i-len(forget)] = i
		}
	}
	opt := ruler.Options{GalleryCap: ruler.NoCap, ZeroNorm: ruler.AsPublished, PointOnly: true}
	work := func() (float64, error) {
		m, _, err := ruler.M4(ruler.Evidence{Unlearned: &u, Forget: forget, Retain: retain}, opt)
		return m.Value, err
	}
	if _, err := work(); err != nil {
		return err
	}
	return d.serve(work)
}

func gaussian(rng *rand.Rand, rows, cols int) array.Matrix[float32] {
	m := array.New[float32](rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}
