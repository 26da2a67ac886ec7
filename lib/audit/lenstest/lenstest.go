// Package lenstest is the conformance suite of lenses. A lens of your own passes it with one line
// in a test:
//
//	func TestMine(t *testing.T) { lenstest.Run(t, Mine{}) }
//
// Run plants a memory in the weights of a small network and checks what the project relies on:
//
//   - the lens tells the original, which remembers, from the oracle, which does not, on the side on which
//     it reads memory;
//   - exchanged roles of forgotten and held-out records change the answer;
//   - it reads the model that it is given, among others, and all forgotten records;
//   - without a memory the null holds, and intervals are as wide as that takes;
//   - a retrained model lies at the null, where the lens says so;
//   - where records are in groups that share how hard they are, intervals over groups cover;
//   - a collapsed model, copies of five records, and too few records get no verdict;
//   - scores of single records are those of the forgotten records, and agree with the reading;
//   - nothing is changed, and invalid input is refused.
package lenstest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
)

// simulations is the number of cases without a memory.
const simulations = 60

// retrainedCases is the number of cases whose retrained model is read.
const retrainedCases = 20

// visible is the seed of a case whose memory is large enough for every lens of the project: of cases drawn in
// the same way, one that reads only a part of the forgotten records sees three of four.
const visible = 9

// Run runs the suite on a lens.
func Run(t *testing.T, lens audit.Lens) {
	t.Helper()
	lens = watch(lens)
	if readsTexts(lens) {
		runTexts(t, lens)
		return
	}
	if lens.Info().Cost {
		runCost(t, lens)
		return
	}
	g := newFixture(t, lens)
	t.Run("has a name", func(t *testing.T) { checkName(t, lens) })
	t.Run("reads a memory in the original and none in the oracle", func(t *testing.T) {
		c := g.newCase(visible, forgottenAreMembers)
		original, oracle := readModel(t, lens, c, c.Original), readModel(t, lens, c, c.Oracle)
		checkSeparated(t, original, oracle)
		if call := audit.CallOf(original, original, oracle); call != audit.Remembered {
			t.Errorf("the original is called %s", call)
		}
		if call := audit.CallOf(oracle, original, oracle); call != audit.Forgotten {
			t.Errorf("the oracle is called %s", call)
		}
	})
	t.Run("cannot tell from a collapsed model", func(t *testing.T) {
		c := g.newCase(5, forgottenAreMembers)
		same := c.Original.Weights.Clone()
		for _, p := range same {
			clear(p.Data)
		}
		checkCall(t, lens, c, c.NewModel("the same for everybody", same), audit.CannotTell)
	})
	t.Run("cannot tell from five records many times over", func(t *testing.T) {
		c := g.newCase(6, forgottenAreMembers)
		copyRows(c.Problem.Train.X, func(i int) int { return i % 5 })
		copyRows(c.Test.X, func(i int) int { return i % 5 })
		checkCall(t, lens, c, c.Original, audit.CannotTell)
	})
	t.Run("reads on with a few copies", func(t *testing.T) {
		c := g.newCase(7, forgottenAreMembers)
		copyRows(c.Problem.Train.X, func(i int) int { return i - i%10/9 })
		copyRows(c.Test.X, func(i int) int { return i - i%10/9 })
		original, oracle := readModel(t, lens, c, c.Original), readModel(t, lens, c, c.Oracle)
		if call := audit.CallOf(original, original, oracle); call != audit.Remembered {
			t.Errorf("the original, %v, is called %s beside the oracle, %v", original.Estimate, call, oracle.Estimate)
		}
	})
	t.Run("says too few of few forgotten records", func(t *testing.T) {
		for n := 1; n < audit.MinRecords; n++ {
			c := g.newCase(8, forgottenAreMembers)
			c.Forget = c.Forget[:n]
			if r, err := c.Read(lens, c.Original); err == nil && r.Over != "records" && r.Over != "" && r.Over != stats.OverDraws {
				continue // of other records than the forgotten ones
			}
			checkCall(t, lens, c, c.Original, audit.TooFew)
		}
	})
	t.Run("reads a retrained model at the null", func(t *testing.T) { checkRetrained(t, lens, g) })
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		straight, exchanged := g.newCase(2, forgottenAreMembers), g.newCase(2, heldOutAreMembers)
		if lens.Info().Needs.Original > 0 { // it reads how far a model is from the original
			checkSeparated(t, readModel(t, lens, exchanged, exchanged.Oracle), readModel(t, lens, straight, straight.Oracle))
			return
		}
		checkSeparated(t, readModel(t, lens, straight, straight.Original), readModel(t, lens, exchanged, exchanged.Original))
	})
	t.Run("has a null that holds", func(t *testing.T) { checkNull(t, lens, g) })
	t.Run("has intervals over groups", func(t *testing.T) { checkGroupsOf(t, lens, g) })
	t.Run("scores single records", func(t *testing.T) {
		checkScores(t, lens, evidenceOf(t, lens, g.newCase(visible, forgottenAreMembers)), evidenceOf(t, lens, g.newCase(visible, heldOutAreMembers)))
	})
	t.Run("reads the model that it is given", func(t *testing.T) { checkReadsGivenModel(t, lens, g.newCase(visible, forgottenAreMembers)) })
	t.Run("reads all forgotten records", func(t *testing.T) { checkEveryForgotten(t, lens, g) })
	t.Run("leaves the case alone", func(t *testing.T) {
		c := g.newCase(3, forgottenAreMembers)
		e, before := evidenceOf(t, lens, c), fingerprint(c)
		checkUnchanged(t, lens, e)
		if fingerprint(c) != before {
			t.Error("the lens wrote to the case")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		c := g.newCase(4, forgottenAreMembers)
		broken := c.Original.Weights.Clone()
		broken[0].Data[0] = float32(math.NaN())
		_, err := c.Read(lens, c.NewModel("broken", broken))
		conform.CheckRefused(t, "a model that is not finite", err)
		c.Forget = nil
		_, err = c.Read(lens, c.Original)
		conform.CheckRefused(t, "nothing to forget", err)
	})
}

// evidenceOf returns what a lens reads of the original of a case.
func evidenceOf(t *testing.T, lens audit.Lens, c *audit.Case) *audit.Evidence {
	t.Helper()
	e, err := c.Evidence(lens.Info().Needs, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func checkName(t *testing.T, lens audit.Lens) {
	t.Helper()
	for _, s := range []string{lens.Name(), lens.Info().Measures} {
		if s == "" || s != strings.TrimSpace(s) || strings.Contains(s, "\n") {
			t.Errorf("it says %q about itself, expected one line", s)
		}
	}
}

// checkCall checks the call of a model in a table of its case.
func checkCall(t *testing.T, lens audit.Lens, c *audit.Case, m *audit.Model, want audit.Call) {
	t.Helper()
	c.Lenses = []audit.Lens{lens}
	calls, readings, err := c.Calls(m)
	if err != nil {
		t.Error(err)
		return
	}
	if calls[0][0] != want {
		t.Errorf("%s: %v with %d to forget is called %s, want %s", m.Label, readings[0].Estimate, len(c.Forget), calls[0][0], want)
	}
}

// copyRows writes row of(i) over row i; of(i) is at most i.
func copyRows(x array.Matrix[float32], of func(i int) int) {
	for i := range x.Rows {
		copy(x.Row(i), x.Row(of(i)))
	}
}

// readModel reads a model and checks the fields that every reading has.
func readModel(t *testing.T, lens audit.Lens, c *audit.Case, m *audit.Model) audit.Reading {
	t.Helper()
	r, err := c.Read(lens, m)
	if err != nil {
		t.Fatal(err)
	}
	checkReading(t, lens, m.Label, r)
	return *r
}

// checkSeparated checks that a reading lies on memory's side of another, and differs from it by more
// than chance explains (audit.Alike).
func checkSeparated(t *testing.T, memory, none audit.Reading) {
	t.Helper()
	if audit.CallBySide(memory, none) == audit.Remembered && !audit.Alike(memory, none) {
		return
	}
	t.Errorf("with a memory %.3f [%.3f, %.3f], without %.3f [%.3f, %.3f], memory is on side %+d",
		memory.Value, memory.Low, memory.High, none.Value, none.Low, none.High, memory.Memory)
}

// checkNull reads models without a memory. A lens without a null must find two of them alike.
func checkNull(t *testing.T, lens audit.Lens, g *fixture) {
	n := &nullReadings{}
	for k := range simulations {
		c := g.newCase(uint64(1000+k), noMembers)
		r := readModel(t, lens, c, c.Original)
		if r.Null == nil {
			n.addPair(r, readModel(t, lens, c, c.Oracle))
		} else {
			n.add(r)
		}
	}
	n.check(t, lens.Info())
}

// checkRetrained reads models that never had the forgotten records and had the retained ones. A report without a retrained
// model rests on their lying at the null (NonmemberNull).
func checkRetrained(t *testing.T, lens audit.Lens, g *fixture) {
	t.Helper()
	if lens.Info().Null != audit.NonmemberNull {
		return
	}
	held, values := 0, make([]float64, retrainedCases)
	for k := range retrainedCases {
		c := g.newCase(uint64(2000+k), forgottenAreMembers)
		r := readModel(t, lens, c, c.Oracle)
		held, values[k] = held+count(r.LikeNull()), r.Value
	}
	if held < retrainedCases*3/4 {
		t.Errorf("%d of %d models that were retrained without the records are told from the null; they read %.3f on average. Info.Null says that "+
			"models that never had the records lie there (NonmemberNull)", retrainedCases-held, retrainedCases, stats.MeanInterval(values, 0.95, "cases").Value)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func fingerprint(c *audit.Case) string {
	return fmt.Sprint(c.Original.Weights.Hash(), c.Oracle.Weights.Hash(), c.Train, c.Test, c.Forget, c.Retain)
}
