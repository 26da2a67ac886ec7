// The suite of membership signals, on drawn classifier outputs that are surer for members.

package attacktest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// classes of most cases; a signal takes any number of them, two at least.
const classes = 4

// sure and unsure are the increases of the label's logit for members and for non-members.
const sure, unsure = 3, 1

func outputs(rng *rand.Rand, n, classes int, raise float64) attack.Outputs {
	o := attack.Outputs{P: array.New[float64](n, classes), Y: make([]int, n)}
	for i := range n {
		o.Y[i] = rng.IntN(classes)
		row, sum := o.P.Row(i), 0.0
		for c := range row {
			row[c] = math.Exp(rng.NormFloat64())
			if c == o.Y[i] {
				row[c] *= math.Exp(raise)
			}
			sum += row[c]
		}
		for c := range row {
			row[c] /= sum
		}
	}
	return o
}

func records(rng *rand.Rand, forget, test float64) attack.Records {
	return recordsOf(rng, classes, forget, test)
}

// recordsOf draws records of so many classes.
func recordsOf(rng *rand.Rand, classes int, forget, test float64) attack.Records {
	return attack.Records{
		Members: outputs(rng, retained, classes, sure), Nonmembers: outputs(rng, heldOut, classes, unsure),
		Forgotten: outputs(rng, 2*forgotten, classes, forget), HeldOut: outputs(rng, heldOut, classes, test),
	}
}

// RunSignal runs the suite on a signal, through the threshold that is learned on it.
func RunSignal(t *testing.T, s attack.Signal) {
	t.Helper()
	judge := func(t *testing.T, r attack.Records) *attack.ASR {
		t.Helper()
		asr, err := attack.SignalThreshold{Signal: s}.Run(r)
		if err != nil {
			t.Fatal(err)
		}
		return asr
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, s.Name(), s.About()) })
	t.Run("finds a memory", func(t *testing.T) {
		r := judge(t, records(random(11), sure, unsure))
		checkAbove(t, "balanced accuracy", r.Balanced)
		if !(r.MemberRate.Low > r.HeldOutRate.High && r.Fitted > 0.6) {
			t.Errorf("%+v of the forgotten and %+v of the held-out records are called members", r.MemberRate, r.HeldOutRate)
		}
	})
	t.Run("takes any number of classes", func(t *testing.T) {
		for _, n := range []int{2, 7} {
			checkAbove(t, fmt.Sprintf("balanced accuracy, %d classes,", n), judge(t, recordsOf(random(14), n, sure, unsure)).Balanced)
		}
	})
	t.Run("finds none in an oracle", func(t *testing.T) {
		var c coverage
		for k := range simulations {
			c.add(judge(t, records(random(uint64(2000+k)), unsure, unsure)).Balanced)
		}
		c.check(t, "balanced accuracy")
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		r := records(random(12), sure, unsure)
		r.Forgotten, r.HeldOut = r.HeldOut, r.Forgotten
		checkBelow(t, "balanced accuracy, forgotten and held out exchanged", judge(t, r).Balanced)
		r = records(random(12), sure, unsure)
		r.Members, r.Nonmembers = r.Nonmembers, r.Members
		if a := judge(t, r); a.Balanced.Low > 0.5 {
			t.Errorf("with known members and non-members exchanged the attack works: %+v", a.Balanced)
		}
	})
	t.Run("is finite and writes nothing", func(t *testing.T) {
		for _, p := range [][]float64{{1, 0, 0, 0}, {0.25, 0.25, 0.25, 0.25}, {0, 0, 1, 0}} {
			before := slices.Clone(p)
			for y := range classes {
				_, err := attack.SignalScores(s, attack.Outputs{P: array.Matrix[float64]{Rows: 1, Cols: classes, Data: p}, Y: []int{y}})
				if err != nil {
					t.Errorf("the signal of %v, label %d: %v", p, y, err)
				}
			}
			if !slices.Equal(p, before) {
				t.Error("the signal wrote to the output")
			}
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for role, of := range map[string]func(r *attack.Records) *attack.Outputs{
			"there are no members":          func(r *attack.Records) *attack.Outputs { return &r.Members },
			"there are no non-members":      func(r *attack.Records) *attack.Outputs { return &r.Nonmembers },
			"there are no forgotten record": func(r *attack.Records) *attack.Outputs { return &r.Forgotten },
			"there are no held-out records": func(r *attack.Records) *attack.Outputs { return &r.HeldOut },
		} {
			r := records(random(13), sure, unsure)
			*of(&r) = attack.Outputs{}
			_, err := attack.SignalThreshold{Signal: s}.Run(r)
			conform.CheckRefused(t, role, err, role)
		}
	})
}
