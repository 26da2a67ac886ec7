// Which seeds and settings each part of a case depends on.

package lab

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Which of their records a user erases is drawn with the forget seed.
func TestTheForgetSeedDrawsWhichRecordsAUserErases(t *testing.T) {
	l := newLab(t)
	places := func(seed uint32) (out []int) {
		s := federatedSetting(1, 0.3, 0)
		u := *s.User()
		u.Seed = seed
		s.Forget = u
		c := openCase(t, l, s)
		held := rowsOf(c, 1)
		for _, row := range c.Forget {
			k, is := slices.BinarySearch(held, row)
			if !is {
				t.Fatalf("row %d is not the user's", row)
			}
			out = append(out, k)
		}
		return out
	}
	first, again, other := places(ForgetSeed), places(ForgetSeed), places(ForgetSeed+1)
	if len(first) != len(other) || !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("records %v, again %v, with another seed %v of those that they hold", first, again, other)
	}
}

// Which records get a wrong label is drawn with the forget seed, and changes with the lab's
// shift.
func TestTheForgetSeedDrawsTheRecordsOfABackdoor(t *testing.T) {
	rows := func(l *Lab, seed uint32) []int {
		return openCase(t, l, Setting{Data: Images{Set: "glyphs", MaxTrain: 400, MaxTest: 80, Pixels: true}, Model: imageSetting().Model, Forget: Backdoor{Fraction: 0.05, Seed: seed}}).Forget
	}
	l := newLab(t)
	first := rows(l, 0)
	if !slices.Equal(first, rows(newLab(t), ForgetSeed)) {
		t.Error("the default is another seed")
	}
	if slices.Equal(first, rows(l, ForgetSeed+1)) {
		t.Error("another seed draws the same records")
	}
	// In one split, so that it is the seed that moves them.
	c, moved := openCase(t, l, confusedMoons(0)), openCase(t, l, confusedMoons(ForgetSeed+1))
	if c.Hash == moved.Hash || slices.Equal(c.Forget, moved.Forget) {
		t.Error("confused records are the same with another seed")
	}
}

func confusedMoons(seed uint32) Setting {
	return Setting{Data: Table{Set: "two_moons"}, Forget: Backdoor{Source: "upper", Target: "lower", Confuse: true, Seed: seed}}
}

// The half of the test part that methods see changes with the lab's shift only, is the same
// for every method and seed, and is never evaluated on.
func TestTheHalfThatMethodsLookAtMovesWithTheLabAlone(t *testing.T) {
	l := newLab(t)
	c, other := openCase(t, l, smallSetting()), openCase(t, l.Reseed(1), smallSetting())
	later := smallSetting()
	later.Seed = 7
	if !slices.Equal(c.heldOutRows(), openCase(t, l, later).heldOutRows()) {
		t.Error("another seed of the model draws another half")
	}
	if slices.Equal(c.heldOutRows(), other.heldOutRows()) {
		t.Error("a moved lab draws the same half")
	}
	all := slices.Sorted(slices.Values(slices.Concat(c.heldOutRows(), c.EvalRows())))
	if !slices.Equal(all, c.NonMemberRows()) || len(all) != c.Test.X.Rows || len(c.EvalRows()) != c.Test.X.Rows/2 {
		t.Errorf("%d and %d of %d test records", len(c.heldOutRows()), len(c.EvalRows()), c.Test.X.Rows)
	}
	_, w := opened(t, l, smallSetting())
	for _, m := range unlearn.AllKinds() {
		r := c.request(m, w)
		if sees := m.Info().Sees.HeldOut; sees != slices.Equal(r.HeldOut.IDs, c.heldOutRows()) || sees == (len(r.HeldOut.IDs) == 0) {
			t.Errorf("%s is shown %d held-out records", m.Info().Name, len(r.HeldOut.IDs))
		}
		for k, i := range r.HeldOut.IDs {
			if r.HeldOut.Y[k] != c.Test.Y[i] || !slices.Equal(r.HeldOut.X.Row(k), c.Test.X.Row(i)) {
				t.Fatalf("%s: held-out record %d is not row %d of the test part", m.Info().Name, k, i)
			}
		}
		if got, want := c.NonMemberRows(unlearn.FineTuning{}, m), c.NonMemberRows(); m.Info().Sees.HeldOut && !slices.Equal(got, c.EvalRows()) || !m.Info().Sees.HeldOut && !slices.Equal(got, want) {
			t.Errorf("beside %s %d test records are unseen", m.Info().Name, len(got))
		}
	}
}

// The key of a federated training does not depend on who requests; that of a retrained
// model does.
func TestOnlyOraclesDependOnWhoAsks(t *testing.T) {
	l := newLab(t)
	keys := func(asks int, share float64) (original, oracle string) {
		c := openCase(t, l, federatedSetting(asks, share, 0))
		for o, id := range map[ModelSpec]*string{c.Original(): &original, c.Oracle(): &oracle} {
			key, err := l.TrainKey(c.training(o)).ID()
			if err != nil {
				t.Fatal(err)
			}
			*id = fmt.Sprint(key, len(c.training(o).Rows))
		}
		return original, oracle
	}
	whole, without := keys(0, 0)
	for _, other := range []struct {
		asks  int
		share float64
	}{{1, 0}, {0, 0.5}} {
		same, left := keys(other.asks, other.share)
		if without == left || whole != same {
			t.Errorf("%+v asks: the oracle has the key of another request, or the original one of its own", other)
		}
	}
}
