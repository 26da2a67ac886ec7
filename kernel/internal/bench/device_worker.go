// Lethe's side of lethe bench device: epochs of training on the engine's device.

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// epochsAnswer is the part of an answer that only sides of lethe bench device give. Their
// requests are lines "WAY EPOCHS": the number of the way to train, and of the epochs that are
// timed, after one that is not.
type epochsAnswer struct {
	Refused string    `json:"refused,omitempty"` // why there is nothing to measure
	Device  string    `json:"device,omitempty"`  // what the side computes on
	Flags   string    `json:"flags,omitempty"`   // XLA's
	Ways    []way     `json:"ways,omitempty"`
	Epochs  []float64 `json:"epochs,omitempty"` // seconds per step of each timed epoch
}

// way is one of a side's ways to train.
type way struct {
	Name   string  `json:"name"`
	First  float64 `json:"first"`            // seconds of the first epoch, with compiling
	Failed string  `json:"failed,omitempty"` // why it does not run
}

// deviceNetwork is a network of the benchmark.
type deviceNetwork struct {
	name  string
	batch int // records per step
	goals []goal
	// training returns a training of so many steps per epoch. A benchmark of many models that
	// train side by side would have another worker task on the same trainings.
	training func(rng *rand.Rand, batch, steps int) timedTraining
}

// Goals of lethe bench device, on one H100 in float32.
var (
	goalLikeJAX    = goal{Of: goalJAX, AtMost: 1.05}
	goalsDense     = []goal{goalLikeJAX, {Of: goalBest, AtMost: 0.7}}
	goalsSmallCNN  = []goal{goalLikeJAX, {Of: goalBest, AtMost: 1}}
	goalsConvolved = []goal{goalLikeJAX, {Of: goalRepeats, AtMost: 1}}
)

// deviceNetworks are the networks in the order of the table.
var deviceNetworks = []deviceNetwork{
	{"mlp", 256, goalsDense, func(rng *rand.Rand, batch, steps int) timedTraining {
		return tableTraining(rng, tabular.MLP{Features: 50, Outputs: 2}, batch, steps)
	}},
	{"ft-transformer", 256, goalsDense, func(rng *rand.Rand, batch, steps int) timedTraining {
		return tableTraining(rng, tabular.FTTransformer{Features: 14, Outputs: 2}, batch, steps)
	}},
	{"small-cnn", 128, goalsSmallCNN, func(rng *rand.Rand, batch, steps int) timedTraining {
		return imageTraining(rng, vision.SmallCNN{}, batch, steps)
	}},
	{"all-cnn", 128, goalsConvolved, func(rng *rand.Rand, batch, steps int) timedTraining {
		return imageTraining(rng, vision.AllCNN{}, batch, steps)
	}},
	{"resnet-18", 128, goalsConvolved, func(rng *rand.Rand, batch, steps int) timedTraining {
		return imageTraining(rng, vision.ResNet18{}, batch, steps)
	}},
	{"cells", 512, []goal{goalLikeJAX}, func(rng *rand.Rand, batch, steps int) timedTraining {
		return cellsTraining(rng, "nb", batch, steps, nonzeroCounts)
	}},
}

// nonzeroCounts is the number of a hundred counts that are not 0 in PBMC-3k's 2,000 most variable
// genes.
const nonzeroCounts = 9

// deviceNetworkNames returns the names of all networks.
func deviceNetworkNames() (out []string) {
	for _, n := range deviceNetworks {
		out = append(out, n.name)
	}
	return out
}

// deviceNetworkNamed returns the network of a name.
func deviceNetworkNamed(name string) (deviceNetwork, error) {
	for _, n := range deviceNetworks {
		if n.name == name {
			return n, nil
		}
	}
	return deviceNetwork{}, cli.Usagef("%q: there are %s", name, strings.Join(deviceNetworkNames(), ", "))
}

// device trains a network on the engine's device.
func (d server) device(ctx context.Context, args []string) error {
	network, err := deviceNetworkNamed(args[0])
	if err != nil {
		return err
	}
	n, err := positiveInts(args[1:]...)
	if err != nil {
		return err
	}
	if e := d.engine; !e.SeparateMemory() || !e.HasWhile() {
		return d.sendAnswer(answer{epochsAnswer: epochsAnswer{Refused: fmt.Sprintf("the engine %s computes in the host's memory, and this bench is of "+
			"devices with their own: name one, for instance --engine xla:cuda", e.Info())}})
	}
	rng := engine.Root(1).Stream(engine.StreamBench)
	return d.serveEpochs(ctx, network.training(rng, n[0], n[1]), rng)
}

// serveEpochs trains for as many epochs as requested and answers with the time of a step in each.
func (d server) serveEpochs(ctx context.Context, f timedTraining, rng *rand.Rand) error {
	s := &epochServer{server: d, steps: f.steps}
	return d.fit(ctx, f, rng, s.after)
}

// epochServer answers requests for epochs between the epochs of a training.
type epochServer struct {
	server
	steps   int
	began   time.Time // of the epoch
	epochs  []float64 // of the request: seconds per step
	request int       // epochs with the one that is not timed
}

// after ends an epoch.
func (s *epochServer) after(t trained) (more bool, err error) {
	if s.began.IsZero() {
		err = s.sendFirst(t)
	} else {
		s.epochs = append(s.epochs, time.Since(s.began).Seconds()/float64(s.steps))
	}
	if err == nil && len(s.epochs) == s.request {
		more, err = s.next(t.loss)
	} else {
		more = true
	}
	s.began = time.Now()
	return more, err
}

// sendFirst answers after the first epoch.
func (s *epochServer) sendFirst(t trained) error {
	first := epochsAnswer{Device: deviceName(s.engine), Flags: engine.XLAFlags(), Ways: []way{{Name: "epoch", First: time.Since(t.began).Seconds()}}}
	return s.sendAnswer(answer{Ready: fmt.Sprintf("Lethe, %s", s.engine.Info()), Weights: t.weights, epochsAnswer: first})
}

// next answers a request, if there is one, and reads the next; without one there is nothing more.
func (s *epochServer) next(loss float64) (more bool, err error) {
	if s.request > 0 {
		err = s.sendAnswer(answer{Value: loss, epochsAnswer: epochsAnswer{Epochs: s.epochs[1:]}})
	}
	n := 0
	if err == nil {
		n, err = s.readEpochs()
	}
	s.request, s.epochs = n+1, nil
	return n > 0, err
}

// readEpochs reads the number of epochs of the next request; 0 means the end. There is one way
// to train.
func (d server) readEpochs() (int, error) {
	if !d.in.Scan() {
		return 0, d.in.Err()
	}
	var way, n int
	if _, err := fmt.Sscanf(d.in.Text(), "%d %d", &way, &n); err != nil || way != 0 || n < 1 {
		return 0, fmt.Errorf("request %q: expected 0 and a number of epochs", d.in.Text())
	}
	return n, nil
}

// deviceName returns the name of the engine's device.
func deviceName(e *engine.Engine) string {
	if e.Info().Kind != "xla" {
		return e.Backend().Description()
	}
	name, _, _ := strings.Cut(e.Backend().DeviceDescription(0), " [")
	return name
}
