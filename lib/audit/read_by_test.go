package audit

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
)

// silentLens returns neither a reading nor an error.
type silentLens struct{ Loss }

func (silentLens) Name() string { return "silent" }

func (silentLens) Read(*Evidence, *Arrays) (*Reading, error) { return nil, nil }

func TestALensWithoutAReadingIsNamed(t *testing.T) {
	e := &Evidence{}
	const want = `the lens "silent" returned neither a reading nor an error of the model "m"`
	if r, err := e.ReadBy(silentLens{}, &Arrays{Name: "m"}); r != nil || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestATableNamesALensWithoutAReading(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 100}})
	c.Lenses = []Lens{silentLens{}}
	if _, err := c.Compare(c.Original); err == nil || !strings.Contains(err.Error(), `the lens "silent" returned neither`) {
		t.Errorf("%v", err)
	}
}

// panickingLens panics.
type panickingLens struct{ Loss }

func (panickingLens) Name() string { return "panicking" }

func (panickingLens) Read(*Evidence, *Arrays) (*Reading, error) { panic("oops") }

func TestALensThatPanicsIsAnError(t *testing.T) {
	const want = `the lens "panicking" panicked at read_by_test.go:`
	if _, err := new(Evidence).ReadBy(panickingLens{}, &Arrays{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
