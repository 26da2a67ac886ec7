// The stopping rule of BlindU's program.

package unlearn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// Stop is the rule by which BlindU's program stops. An epoch ends after the first step on
// whose batch the model finds fewer than the share Batch of the labels, by the same
// outputs, random numbers included, from which the step's gradient is; that step is still
// taken. The run ends after Times epochs at whose end the model finds fewer than the share
// Epoch of the labels of all records.
//
// After an epoch that ends early and not low enough another begins, with all batches.
type Stop struct {
	Batch float64 `json:"batch,omitempty"` // 0: an epoch goes through all batches
	Epoch float64 `json:"epoch,omitempty"` // 0: no epoch's end is low enough
	Times int     `json:"times,omitempty"` // 0: 1
}

func (s Stop) check() error {
	if !(s.Batch >= 0 && s.Batch <= 1 && s.Epoch >= 0 && s.Epoch <= 1) || s.Times < 0 || s.Times > 0 && s.Epoch == 0 {
		return fmt.Errorf("stops below %v of a batch, or %d times below %v at an epoch's end; shares must be between 0 and 1", s.Batch, s.Times, s.Epoch)
	}
	return nil
}

// reached reports whether an epoch ends after a step on whose batch this many of n answers
// were right.
func (s Stop) reached(right, n int) bool { return float64(right) < float64(s.Batch*float64(n)) }

// validation ends a fit by what judge returns at the end of an epoch.
func (s Stop) validation(judge func(ctx context.Context, p nn.Params, epoch int) (float64, error)) *train.Validation {
	v := &train.Validation{KeepLast: true, StopAfter: s.Times, Score: judge}
	if s.Epoch > 0 {
		below := math.Nextafter(s.Epoch, 0) // the rule is "less than"
		v.StopBelow = &below
	}
	return v
}

// correctInStep returns how many of the n records of a step are classified correctly.
func correctInStep(k train.StepInfo, term int, wrong train.Target, n int) (int, error) {
	share, err := k.Mean(term, wrong)
	return n - int(math.Round(float64(share*float64(n)))), err
}

// recordsInStep returns how many of n records are in a step.
func recordsInStep(k train.StepInfo, term, n int) int {
	if rows := k.Rows(term); rows != nil {
		return len(rows)
	}
	return n
}

// errorRateTarget returns the share of wrong answers as a target.
func errorRateTarget(y []int, classes int) train.Target {
	return train.Target{Loss: loss.ZeroOne{}, Weight: 1, Inputs: map[string]array.Matrix[float32]{loss.Probabilities: loss.Labels(y, classes)}}
}

// addTo adds Stop to a plan that goes over records with the labels y in its first term. The
// end of an epoch is evaluated by judge or, where judge is nil, by the mean over the
// epoch's batches.
func (s Stop) addTo(plan *train.Plan, y []int, classes int, judge func(ctx context.Context, p nn.Params, epoch int) (float64, error)) {
	wrong := errorRateTarget(y, classes)
	var sum, batches float64
	of := -1
	plan.Watch = func(k train.StepInfo) (bool, error) {
		n := recordsInStep(k, 0, len(y))
		found, err := correctInStep(k, 0, wrong, n)
		if k.Epoch != of {
			of, sum, batches = k.Epoch, 0, 0
		}
		sum, batches = sum+float64(found)/float64(n), batches+1
		return s.reached(found, n), err
	}
	if judge == nil {
		judge = func(context.Context, nn.Params, int) (float64, error) { return sum / batches, nil }
	}
	plan.Validation = s.validation(judge)
}

// sampledAccuracy evaluates a bottleneck like the program, by one random code per record:
// the share of correct labels.
func sampledAccuracy(r *model.Runner, d Data, seed engine.Root) (func(ctx context.Context, p nn.Params, epoch int) (float64, error), error) {
	of, is := defaults.Fill(r.Arch).(ib.Bottleneck)
	if !is {
		return nil, fmt.Errorf("needs an information bottleneck, %s is not one", r.Arch.Name())
	}
	half, err := model.NewRunner(r.Engine, ib.Approximator{Of: of})
	if err != nil {
		return nil, err
	}
	compressing, approximating := of.TensorCounts()
	return func(_ context.Context, p nn.Params, epoch int) (float64, error) {
		p = p[:compressing+approximating]
		prediction, err := r.Predict(p, d.X)
		if err != nil {
			return 0, err
		}
		codes, err := ib.SampleCodes(prediction, func(row int) *rand.Rand { return seed.Stream(engine.StreamCode, uint64(d.IDs[row]), uint64(epoch), 1) })
		if err != nil {
			return 0, err
		}
		answers, err := half.Predict(p[compressing:], codes)
		if err != nil {
			return 0, err
		}
		return train.Accuracy(answers.Logits(), d.Y), nil
	}, nil
}
