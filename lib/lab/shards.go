// Experiments with the users of a federation.

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// User splits the train part between the users of a federation, one of whom requests to
// forget: all of their records if they leave, otherwise a share of them. No other user
// holds those records.
//
// The original and the retrained models are trained by federated averaging
// (unlearn.Users.Train); for a retrained model every user trains on what they have left,
// and a user who leaves takes no part. A method gets to know which user holds which rows.
type User struct {
	Number int     `json:"user"`            // the user who requests to forget: 0, 1, ...
	Share  float64 `json:"share,omitempty"` // of the user's records, drawn at random, to forget; 0: all, the user leaves
	// Alpha draws every class from a Dirichlet distribution, so that users have different
	// mixtures of classes and different numbers of records (federated.Dirichlet); 0: at
	// random, in equal parts (federated.IID).
	Alpha float64 `json:"alpha,omitempty"`
	// Central trains the original and the retrained models centrally, as without users.
	Central bool `json:"central,omitempty"`
	// Users are the number of users and how they train.
	Users unlearn.Users `json:"users"`
	// Seed splits the records and draws the share, 0: ForgetSeed. Keys hold the rows
	// themselves.
	Seed uint32 `json:"-"`
}

func (h User) withDefaults() User {
	h.Users, h.Seed = defaults.Fill(h.Users), cmp.Or(h.Seed, ForgetSeed)
	return h
}

// Rows implements ForgetSet.
func (h User) Rows(p *datasets.Prepared) ([]int, error) {
	h = h.withDefaults()
	users, err := h.assign(p)
	if err != nil {
		return nil, err
	}
	return h.requestedRows(users)
}

// Reseed implements SeededForgetSet.
func (h User) Reseed(shift int) ForgetSet {
	h = h.withDefaults()
	h.Seed += uint32(shift)
	return h
}

// assign returns which user holds which rows of the train part.
func (h User) assign(p *datasets.Prepared) ([]federated.User, error) {
	seed := seedRoot(h.Seed)
	if h.Alpha == 0 {
		return federated.IID(p.Train.X.Rows, h.Users.Count, seed)
	}
	return federated.Dirichlet{Alpha: h.Alpha, Least: 1}.Split(p.Train.Y, h.Users.Count, seed)
}

// requestedRows returns the rows that the requesting user wants forgotten.
func (h User) requestedRows(users []federated.User) ([]int, error) {
	seed := seedRoot(h.Seed)
	k := slices.IndexFunc(users, func(u federated.User) bool { return u.ID == h.Number })
	if k < 0 {
		return nil, fmt.Errorf("there is no user %d: users are 0 to %d", h.Number, len(users)-1)
	}
	rows := users[k].Rows
	n := int(h.Share * float64(len(rows)))
	switch {
	case h.Share == 0:
		return rows, nil
	case !(h.Share > 0 && h.Share < 1) || n == 0:
		return nil, fmt.Errorf("user %d erases the share %v of their %d records; it must be between 0 and 1 and at least one record",
			h.Number, h.Share, len(rows))
	}
	var out []int
	for _, i := range seed.Stream(engine.StreamErased, uint64(h.Number)).Perm(len(rows))[:n] {
		out = append(out, rows[i])
	}
	slices.Sort(out)
	return out, nil
}

// forTraining returns what a training on all records depends on: without the request, and
// nil where training is central.
func (h *User) forTraining() *User {
	if h == nil || h.Central {
		return nil
	}
	out := *h
	out.Number, out.Share, out.Seed = 0, 0, 0
	return &out
}

// Name implements ForgetSet: "user-3-of-10-999".
func (h User) Name() string {
	h = h.withDefaults()
	out := fmt.Sprintf("user-%d-of-%d", h.Number, h.Users.Count)
	if h.Share != 0 {
		out += fmt.Sprintf("-%g", h.Share)
	}
	if h.Alpha != 0 {
		out += fmt.Sprintf("-alpha-%g", h.Alpha)
	}
	return fmt.Sprintf("%s-%d", out, h.Seed)
}

// User returns the user who requests to forget, nil if the forget set is another one.
func (s Setting) User() *User {
	if h, is := s.Forget.(User); is {
		return &h
	}
	return nil
}

// holders returns which user holds which rows of the train part; nil without a federation.
func (s Setting) holders(p *datasets.Prepared) ([]federated.User, error) {
	if s.User() == nil {
		return nil, nil
	}
	return s.User().assign(p)
}

// Federated is what a federated training needs besides a Training.
type Federated struct {
	User    User // with defaults
	Holders []federated.User
}

// federatedKey identifies a Federated in the store.
type federatedKey struct {
	User    User   `json:"shards"`
	Holders string `json:"holders"` // hash of which user holds which rows
}

func (f *Federated) key() *federatedKey {
	if f == nil {
		return nil
	}
	return &federatedKey{f.User, holdersKey(f.Holders)}
}

// holdersKey returns a hash of which user holds which rows; "" without users.
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

// fitModel runs the training.
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
		return nil, nil, errors.New("lab: a federated training keeps no checkpoints")
	}
	out, err := t.Federated.User.Users.Train(ctx, unlearn.Request{
		Runner: t.Problem.Runner, Retain: t.Problem.Records(t.Rows), Holders: t.Federated.Holders, Fit: fit, Seed: fit.Seed,
		Augment: augment, Hooks: hooks, Objective: func(d unlearn.Data) (train.Objective, error) { return t.goal().Objective(t.Problem, d.IDs) },
	})
	if err != nil {
		return nil, nil, err
	}
	return out.Params, out.History, nil
}
