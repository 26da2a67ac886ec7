// Extra-gradient co-training as coded.

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

// ExtraGradient is what "Fishing for Privacy" calls extra-gradient co-training, as coded
// (section 4.2; for the paper's equations 2 to 4 see ExtraGradientTrue). Three critics c
// are trained to distinguish the original's forget set from its retain set (see
// CriticConfig). An epoch is then one step of the model, by Adam at 1e-4, on
//
//	mean over Df of max over c of 1/(1 + exp(-z_c)) + Lambda (1/genes recon + KL) on Dr
//
// with all of Df and one batch of 256 of Dr, and two steps of the critics, by gradient
// descent at 1e-5, on their cross-entropy. Then a new attacker is trained for 20 steps on
// the model's outputs for forgotten and retained records. Its value is the mean of its AUCs
// against held-out and against retained records. The method ends when the last three values
// rise, or after 50 epochs, and returns the last weights.
//
// Consequences: (1) no step looks ahead. (2) The critics hardly move. (3) An epoch is one
// step, and the attacker's value is so noisy that three values rise after a few epochs, so
// that how far the model moves is left to chance; the note says how many steps it took and
// why it stopped. (4) The mean over elements weights the divergence as if beta were the
// number of genes. (5) Critics distinguish members from members.
//
// Differences from the program: (1) the maximum over critics is taken per record, not for
// the forget set's mean. (2) All of the forget set enters every step; the program takes at
// most 32 records of it in a step of the model or of the critics beside it, 64 while critics
// are first trained, and 30 for the attacker. (3) In the critics' step the model's dropout
// stays on and theirs off, and the gradient of the model's step is not carried over. (4) The attacker's features use latent
// means; the program draws. Held-out records are those that a method may see, half of them.
// (5) The critics' spectral norms are refined in the model's step too.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and loss.LatentLogVar.
type ExtraGradient struct {
	Lambda      float64      `json:"lambda,omitempty" default:"10"` // of the utility
	Epochs      int          `json:"epochs,omitempty" default:"50"` // at most
	LR          float64      `json:"lr,omitempty" default:"1e-4"`
	CriticLR    float64      `json:"critic_lr,omitempty" default:"1e-5"`
	CriticSteps int          `json:"turns,omitempty" default:"2"`   // steps of the critics per epoch
	Rising      int          `json:"rising,omitempty" default:"3"`  // number of rising values that ends it; -1: never
	Batch       int          `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
	Critics     CriticConfig `json:"critics,omitzero"`
}

// Info implements Method.
func (ExtraGradient) Info() Info {
	return Info{
		Name: "extra-gradient", Sees: Sees{Original: true, Forget: true, Retain: true, HeldOut: true}, General: true,
		Does: "moves the model's outputs for the forget set against critics that hardly learn, until a new attacker's value rises",
		From: "Fishing for Privacy, as coded",
	}
}

// Unlearn implements Method.
func (m ExtraGradient) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if m.CriticSteps < 1 || !(m.Lambda > 0) {
		return nil, fmt.Errorf("%d steps of the critics and the weight %v of the utility; both must be positive", m.CriticSteps, m.Lambda)
	}
	w, err := r.newCriticGame(ctx, m.Critics, r.Retain, false, false)
	if err != nil {
		return nil, err
	}
	return m.playCritics(ctx, w)
}

// playCritics trains the model against the critics.
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
	for k := range own { // every critic minimises its own loss, not the mean of all
		own[k].Targets[0].Weight *= float64(len(w.runner.Arch.(criticModel).Critics))
	}
	return []train.Player{
		w.modelPlayer(train.Objective{utility, privacy}, m.LR),
		{Name: "critics", Owns: []string{criticsPrefix}, Objective: own, Optimizer: nn.SGD{LR: m.CriticLR}, Updates: m.CriticSteps},
	}, nil
}

// criticObjective returns the critics' objective: the mean over critics of the
// cross-entropy of the forget set, with label yes, and of others, with label no, averaged.
func (w *criticGame) criticObjective(others Data) (train.Objective, error) {
	yes, err := w.criticTerm("members", w.Forget, true, 1, 0.5)
	if err != nil {
		return nil, err
	}
	no, err := w.criticTerm("others", others, false, 0, 0.5)
	return train.Objective{yes, no}, err
}

// stopAttacker is the attacker that decides when the method stops.
type stopAttacker struct {
	*criticGame
	runner *model.Runner
}

func (w *criticGame) newStopAttacker() (*stopAttacker, error) {
	net := learned.Network{Features: w.runner.Arch.(criticModel).features(), Hidden: []int{128, 128}, Dropout: 0.3}
	r, err := model.NewRunner(w.Runner.Engine, net)
	return &stopAttacker{w, r}, err
}

// epochValue returns the attacker's value after an epoch.
func (s *stopAttacker) epochValue(ctx context.Context, p nn.Params, epoch int) (float64, error) {
	known, err := s.attackRecords(p, s.Retain)
	if err != nil {
		return 0, err
	}
	nonMembers, err := s.features(p, s.HeldOut)
	if err != nil {
		return 0, err
	}
	d := learned.CriticTraining{Steps: 20, Batch: 64, LR: 1e-3}
	q, err := d.Fit(ctx, s.runner, known, engine.Root(s.Seed.Counter(engine.StreamCritic, 1, uint64(epoch))))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, others := range []array.Matrix[float64]{nonMembers, known.Nonmembers} {
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
