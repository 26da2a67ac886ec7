// BlindU as in its program.

package unlearn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/information"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// Coded makes [BlindU] do what its published program does. In every step it draws the codes
// z_e of a batch of masked records anew from the original, and z_a of a batch of auxiliary
// records from the model. It trains a new critic of these pairs for Critic steps, with
// noise from N(0, I) as negatives ([information.CodedMINE]), and takes a clipped step of
// Adam on
//
//	|A|/(|A| + B) A + B/(|A| + B) B,  A = Rate mi - CE(z_e),  B = Kept L_IB(x_a)
//
// where mi is the critic's last value. It has no gradient; it only changes the size of A
// (train.RatioWeights). An epoch has as many batches as the shorter of the two lists; an
// incomplete one is left out. It stops by Stop; the accuracy at an epoch's end is that of
// the model on one random code per masked record. The server has these records, so it is
// not blind.
//
// One optimiser runs through all epochs. (The program starts a new one per epoch in
// training only.)
//
// Differences from the program: (1) The critic trains on another draw of z_a than the step,
// from the same distribution, with the running averages of a network that has any. (2) The
// original encodes with its running averages; in the program's CIFAR-10 setting these go on
// moving. (3) A number below 0 is kept; the program's retraining in that case has no
// effect. (4) A masked column of Adult is 0; in the program, sex is -2. (5) See
// [privacy.Masking] for the masked features, which are an option here.
type Coded struct {
	Stop Stop    `json:"stop"`
	Kept float64 `json:"kept,omitempty" default:"10"` // the program's on images; on Adult it has 5
}

// checkCoded returns an error for settings that the program does not have.
func (m BlindU) checkCoded(r Request) error {
	switch {
	case r.Augment != nil:
		return errors.New("codes need unchanged records, but the request augments them")
	case m.Weighting != ByRatio || m.Bounded || m.Beside != nil || *m.Rate == 0:
		return fmt.Errorf("as coded the weighting is %q, with the cross-entropy and the program's own epochs", ByRatio)
	case !(m.Coded.Kept > 0):
		return fmt.Errorf("as coded the auxiliary records' loss has the weight %v, which must be positive", m.Coded.Kept)
	case m.Critic < 2:
		return fmt.Errorf("as coded a critic takes %d steps, need at least 2", m.Critic)
	}
	return m.Coded.Stop.check()
}

// runAsCoded runs the published program.
func (m BlindU) runAsCoded(ctx context.Context, r Request) (*Outcome, error) {
	if err := m.checkCoded(r); err != nil {
		return nil, err
	}
	of, is := defaults.Fill(r.Runner.Arch).(ib.Bottleneck)
	if !is {
		return nil, fmt.Errorf("needs an information bottleneck, %s is not one", r.Runner.Arch.Name())
	}
	masked, err := r.Forget.mask(m.mask(), r.Seed)
	if err != nil {
		return nil, err
	}
	p := &codedRun{BlindU: m, ctx: ctx, r: r, arch: withCritic(of), masked: masked}
	plan, c, err := p.plan()
	if err != nil {
		return nil, err
	}
	runner, err := model.NewRunner(r.Runner.Engine, p.arch)
	if err != nil {
		return nil, err
	}
	// The critic in the network is not trained: the program makes a new one in every step.
	start := append(r.Original.Clone(), p.arch.Critic.Init(r.Seed.Stream(engine.StreamCritic, 0, 0), criticPrefix)...)
	out, history, err := train.FitPlan(ctx, runner, start, plan, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: out[:len(r.Original)], History: history, Note: endNote(plan.Validation, history, "epoch")}, nil
}

// codedRun is one run of the program.
type codedRun struct {
	BlindU
	ctx    context.Context
	r      Request
	arch   criticBottleneck
	masked Data
	aux    Data
	codes  *resampledCodes
	ratio  offsetRatio
}

// plan returns the model's objectives and the hook before each of its steps.
func (p *codedRun) plan() (plan train.Plan, c train.Config, err error) {
	if p.aux, err = p.Auxiliary.records(p.ctx, p.r); err != nil {
		return plan, c, err
	}
	trained, err := p.r.objective("auxiliary", p.aux, false, p.Coded.Kept)
	if err != nil {
		return plan, c, err
	}
	if len(trained) != 1 || trained[0].X.Rows != p.aux.X.Rows {
		return plan, c, fmt.Errorf("the original was trained for %d terms; it must be one term of the %d auxiliary records", len(trained), p.aux.X.Rows)
	}
	prediction, err := p.r.Runner.Predict(p.r.Original, p.masked.X)
	if err != nil {
		return plan, c, err
	}
	p.codes = &resampledCodes{prediction: prediction, ids: p.masked.IDs, seed: p.r.Seed}
	begin, err := p.codes.atEpoch(0)
	if err != nil {
		return plan, c, err
	}
	n := p.masked.X.Rows
	forget := train.Term{
		Name: "forget", X: p.arch.pairRecords(n, p.aux.X, begin), Augment: codeAppender{p.codes, p.aux.X.Cols},
		Targets: []train.Target{p.erasureTarget(p.masked.Y, p.arch.Of, n)},
	}
	retain := trained[0]
	retain.X = p.arch.pairRecords(p.aux.X.Rows, p.aux.X, begin)
	c = train.Config{Epochs: p.Epochs, Batch: cmp.Or(p.r.Batch, p.Batch), Seed: p.r.Seed, DropLast: true}
	if *p.Clip != 0 {
		c.Clip = *p.Clip
	}
	server := train.Player{Name: "model", Objective: train.Objective{forget, retain}, Optimizer: nn.Adam{LR: p.LR}}
	for _, v := range p.r.Original {
		server.Owns = append(server.Owns, v.Name)
	}
	rounds := min(c.StepsPerEpoch(train.Objective{forget}), c.StepsPerEpoch(train.Objective{retain}))
	plan = train.Plan{Game: &train.Game{Players: []train.Player{server}, Steps: rounds}, Combiner: &p.ratio, Watch: p.watchSteps()}
	judge, err := sampledAccuracy(p.r.Runner, p.masked, p.r.Seed)
	plan.Validation = p.Coded.Stop.validation(judge)
	return plan, c, err
}

// watchSteps returns the hook that trains a critic on a step's pairs and counts the labels
// found.
func (p *codedRun) watchSteps() train.Watch {
	wrong := errorRateTarget(p.masked.Y, p.arch.Of.Outputs)
	wrong.Loss = loss.OnOutput{Output: erasedLogits, Of: wrong.Loss}
	return func(k train.StepInfo) (bool, error) {
		mi, err := p.trainCritic(k)
		if err != nil {
			return false, err
		}
		p.ratio.addend = float64((*p.Rate) * mi)
		n := recordsInStep(k, 0, p.masked.X.Rows)
		found, err := correctInStep(k, 0, wrong, n)
		return p.Coded.Stop.reached(found, n), err
	}
}

// trainCritic returns the last value of a new critic of a step's pairs.
func (p *codedRun) trainCritic(k train.StepInfo) (float64, error) {
	codes, err := p.codes.atEpoch(k.Epoch)
	if err != nil {
		return 0, err
	}
	y, x, own := codes, p.aux.X, k.Params()[:len(p.r.Original)]
	if rows := k.Rows(0); rows != nil {
		y = y.Gather(rows)
	}
	if rows := k.Rows(1); rows != nil {
		x = x.Gather(rows)
	}
	prediction, err := p.r.Runner.Predict(own, x)
	if err != nil {
		return 0, err
	}
	seed := engine.Root(p.r.Seed.Counter(engine.StreamCritic, 3, uint64(k.Step)))
	rng := seed.Stream(engine.StreamCode)
	z, err := ib.SampleCodes(prediction, func(int) *rand.Rand { return rng })
	if err != nil {
		return 0, err
	}
	n := min(z.Rows, y.Rows) // they differ only where there are fewer records than a batch has
	z.Rows, z.Data, y.Rows, y.Data = n, z.Data[:n*z.Cols], n, y.Data[:n*y.Cols]
	pairs := information.Pairs{X: array.Convert[float64](z), Y: array.Convert[float64](y)}
	found, err := information.CodedMINE{Steps: p.Critic, Batch: n, FromFirst: true}.Estimate(p.ctx, p.r.Runner.Engine, pairs, seed)
	if err != nil {
		return 0, err
	}
	return found.Value, nil
}

// offsetRatio is RatioWeights with a constant added to the first term.
type offsetRatio struct{ addend float64 }

var _ train.GradientCombiner = (*offsetRatio)(nil)

// Weights implements train.GradientCombiner.
func (m *offsetRatio) Weights(values []float64, gram [][]float64) ([]float64, error) {
	if len(values) != 2 {
		return nil, fmt.Errorf("%d terms, need two", len(values))
	}
	return train.RatioWeights{}.Weights([]float64{values[0] + m.addend, values[1]}, gram)
}

// resampledCodes are codes that are drawn anew in every epoch, 0, 1, ..., from the
// original's prediction.
type resampledCodes struct {
	prediction *model.Prediction
	ids        []int
	seed       engine.Root

	mu    sync.Mutex
	epoch int
	codes array.Matrix[float32] // of the current epoch; nil before the first
}

func (f *resampledCodes) atEpoch(epoch int) (array.Matrix[float32], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.codes.Rows > 0 && f.epoch == epoch {
		return f.codes, nil
	}
	codes, err := ib.SampleCodes(f.prediction, func(row int) *rand.Rand {
		return f.seed.Stream(engine.StreamCode, uint64(f.ids[row]), uint64(epoch), 0)
	})
	f.codes, f.epoch = codes, epoch
	return codes, err
}

// codeAppender writes an epoch's codes after the features of each record.
type codeAppender struct {
	*resampledCodes
	features int
}

// Augment implements train.Augmenter; id is the index of the code.
func (b codeAppender) Augment(dst, src []float32, epoch, id int) error {
	codes, err := b.atEpoch(epoch)
	if err != nil {
		return err
	}
	copy(dst, src)
	copy(dst[b.features:], codes.Row(id))
	return nil
}
