package audit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// drawings is a small case of drawings with wrong answers in the train part.
func drawings(b lab.Backdoor) lab.Setting {
	return lab.Setting{
		Data: lab.Images{Set: "glyphs", MaxTrain: 400, MaxTest: 400}, Forget: b, Fit: train.Config{Epochs: 40, Optimizer: nn.Adam{LR: 5e-3}},
		Model: tabular.MLP{Hidden: 32},
	}
}

// A trained backdoor and trained confusion are seen by their lens, in the original and
// not in the oracle, and each lens says that the other's case is none of its own.
func TestWrongAnswersAreSeenWhereTheyWerePlanted(t *testing.T) {
	l := newLab(t)
	for _, k := range []struct {
		lens, blind Lens
		b           lab.Backdoor
	}{{Trigger{}, Confusion{}, lab.Backdoor{}}, {Confusion{}, Trigger{}, lab.Backdoor{Confuse: true, Fraction: 0.12}}} {
		c := openCase(t, l, drawings(k.b))
		c.Lenses = []Lens{Outputs{}, k.lens, k.blind}
		p, err := c.Place(c.Original, c.Oracle)
		if err != nil {
			t.Fatal(err)
		}
		if p.calls[0][1] != Remembered || p.calls[1][1] != Forgotten || p.calls[0][2] != NotAsked {
			t.Errorf("%s: %v, %+v", k.lens.Name(), p.calls, p.readings[0][1].Estimate)
		}
		lensNames := Agreement(c.Lenses, p.calls[0])
		if strings.Contains(lensNames, k.blind.Name()) || !strings.Contains(lensNames, k.lens.Name()) {
			t.Errorf("together: %s", lensNames)
		}
		cells := p.Rows("")[0].Cells
		if cells[3].Missing == "" || cells[2].Missing != "" {
			t.Errorf("cells %+v", cells)
		}
		if m := p.Map("").Missing; len(m) != 0 {
			t.Errorf("original and oracle are drawn: %v", m)
		}
		if _, err := c.Compare(c.Original, c.Oracle); err != nil {
			t.Error(err)
		}
		f, err := c.Figure(c.Original)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.PNG(); err != nil {
			t.Error(err)
		}
	}
}

// By hand: three records of the source class, of which the trigger turns two.
func TestTheTriggersEffectIsAMeanOfDifferences(t *testing.T) {
	got := predictedClasses(array.Matrix[float32]{Rows: 3, Cols: 3, Data: []float32{1, 2, 0, 5, 4, 3, 0, 0, 1}})
	if got[0] != 1 || got[1] != 0 || got[2] != 2 {
		t.Errorf("answers %v", got)
	}
	c := openCase(t, newLab(t), drawings(lab.Backdoor{}))
	with, err := c.TriggeredRecords()
	if err != nil {
		t.Fatal(err)
	}
	anyway := 0.0
	models := []*Model{c.Original}
	for seed := range engine.Root(20) {
		models = append(models, c.NewModel(fmt.Sprint("seed ", seed), c.InitialWeights(seed)))
	}
	for _, m := range models {
		r, err := c.Read(Trigger{}, m)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Runner.Predict(m.Weights, with.X)
		if err != nil {
			t.Fatal(err)
		}
		o, err := m.Outputs()
		if err != nil {
			t.Fatal(err)
		}
		success, plain, n := 0.0, 0.0, 0.0
		for _, a := range predictedClasses(p.Logits()) {
			if a == 2 {
				success++
			}
		}
		for _, i := range c.EvalRows() {
			if c.Test.Y[i] == 1 {
				if predictedClasses(o.Test.Logits())[i] == 2 {
					plain++
				}
				n++
			}
		}
		anyway += plain
		if want := (success - plain) / n; math.Abs(r.Value-want) > 1e-12 || r.N != with.X.Rows || r.Low == r.High {
			t.Errorf("%s: %v, want %v", m.Label, r.Estimate, want)
		}
	}
	if anyway == 0 {
		t.Error("no model gives the label to anybody without the trigger")
	}
}

// A record that falls below the bar between two epochs has a time between them.
func TestTheTimeOfRelearningIsOnAStraightLine(t *testing.T) {
	curves := [][]float64{{0.5, 3, 3}, {0.4, 2, 3}, {0.3, 0.5, 2.5}}
	for i, want := range []float64{0, 1 + 2.0/3, 3} {
		if got := timeToReach(curves, i, 1); math.Abs(got-want) > 1e-12 {
			t.Errorf("record %d: %v, want %v", i, got, want)
		}
	}
}

func TestRelearningSettingsThatCannotBe(t *testing.T) {
	c := openCase(t, newLab(t), island())
	for _, l := range []Relearning{{Epochs: -1}, {MaxHeldOut: -1}} {
		if _, err := c.Read(l, c.Original); err == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
}
