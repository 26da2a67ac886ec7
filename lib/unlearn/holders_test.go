// Federated methods where the request says who holds what.

package unlearn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// assignHolders assigns the records of a request to four users: one of them holds the forget set
// and every fourth record of the retain set or, if they leave, none of it.
func assignHolders(r Request, asks int, leaves bool) []federated.User {
	users := make([]federated.User, 4)
	for i, id := range r.Retain.IDs {
		k := i % 4
		if leaves && k == asks {
			k = (k + 1) % 4
		}
		users[k].Rows = append(users[k].Rows, id)
	}
	for k := range users {
		users[k].ID = k
	}
	users[asks].Rows = append(users[asks].Rows, r.Forget.IDs...)
	return users
}

// turns returns the users' parts in the first round.
func turns(t *testing.T, u Users, r Request, erase eraseFunc) map[int]federated.UserRound {
	t.Helper()
	f, err := u.federation(r, erase, &federatedRun{})
	if err != nil {
		t.Fatal(err)
	}
	out, work := map[int]federated.UserRound{}, f.Work
	f.Rounds, f.StopAfter = 1, nil
	f.Work = func(turn federated.UserRound) (federated.Task, error) {
		out[turn.User] = turn
		return work(turn)
	}
	if _, _, err := federated.Run(t.Context(), r.Runner, r.Original, f, federated.Hooks{}); err != nil {
		t.Fatal(err)
	}
	return out
}

// The request says who holds what: each user trains on their own records, and the holder of
// the forget set erases it, also if they have nothing else; in a training they then take no
// part. With another holder that one erases.
func TestWhoHoldsTheForgetSetErasesIt(t *testing.T) {
	s := newServer(t)
	u := defaults.Fill(quarter)
	for _, leaves := range []bool{false, true} {
		for _, asks := range []int{1, 3} {
			r := s.request()
			r.Holders = assignHolders(r, asks, leaves)
			ids := slices.Concat(r.Retain.IDs, r.Forget.IDs)
			of := func(rows []int) (out []int) {
				for _, row := range rows {
					out = append(out, ids[row])
				}
				return out
			}
			erased := map[int][]int{}
			for k, turn := range turns(t, u, r, func(turn federated.UserRound, own, gone Data) (federated.Task, error) {
				if !slices.Equal(own.IDs, of(turn.Rows)) || len(own.IDs) == 0 != leaves {
					t.Errorf("user %d works on %d records of their own", turn.User, len(own.IDs))
				}
				erased[turn.User] = gone.IDs
				return u.trainTask(r, gone)
			}) {
				want := slices.DeleteFunc(slices.Clone(r.Holders[k].Rows), func(id int) bool { return slices.Contains(r.Forget.IDs, id) })
				if !slices.Equal(of(turn.Rows), want) {
					t.Errorf("%d asks: user %d trains on %d records, has %d", asks, k, len(turn.Rows), len(want))
				}
			}
			if len(erased) != 1 || !slices.Equal(erased[asks], r.Forget.IDs) {
				t.Errorf("%d asks: erased is %v", asks, erased)
			}
			r.Forget = Data{}
			if trained := turns(t, u, r, nil); len(trained) != 4 && !leaves || leaves && (len(trained) != 3 || trained[asks].Rows != nil) {
				t.Errorf("%d asks: %d users train", asks, len(trained))
			}
		}
	}
}

// The mean is over all who took part, including a user who leaves.
func TestWhoLeavesIsInTheMean(t *testing.T) {
	s := newServer(t)
	r := s.request()
	r.Holders = assignHolders(r, 2, true)
	m := BFU{Users: Users{Count: 4, Rounds: 1, LocalEpochs: 1, Batch: 1000}}
	got, rep, err := Apply(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Steps != 4 { // a step of everybody
		t.Errorf("%d steps", rep.Steps)
	}
	up, err := defaults.Fill(m).objective(r, Data{}, r.Forget)
	if err != nil {
		t.Fatal(err)
	}
	if len(up) != 1 {
		t.Fatalf("who has nothing left goes down %d terms", len(up))
	}
	seeds := federated.Config{Seed: r.Seed}
	sum := s.weights.Clone()
	for i := range sum {
		clear(sum[i].Data)
	}
	for k := range 4 {
		o, c := up, train.Config{Epochs: 1, Batch: 1000, Optimizer: nn.Adam{LR: 1e-3}, Clip: 5}
		if k != 2 {
			o, _ = objectiveOf(r.Retain.selectRows(indexRows(r.Retain, 0).userRows(r.Holders[k])))
			c = r.Fit
			c.Epochs, c.Batch = 1, 1000
		}
		c.Seed = seeds.UserRoundSeed(1, k)
		p, _, err := train.Fit(t.Context(), s.runner, s.weights, o, c, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p {
			for j, v := range p[i].Data {
				sum[i].Data[j] += v / 4
			}
		}
	}
	for i := range got {
		for j, v := range got[i].Data {
			if d := v - sum[i].Data[j]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("%s[%d] is %v, the mean %v", got[i].Name, j, v, sum[i].Data[j])
			}
		}
	}
}

// A user who leaves ascends with the curvature of what they erase, by hand.
func TestAUserWhoLeavesUsesTheCurvatureOfErasedRecords(t *testing.T) {
	s := newServer(t)
	r := s.request()
	r.Holders = []federated.User{{ID: 0, Rows: r.Forget.IDs}, {ID: 1, Rows: r.Retain.IDs}}
	m := defaults.Fill(HBFU{Users: Users{Count: 2, Rounds: 1, LocalEpochs: 1, Batch: 1000}, Eta: 3e-3, LR: 2e-3})
	asks := s.weights.Clone()
	f, err := m.federation(r, func(turn federated.UserRound, own, erased Data) (federated.Task, error) {
		return federated.Task{}, nil
	}, &federatedRun{})
	if err != nil || len(f.Users[0].Rows) != 100 || f.Users[0].Rows[0] != 300 {
		t.Fatalf("user 0 holds the rows %v (%v)", f.Users[0].Rows, err)
	}
	seed := federated.Config{Seed: r.Seed}.UserRoundSeed(1, 0)
	up, _ := objectiveOf(r.Forget.selectRows(seed.Stream(engine.StreamBatch, 0, 0).Perm(r.Forget.X.Rows)))
	g, err := train.Gradient(t.Context(), s.runner, asks, up, 0, train.Mode{Training: true, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	everything, _ := objectiveOf(concatData(r.Retain, r.Forget))
	c, err := train.NewCurvature(s.runner, everything)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rng := seed.Stream(engine.StreamGradientNoise, 0, uint64(len(asks)))
	rows := rng.Perm(100)
	for i := range rows {
		rows[i] += 300 // behind the retain set
	}
	h, err := c.Estimate(asks, rows, rng)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range asks {
		for j := range g[i] {
			p.Data[j] += float32((3e-3 + 0.1*2e-3) * 0.1 * g[i][j] / (math.Sqrt(0.001)*math.Abs(h[i][j]) + 2e-3))
		}
	}
	on, _ := objectiveOf(r.Retain)
	stays, _, err := train.Fit(t.Context(), s.runner, s.weights, on,
		train.Config{Epochs: 1, Batch: 1000, Seed: federated.Config{Seed: r.Seed}.UserRoundSeed(1, 1)}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := Apply(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	isMean(t, got, asks, stays)
}

// Every federated method follows who holds what, also for a user who leaves.
func TestMethodsFollowWhoHoldsWhat(t *testing.T) {
	s := newServer(t)
	for _, m := range []Method{HBFU{Users: quarter}, BFU{Users: quarter}, RapidRetraining{Users: quarter}, RapidRetraining{Users: quarter, Plain: true}} {
		seen := map[string]bool{}
		for _, leaves := range []bool{false, true} {
			for _, asks := range []int{0, 1} {
				r := s.request()
				r.Holders = assignHolders(r, asks, leaves)
				p, _, err := Apply(t.Context(), m, r)
				if err != nil {
					t.Fatalf("%s: %v", m.Info().Name, err)
				}
				seen[p.Hash()] = true
			}
		}
		// Retraining uses what is left: who erased it makes no difference.
		want := 4
		if _, anew := m.(RapidRetraining); anew {
			want = 3
		}
		if len(seen) != want {
			t.Errorf("%s: %d different models of four, want %d", m.Info().Name, len(seen), want)
		}
	}
}

// Equal rounds are equal steps: with Beside the server's model takes as many steps as a
// user who holds the forget set, however many auxiliary records there are.
func TestBlindUKeepsStepWithAFederation(t *testing.T) {
	s := newServer(t)
	r := s.request() // 100 records to erase
	steps := func(m BlindU) int {
		_, rep, err := Apply(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		return rep.Steps / 6 // five of six are the critic's
	}
	never := Users{Rounds: 2, Batch: 30, ErasingEpochs: 3}
	for _, auxiliary := range []Auxiliary{Public, Retained} {
		if got := steps(BlindU{Beside: &never, Auxiliary: auxiliary, LR: 1e-9}); got != 2*3*4 {
			t.Errorf("%s: %d steps, want %d", auxiliary, got, 2*3*4)
		}
	}
	alone := HBFU{Users: Users{Count: 1, Requesters: 1, Rounds: 2, Batch: 30, ErasingEpochs: 3}, Eta: 1e-12, LR: 1e-12}
	if _, rep, err := Apply(t.Context(), alone, r); err != nil || rep.Steps != 2*3*4 {
		t.Errorf("the only user of a federation takes %d steps (%v)", rep.Steps, err)
	}
	// A hundred codes beside a hundred auxiliary records: a round is an epoch.
	r.HeldOut = r.HeldOut.selectRows(rowsTo(100))
	want, _, err := Apply(t.Context(), BlindU{Epochs: 3}, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Batch = 7
	got, rep, err := Apply(t.Context(), BlindU{Beside: &Users{Rounds: 3, Batch: 20}, Epochs: 50}, r)
	if err != nil || got.Hash() != want.Hash() || !strings.Contains(rep.Note, "3 rounds") {
		t.Errorf("three rounds are not three epochs: %q, %v", rep.Note, err)
	}
}

func rowsTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestWhoHoldsWhatIsChecked(t *testing.T) {
	s := newServer(t)
	for words, c := range map[string]struct {
		m       Method
		corrupt func(*Request)
	}{
		"held by 4 users, this is a federation of 10": {m: BFU{}},
		"is held by no user":                          {m: BFU{Users: quarter}, corrupt: func(r *Request) { r.Holders[1].Rows = r.Holders[1].Rows[1:] }},
		"two users have the ID 0":                     {m: HBFU{Users: quarter}, corrupt: func(r *Request) { r.Holders[1].ID = 0 }},
		"user 2 has no retained records":              {m: HBFU{Users: quarter, Private: &PrivateRelease{}}, corrupt: func(r *Request) { r.Holders = assignHolders(*r, 2, true) }},
		"-1 rounds":                                   {m: BlindU{Beside: &Users{Rounds: -1}}},
	} {
		r := s.request()
		r.Holders = assignHolders(r, 2, false)
		if c.corrupt != nil {
			c.corrupt(&r)
		}
		if _, _, err := Apply(t.Context(), c.m, r); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}
