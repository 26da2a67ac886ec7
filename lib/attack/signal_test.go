package attack

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// Softmax outputs of six records and their labels.
var six = Outputs{
	P: array.Matrix[float64]{Rows: 6, Cols: 4, Data: []float64{
		0.2886, 0.3592, 0.1704, 0.1818,
		0.7248, 0.2707, 0.0042, 0.0003,
		0.1533, 0.8043, 0.0397, 0.0027,
		0.036, 0.4774, 0.1225, 0.3641,
		0.0001, 0.1285, 0.8291, 0.0423,
		0.4696, 0.4108, 0.0368, 0.0828,
	}},
	Y: []int{0, 1, 2, 3, 0, 1},
}

// Values of a ten-line script on NumPy 2.4.6.
func TestSignalsEqualNumPy(t *testing.T) {
	want := map[string][]float64{
		"confidence":       {0.2886, 0.2707, 0.0397, 0.3641, 0.0001, 0.4108},
		"entropy":          {-1.3379057526696347, -0.6124381418647041, -0.6067126816046979, -1.09772871866492, -0.5537596428905507, -1.0482311299176388},
		"modified-entropy": {-1.1122346787973658, -1.8882046253626272, -4.435785588644437, -0.9695982049710042, -10.693673031088965, -0.8305017970237056},
	}
	for _, s := range []Signal{Confidence{}, Entropy{}, ModifiedEntropy{}} {
		got, err := SignalScores(s, six)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			checkClose(t, s.Name(), got[i], want[s.Name()][i], 1e-9)
		}
	}
}

// A program that takes log p_i where log(1 - p_i) is meant ranks a sure wrong
// answer as a member.
func TestModifiedEntropyTellsASureWrongAnswerFromASureRightOne(t *testing.T) {
	sure := []float64{0.998, 0.001, 0.001}
	m, e := ModifiedEntropy{}, Entropy{}
	right, wrong, unsure := m.Score(sure, 0), m.Score(sure, 1), m.Score([]float64{0.4, 0.3, 0.3}, 0)
	if !(right > unsure && unsure > wrong) {
		t.Errorf("right %v, unsure %v, wrong %v", right, unsure, wrong)
	}
	if e.Score(sure, 0) != e.Score(sure, 1) {
		t.Error("the plain entropy looks at the label")
	}
	if best := m.Score([]float64{0, 1, 0}, 1); best != 0 {
		t.Errorf("certainty of the true label scores %v", best)
	}
	for _, s := range Signals() {
		for y := range 3 {
			if v := s.Score([]float64{1, 0, 0}, y); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s of a certain output is %v", s.Name(), v)
			}
		}
	}
}

// drawn outputs: softmax of noise with the label's logit raised.
func softmaxes(rng *rand.Rand, n, classes int, raise float64) Outputs {
	o := Outputs{P: array.New[float64](n, classes), Y: make([]int, n)}
	for i := range n {
		o.Y[i] = rng.IntN(classes)
		sum, row := 0.0, o.P.Row(i)
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

func TestASignalAttackIsAtChanceWithoutASignalAndFindsAPlantedOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	covered := 0
	const trials = 200
	for range trials {
		a := SignalThreshold{Signal: ModifiedEntropy{}}
		r, err := a.Run(Records{Members: softmaxes(rng, 200, 4, 3), Nonmembers: softmaxes(rng, 200, 4, 1), Forgotten: softmaxes(rng, 60, 4, 1), HeldOut: softmaxes(rng, 120, 4, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Balanced.Low <= 0.5 && 0.5 <= r.Balanced.High {
			covered++
		}
		checkClose(t, "rates", r.MemberRate.Value+r.NonmemberRate.Value, 1, 1e-12)
		checkClose(t, "balanced", r.Balanced.Value, (1+r.MemberRate.Value-r.HeldOutRate.Value)/2, 1e-12)
	}
	if covered < 180 || covered == trials {
		t.Errorf("%d of %d intervals hold 0.5", covered, trials)
	}
	for _, s := range Signals() {
		for _, perClass := range []bool{false, true} {
			a := SignalThreshold{Signal: s, PerClass: perClass}
			r, err := a.Run(Records{Members: softmaxes(rng, 400, 4, 3), Nonmembers: softmaxes(rng, 400, 4, 1), Forgotten: softmaxes(rng, 200, 4, 3), HeldOut: softmaxes(rng, 200, 4, 1)})
			if err != nil {
				t.Fatal(err)
			}
			if r.Balanced.Low <= 0.5 || r.Scores.AUC.Low <= 0.5 || r.Fitted < 0.6 {
				t.Errorf("%s: balanced %+v, AUC %+v", s.Name(), r.Balanced, r.Scores.AUC)
			}
			if want := map[bool]int{false: 1, true: 4}[perClass]; len(r.Thresholds) != want {
				t.Errorf("%s: thresholds %v", s.Name(), r.Thresholds)
			}
		}
	}
}

// Newcombe's interval for 30 of 50 less 12 of 40 is [0.0929, 0.4720] in
// statsmodels 0.15.0, confint_proportions_2indep(method="newcomb").
func TestBalancedAccuracyHasNewcombesInterval(t *testing.T) {
	part := func(n, sure int) Outputs {
		o := Outputs{P: array.New[float64](n, 2), Y: make([]int, n)}
		for i := range n {
			p := 0.2
			if i < sure {
				p = 0.9
			}
			o.P.Row(i)[0], o.P.Row(i)[1] = p, 1-p
		}
		return o
	}
	r, err := SignalThreshold{}.Run(Records{Members: part(10, 10), Nonmembers: part(10, 0), Forgotten: part(50, 30), HeldOut: part(40, 12)})
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "low", 2*r.Balanced.Low-1, 0.09286764051649107, 1e-12)
	checkClose(t, "high", 2*r.Balanced.High-1, 0.4719771267848461, 1e-12)
	checkClose(t, "member rate", r.MemberRate.Value, 0.6, 1e-12)
}

func TestAClassWithoutKnownRecordsTakesTheCommonThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	in, out := softmaxes(rng, 100, 3, 3), softmaxes(rng, 100, 3, 1)
	for i := range in.Y {
		in.Y[i] %= 2 // no member of class 2
	}
	r, err := SignalThreshold{PerClass: true}.Run(Records{Members: in, Nonmembers: out, Forgotten: softmaxes(rng, 50, 3, 1), HeldOut: softmaxes(rng, 50, 3, 1)})
	if err != nil {
		t.Fatal(err)
	}
	common, err := SignalThreshold{}.Run(Records{Members: in, Nonmembers: out, Forgotten: softmaxes(rng, 50, 3, 1), HeldOut: softmaxes(rng, 50, 3, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Thresholds[2] != common.Thresholds[0] {
		t.Errorf("thresholds %v, common %v", r.Thresholds, common.Thresholds)
	}
}

func TestASignalAttackRefusesWhatIsNoSoftmaxOutput(t *testing.T) {
	good := func() Outputs { return Outputs{P: six.P.Gather([]int{0, 1, 2, 3, 4, 5}), Y: slices.Clone(six.Y)} }
	for want, corrupt := range map[string]func(*Outputs){
		"3 labels for 6":   func(o *Outputs) { o.Y = o.Y[:3] },
		"label 7 of 4":     func(o *Outputs) { o.Y[2] = 7 },
		"is no probabilit": func(o *Outputs) { o.P.Data[5] = -0.1 },
		"not logits":       func(o *Outputs) { o.P.Data[5] = 0.9 },
		"NaN":              func(o *Outputs) { o.P.Data[5] = math.NaN() },
		"there are no":     func(o *Outputs) { *o = Outputs{} },
	} {
		bad := good()
		corrupt(&bad)
		if _, err := (SignalThreshold{}).Run(Records{Members: good(), Nonmembers: good(), Forgotten: bad, HeldOut: good()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := (SignalThreshold{Level: 2}).Run(Records{Members: good(), Nonmembers: good(), Forgotten: good(), HeldOut: good()}); err == nil {
		t.Error("a level of 2 was accepted")
	}
}

// faulty is a signal of a researcher's own.
type faulty struct {
	Confidence
	score func(p []float64, y int) float64
}

func (faulty) Name() string                       { return "faulty" }
func (f faulty) Score(p []float64, y int) float64 { return f.score(p, y) }

func TestASignalThatPanicsOrIsNotFiniteIsNamed(t *testing.T) {
	for words, score := range map[string]func(p []float64, y int) float64{
		`record 0: the signal "faulty" panicked at signal_test.go:`: func(p []float64, _ int) float64 { return p[len(p)] },
		`record 4: the signal "faulty" is -Inf`:                     func(p []float64, y int) float64 { return math.Log(p[y] - 0.0001) },
	} {
		if _, err := SignalScores(faulty{score: score}, six); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected %q", err, words)
		}
		_, err := SignalThreshold{Signal: faulty{score: score}}.Run(Records{Members: six, Nonmembers: six, Forgotten: six, HeldOut: six})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected %q", err, words)
		}
	}
	if _, err := SignalScores(nil, six); err == nil || !strings.Contains(err.Error(), "no signal") {
		t.Error(err)
	}
}
