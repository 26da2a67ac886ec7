// BlindU as in the paper.

package unlearn

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
)

// BlindU forgets records that it never sees (BlindU, section V). Their owner masks each
// record, compresses it with the first half of the model, and uploads the code z_e with the
// label y_e. The server, which has the model and auxiliary records (x_a, y_a), minimises
// two objectives,
//
//	L_IB     = mean( -log p(y_a | z_a) + beta divergence(z_a) )          (equation 2)
//	L_forget = I(Z_e; Z_a) + I(Z_e; Y_e)                                 (equations 4, 6)
//
// weighted in every step by the norms and the angle of their gradients (equation 8,
// train.MGDA). The first mutual information is estimated by a critic of pairs (z_e, z_a)
// (MINE, equation 5), which takes a hundred steps first and then five for each step of the
// model. The second falls as the cross-entropy -log p(y_e | z_e) rises. The server stops
// after 20 epochs, or when the approximator finds the labels of no more codes than chance,
// which the server can check.
//
// Codes and auxiliary records are drawn independently, so that the true I(Z_e; Z_a) is 0
// before and after: what the critic finds is overfitting to a finite number of pairs. An
// epoch has a pair for every auxiliary record and for every code; the shorter list repeats.
//
// # Rounds
//
// A federation counts rounds, in each of which a user who erases goes through the erased
// records. A server that unlearns alone counts its own epochs. With Beside it matches these
// users: a round has as many steps of the model as a user takes who holds the whole forget
// set, in batches of the same size; there are at most as many rounds, and after each the
// server checks whether to stop. So equal rounds are equal numbers of steps. The critic's
// steps come on top.
//
// Differences from paper and program: (1) the paper prints the complement of the correct
// weight: train.PrintedMGDA, Weighting "printed". (2) The program has no such weight and no
// gradient of the first information. Its critic, of a single batch and with normal noise as
// negatives, gives a number that scales the step; Weighting "ratio" does so with the critic
// here. (3) The cross-entropy is unbounded. With Bounded the codes are trained towards the
// uniform distribution over labels instead. (4) The program encodes anew in every step, and
// on CIFAR-10 and Adult its auxiliary records are the retain set itself: Auxiliary
// Retained; the paper's, by model inversion, are Inverted; see [Sources]. (5) It stops by
// the accuracy on records that a server does not have. The whole program is Coded.
type BlindU struct {
	Masking   privacy.Masking `json:"masking,omitzero" default:"-"` // zero: 60 % without replacement
	Unmasked  bool            `json:"unmasked,omitempty"`           // records are compressed only, not masked
	Auxiliary Auxiliary       `json:"auxiliary,omitempty" default:"public"`
	Weighting Weighting       `json:"weighing,omitempty"` // "": ByMGDA, with Coded ByRatio
	Bounded   bool            `json:"bounded,omitempty"`
	Epochs    int             `json:"epochs,omitempty" default:"20"` // at most
	LR        float64         `json:"lr,omitempty" default:"1e-3"`
	Batch     int             `json:"batch,omitempty" default:"20"`    // a request's own batch size has priority
	Clip      *float64        `json:"clip,omitempty" default:"1"`      // gradient norm; new(0.0): no clipping
	Rate      *float64        `json:"rate,omitempty"`                  // weight of the first mutual information; nil: 1, with Coded 4; new(0.0): none
	Critic    int             `json:"critic,omitempty"`                // steps of the critic per step of the model; 0: 5, with Coded 40
	WarmUp    int             `json:"warm_up,omitempty" default:"100"` // steps of the critic at the start
	// Coded runs the published program, whose server is not blind; nil: the paper's method.
	Coded *Coded `json:"coded,omitempty"`
	// Beside are the users whose rounds are matched; their Rounds, ErasingEpochs and Batch
	// replace Epochs and Batch. nil: none.
	Beside *Users `json:"beside,omitempty"`
}

// Weighting says how the objectives of retaining and forgetting are combined.
type Weighting string

// The weightings.
const (
	ByMGDA    Weighting = "mgda"    // train.MGDA
	AsPrinted Weighting = "printed" // train.PrintedMGDA
	ByPCGrad  Weighting = "pcgrad"  // train.PCGrad
	ByRatio   Weighting = "ratio"   // train.RatioWeights, as coded: ten times the retained loss, no gradient of the first information
	Added     Weighting = "added"   // unweighted sum
)

// Info implements Method. The forget set is seen by its owner only; see Serve.
func (m BlindU) Info() Info {
	s := defaults.Fill(m).Auxiliary.sees()
	s.Original, s.Forget = true, true
	version := 2 // every code is in a pair; in version 1 those beyond the number of auxiliary records were in none
	if m.Coded != nil {
		version = 1
	}
	return Info{
		Name: "blindu", Sees: s, General: true, Version: version,
		Does: "forgets by codes and labels alone: raises the loss of uploaded codes and keeps auxiliary records",
		From: "BlindU, corrected",
	}
}

// SetDefaults implements defaults.Setter.
func (m *BlindU) SetDefaults() {
	if m.Masking = defaults.Fill(m.Masking); m.Unmasked {
		m.Masking = privacy.Masking{}
	}
	if m.Coded != nil {
		m.Weighting, m.Rate, m.Critic = cmp.Or(m.Weighting, ByRatio), cmp.Or(m.Rate, new(4.0)), cmp.Or(m.Critic, 40)
	}
	m.Weighting, m.Rate, m.Critic = cmp.Or(m.Weighting, ByMGDA), cmp.Or(m.Rate, new(1.0)), cmp.Or(m.Critic, 5)
}

// combiner returns the gradient combiner of the weighting.
func (w Weighting) combiner() (train.GradientCombiner, error) {
	switch w {
	case ByMGDA:
		return train.MGDA{}, nil
	case AsPrinted:
		return train.PrintedMGDA{}, nil
	case ByPCGrad:
		return train.PCGrad{}, nil
	case ByRatio:
		return train.RatioWeights{}, nil
	case Added:
		return nil, nil
	}
	return nil, fmt.Errorf("unknown weighting %q; there are %q, %q, %q, %q and %q", w, ByMGDA, AsPrinted, ByPCGrad, ByRatio, Added)
}

// Unlearn implements Method: the owner's part, then the server's.
func (m BlindU) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if m.Coded != nil {
		return m.runAsCoded(ctx, r)
	}
	b, err := m.PrepareRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	return m.Serve(ctx, b)
}

// mask returns the owner's masking; nil: none.
func (m BlindU) mask() *privacy.Masking {
	if m.Unmasked {
		return nil
	}
	return &m.Masking
}

// PrepareRequest is the owner's part: it returns the request, which is all that the server
// gets.
func (m BlindU) PrepareRequest(ctx context.Context, r Request) (BlindRequest, error) {
	m = defaults.Fill(m)
	if m.Coded != nil {
		return BlindRequest{}, errors.New("the published program has no blind request: its server sees masked records")
	}
	auxiliary, err := m.Auxiliary.records(ctx, r)
	if err != nil {
		return BlindRequest{}, err
	}
	return r.blindRequest(m.mask(), auxiliary)
}

// Serve is the server's part.
func (m BlindU) Serve(ctx context.Context, b BlindRequest) (*Outcome, error) {
	m = defaults.Fill(m)
	if m.Coded != nil {
		return nil, errors.New("the published program has no blind server: its server sees masked records")
	}
	of, err := b.bottleneck()
	if err != nil {
		return nil, err
	}
	combiner, err := m.Weighting.combiner()
	if err != nil {
		return nil, err
	}
	if m.Beside != nil {
		if err := m.Beside.checkPositive(); err != nil {
			return nil, err
		}
	}
	arch := withCritic(of)
	runner, err := model.NewRunner(b.Runner.Engine, arch)
	if err != nil {
		return nil, err
	}
	critic, players := m.players(b, arch)
	start := append(b.Original.Clone(), arch.Critic.Init(b.Seed.Stream(engine.StreamCritic, 0, 0), criticPrefix)...)
	c := train.Config{Epochs: 1, Batch: m.batch(b), Clip: *m.Clip, Seed: engine.Root(b.Seed.Counter(engine.StreamCritic, 2, 0))}
	alone := critic
	alone.Updates = 1
	warm := train.Plan{Game: &train.Game{Players: []train.Player{alone}, Steps: m.WarmUp}}
	if start, _, err = train.FitPlan(ctx, runner, start, warm, c, train.Hooks{}); err != nil {
		return nil, fmt.Errorf("training the critic: %w", err)
	}
	c.Epochs, c.Seed = m.Epochs, b.Seed
	game, unit := train.Game{Players: players}, "epoch"
	if u := m.Beside; u != nil {
		c.Epochs, game.Steps, unit = u.Rounds, u.stepsPerRound(b.Erasure.Codes.Rows), "round"
	}
	plan := train.Plan{Game: &game, Combiner: combiner}
	if plan.Validation, err = b.stopWhenForgotten(of); err != nil {
		return nil, err
	}
	p, history, err := train.FitPlan(ctx, runner, start, plan, c, b.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p[:len(b.Original)], History: history, Note: endNote(plan.Validation, history, unit)}, nil
}

// batch returns the number of records per step.
func (m BlindU) batch(b BlindRequest) int {
	if m.Beside != nil {
		return m.Beside.Batch
	}
	return cmp.Or(b.Batch, m.Batch)
}

// players returns the critic and, in playing order, both players.
func (m BlindU) players(b BlindRequest, arch criticBottleneck) (critic train.Player, both []train.Player) {
	// Pairs sweep the longer list, so that every code is in one. The retained loss is of the auxiliary records, each once.
	pairs, records := max(b.Auxiliary.X.Rows, b.Erasure.Codes.Rows), b.Auxiliary.X.Rows
	x := arch.pairRecords(pairs, b.Auxiliary.X, b.Erasure.Codes)
	ids := make([]int, pairs)
	for i := range ids {
		ids[i] = i
	}
	deal := &pairAugmenter{seed: b.Seed, codes: b.Erasure.Codes}
	common := train.Target{Loss: loss.DonskerVaradhan{}, Weight: 1}
	look := train.Term{Name: "pairs", X: x, IDs: ids, Augment: deal, Targets: []train.Target{common}}
	critic = train.Player{Name: "critic", Owns: []string{criticPrefix}, Objective: train.Objective{look}, Optimizer: nn.Adam{LR: 2e-4}, Updates: m.Critic}

	retain, forget := b.Trained[0], look
	retain.X, retain.IDs, retain.Augment = array.Matrix[float32]{Rows: records, Cols: x.Cols, Data: x.Data[:records*x.Cols]}, ids[:records], nil
	forget.Name, forget.Targets = "forget", []train.Target{m.erasureTarget(b.Erasure.Y, arch.Of, x.Rows)}
	if *m.Rate != 0 {
		common.Weight = -*m.Rate
		if m.Weighting == ByRatio {
			common.Loss = loss.NoGradient{Of: common.Loss}
		}
		forget.Targets = append(forget.Targets, common)
	}
	server := train.Player{Name: "model", Objective: train.Objective{retain, forget}, Optimizer: nn.Adam{LR: m.LR}}
	if m.Weighting == ByRatio {
		server.Objective = train.Objective{forget, retain.Scaled(10)}
	}
	for _, v := range b.Original {
		server.Owns = append(server.Owns, v.Name)
	}
	return critic, []train.Player{critic, server}
}

// erasureTarget returns the target that makes the codes lose their labels.
func (m BlindU) erasureTarget(y []int, of ib.Bottleneck, pairs int) train.Target {
	labels, weight := make([]int, pairs), -1.0
	for i := range labels {
		labels[i] = y[i%len(y)]
	}
	p := loss.Labels(labels, of.Outputs)
	if m.Bounded {
		weight = 1
		for i := range p.Data {
			p.Data[i] = 1 / float32(of.Outputs)
		}
	}
	return train.Target{
		Loss: loss.OnOutput{Output: erasedLogits, Of: loss.CrossEntropy{}}, Weight: weight, Inputs: map[string]array.Matrix[float32]{loss.Probabilities: p},
	}
}
