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
	if got := InForce[setting](inner{}, inner{}.WithDefaults()); got != (inner{1}) {
		t.Errorf("inner has the defaults %+v", got)
	}
	v := outer{extra: 3}
	if got := InForce[setting](v, v.WithDefaults()); got != v {
		t.Errorf("outer has the defaults %#v", got)
	}
}
