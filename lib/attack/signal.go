// Membership signals: a score of one record from its softmax output.

package attack

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/panics"
)

// Outputs holds a model's softmax outputs on records and the records' labels.
type Outputs struct {
	P array.Matrix[float64] // a row per record, a column per class; rows sum to 1
	Y []int
}

// Signal turns a softmax output and the label into a score that is higher for members. One file
// holds one signal.
type Signal interface {
	// Name is the signal's short name, such as "modified-entropy".
	Name() string
	// About says in one line what the signal is.
	About() string
	// Score is the score of one record: p is its softmax output, y its label. It is finite for
	// every output that SignalScores accepts.
	Score(p []float64, y int) float64
}

// Signals returns every signal, in alphabetical order.
func Signals() []Signal { return []Signal{Confidence{}, Entropy{}, ModifiedEntropy{}} }

// SignalScores applies a signal to every record. It refuses outputs that are no probabilities (with
// a tolerance of 1e-3, for float32) and labels out of range, and by its name a signal that panics or is
// not finite.
func SignalScores(s Signal, o Outputs) ([]float64, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("attack: there is no signal")
	}
	out, i := make([]float64, o.P.Rows), 0
	err := panics.Catch(fmt.Sprintf("the signal %q", s.Name()), func() error { // its code comes from anywhere
		for i = range out {
			out[i] = s.Score(o.P.Row(i), o.Y[i])
			if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
				return fmt.Errorf("the signal %q is %v", s.Name(), out[i])
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("attack: record %d: %w", i, err)
	}
	return out, nil
}

func (o Outputs) check() error {
	if err := o.P.Check("softmax outputs"); err != nil {
		return fmt.Errorf("attack: %w", err)
	}
	if len(o.Y) != o.P.Rows {
		return fmt.Errorf("attack: %d labels for %d softmax outputs", len(o.Y), o.P.Rows)
	}
	for i, y := range o.Y {
		if y < 0 || y >= o.P.Cols {
			return fmt.Errorf("attack: record %d has label %d of %d classes", i, y, o.P.Cols)
		}
		sum := 0.0
		for c, v := range o.P.Row(i) {
			if v < 0 || v > 1+slack {
				return fmt.Errorf("attack: record %d, class %d: %v is no probability", i, c, v)
			}
			sum += v
		}
		if math.Abs(sum-1) > slack {
			return fmt.Errorf("attack: the probabilities of record %d sum to %v; softmax outputs are needed, not logits", i, sum)
		}
	}
	return nil
}

// slack is how far the sum of float32 probabilities may be from 1.
const slack = 1e-3

// tiny keeps logarithms finite. A float32 softmax is 0 below 1e-45.
const tiny = 1e-30

func safeLog(v float64) float64 { return math.Log(math.Max(v, tiny)) }
