package learned

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// inTurn deals either role into so many groups.
func inTurn(r Records, n int) *Groups {
	var g Groups
	for i := range r.Members.Rows {
		g.Members = append(g.Members, i%n)
	}
	for i := range r.Nonmembers.Rows {
		g.Nonmembers = append(g.Nonmembers, i%n)
	}
	return &g
}

// moved adds to every record of a group what is the same in the whole group.
func moved(r Records, g *Groups, by []float64) Records {
	out := r.gather(indices(r.size()))
	for i, group := range g.Members {
		for j := range out.Members.Row(i) {
			out.Members.Row(i)[j] += by[group]
		}
	}
	for i, group := range g.Nonmembers {
		for j := range out.Nonmembers.Row(i) {
			out.Nonmembers.Row(i)[j] += by[group]
		}
	}
	return out
}

// Groups that carry all the signal, each all one role, give an AUC of 0.5 exactly, where
// the plain attacker makes no mistake.
func TestWhatIsTheSameInAWholeGroupTellsNothing(t *testing.T) {
	e, r := open(t), drawn(1, 0)
	g := inTurn(r, 4)
	for i := range g.Members {
		g.Members[i] = 4 + i%2
	}
	r = moved(r, g, []float64{0, 1, 2, 3, 20, 21})
	if plain := run(t, e, CrossFitted(nil), Target{Model: r}); plain.AUC.Value != 1 {
		t.Fatalf("the plain attacker has an AUC of %v", plain.AUC.Value)
	}
	got := run(t, e, WithinGroups(), Target{Model: r, Groups: g})
	if got.AUC.Value != 0.5 || len(got.Scores) != r.size() {
		t.Errorf("AUC %v of %d cells", got.AUC.Value, len(got.Scores))
	}
	for _, c := range got.Scores {
		if c.Score != 0.5 {
			t.Fatalf("%+v", c)
		}
	}
}

// With groups of both roles, most members in one and most others elsewhere, the plain
// attacker finds the group. The one within groups does not, and finds what members have
// beside it, however far apart groups lie.
func TestMembershipInsideGroupsIsFoundAndGroupsAreNot(t *testing.T) {
	e := open(t)
	far := []float64{0, 300, -70}
	mixed := func(seed uint64, shift float64) (Records, *Groups) {
		rng := rand.New(rand.NewPCG(seed, 9))
		r := Records{normals(rng, 60, 6, shift), normals(rng, 150, 6, 0)}
		g := inTurn(r, 3)
		for i := range g.Members {
			g.Members[i] = max(0, i%5-2) // 3 of 5 in group 0
		}
		for i := range g.Nonmembers {
			g.Nonmembers[i] = min(2, i%6) // 1 of 6 in group 0
		}
		return r, g
	}
	planted, g := mixed(1, 2)
	near := run(t, e, WithinGroups(), Target{Model: planted, Groups: g})
	apart := run(t, e, WithinGroups(), Target{Model: moved(planted, g, far), Groups: g})
	if !(near.AUC.Low > 0.75) || math.Abs(near.AUC.Value-apart.AUC.Value) > 1e-3 {
		t.Errorf("AUC %+v, with groups far apart %v", near.AUC, apart.AUC.Value)
	}
	sum, plain := 0.0, 0.0
	const trials = 60
	for k := range uint64(trials) {
		r, g := mixed(100+k, 0)
		r = moved(r, g, far)
		sum += run(t, e, WithinGroups(), Target{Model: r, Groups: g}).AUC.Value / trials
		plain += run(t, e, CrossFitted(nil), Target{Model: r}).AUC.Value / trials
	}
	if math.Abs(sum-0.5) > 0.03 || plain < 0.6 {
		t.Errorf("without membership the AUC is %v on average, of the plain attacker %v", sum, plain)
	}
	// Roles exchanged: members are those that the other answer called non-members.
	back := run(t, e, WithinGroups(), Target{Model: exchanged(planted), Groups: &Groups{g.Nonmembers, g.Members}})
	if !(back.AUC.Low > 0.75) {
		t.Errorf("exchanged roles, a fresh attacker: %+v", back.AUC)
	}
}

// A brute-force twin: of every feature the mean of the known records of the same group goes.
func TestResidualsAreAGroupsOwn(t *testing.T) {
	r := drawn(3, 1)
	g, err := WithinGroups().groups(Target{Model: r, Groups: inTurn(r, 7)})
	if err != nil {
		t.Fatal(err)
	}
	g[5] = 99 // alone, and not known
	for i := range g {
		if g[i] == 3 && i >= r.Members.Rows {
			g[i] = 4 // group 3 is all members
		}
	}
	var known []int
	for i := range r.size() {
		if i%3 != 2 {
			known = append(known, i)
		}
	}
	all, found := r.stacked(), newGroupMeans(r, g, known)
	got := found.residuals(r).stacked()
	for i := range all.Rows {
		for j := range all.Cols {
			sum, n := 0.0, 0.0
			for _, k := range known {
				if g[k] == g[i] {
					sum, n = sum+all.Row(k)[j], n+1
				}
			}
			want := 0.0
			if n > 0 {
				want = all.Row(i)[j] - sum/n
			}
			if math.Abs(got.Row(i)[j]-want) > 1e-12 {
				t.Fatalf("record %d, feature %d: %v, want %v", i, j, got.Row(i)[j], want)
			}
		}
	}
	for _, i := range known {
		if slices.Contains(found.both, i) == (g[i] == 3) {
			t.Errorf("record %d of group %d is taught: %t", i, g[i], g[i] != 3)
		}
	}
	if !slices.Equal(all.Data, r.stacked().Data) {
		t.Error("the records were written to")
	}
}

// A transferred attacker takes the original's group means from both models.
func TestGroupMeansAreThoseOfWhatTheAttackerLearnsOn(t *testing.T) {
	model, original := drawn(1, 0), drawn(2, 0)
	s := spy{new(Records), new(array.Matrix[float64])}
	p := WithinGroups()
	p.Attacker, p.Folds, p.Standardised, p.Transferred, p.HeldOut = s, 0, false, true, false
	one := &Groups{make([]int, model.Members.Rows), make([]int, model.Nonmembers.Rows)}
	run(t, open(t), p, Target{Model: model, Original: &original, Groups: one})
	mean := 0.0
	for i := range original.size() {
		mean += original.stacked().Row(i)[0] / float64(original.size())
	}
	if got, want := s.judged.Row(0)[0], model.Members.Row(0)[0]-mean; math.Abs(got-want) > 1e-12 {
		t.Errorf("a member of the model has the residual %v, want %v", got, want)
	}
	want, found := original.Members.Row(0)[0]-mean, false
	for i := range s.known.Members.Rows {
		found = found || math.Abs(s.known.Members.Row(i)[0]-want) < 1e-12
	}
	if !found {
		t.Errorf("no member that was learned from has the first one's residual in the original, %v", want)
	}
}
