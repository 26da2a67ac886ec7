package defaults

import "testing"

type setting interface{ WithDefaults() setting }

type inner struct{ rate int }

func (o inner) WithDefaults() setting {
	o.rate = max(o.rate, 1)
	return o
}

// outer embeds inner and has no WithDefaults of its own.
type outer struct {
	inner
	extra int
}

func TestAnEmbeddedTypeDoesNotTakeThePlaceOfTheOneAroundIt(t *testing.T) {
	if got := Of[setting](inner{}, inner{}.WithDefaults()); got != (inner{1}) {
		t.Errorf("inner has the defaults %+v", got)
	}
	v := outer{extra: 3}
	if got := Of[setting](v, v.WithDefaults()); got != v {
		t.Errorf("outer has the defaults %#v", got)
	}
}
