package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// ExtraGradient is what "Fishing for Privacy" calls extra-gradient co-training, as
// coded (section 4.2; the paper's equations 2 to 4 are ExtraGradientTrue). Three
// critics c learn to tell the original's forget set from its retain set (see
// Criticism). An epoch is then one step of the model, by Adam at 1e-4, down
//
//	mean over Df of max over c of 1/(1 + exp(-z_c)) + Lambda (1/genes recon + KL) on Dr
//
// on all of Df and one batch of 256 of Dr, and two steps of the critics, by plain
// gradient descent at 1e-5, down the cross-entropy of the two. Then a new attacker
// learns for 20 steps what the model says of forgotten and retained records, and its
// value is the mean of its AUC against held-out and against retained ones. Where the
// last three values rise the method ends; otherwise after 50 epochs. What is last is
// returned.
//
// What it does: (1) no step looks ahead. (2) The critics hardly move. (3) An epoch is
// one step, and the attacker's value is noisy enough that three rise after a few of
// them, so that how far the model goes is left to chance: the note says how many
// steps it took and why it stopped. (4) The mean over elements makes the divergence
// as heavy as if beta were the number of genes. (5) Critics tell members from members.
//
// Differences from the program: (1) the surest critic is that of every record, not
// that of the forget set's mean. (2) All of the forget set enters a step, where it
// takes at most 32. (3) The critics' step leaves the model's dropout on and their own
// off, and begins without the gradient that the model's step left behind. (4) The
// attacker's features are of latent means, where it draws; held-out records are
// those that a method may look at, half of them. (5) The critics' spectral norms are
// refined in the model's step too.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and
// loss.LatentLogVar.
type ExtraGradient struct {
	Lambda      float64      `json:"lambda,omitempty"`    // of the utility, 0: 10
	Epochs      int          `json:"epochs,omitempty"`    // at most, 0: 50
	LR          float64      `json:"lr,omitempty"`        // 0: 1e-4
	CriticLR    float64      `json:"critic_lr,omitempty"` // 0: 1e-5
	CriticSteps int          `json:"turns,omitempty"`     // of the critics in an epoch, 0: 2
	Rising      int          `json:"rising,omitempty"`    // values that end it, 0: 3; -1: none do
	Batch       int          `json:"batch,omitempty"`     // 0: 256; a request's own batch goes before
	Critics     CriticConfig `json:"critics,omitzero"`
}

var (
	_ Described = ExtraGradient{}
	_ General   = ExtraGradient{}
)

// Name implements Method.
func (ExtraGradient) Name() string { return "extra-gradient" }

// About implements Described.
func (ExtraGradient) About() About {
	return About{
		"moves what the model says of the forget set against critics that hardly learn, until a new attacker's value rises",
		"Fishing for Privacy, as coded",
	}
}

// General implements General.
func (ExtraGradient) General() bool { return true }

// Sees implements Method.
func (ExtraGradient) Sees() Sees {
	return Sees{Original: true, Forget: true, Retain: true, HeldOut: true}
}

// WithDefaults implements Method.
func (m ExtraGradient) WithDefaults() Method { return m.withDefaults() }

func (m ExtraGradient) withDefaults() ExtraGradient {
	m.Lambda, m.Epochs, m.LR, m.CriticLR = cmp.Or(m.Lambda, 10), cmp.Or(m.Epochs, 50), cmp.Or(m.LR, 1e-4), cmp.Or(m.CriticLR, 1e-5)
	m.CriticSteps, m.Rising, m.Batch, m.Critics = cmp.Or(m.CriticSteps, 2), cmp.Or(m.Rising, 3), cmp.Or(m.Batch, 256), m.Critics.withDefaults()
	return m
}

// Unlearn implements Method.
func (m ExtraGradient) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	if m.CriticSteps < 1 || !(m.Lambda > 0) {
		return nil, fmt.Errorf("%d turns of the critics and the weight %v of the utility; both must be positive", m.CriticSteps, m.Lambda)
	}
	w, err := r.newCriticGame(ctx, m.Critics, r.Retain, false, false)
	if err != nil {
		return nil, err
	}
	return m.playCritics(ctx, w)
}

// playCritics plays the model against these critics.
func (m ExtraGradient) playCritics(ctx context.Context, w *criticGame) (*Outcome, error) {
	players, err := m.players(w)
	if err != nil {
		return nil, err
	}
	judge, err := w.newStopAttacker()
	if err != nil {
		return nil, err
	}
	stop := &train.Validation{Score: judge.epochValue, Rising: max(m.Rising, 0), KeepLast: true}
	plan := train.Plan{Game: &train.Game{Steps: 1, Players: players}, Validation: stop}
	out, err := w.play(ctx, plan, train.Config{Epochs: m.Epochs, Batch: cmp.Or(w.Batch, m.Batch), Seed: w.Seed})
	if err != nil {
		return nil, err
	}
	why := fmt.Sprintf("all of its %d epochs", m.Epochs)
	if stop.HasRisen(out.History) {
		why = fmt.Sprintf("stopped by %d rising values of an attacker", m.Rising)
	}
	out.Note = fmt.Sprintf("%d steps of the model, %s", len(out.History), why)
	return out, nil
}

func (m ExtraGradient) players(w *criticGame) ([]train.Player, error) {
	genes, _ := w.elements()
	utility, err := w.utilityTerm(m.Lambda/genes, m.Lambda)
	if err != nil {
		return nil, err
	}
	privacy, err := w.term("forget", w.Forget, true, train.Target{Loss: loss.MaxLogit{Probability: true}, Weight: 1})
	if err != nil {
		return nil, err
	}
	own, err := w.criticObjective(w.Retain)
	if err != nil {
		return nil, err
	}
	for k := range own { // every critic goes down a loss of its own, not the mean of all
		own[k].Targets[0].Weight *= float64(len(w.runner.Arch.(criticModel).Critics))
	}
	return []train.Player{
		w.modelPlayer(train.Objective{utility, privacy}, m.LR),
		{Name: "critics", Owns: []string{criticsPrefix}, Objective: own, Optimizer: nn.SGD{LR: m.CriticLR}, Updates: m.CriticSteps},
	}, nil
}

// criticObjective is what critics go down: the mean over them of the cross-entropy of the
// forget set, against yes, and of others, against no, the two in the mean.
func (w *criticGame) criticObjective(others Data) (train.Objective, error) {
	yes, err := w.criticTerm("members", w.Forget, true, 1, 0.5)
	if err != nil {
		return nil, err
	}
	no, err := w.criticTerm("others", others, false, 0, 0.5)
	return train.Objective{yes, no}, err
}

// stopAttacker is the attacker that the method stops by.
type stopAttacker struct {
	*criticGame
	runner *model.Runner
}

func (w *criticGame) newStopAttacker() (*stopAttacker, error) {
	net := learned.Network{Features: w.runner.Arch.(criticModel).features(), Hidden: []int{128, 128}, Dropout: 0.3}
	r, err := model.NewRunner(w.Runner.Engine, net)
	return &stopAttacker{w, r}, err
}

// epochValue is the attacker's of an epoch.
func (s *stopAttacker) epochValue(ctx context.Context, p nn.Params, epoch int) (float64, error) {
	known, err := s.attackRecords(p, s.Retain)
	if err != nil {
		return 0, err
	}
	strangers, err := s.features(p, s.HeldOut)
	if err != nil {
		return 0, err
	}
	d := learned.CriticTraining{Steps: 20, Batch: 64, LR: 1e-3}
	q, err := d.Fit(ctx, s.runner, known, engine.Root(s.Seed.Counter(engine.StreamCritic, 1, uint64(epoch))))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, others := range []array.Matrix[float64]{strangers, known.Nonmembers} {
		auc, err := s.auc(q, known.Members, others)
		if err != nil {
			return 0, err
		}
		sum += auc / 2
	}
	return sum, nil
}

func (s *stopAttacker) auc(q nn.Params, members, others array.Matrix[float64]) (float64, error) {
	var scores [2][]float64
	for i, x := range []array.Matrix[float64]{members, others} {
		out, err := s.runner.Predict(q, array.Convert[float32](x))
		if err != nil {
			return 0, err
		}
		scores[i] = array.Convert[float64](out.Logits()).Data
	}
	return stats.AUC(scores[0], scores[1])
}
