// What the key of a measurement from outside Lethe's module holds: this test package stands for one.

package paper_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The settings and methods of an external measurement are in its key, also those that its Key does not
// name: other epochs, forget sets, seeds and settings of methods are measured again, the same are not.
func TestAnExternalMeasurementIsMadeAgainForOtherSettings(t *testing.T) {
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured := 0
	for _, c := range []struct {
		change func(*paper.Measurement[size])
		again  bool
	}{
		{func(*paper.Measurement[size]) {}, true},
		{func(*paper.Measurement[size]) {}, false},
		{func(m *paper.Measurement[size]) { m.Setting.Fit.Epochs = 2 }, true},
		{func(m *paper.Measurement[size]) { m.Setting.Forget = lab.Random{Fraction: 0.2} }, true},
		{func(m *paper.Measurement[size]) { m.Setting.Seed = 3 }, true},
		{func(m *paper.Measurement[size]) { m.Setting.Model = tabular.MLP{Hidden: 8} }, true},
		{func(m *paper.Measurement[size]) { m.Setting.Model = tabular.MLP{Hidden: 9} }, true},
		{func(m *paper.Measurement[size]) { m.Setting.Fit.Optimizer = nn.SGD{LR: 0.1} }, true},
		{func(m *paper.Measurement[size]) { m.Setting.Fit.Optimizer = nn.SGD{LR: 0.2} }, true},
		{func(m *paper.Measurement[size]) { m.Methods = append(m.Methods, unlearn.FineTuning{Epochs: 1}) }, true},
		{func(m *paper.Measurement[size]) { m.Methods = append(m.Methods, unlearn.FineTuning{Epochs: 2}) }, true},
		{func(m *paper.Measurement[size]) {
			other := m.Setting
			other.Seed = 5
			m.Others = []paper.Models{{Setting: other, Methods: m.Methods}}
		}, true},
		{func(m *paper.Measurement[size]) { m.Setting.Fit.Epochs = 2 }, false},
	} {
		before, m := measured, newMeasurement(e, "two_moons", &measured)
		c.change(&m)
		found, err := paper.Collect(t.Context(), e, []paper.Measurement[size]{m})
		if err != nil || (measured > before) != c.again {
			t.Errorf("%+v, %+v: measured %d times more, want again %v (%v)", m.Setting, m.Methods, measured-before, c.again, err)
		}
		if want := int(800 * m.Setting.Forget.(lab.Random).Fraction); err == nil && found.Rows[0].Forget != want {
			t.Errorf("%d records to forget, want %d", found.Rows[0].Forget, want)
		}
	}
}

// Measurements that would be taken for each other are refused, and those that lack something.
func TestMeasurementsThatCannotBeAreRefused(t *testing.T) {
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured := 0
	good := newMeasurement(e, "two_moons", &measured)
	renamed, without, keyless, methodless := good, good, good, good
	renamed.ID, without.Cost, keyless.Key, methodless.Methods = "evidence/other", nil, nil, []unlearn.Method{nil}
	other := newMeasurement(e, "moons_island", &measured)
	other.ID = good.ID
	for words, all := range map[string][]paper.Measurement[size]{
		"evidence/two_moons and evidence/other have one key":  {good, renamed},
		"two measurements are called evidence/two_moons":      {good, other},
		"two_moons: a measurement needs ID, Key, Cost and Me": {without},
		"needs ID, Key, Cost":                                 {good, keyless},
		"one of its methods is nil":                           {methodless},
	} {
		if _, err := paper.Collect(t.Context(), e, all); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if measured != 0 {
		t.Errorf("measured %d times", measured)
	}
	if _, err := (paper.Recipe{ID: "mine/table1"}).Run(t.Context(), e, "quick"); err == nil || !strings.Contains(err.Error(), "mine/table1: the recipe has no Make") {
		t.Error(err)
	}
}

// Rows that JSON would change are refused before anything is measured.
func TestRowsThatTheStoreWouldChangeAreRefused(t *testing.T) {
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	type hidden struct {
		auc float64
	}
	_, err := paper.Collect(t.Context(), e, []paper.Measurement[hidden]{{Measure: func(context.Context, *lab.Case) ([]hidden, error) {
		t.Error("measured")
		return []hidden{{0.9}}, nil
	}}})
	if err == nil || !strings.Contains(err.Error(), "auc (not exported)") {
		t.Error(err)
	}
}

// scaledMoons are data of another module, made from a set of Lethe's.
type scaledMoons struct{ factor float32 }

func (scaledMoons) Name() string                 { return "mine" }
func (scaledMoons) Info() (datasets.Info, error) { return lab.Table{Set: "two_moons"}.Info() }
func (d scaledMoons) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	p, err := lab.Table{Set: "two_moons"}.Prepare(ctx, shift)
	if err != nil {
		return nil, err
	}
	scaled := *p
	scaled.Train.X.Data = slices.Clone(p.Train.X.Data)
	for i := range scaled.Train.X.Data {
		scaled.Train.X.Data[i] *= d.factor
	}
	return &scaled, nil
}

// Data of another module stand in the provenance under their name and the hash of their content, and
// parts of different size of one set each.
func TestDataOfAnotherModuleStandUnderTheirContent(t *testing.T) {
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured := 0
	var all []paper.Measurement[size]
	for _, data := range []lab.Data{lab.Table{Set: "two_moons"}, lab.Table{Set: "two_moons", MaxRows: 100}, scaledMoons{2}, scaledMoons{5}} {
		m := newMeasurement(e, fmt.Sprintf("%T %+v", data, data), &measured)
		m.Setting.Data = data
		all = append(all, m)
	}
	found, err := paper.Collect(t.Context(), e, all)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]bool{}
	for _, name := range []string{"two_moons", "two_moons (2)", "mine", "mine (2)"} {
		hashes[found.Data[name]] = true
	}
	if len(found.Data) != 4 || len(hashes) != 4 || hashes[""] || measured != 4 {
		t.Errorf("%v, measured %d times", found.Data, measured)
	}
}

// Several data of one name stand with a number.
func TestHashesOfOneNameAreAllNamed(t *testing.T) {
	data := map[string]string{}
	for _, hash := range []string{"a", "b", "a", "c"} {
		paper.AddHash(data, "two_moons", hash)
	}
	if len(data) != 3 || data["two_moons"] != "a" || data["two_moons (2)"] != "b" || data["two_moons (3)"] != "c" {
		t.Error(data)
	}
}
