// The suite for lenses on what unlearning cost: models that are wrong on the retained records near the
// forgotten ones, or elsewhere.

package lenstest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// The sizes of evidence with a cost: the forgotten records, the first of the retained ones, and the first of the
// held-out ones lie in three places apart from all others.
const (
	costForget, costRetain, costHeld = 60, 400, 100
	costNear                         = 60 // retained records in the place of the forgotten ones
	costWidth                        = 4
	costApart                        = 6
	costGroup                        = 10
)

// damage is where a model lost what it was to keep.
type damage int

const (
	nowhere damage = iota
	nearForgotten
	farAway
)

// runCost is Run for a lens on what unlearning cost.
func runCost(t *testing.T, lens audit.Lens) {
	read := func(t *testing.T, e *audit.Evidence, k int) audit.Reading {
		t.Helper()
		return readArrays(t, lens, e, e.Models[k])
	}
	t.Run("has a name", func(t *testing.T) { checkName(t, lens) })
	t.Run("finds damage near the forgotten records", func(t *testing.T) {
		e := costEvidence(1, nearForgotten, false)
		if m, retrained := read(t, e, 0), read(t, e, 1); audit.Alike(m, retrained) || audit.CallBySide(m, retrained) != audit.Beyond {
			t.Errorf("damaged %v, retrained %v", m.Estimate, retrained.Estimate)
		}
	})
	t.Run("finds none that is elsewhere", func(t *testing.T) {
		e := costEvidence(2, farAway, false)
		if m, retrained := read(t, e, 0), read(t, e, 1); !audit.Alike(m, retrained) {
			t.Errorf("damaged elsewhere %v, retrained %v", m.Estimate, retrained.Estimate)
		}
	})
	t.Run("exchanged roles hide it", func(t *testing.T) {
		e := costEvidence(3, nearForgotten, false)
		e.Forget, e.HeldOut = e.HeldOut, e.Forget
		if m, retrained := read(t, e, 0), read(t, e, 1); !audit.Alike(m, retrained) {
			t.Errorf("near other records %v, retrained %v", m.Estimate, retrained.Estimate)
		}
	})
	t.Run("seldom finds what is not there", func(t *testing.T) {
		found := 0
		for k := range simulations {
			e := costEvidence(uint64(100+k), nowhere, false)
			found += count(!audit.Alike(read(t, e, 0), read(t, e, 1)))
		}
		if found > simulations/6 {
			t.Errorf("%d of %d models without damage are unlike a retrained one", found, simulations)
		}
	})
	t.Run("has intervals over groups", func(t *testing.T) { checkCostGroups(t, lens) })
	t.Run("says too few of few forgotten records", func(t *testing.T) {
		e := costEvidence(4, nearForgotten, false)
		e.Forget = e.Forget[:audit.MinRecords-1]
		if r := read(t, e, 0); r.NoEvidence.Call != audit.TooFew {
			t.Errorf("%v is %q", r.Estimate, r.NoEvidence.Call)
		}
	})
	t.Run("cannot tell from a collapsed model", func(t *testing.T) {
		e := costEvidence(5, nowhere, false)
		for i, y := range e.Labels {
			e.Models[0].Correct[i] = y == 1
		}
		if r := read(t, e, 0); r.NoEvidence.Call != audit.CannotTell {
			t.Errorf("%v is %q", r.Estimate, r.NoEvidence.Call)
		}
	})
	t.Run("leaves the arrays alone", func(t *testing.T) { checkUnchanged(t, lens, costEvidence(6, nearForgotten, false)) })
	t.Run("refuses nonsense", func(t *testing.T) {
		e := costEvidence(7, nearForgotten, false)
		e.Inputs.(rows).x.Row(e.Forget[0])[1] = math.NaN()
		_, err := e.ReadBy(lens, e.Models[0])
		conform.CheckRefused(t, "inputs that are not finite", err)
		e = costEvidence(7, nearForgotten, false)
		e.Forget = nil
		_, err = e.ReadBy(lens, e.Models[0])
		conform.CheckRefused(t, "nothing to forget", err)
	})
}

// checkCostGroups reads models whose records share by groups how hard they are.
func checkCostGroups(t *testing.T, lens audit.Lens) {
	over, alone := make([]audit.Reading, groupSimulations), make([]audit.Reading, groupSimulations)
	for k := range groupSimulations {
		e := costEvidence(uint64(1000+k), nowhere, true)
		over[k] = readGrouped(t, lens, e)
		e.Groups = nil
		alone[k] = readGrouped(t, lens, e)
	}
	truth := groupedTruth(lens, over)
	if c := coverage(over, truth); c < leastGrouped || over[0].Clustered == nil {
		t.Errorf("%.3f of the 95 %% intervals over groups hold %.3f", c, truth)
	}
	if c := coverage(alone, truth); c > mostIndependent {
		t.Errorf("%.3f of the 95 %% intervals over records hold %.3f, so that groups do not matter here", c, truth)
	}
}

// costEvidence draws records in places, and two models that are right on most of them. The first, the
// unlearned one, is damaged; the second is a retrained one.
func costEvidence(seed uint64, where damage, grouped bool) *audit.Evidence {
	rng := rand.New(rand.NewPCG(seed, 0xc057))
	n := costForget + costRetain + costHeld
	e := &audit.Evidence{Records: n, Classes: 3, Seed: seed}
	x := array.New[float64](n, costWidth)
	place := make([]int, n)
	hard := make([]float64, n)
	for i := range n {
		switch {
		case i < costForget:
			e.Forget, place[i] = append(e.Forget, i), 1
		case i < costForget+costRetain:
			e.Retain = append(e.Retain, i)
			place[i] = count(i < costForget+costNear)
		default:
			e.HeldOut, place[i] = append(e.HeldOut, i), 2
		}
		if i >= costForget+costNear && i < costForget+2*costNear {
			place[i] = 2
		}
		for j := range costWidth {
			x.Row(i)[j] = rng.NormFloat64()
		}
		if place[i] > 0 {
			x.Row(i)[place[i]] += costApart
		}
		e.Labels = append(e.Labels, rng.IntN(3))
		hard[i] = 0.3
		if grouped {
			if e.Groups = append(e.Groups, i/costGroup); i%costGroup > 0 {
				hard[i] = hard[i-1]
			} else {
				hard[i] = rng.Float64()
			}
		}
	}
	e.Inputs = rows{&x}
	for k, name := range []string{"unlearned", "retrained"} {
		m := &audit.Arrays{Name: name, Role: []audit.Role{audit.Unlearned, audit.Retrained}[k]}
		for i := range n {
			wrong := hard[i]
			if k == 0 && (where == nearForgotten && place[i] == 1 || where == farAway && place[i] == 2) {
				wrong = 0.9
			}
			m.Correct = append(m.Correct, rng.Float64() > wrong)
		}
		e.Models = append(e.Models, m)
	}
	return e
}
