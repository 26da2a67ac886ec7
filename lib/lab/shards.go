package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Shards deals the train part among users, one of whom asks: the forget set is his, all
// that he has where he leaves, or a share of it that he erases. Nobody else holds a
// record of it.
//
// Original and oracles are trained by these users together, in a federation
// (unlearn.Users.Train), of the oracles everybody on what is left to him; of a user who
// leaves that is nothing, and he is not there. A method is told who holds what.
type Shards struct {
	User  int     `json:"user"`            // who asks: 0, 1, ...
	Share float64 `json:"share,omitempty"` // of his records, drawn at random, that he erases; 0: all, he leaves
	// Alpha deals every class by a Dirichlet distribution, so that users have different
	// mixtures of classes and different numbers of records (federated.Dirichlet); 0: at
	// random, in equal parts (federated.IID).
	Alpha float64 `json:"alpha,omitempty"`
	// Central trains original and oracles at one place, on all records, as they are
	// without users.
	Central bool `json:"central,omitempty"`
	// Users are how many there are, and how they train together.
	Users unlearn.Users `json:"users"`
}

func (h Shards) withDefaults() Shards {
	h.Users = h.Users.WithDefaults()
	return h
}

// assign is who holds which rows of the train part.
func (h Shards) assign(p *datasets.Prepared, seed engine.Root) ([]federated.User, error) {
	if h.Alpha == 0 {
		return federated.IID(p.Train.X.Rows, h.Users.Count, seed)
	}
	return federated.Dirichlet{Alpha: h.Alpha, Least: 1}.Split(p.Train.Y, h.Users.Count, seed)
}

// requestedRows are the rows that the user who asks wants forgotten.
func (h Shards) requestedRows(users []federated.User, seed engine.Root) ([]int, error) {
	k := slices.IndexFunc(users, func(u federated.User) bool { return u.ID == h.User })
	if k < 0 {
		return nil, fmt.Errorf("user %d asks, there are users 0 to %d", h.User, len(users)-1)
	}
	rows := users[k].Rows
	n := int(h.Share * float64(len(rows)))
	switch {
	case h.Share == 0:
		return rows, nil
	case !(h.Share > 0 && h.Share < 1) || n == 0:
		return nil, fmt.Errorf("user %d erases the share %v of his %d records; it lies between 0 and 1 and is at least one record", h.User, h.Share, len(rows))
	}
	var out []int
	for _, i := range seed.Stream(engine.StreamErased, uint64(h.User)).Perm(len(rows))[:n] {
		out = append(out, rows[i])
	}
	slices.Sort(out)
	return out, nil
}

// forTraining is what a training on everything knows of the shards: not who is to ask, and
// nothing where it is central.
func (h *Shards) forTraining() *Shards {
	if h == nil || h.Central {
		return nil
	}
	out := *h
	out.User, out.Share = 0, 0
	return &out
}

// forgetSetName tells a forget set from others of the same users.
func (h Shards) forgetSetName(seed uint32) string {
	out := fmt.Sprintf("user-%d-of-%d", h.User, h.Users.Count)
	if h.Share != 0 {
		out += fmt.Sprintf("-%g", h.Share)
	}
	if h.Alpha != 0 {
		out += fmt.Sprintf("-alpha-%g", h.Alpha)
	}
	return fmt.Sprintf("%s-%d", out, seed)
}

// Federated is what a training in a federation is by, beside what any training is.
type Federated struct {
	Shards  Shards // resolved
	Holders []federated.User
}

// federatedKey identifies it in the store.
type federatedKey struct {
	Shards  Shards `json:"shards"`
	Holders string `json:"holders"` // hash of who holds which rows
}

func (f *Federated) key() *federatedKey {
	if f == nil {
		return nil
	}
	return &federatedKey{f.Shards, holdersKey(f.Holders)}
}

// holdersKey identifies who holds which rows; "" where nobody says.
func holdersKey(users []federated.User) string {
	if users == nil {
		return ""
	}
	var all []int
	for _, u := range users {
		all = append(append(all, u.ID, len(u.Rows)), u.Rows...)
	}
	return hashInts(all)
}

// saveSteps is how many times a training stands still to be saved: epochs, or rounds.
func (t Training) saveSteps(fit train.Config) int {
	if t.Federated == nil {
		return fit.Epochs
	}
	return t.Federated.Shards.Users.Rounds
}

// fitModel is the training itself.
func (t Training) fitModel(ctx context.Context, fresh nn.Params, fit train.Config, hooks train.Hooks) (nn.Params, []train.Epoch, error) {
	augment := t.Problem.augmenter(fit.Seed)
	if t.Federated == nil {
		o, err := t.goal().Objective(t.Problem, t.Rows)
		if err != nil {
			return nil, nil, err
		}
		for i := range o {
			o[i].Augment = augment
		}
		return train.Fit(ctx, t.Problem.Runner, fresh, o, fit, hooks)
	}
	if len(t.Keep) > 0 {
		return nil, nil, errors.New("lab: of a federated training no weights on the way are kept")
	}
	out, err := t.Federated.Shards.Users.Train(ctx, unlearn.Request{
		Runner: t.Problem.Runner, Retain: t.Problem.Records(t.Rows), Holders: t.Federated.Holders, Fit: fit, Seed: fit.Seed,
		Augment: augment, Hooks: hooks, Objective: func(d unlearn.Data) (train.Objective, error) { return t.goal().Objective(t.Problem, d.IDs) },
	})
	if err != nil {
		return nil, nil, err
	}
	return out.Params, out.History, nil
}
