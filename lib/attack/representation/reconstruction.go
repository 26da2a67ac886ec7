// The reconstruction attack of "BlindU" (section VIII-C): a decoder learns to turn
// codes into records.

package representation

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// Reconstruction is the reconstruction attack of "BlindU" (section VIII-C): a Decoder from codes to
// records with 96 hidden units, trained for 10 epochs of Adam at 1e-4 in batches of 100 to minimise
// ||x^ - x||^2. Any features can serve as codes, for instance Gradients.
//
// Differences from the published program:
//
//  1. the attacker learns on its own records, masked and compressed as the victims' were, not on the
//     victims;
//  2. it is scored against the original record, not the masked one, which is easier to reconstruct the less
//     is left of it;
//  3. an error has its interval, and is compared with that of the mean record, which needs no code;
//  4. codes of CIFAR-10 images go through the same network, not through a ResNet;
//  5. the sum of squares is divided by the batch size, which does not matter to Adam.
//
// The zero value is the program's setting, which is a weak attacker: 10 epochs on 3,600 images are
// 360 steps, after which it reconstructs images of MNIST worse than the mean of their class even
// from whole images. What it fails to reconstruct is no evidence that it is hidden: Persistent
// reconstructs it.
type Reconstruction struct {
	Hidden       int     `json:"hidden,omitempty" default:"96"`
	Epochs       int     `json:"epochs,omitempty" default:"10"`
	Batch        int     `json:"batch,omitempty" default:"100"`
	LR           float64 `json:"lr,omitempty" default:"1e-4"`
	Linear       bool    `json:"linear,omitempty"`       // records are not in 0..1
	Standardised bool    `json:"standardised,omitempty"` // codes, by those of the shadow; the program's are not
}

// Persistent is the attack with six times the epochs at ten times the learning rate. Still longer
// training may be stronger.
func Persistent() Reconstruction { return Reconstruction{Epochs: 60, LR: 1e-3} }

// Reconstructed says how well records were reconstructed. Intervals are Student's over the victims,
// for this one attacker; other seeds give other attackers.
type Reconstructed struct {
	// SSE is the mean over records of ||x^ - x||^2, MSE the same per column. Higher is better for
	// the owner of the record.
	SSE stats.Estimate `json:"sse"`
	MSE stats.Estimate `json:"mse"`
	// Mean is the SSE of the shadow's mean record, whatever the code; ClassMean of the mean record
	// of the label's class, which a server knows that is told labels. ClassMean is nil where labels
	// are not known on both sides.
	Mean      stats.Estimate  `json:"mean"`
	ClassMean *stats.Estimate `json:"class_mean"`
	// Gain is the mean paired difference between the better of these floors and the SSE. Null: 0;
	// below it the attacker would do better without codes.
	Gain    stats.Estimate        `json:"gain"`
	Errors  []float64             `json:"errors"` // ||x^ - x||^2 of every victim
	Gains   []float64             `json:"gains"`  // of every victim
	Records array.Matrix[float32] `json:"-"`      // the reconstructions, x^
}

// Run trains the attacker on the shadow and scores it on the victims. It refuses sides of different
// shapes, values that are not finite, and a record on both sides.
func (a Reconstruction) Run(ctx context.Context, e *engine.Engine, shadow Shadow, victims Victims, seed engine.Root) (*Reconstructed, error) {
	if err := checkDisjoint(shadow, victims); err != nil {
		return nil, fmt.Errorf("reconstruction: %w", err)
	}
	return a.run(ctx, e, shadow, victims, seed)
}

// CodedEvidence is the evidence of the published program: the erased records, whole and masked,
// with the codes of either.
type CodedEvidence struct {
	Codes, Records             array.Matrix[float32]
	MaskedCodes, MaskedRecords array.Matrix[float32]
}

// Coded is the attack as the published program runs it on representations: trained on the whole
// erased records, scored on their masked codes against the masked records. It does not measure what
// another person could reconstruct, nor the distance to the original record; its floors are those
// of masked records too. In the program's units SSE is "MSE".
func (a Reconstruction) Coded(ctx context.Context, e *engine.Engine, erased CodedEvidence, seed engine.Root) (*Reconstructed, error) {
	numbers := make([]int, erased.Codes.Rows)
	shadow := Shadow{Numbers: numbers, Codes: erased.Codes, Records: erased.Records}
	victims := Victims{Numbers: numbers, Codes: erased.MaskedCodes, Originals: erased.MaskedRecords}
	if err := shadow.check(); err != nil {
		return nil, fmt.Errorf("reconstruction as coded: %w", err)
	}
	if err := victims.check(); err != nil {
		return nil, fmt.Errorf("reconstruction as coded: masked %w", err)
	}
	if shadow.Codes.Cols != victims.Codes.Cols || shadow.Records.Cols != victims.Originals.Cols {
		return nil, fmt.Errorf("reconstruction as coded: codes of %d columns for records of %d, masked %d for %d",
			shadow.Codes.Cols, shadow.Records.Cols, victims.Codes.Cols, victims.Originals.Cols)
	}
	return a.run(ctx, e, shadow, victims, seed)
}

func (a Reconstruction) run(ctx context.Context, e *engine.Engine, shadow Shadow, victims Victims, seed engine.Root) (*Reconstructed, error) {
	ctx, task := progress.Start(ctx, "reconstruction", 0)
	defer task.Done()
	a = defaults.Fill(a)
	known, seen := shadow.Codes, victims.Codes
	if a.Standardised {
		wide := array.Convert[float64](known)
		scale := learned.Standardiser(wide)
		known, seen = array.Convert[float32](scale(wide)), array.Convert[float32](scale(array.Convert[float64](seen)))
	}
	draw, err := a.fit(ctx, e, known, shadow.Records, seed)
	if err != nil {
		return nil, fmt.Errorf("reconstruction: %w", err)
	}
	out, err := draw(seen)
	if err != nil {
		return nil, fmt.Errorf("reconstruction: %w", err)
	}
	return newReconstructed(out, shadow, victims), nil
}

// fit trains the decoder and returns it as a function from codes to records.
func (a Reconstruction) fit(ctx context.Context, e *engine.Engine, codes, records array.Matrix[float32], seed engine.Root) (
	func(array.Matrix[float32]) (array.Matrix[float32], error), error) {
	if a.Batch < 1 || a.Epochs < 1 {
		return nil, fmt.Errorf("%d epochs in batches of %d", a.Epochs, a.Batch)
	}
	arch := Decoder{Features: codes.Cols, Hidden: a.Hidden, Outputs: records.Cols, Linear: a.Linear}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		return nil, err
	}
	plan := train.Plan{Passes: func(int) ([]train.Objective, error) {
		return []train.Objective{reconstructionObjective(codes, records)}, nil
	}}
	c := train.Config{Epochs: a.Epochs, Batch: a.Batch, Optimizer: nn.Adam{LR: a.LR}, Seed: seed}
	p, _, err := train.FitPlan(ctx, r, model.InitialWeights(arch, seed.Stream(engine.StreamInit)), plan, c, train.Hooks{})
	if err != nil {
		return nil, err
	}
	return func(x array.Matrix[float32]) (array.Matrix[float32], error) {
		out, err := r.Predict(p, x)
		if err != nil {
			return array.Matrix[float32]{}, err
		}
		return out.Outputs[nn.Output], nil
	}, nil
}

// reconstructionObjective is the mean over records of the squared reconstruction error.
func reconstructionObjective(codes, records array.Matrix[float32]) train.Objective {
	return train.Objective{{Name: "reconstruction", X: codes, Targets: []train.Target{{
		Loss: loss.SquaredError{}, Inputs: map[string]array.Matrix[float32]{loss.Target: records}, Weight: 1,
	}}}}
}

// newReconstructed compares reconstructions with the originals and with the floors.
func newReconstructed(drawn array.Matrix[float32], shadow Shadow, victims Victims) *Reconstructed {
	r := &Reconstructed{Errors: squaredErrors(drawn, victims.Originals), Records: drawn}
	floor := squaredErrors(classMeans(shadow.Records, make([]int, shadow.Records.Rows), make([]int, victims.Originals.Rows)), victims.Originals)
	r.SSE, r.MSE, r.Mean = meanEstimate(r.Errors, 1), meanEstimate(r.Errors, float64(drawn.Cols)), meanEstimate(floor, 1)
	r.SSE.Better, r.MSE.Better = stats.HigherIsBetter, stats.HigherIsBetter
	if shadow.Labels != nil && victims.Labels != nil {
		byClass := squaredErrors(classMeans(shadow.Records, shadow.Labels, victims.Labels), victims.Originals)
		e := meanEstimate(byClass, 1)
		r.ClassMean = &e
		if e.Value < r.Mean.Value {
			floor = byClass
		}
	}
	r.Gains = make([]float64, len(floor))
	for i := range r.Gains {
		r.Gains[i] = floor[i] - r.Errors[i]
	}
	r.Gain = meanEstimate(r.Gains, 1).WithNull(0, stats.LowerIsBetter)
	return r
}

func meanEstimate(x []float64, per float64) stats.Estimate {
	each := make([]float64, len(x))
	for i, v := range x {
		each[i] = v / per
	}
	return stats.MeanInterval(each, level, "records")
}

// squaredErrors returns the squared distances of rows.
func squaredErrors(a, b array.Matrix[float32]) []float64 {
	out := make([]float64, b.Rows)
	for i := range out {
		for j, v := range b.Row(i) {
			d := float64(a.Row(i)[j]) - float64(v)
			out[i] += float64(d * d)
		}
	}
	return out
}

// classMeans returns, for every label in of, the mean of the known records with that label, or of
// all if there is none.
func classMeans(known array.Matrix[float32], labels, of []int) array.Matrix[float32] {
	means := map[int][]float64{}
	all := meanRows(known, func(int) bool { return true })
	out := array.New[float32](len(of), known.Cols)
	for i, label := range of {
		if means[label] == nil {
			means[label] = meanRows(known, func(k int) bool { return labels[k] == label })
		}
		m := means[label]
		if len(m) == 0 {
			m = all
		}
		for j, v := range m {
			out.Row(i)[j] = float32(v)
		}
	}
	return out
}

// meanRows is the mean of some rows, empty where there are none.
func meanRows(m array.Matrix[float32], which func(row int) bool) []float64 {
	out, n := make([]float64, m.Cols), 0.0
	for i := range m.Rows {
		if !which(i) {
			continue
		}
		n++
		for j, v := range m.Row(i) {
			out[j] += float64(v)
		}
	}
	if n == 0 {
		return []float64{}
	}
	for j := range out {
		out[j] /= n
	}
	return out
}
