package kernel

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
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/ruler"

	"github.com/spf13/cobra"
)

// newBenchWorker is Lethe's own side of a benchmark: see peer/step.py and
// peer/m4.py for the other.
func newBenchWorker() *cobra.Command {
	return &cobra.Command{
		Use:    "worker step ROWS | worker m4 ROWS FILE",
		Short:  "Lethe's side of the benchmark: repetitions asked for on standard input",
		Hidden: true,
		Args:   cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := strconv.Atoi(args[1])
			if err != nil || rows < 1 {
				return usagef("rows: %q is no number above 0", args[1])
			}
			e, err := engine.Open("go")
			if err != nil {
				return err
			}
			defer e.Close()
			d := duty{in: bufio.NewScanner(cmd.InOrStdin()), out: cmd.OutOrStdout(), engine: e}
			if args[0] == "m4" && len(args) == 3 {
				return d.m4(rows, args[2])
			}
			return d.step(cmd.Context(), rows)
		},
	}
}

// duty answers requests for repetitions.
type duty struct {
	in     *bufio.Scanner
	out    io.Writer
	engine *engine.Engine
}

func (d duty) ready() error {
	return d.say(answer{Ready: fmt.Sprintf("Lethe, %s, %d threads", d.engine.Info(), d.engine.Cores())})
}

func (d duty) say(a answer) error { return json.NewEncoder(d.out).Encode(a) }

// request reads the next number of repetitions; 0 is the end.
func (d duty) request() (int, error) {
	if !d.in.Scan() {
		return 0, d.in.Err()
	}
	return strconv.Atoi(strings.TrimSpace(d.in.Text()))
}

// warmUp is the number of steps before the clock runs.
const warmUp = 3

// step trains for as many epochs of one full-batch step as are asked for.
func (d duty) step(ctx context.Context, rows int) error {
	const features, classes = 50, 2
	arch := tabular.MLP{Features: features, Outputs: classes}
	r, err := model.NewRunner(d.engine, arch)
	if err != nil {
		return err
	}
	rng := engine.Root(1).Stream("bench")
	x, y := gaussian(rng, rows, features), make([]int, rows)
	for i := range y {
		y[i] = rng.IntN(classes)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	left, total := warmUp, 0
	var began time.Time
	var failed error
	after := func(e train.Epoch) {
		if left--; left > 0 {
			return
		}
		if total == 0 {
			failed = d.ready()
		} else {
			failed = d.say(answer{Seconds: time.Since(began).Seconds() / float64(total), Value: e.Loss})
		}
		if failed == nil {
			total, failed = d.request()
		}
		if left = total; failed != nil || total < 1 {
			stop()
		}
		began = time.Now()
	}
	o := train.Objective{{Name: "bench", X: x, Targets: []train.Target{train.CrossEntropy(y, classes, 1)}}}
	const forever = 1 << 30
	_, _, err = train.Fit(ctx, r, arch.Init(rng), o, train.Config{Epochs: forever}, train.Hooks{Progress: after})
	if ctx.Err() != nil {
		return failed
	}
	return err
}

// m4 ranks the first twentieth of a random network's embeddings among all
// others, and leaves the embeddings in file for the peer.
func (d duty) m4(rows int, file string) error {
	const inputs = 10
	arch := tabular.MLP{Features: inputs, Outputs: 2}
	r, err := model.NewRunner(d.engine, arch)
	if err != nil {
		return err
	}
	rng := engine.Root(1).Stream("bench")
	p, err := r.Predict(arch.Init(rng), gaussian(rng, rows, inputs))
	if err != nil {
		return err
	}
	u := array.Convert[float64](p.Embedding)
	if err := npy.Write(file, u); err != nil {
		return err
	}
	multiplier, err := d.engine.NewMultiplier()
	if err != nil {
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
	opt := ruler.Options{GalleryCap: ruler.NoCap, ZeroNorm: ruler.AsPublished, PointOnly: true, Multiplier: multiplier}
	if _, _, err := ruler.M4(&u, forget, retain, opt); err != nil {
		return err
	}
	if err := d.ready(); err != nil {
		return err
	}
	for {
		n, err := d.request()
		if err != nil || n < 1 {
			return err
		}
		began := time.Now()
		var value float64
		for range n {
			m, _, err := ruler.M4(&u, forget, retain, opt)
			if err != nil {
				return err
			}
			value = m.Value
		}
		if err := d.say(answer{Seconds: time.Since(began).Seconds() / float64(n), Value: value}); err != nil {
			return err
		}
	}
}

func gaussian(rng *rand.Rand, rows, cols int) array.Matrix[float32] {
	m := array.New[float32](rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}
