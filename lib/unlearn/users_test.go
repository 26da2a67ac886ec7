// Tests of users.go.

package unlearn

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// quarter is a federation of four, small enough for many runs.
var quarter = Users{Count: 4, Rounds: 2, LocalEpochs: 1, Batch: 20}

// The retain set is assigned once, and the forget set is held by the users who ask, to be
// erased. Other users train on retained records alone, and users who ask train on none of
// what they erase.
func TestTheForgetSetIsWithThoseWhoAskAlone(t *testing.T) {
	s := newServer(t)
	r := s.request()
	for _, divided := range []bool{false, true} {
		u := defaults.Fill(Users{Divided: divided})
		var own, erased Data
		f, err := u.federation(r, func(_ federated.UserRound, mine, gone Data) (federated.Task, error) {
			own, erased = mine, gone
			return u.trainTask(r, mine)
		}, &federatedRun{})
		if err != nil {
			t.Fatal(err)
		}
		var assigned, all []int
		for _, user := range f.Requests.UsersAt(f.Users, 1) {
			own, erased = Data{}, Data{}
			gone := f.Requests.ErasedRows(f.Users[user.ID], f.Users, 1)
			task, err := f.Work(federated.UserRound{Round: 1, User: user.ID, Rows: user.Rows, Erased: gone})
			if err != nil {
				t.Fatal(err)
			}
			passes, _ := task.Plan.Passes(0)
			trained := passes[0][0].IDs
			assigned = append(assigned, trained...)
			if (len(erased.IDs) > 0) != (user.ID < 3) || user.ID < 3 && !slices.Equal(own.IDs, trained) {
				t.Errorf("user %d erases %d records", user.ID, len(erased.IDs))
			}
			for i, id := range erased.IDs {
				at := slices.Index(r.Forget.IDs, id)
				if at < 0 || !slices.Equal(erased.X.Row(i), r.Forget.X.Row(at)) || erased.Y[i] != r.Forget.Y[at] {
					t.Fatalf("user %d erases record %d, which is not to be forgotten, or another", user.ID, id)
				}
			}
			if !divided && user.ID < 3 && !slices.Equal(erased.IDs, r.Forget.IDs) {
				t.Errorf("user %d holds %d of the forget set", user.ID, len(erased.IDs))
			}
			all = append(all, erased.IDs...)
		}
		slices.Sort(assigned)
		if !slices.Equal(assigned, slices.Sorted(slices.Values(r.Retain.IDs))) {
			t.Error("the training records are not the retain set, each assigned once")
		}
		if slices.Sort(all); divided && !slices.Equal(all, slices.Sorted(slices.Values(r.Forget.IDs))) {
			t.Error("the parts are not the forget set")
		}
	}
}

// One round by hand: one user's step is the formula's, the other trains as the original was
// trained, and the mean is unweighted.
func TestOneRoundOfHBFUIsTheFormula(t *testing.T) {
	s := newServer(t)
	r := s.request()
	m := HBFU{Users: Users{Count: 2, Requesters: 1, Rounds: 1, LocalEpochs: 2, Batch: 1000}, Eta: 3e-3, LR: 2e-3}
	got, _, err := Apply(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	users, err := federated.IID(r.Retain.X.Rows, 2, r.Seed)
	if err != nil {
		t.Fatal(err)
	}
	seeds := federated.Config{Seed: r.Seed}
	asks := s.weights.Clone()
	order := seeds.UserRoundSeed(1, 0).Stream(engine.StreamBatch, 0, 0).Perm(r.Forget.X.Rows)
	up, _ := objectiveOf(r.Forget.selectRows(order))
	g, err := train.Gradient(t.Context(), s.runner, asks, up, 0, train.Mode{Training: true, Seed: seeds.UserRoundSeed(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	retain, _ := objectiveOf(r.Retain)
	c, err := train.NewCurvature(s.runner, retain)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rng := seeds.UserRoundSeed(1, 0).Stream(engine.StreamGradientNoise, 0, uint64(len(asks)))
	rows := rng.Perm(len(users[0].Rows))
	for i, k := range rows {
		rows[i] = users[0].Rows[k]
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
	on, _ := objectiveOf(r.Retain.selectRows(users[1].Rows))
	trains, _, err := train.Fit(t.Context(), s.runner, s.weights, on, train.Config{Epochs: 2, Batch: 1000, Seed: seeds.UserRoundSeed(1, 1)}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	isMean(t, got, asks, trains)
}

// The objective of BFU's users, written anew, and its gradient.
func TestBFUsObjective(t *testing.T) {
	s := newServer(t)
	r := s.request()
	m := defaults.Fill(BFU{Weight: 2, Divergence: new(3.0)})
	own := r.Retain.selectRows([]int{1, 5, 9, 100})
	o, err := m.objective(r, own, r.Forget)
	if err != nil {
		t.Fatal(err)
	}
	p := s.weights.Clone()
	for _, v := range p {
		for j := range v.Data {
			v.Data[j] *= 0.4
		}
	}
	said := func(p nn.Params, d Data) (mean, logs, logits func(i, k int) float64) {
		pred, err := s.runner.Predict(p, d.X)
		if err != nil {
			t.Fatal(err)
		}
		at := func(name string) func(i, k int) float64 {
			return func(i, k int) float64 { return float64(pred.Outputs[name].Row(i)[k]) }
		}
		return at(loss.LatentMean), at(loss.LatentLogVar), at(nn.Logits)
	}
	entropy := func(logits func(i, k int) float64, d Data) (sum float64) {
		for i, y := range d.Y {
			total := 0.0
			for k := range 3 {
				total += math.Exp(logits(i, k))
			}
			sum += (math.Log(total) - logits(i, y)) / float64(len(d.Y))
		}
		return sum
	}
	mu, lv, z := said(p, r.Forget)
	mu0, lv0, _ := said(s.weights, r.Forget)
	want := -2 * entropy(z, r.Forget)
	if want > -0.2 {
		t.Fatalf("%v: the labels weigh nothing in this test", want)
	}
	for i := range r.Forget.X.Rows {
		for k := range 4 {
			far := mu(i, k) - mu0(i, k)
			kl := (lv0(i, k) - lv(i, k) + (math.Exp(lv(i, k))+far*far)/math.Exp(lv0(i, k)) - 1) / 2
			want += 3 * kl / 4 / float64(r.Forget.X.Rows)
		}
	}
	mu, lv, z = said(p, own)
	want += 2 * entropy(z, own)
	for i := range own.X.Rows {
		for k := range 4 {
			want += 2 * 1e-3 * (mu(i, k)*mu(i, k) + math.Exp(lv(i, k)) - lv(i, k) - 1) / 2 / float64(own.X.Rows)
		}
	}
	// In inference the code is its mean, as here.
	got, err := train.Evaluate(t.Context(), s.runner, p, o)
	if err != nil || math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
		t.Errorf("%v, want %v (%v)", got, want, err)
	}
}

// The backdoor goes where its holders erase it, and stays where no user does; with
// exchanged roles the others' goes.
func TestAFederationClosesABackdoor(t *testing.T) {
	s := newServer(t)
	if s.accuracy(t, s.weights, s.asked) < 0.95 || s.accuracy(t, s.weights, s.others) < 0.8 {
		t.Fatal("the original has learned too little: this test looks at nothing")
	}
	u := Users{Count: 4, LocalEpochs: 3, Rounds: 7, Batch: 20}
	longer, gentle := u, u
	longer.ErasingEpochs, longer.Rounds = 4, 20
	gentle.Batch = 100 // of 300 records, so that nothing diverges
	for m, other := range map[Method]Method{HBFU{Users: u, Eta: 2e-3}: HBFU{Users: gentle, Eta: 2e-3}, BFU{Users: longer, LR: 5e-3}: BFU{Users: longer, LR: 5e-3}} {
		r := s.request()
		p, rep, err := Apply(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		if asked, others := s.accuracy(t, p, s.asked), s.accuracy(t, p, s.others); asked > 0.4 || others < 0.75 {
			t.Errorf("%s: of the backdoor's records %v are still given its label, of others %v are right", m.Info().Name, asked, others)
		}
		if !strings.Contains(rep.Note, "round") || rep.Epochs >= 20 || !strings.Contains(rep.Note, "forgotten") {
			t.Errorf("%s: %q after %d rounds", m.Info().Name, rep.Note, rep.Epochs)
		}
		r.Forget, r.Retain = r.Retain, r.Forget
		if p, _, err = Apply(t.Context(), other, r); err != nil {
			t.Fatal(err)
		}
		if others := s.accuracy(t, p, s.others); others > 0.75 {
			t.Errorf("%s: with the roles exchanged %v of the others are still right", m.Info().Name, others)
		}
	}
	out, err := defaults.Fill(u).run(t.Context(), s.request(), s.weights, nil)
	if err != nil {
		t.Fatal(err)
	}
	if asked := s.accuracy(t, out.Params, s.asked); asked < 0.6 {
		t.Errorf("without erasure %v of the backdoor is left: this test checks nothing", asked)
	}
}

func TestFederatedSettingsMatter(t *testing.T) {
	s := newServer(t)
	seen := map[string]Method{}
	with := func(change func(*Users)) Users {
		u := quarter
		change(&u)
		return u
	}
	noisy := &PrivateRelease{Epsilon: 1000}
	for _, m := range []Method{
		HBFU{Users: quarter}, HBFU{Users: quarter, Eta: 1e-2}, HBFU{Users: quarter, LR: 1e-2}, HBFU{Users: quarter, Private: noisy},
		HBFU{Users: quarter, Private: &PrivateRelease{Epsilon: 1000, Each: true}}, HBFU{Users: quarter, Private: &PrivateRelease{Epsilon: 1000, Normal: true}},
		HBFU{Users: quarter, Private: &PrivateRelease{Epsilon: 1000, Clip: 0.1}},
		BFU{Users: quarter}, BFU{Users: quarter, Divergence: new(0.0)}, BFU{Users: quarter, Weight: 3}, BFU{Users: quarter, LR: 1e-2},
		BFU{Users: quarter, Clip: new(0.01)}, BFU{Users: quarter, Private: noisy},
		BFU{Users: with(func(u *Users) { u.Count = 5 })}, BFU{Users: with(func(u *Users) { u.Requesters = 2 })}, BFU{Users: with(func(u *Users) { u.Divided = true })},
		BFU{Users: with(func(u *Users) { u.Rounds = 1 })}, BFU{Users: with(func(u *Users) { u.LocalEpochs = 2 })}, BFU{Users: with(func(u *Users) { u.ErasingEpochs = 2 })},
	} {
		p, _, err := Apply(t.Context(), m, s.request())
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if other, twice := seen[p.Hash()]; twice {
			t.Errorf("%+v gives the weights of %+v", m, other)
		}
		seen[p.Hash()] = m
	}
}

// With noise VBU is VBU on the records that their owner has released, each with its own
// noise.
func TestPrivateVBUSeesReleasedRecordsAlone(t *testing.T) {
	s := newServer(t)
	r := s.request()
	private := &PrivateRelease{Epsilon: 20, Clip: 6}
	got, _, err := Apply(t.Context(), VBU{Epochs: 2, Private: private}, r)
	if err != nil {
		t.Fatal(err)
	}
	x, err := defaults.Fill(private).releaseRecords(r.Forget, r.Seed)
	if err != nil {
		t.Fatal(err)
	}
	released := r
	released.Forget.X = x
	want, _, err := Apply(t.Context(), VBU{Epochs: 2}, released)
	if err != nil || got.Hash() != want.Hash() {
		t.Errorf("other weights than on what was released (%v)", err)
	}
	if plain, _, err := Apply(t.Context(), VBU{Epochs: 2}, r); err != nil || plain.Hash() == got.Hash() {
		t.Errorf("the noise changes nothing (%v)", err)
	}
	// The noise has mean 0 and Laplace's standard deviation, sqrt(2) 2 Clip/Epsilon.
	mean, square, n := 0.0, 0.0, float64(len(x.Data))
	for i := range x.Rows {
		norm := 0.0
		for _, v := range r.Forget.X.Row(i) {
			norm += math.Abs(float64(v))
		}
		for j, v := range x.Row(i) {
			noise := float64(v) - float64(r.Forget.X.Row(i)[j])*min(1, 6/norm)
			mean, square = mean+noise/n, square+noise*noise/n
		}
	}
	want2 := math.Sqrt2 * 2 * 6 / 20
	if math.Abs(mean) > 4*want2/math.Sqrt(n) || math.Abs(math.Sqrt(square)/want2-1) > 0.2 {
		t.Errorf("the noise has mean %v and deviation %v, want 0 and %v", mean, math.Sqrt(square), want2)
	}
}

// Epsilon is that of all releases, or with Each of each.
func TestNoiseIsSpentOverAllSteps(t *testing.T) {
	u := defaults.Fill(Users{})
	r := newServer(t).request() // 100 records to erase
	for batch, want := range map[int]int{20: 20 * 5, 30: 20 * 4, 100: 20} {
		u.Batch = batch
		if got := u.maxSteps(r); got != want {
			t.Errorf("batches of %d: %d steps, want %d", batch, got, want)
		}
	}
	u.Divided, u.Batch = true, 20
	if got := u.maxSteps(r); got != 20*2 {
		t.Errorf("a third of 100 in batches of 20: %d steps", got)
	}
	noise := func(n PrivateRelease) float64 {
		release, err := n.mechanism(7).Prepare()
		if err != nil {
			t.Fatal(err)
		}
		part := make([]float64, 4000)
		release([][]float64{part}, func(int) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) })
		sum := 0.0
		for _, v := range part {
			sum += v * v
		}
		return math.Sqrt(sum / 4000)
	}
	all, each := noise(*defaults.Fill((&PrivateRelease{}))), noise(*defaults.Fill((&PrivateRelease{Each: true})))
	if math.Abs(all/each-7) > 1e-6 || math.Abs(each/math.Sqrt2-1) > 0.1 {
		t.Errorf("noise %v for all of seven, %v for each", all, each)
	}
}

// A run resumes from its own state alone, and one that had ended stays so.
func TestAFederationGoesOnFromItsOwnState(t *testing.T) {
	s := newServer(t)
	r := s.request()
	m := HBFU{Users: Users{Count: 4, LocalEpochs: 3, Batch: 20}, Eta: 2e-3}
	var last *train.State
	r.Hooks = train.Hooks{SaveEvery: 1, Save: func(st *train.State) error { last = st; return nil }}
	want, rep, err := Apply(t.Context(), m, r)
	if err != nil || rep.Epochs == 20 || last == nil || last.Done != rep.Epochs {
		t.Fatalf("%d rounds, %v", rep.Epochs, err)
	}
	r.Hooks = train.Hooks{Resume: last}
	if p, again, err := Apply(t.Context(), m, r); err != nil || p.Hash() != want.Hash() || again.Epochs != rep.Epochs {
		t.Errorf("a run that had ended went on: %v", err)
	}
	r.Hooks.Resume = &train.State{Params: s.weights, Optimizers: []*nn.OptimizerState{nn.NewOptimizerState(nn.Adam{}, s.weights)}}
	if _, _, err := Apply(t.Context(), m, r); err == nil || !strings.Contains(err.Error(), "does not belong to a federation") {
		t.Errorf("a state of another kind: %v", err)
	}
	r.Hooks = train.Hooks{SaveEvery: 1, Save: func(*train.State) error { return errors.New("no room") }}
	if _, _, err := Apply(t.Context(), m, r); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a disk that is full: %v", err)
	}
}

func TestWhatAFederationCannotDoIsNamed(t *testing.T) {
	s := newServer(t)
	for words, m := range map[string]Method{
		"11 of 10 users ask":        HBFU{Users: Users{Requesters: 11}},
		"-1 rounds":                 BFU{Users: Users{Rounds: -1}},
		"epochs, or -2 for users":   BFU{Users: Users{ErasingEpochs: -2}},
		"rates -1 and":              HBFU{Eta: -1},
		"weight -1 and rate":        BFU{Weight: -1},
		"the epsilon is -3":         HBFU{Users: quarter, Private: &PrivateRelease{Epsilon: -3}},
		"the longest vector is -1":  BFU{Users: quarter, Private: &PrivateRelease{Clip: -1}},
		"the epsilon is -2":         VBU{Private: &PrivateRelease{Epsilon: -2}},
		"divided among 200 users":   HBFU{Users: Users{Count: 250, Requesters: 200, Divided: true}},
		"300 records for 301 users": BFU{Users: Users{Count: 301}},
	} {
		if _, _, err := Apply(t.Context(), m, s.request()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// A model retrained in a federation learns the rest and never sees the backdoor.
func TestFederatedRetrainingNeverMeetsTheForgetSet(t *testing.T) {
	s := newServer(t)
	for _, m := range []Method{RapidRetraining{Users: Users{Count: 4, LocalEpochs: 3, Rounds: 10, Batch: 10}}, RapidRetraining{Users: Users{Count: 4, LocalEpochs: 3, Rounds: 10, Batch: 10}, Plain: true}} {
		r := s.request()
		r.Fit.Optimizer = nn.Adam{LR: 5e-3}
		p, rep, err := Apply(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		if asked, others := s.accuracy(t, p, s.asked), s.accuracy(t, p, s.others); asked > 0.1 || others < 0.8 || rep.Epochs != 10 {
			t.Errorf("%s: %v of the backdoor, %v of the rest after %d rounds", m.Info().Name, asked, others, rep.Epochs)
		}
	}
}

// isMean checks that weights are the mean of two others'.
func isMean(t *testing.T, got, a, b nn.Params) {
	t.Helper()
	for i := range got {
		for j, v := range got[i].Data {
			want := (float64(a[i].Data[j]) + float64(b[i].Data[j])) / 2
			if math.Abs(float64(v)-want) > 1e-5*(1+math.Abs(want)) {
				t.Fatalf("%s[%d] is %v, want %v", got[i].Name, j, v, want)
			}
		}
	}
}

func TestHowAMethodEnded(t *testing.T) {
	chance := 0.1
	until := &train.Validation{StopBelow: &chance}
	values := func(accuracies ...float64) (h []train.Epoch) {
		for i := range accuracies {
			h = append(h, train.Epoch{Valid: &accuracies[i]})
		}
		return h
	}
	for _, c := range []struct {
		history []train.Epoch
		unit    string
		want    string
	}{
		{values(0.1), "round", "forgotten after 1 round"},
		{values(0.3, 0.1), "round", "forgotten after 2 rounds"},
		{values(0.3), "epoch", "all 1 epoch, at an accuracy of 0.300"},
		{values(0.1, 0.3), "epoch", "all 2 epochs, at an accuracy of 0.300"},
	} {
		if got := endNote(until, c.history, c.unit); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
