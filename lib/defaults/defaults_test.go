package defaults

import (
	"cmp"
	"reflect"
	"strings"
	"sync"
	"testing"
)

type kind string

type inner struct {
	Rate  float64 `default:"0.5"`
	Steps int     `default:"7"`
}

type shape interface{ area() float64 }

type square struct {
	Side float64 `default:"3"`
	inner
}

func (s square) area() float64 { return s.Side * s.Side }

type settings struct {
	Epochs int      `default:"10"`
	LR     float64  `default:"5e-4"`
	Single float32  `default:"0.1"`
	Seed   uint32   `default:"101"`
	Kind   kind     `default:"public"`
	Alpha  *float64 `default:"0.6"`
	Plain  float64
	Inner  inner
	By     *inner
	Of     shape
	Other  any
	Kept   inner `default:"-"`
	inner
	Lock *struct{ sync.Mutex }
}

func TestFillTakesZerosForDefaults(t *testing.T) {
	half, full := inner{0.5, 7}, settings{
		Epochs: 10, LR: 5e-4, Single: 0.1, Seed: 101, Kind: "public", Alpha: new(0.6), Inner: inner{0.5, 7}, Other: 3, inner: inner{0.5, 7},
	}
	if got := Fill(settings{Other: 3}); !reflect.DeepEqual(got, full) {
		t.Errorf("the defaults are %+v", got)
	}
	got := Fill(settings{Epochs: 2, LR: -1, Alpha: new(0.0), By: &inner{Steps: 1}, Of: square{}, Other: &inner{}})
	if got.Epochs != 2 || got.LR != -1 || *got.Alpha != 0 || *got.By != (inner{0.5, 1}) || got.Of != shape(square{3, inner{0.5, 7}}) || *got.Other.(*inner) != half {
		t.Errorf("what was set becomes %+v", got)
	}
	if again := Fill(got); !reflect.DeepEqual(again, got) {
		t.Errorf("filled again it is %+v", again)
	}
	minus := 0.0
	if got := Fill(inner{Rate: -minus}); got != half {
		t.Errorf("a negative zero gives %+v", got)
	}
}

func TestFillChangesNothingThatItIsGiven(t *testing.T) {
	by, lock := &inner{}, &struct{ sync.Mutex }{}
	lock.Lock()
	got := Fill(settings{By: by, Lock: lock})
	if *by != (inner{}) || got.By == by {
		t.Errorf("what a pointer points to became %+v", *by)
	}
	if got.Lock != lock {
		t.Error("a mutex is copied")
	}
	var none shape
	var nothing *inner
	if Fill(none) != nil || Fill(nothing) != nil {
		t.Error("nothing becomes something")
	}
}

func TestFillWorksOnAnInterface(t *testing.T) {
	if got := Fill[shape](square{}); got.area() != 9 {
		t.Errorf("%+v", got)
	}
}

type dependent struct {
	Momentum bool
	LR       float64
	Width    int `default:"8"`
	Hidden   int
	Inner    inner
}

func (d *dependent) SetDefaults() {
	if d.Momentum {
		d.LR = cmp.Or(d.LR, 0.01)
	}
	d.LR, d.Hidden = cmp.Or(d.LR, 0.1), cmp.Or(d.Hidden, 2*d.Width)
	d.Inner.Steps = max(d.Inner.Steps, 30)
}

// around embeds a type with SetDefaults and has none of its own.
type around struct {
	dependent
	Extra int `default:"4"`
}

// Around embeds it exported.
type Around struct {
	Dependent
	Extra int `default:"4"`
}

type Dependent struct{ dependent }

func TestDefaultsThatDependOnOtherFields(t *testing.T) {
	if got := Fill(dependent{Momentum: true}); got != (dependent{true, 0.01, 8, 16, inner{0.5, 30}}) {
		t.Errorf("with momentum %+v", got)
	}
	if got := Fill(dependent{}); got != (dependent{false, 0.1, 8, 16, inner{0.5, 30}}) {
		t.Errorf("without %+v", got)
	}
	if got := Fill(around{dependent: dependent{Momentum: true}}); got.Extra != 4 || got.LR != 0.01 || got.Hidden != 16 {
		t.Errorf("embedded %+v", got)
	}
	if got := Fill(Around{}); got.Extra != 4 || got.Inner.Steps != 30 || got.Hidden != 16 {
		t.Errorf("embedded twice %+v", got)
	}
}

func TestWrongTagsAreFoundAndNeverPanic(t *testing.T) {
	for words, v := range map[string]any{
		`Epochs: default "ten"`: struct {
			Epochs int `default:"ten"`
		}{},
		`Epochs: default "1.5"`: struct {
			Epochs int `default:"1.5"`
		}{},
		`value out of range`: struct {
			Small int8 `default:"300"`
		}{},
		`Rate: default "much"`: struct {
			Rate *float64 `default:"much"`
		}{},
		`a []int has no default`: struct {
			Hidden []int `default:"1"`
		}{},
		`a bool has no default`: struct {
			Plain bool `default:"true"`
		}{},
		`zero is what a field has`: struct {
			Rate float64 `default:"0"`
		}{},
		`the field is not exported`: struct {
			rate float64 `default:"1"`
		}{},
		`Deep.Rate: default "x"`: struct {
			In *struct {
				Deep struct {
					Rate float64 `default:"x"`
				}
			}
		}{},
	} {
		if err := Check(v); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(words, "Deep.")) {
			t.Errorf("%s: %v", words, err)
		}
		if got := Fill(v); !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: filled in as %+v", words, got)
		}
	}
	for _, v := range []any{settings{}, square{}, &dependent{}, nil, 3} {
		if err := Check(v); err != nil {
			t.Error(err)
		}
	}
}

// loop refers to itself.
type loop struct {
	Next *loop
	Rate float64 `default:"2"`
}

func TestATypeThatRefersToItself(t *testing.T) {
	if got := Fill(loop{Next: &loop{}}); got.Rate != 2 || got.Next.Rate != 2 || Check(got) != nil {
		t.Errorf("%+v, %+v", got, got.Next)
	}
}
