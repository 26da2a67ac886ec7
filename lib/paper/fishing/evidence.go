package fishing

// Outputs of a model on cells, and the row of results.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/utility"
)

// splitOutputs are a model's outputs on the forgotten, the retained and the unseen cells.
type splitOutputs struct {
	forget, retain, unseen cellOutputs
}

// cellOutputs are a model's outputs on some cells. bare is the reconstruction loss as in the
// published program's threshold attacks: without library size, so that it compares proportions
// with expression, and a mean over genes.
//
// codes represent the cells in the latent space: the means, or one draw from each posterior,
// with the reconstruction loss of the decoded code.
type cellOutputs struct {
	mean, logVar, codes     array.Matrix[float32]
	recon, divergence, bare []float64
}

// predictSplits computes a model's outputs on a case, with the posterior means as codes. The
// published program samples codes: see withSampledCodes.
func predictSplits(c *lab.Case, w nn.Params) (v splitOutputs, err error) {
	train := func(rows []int) (cellOutputs, error) { return predictCells(c.Runner, w, c.Problem.Train.Gather(rows)) }
	if v.forget, err = train(c.Forget); err != nil {
		return v, err
	}
	if v.retain, err = train(c.Retain); err != nil {
		return v, err
	}
	v.unseen, err = predictCells(c.Runner, w, c.Test)
	return v, err
}

func predictCells(r *model.Runner, w nn.Params, cells datasets.Part) (s cellOutputs, err error) {
	p, err := r.Predict(w, cells.X)
	if err != nil {
		return s, err
	}
	s.mean, s.logVar, s.codes = p.Outputs[loss.LatentMean], p.Outputs[loss.LatentLogVar], p.Outputs[loss.LatentMean]
	if s.divergence, err = utility.Divergences(s.mean, s.logVar); err != nil {
		return s, err
	}
	return s, s.addReconstruction(p.Outputs[loss.Proportion], cells.X)
}

// addReconstruction computes the losses of the decoded codes. In a conditional network x has the
// types behind the genes.
func (s *cellOutputs) addReconstruction(proportion, x array.Matrix[float32]) (err error) {
	if proportion.Cols < x.Cols {
		x = x.FirstColumns(proportion.Cols)
	}
	if s.recon, err = utility.SquaredErrors(proportion, x, utility.LibrarySizes(x)); err != nil {
		return err
	}
	if s.bare, err = utility.SquaredErrors(proportion, x, ones(x.Rows)); err != nil {
		return err
	}
	for i := range s.bare {
		s.bare[i] /= float64(x.Cols)
	}
	return nil
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// features are the paper's 70 features; the last is the distance to the nearest retained cell in
// the model's own latent space.
func (s cellOutputs) features(retain cellOutputs) (array.Matrix[float64], error) {
	f, err := features.Full(s.posterior())
	if err != nil {
		return f, err
	}
	return features.WithDistance(f, features.Neighbours{Codes: s.codes, Reference: retain.codes})
}

func (s cellOutputs) posterior() features.Posterior {
	return features.Posterior{Recon: s.recon, KL: s.divergence, Mu: s.mean, LogVar: s.logVar}
}

// gather selects cells by position.
func (s cellOutputs) gather(at []int) cellOutputs {
	out := cellOutputs{mean: s.mean.Gather(at), logVar: s.logVar.Gather(at), codes: s.codes.Gather(at)}
	for _, i := range at {
		out.recon, out.divergence, out.bare = append(out.recon, s.recon[i]), append(out.divergence, s.divergence[i]), append(out.bare, s.bare[i])
	}
	return out
}

// attackRecords are the features of the forgotten cells, as members, and of the unseen cells at
// the given positions.
func (v splitOutputs) attackRecords(negatives []int) (r learned.Records, err error) {
	if r.Members, err = v.forget.features(v.retain); err != nil {
		return r, err
	}
	r.Nonmembers, err = v.unseen.gather(negatives).features(v.retain)
	return r, err
}

// Row is the evidence on one model: one variant of one case with one seed.
type Row struct {
	Case      string `json:"case"`
	Variant   string `json:"arm"`
	Control   bool   `json:"control"`
	Seed      int    `json:"seed"`
	Type      string `json:"type"` // forgotten type
	Forget    int    `json:"n_forget"`
	Negatives int    `json:"n_negatives"` // matched unseen cells
	SameType  int    `json:"n_same_type"` // of them, cells whose type some forgotten cell has
	Unseen    int    `json:"n_unseen"`
	Judged    int    `json:"n_judged"` // unseen cells that no method uses; the negatives are among these

	// Sizes are those of the case.
	Sizes Sizes `json:"sizes"`

	// Drawn are the results with sampled codes.
	Drawn SampledCodes `json:"drawn"`

	// Attacks are the results of the protocols, by name.
	Attacks map[string]ProtocolResult `json:"attacks"`
	// OtherCase is the report of another case's attacker; nil: there is none.
	OtherCase *attack.ScoreReport `json:"borrowed,omitempty"`
	// Suite are the reports of the attacks without training, by name.
	Suite map[string]*attack.ScoreReport `json:"suite"`

	// Means over cells of the reconstruction loss and the divergence.
	ForgetRecon      float64 `json:"forget_recon"`
	ForgetDivergence float64 `json:"forget_divergence"`
	UnseenRecon      float64 `json:"unseen_recon"`
	UnseenDivergence float64 `json:"unseen_divergence"`
	// Latent is what the unseen cells' latent means tell about their types.
	Latent Latent `json:"latent"`
	// Markers are the case's marker genes that are among its variable genes.
	Markers []Marker `json:"markers,omitempty"`

	// Null is the result of the cross-fitted attacker on cells that were not trained on; nil in
	// all rows but the retrained model's.
	Null *MatchedNull `json:"null,omitempty"`
	// Steps are those of the method's last stage, the one that counts epochs.
	Steps int `json:"steps"`
	// Private is the privacy accounting of private training, nil for other methods.
	Private *Spending `json:"private,omitempty"`

	Displacement float64 `json:"displacement"`   // relative distance of the weights
	Note         string  `json:"note,omitempty"` // the method's own note
	Diverged     string  `json:"diverged,omitempty"`
}

// ELBO is the paper's term: the reconstruction loss of unseen cells plus their divergence.
func (r Row) ELBO() float64 { return r.UnseenRecon + r.UnseenDivergence }

// ProtocolResult is the result of a protocol on a model: over all cells that it scores, and over
// those that its attacker was not trained on.
type ProtocolResult struct {
	All     attack.ScoreReport  `json:"all"`
	HeldOut *attack.ScoreReport `json:"held_out,omitempty"`
	Coded   attack.Coded        `json:"coded"`
}

// protocols are the attack protocols of a case; by default the paper's of its main table, and
// the corrected one.
func (c Case) protocols() []learned.Protocol {
	if c.Protocols != nil {
		return c.Protocols
	}
	return []learned.Protocol{learned.PB(), learned.CrossFitted(nil)}
}

// runProtocols runs every protocol of a case on a model.
func (q *attackCase) runProtocols(ctx context.Context, e *engine.Engine, v splitOutputs, seed engine.Root) (map[string]ProtocolResult, error) {
	out := map[string]ProtocolResult{}
	for _, p := range q.spec.protocols() {
		put, err := q.protocolInput(p, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		r, err := p.Run(ctx, e, put, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		out[p.Name] = ProtocolResult{All: r.ScoreReport, HeldOut: r.HeldOut, Coded: r.Coded}
	}
	return out, nil
}
