// Package attacktest is the conformance suite of membership attacks. An attack of your own passes
// it with one line in a test:
//
//	func TestMine(t *testing.T) { attacktest.Run(t, Mine{}) }
//
// There is a Run function for every kind of attack: Run, RunSignal, RunGenerative, RunShadow,
// RunPopulation and RunAttacker. Each plants a memory in plain arrays and checks what the project
// relies on: the memory is found, on its side, and none is found where there is none; exchanged
// roles change the answer; the null is calibrated; inputs are not changed; malformed input is
// refused by name. Run computes every field of a result again from the scores of single records.
//
// An error must name the faulty thing, in small or capital letters:
//
//	Run            the role of losses that are missing or not finite: "retained", "forgotten" or "held"
//	RunGenerative  the name of the attack, which attack.Run adds
//	RunShadow      "target" or "shadow"; the model whose training set has another length ("model 2");
//	               the record that every model had ("without it"). shadow.Evidence.Check says all but the last.
//	RunPopulation  "known non-members" or "records under attack", as population.Evidence.Check says
//	RunAttacker    "members" or "non-members", and the row with a NaN ("row 1") or the two numbers of
//	               features, as learned.Records.Check says; a Scorer names the number of features that it refuses
package attacktest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The sizes of the planted cases and the number of simulations without a memory.
const (
	retained, forgotten, heldOut = 300, 60, 160
	simulations                  = 300
)

// memberLoss and nonmemberLoss are the mean losses of records that a model was, and was not,
// trained on.
const memberLoss, nonmemberLoss = 0.2, 1.0

// losses draws records with the given mean losses.
func losses(rng *rand.Rand, retain, forget, test float64) attack.Losses {
	draw := func(n int, mean float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = mean * rng.ExpFloat64()
		}
		return x
	}
	return attack.Losses{Retained: draw(retained, retain), Forgotten: draw(forgotten, forget), HeldOut: draw(heldOut, test)}
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0xa77ac)) }

// Run runs the suite on an attack.
func Run(t *testing.T, a attack.LossAttack) {
	t.Helper()
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) {
		r := run(t, a, losses(random(1), memberLoss, memberLoss, nonmemberLoss))
		checkAbove(t, "balanced accuracy", r.BalancedAccuracy)
		checkAbove(t, "AUC", auc(r))
		if !(r.Fitted > 0.6) {
			t.Errorf("balanced accuracy %v on the known records", r.Fitted)
		}
	})
	t.Run("finds none in an oracle", func(t *testing.T) { checkCalibrated(t, a) })
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		l := losses(random(2), memberLoss, memberLoss, nonmemberLoss)
		l.Forgotten, l.HeldOut = l.HeldOut, l.Forgotten
		checkBelow(t, "AUC, forgotten and held out exchanged", auc(run(t, a, l)))
		l = losses(random(3), memberLoss, 9*nonmemberLoss, nonmemberLoss) // forgotten records beyond non-members
		checkBelow(t, "AUC of records forgotten too well", auc(run(t, a, l)))
		l.Forgotten, l.Retained = l.Retained, l.Forgotten
		checkAbove(t, "AUC, forgotten and retained exchanged", auc(run(t, a, l)))
	})
	t.Run("has a floor", func(t *testing.T) {
		r := run(t, a, losses(random(4), memberLoss, nonmemberLoss, nonmemberLoss))
		checkFloor(t, "of the balanced accuracy", r.Chance)
		checkFloor(t, "of the advantage", stats.Floor{Mean: r.Advantage.ChanceMean, P95: r.Advantage.ChanceP95})
	})
	t.Run("reports what its scores say", func(t *testing.T) {
		for k, forget := range []float64{memberLoss, nonmemberLoss, 9 * nonmemberLoss} {
			l := losses(random(uint64(50+k)), memberLoss, forget, nonmemberLoss)
			checkResult(t, l, run(t, a, l))
		}
	})
	t.Run("learns from other records than it scores", func(t *testing.T) { checkLearnsFromOthers(t, a) })
	t.Run("parts no cluster", func(t *testing.T) { checkClusters(t, a) })
	t.Run("leaves the losses alone", func(t *testing.T) {
		l := losses(random(6), memberLoss, memberLoss, nonmemberLoss)
		before := toJSON(t, l)
		first := toJSON(t, run(t, a, l))
		if toJSON(t, l) != before {
			t.Error("the attack wrote to the losses")
		}
		if toJSON(t, run(t, a, l)) != first {
			t.Error("the same losses give another result the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) { checkRefused(t, a) })
}

// checkCalibrated attacks oracles, for which forgotten records are non-members.
func checkCalibrated(t *testing.T, a attack.LossAttack) {
	var accuracy, area coverage
	beyond := 0
	for k := range simulations {
		r := run(t, a, losses(random(uint64(1000+k)), memberLoss, nonmemberLoss, nonmemberLoss))
		accuracy.add(r.BalancedAccuracy)
		area.add(auc(r))
		if math.Abs(r.BalancedAccuracy.Value-0.5) > r.Chance.P95 {
			beyond++
		}
	}
	accuracy.check(t, "balanced accuracy")
	area.check(t, "AUC")
	if beyond > simulations/10 {
		t.Errorf("%d of %d accuracies are beyond the 95th percentile of the floor", beyond, simulations)
	}
}

func checkRefused(t *testing.T, a attack.LossAttack) {
	for _, c := range []struct {
		name   string
		values func(l *attack.Losses) *[]float64
	}{
		{"retained", func(l *attack.Losses) *[]float64 { return &l.Retained }},
		{"forgotten", func(l *attack.Losses) *[]float64 { return &l.Forgotten }},
		{"held", func(l *attack.Losses) *[]float64 { return &l.HeldOut }},
	} {
		for what, corrupt := range map[string]func(x *[]float64){
			"none":     func(x *[]float64) { *x = nil },
			"NaN":      func(x *[]float64) { (*x)[3] = math.NaN() },
			"infinity": func(x *[]float64) { (*x)[3] = math.Inf(1) },
		} {
			l := losses(random(7), memberLoss, memberLoss, nonmemberLoss)
			corrupt(c.values(&l))
			_, err := runSafely(a, l)
			conform.CheckRefused(t, what+", "+c.name, err, c.name)
		}
	}
}

func run(t *testing.T, a attack.LossAttack, l attack.Losses) *attack.Result {
	t.Helper()
	r, err := runSafely(a, l)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		t.Fatalf("Run of %s returns no result and no error (nil, nil)", a.Name())
	}
	return r
}

// runSafely runs an attack; a panic is an error, so that the other tests of a package go on.
func runSafely(a attack.LossAttack, l attack.Losses) (r *attack.Result, err error) {
	err = panics.Catch(fmt.Sprintf("Run of %s", a.Name()), func() (err error) {
		r, err = a.Run(l)
		return err
	})
	return r, err
}

func auc(r *attack.Result) stats.Estimate {
	return stats.Estimate{Value: r.AUC.Value, Low: r.AUC.Low, High: r.AUC.High}
}

// checkAbove checks that an interval lies above chance.
func checkAbove(t *testing.T, what string, e stats.Estimate) {
	t.Helper()
	if !(e.Low > 0.5 && e.Low <= e.Value && e.Value <= e.High) {
		t.Errorf("%s %.3f [%.3f, %.3f], expected an interval above 0.5", what, e.Value, e.Low, e.High)
	}
}

// checkBelow checks that an interval lies below chance.
func checkBelow(t *testing.T, what string, e stats.Estimate) {
	t.Helper()
	if !(e.High < 0.5 && e.Low <= e.Value && e.Value <= e.High) {
		t.Errorf("%s %.3f [%.3f, %.3f], expected an interval below 0.5", what, e.Value, e.Low, e.High)
	}
}

func checkFloor(t *testing.T, what string, f stats.Floor) {
	t.Helper()
	for _, v := range []float64{f.Mean, f.P95} {
		if !math.IsNaN(v) && !(v > 0) {
			t.Errorf("the floor %s is %v, expected NaN or a positive number", what, f)
		}
	}
}

// coverage counts how often intervals hold 0.5, and keeps their values.
type coverage struct {
	held, n int
	values  []float64
}

func (c *coverage) add(e stats.Estimate) {
	c.n++
	c.values = append(c.values, e.Value)
	if e.Low <= 0.5 && 0.5 <= e.High {
		c.held++
	}
}

// check tests that nominal 95 % intervals hold 0.5 in at least 90 of 100 cases, that not all do,
// and that they are centred.
func (c *coverage) check(t *testing.T, what string) {
	t.Helper()
	if share := float64(c.held) / float64(c.n); share < 0.9 || share == 1 {
		t.Errorf("%s: %.3f of the 95 %% intervals hold 0.5", what, share)
	}
	e := stats.MeanInterval(c.values, 0.999, "simulations")
	if e.Low > 0.5 || e.High < 0.5 {
		t.Errorf("%s without a memory is %v on average, [%v, %v]", what, e.Value, e.Low, e.High)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
