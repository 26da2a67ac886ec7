package defaults

import "testing"

type setting interface{ WithDefaults() setting }

type within struct{ rate int }

func (o within) WithDefaults() setting {
	o.rate = max(o.rate, 1)
	return o
}

// holder embeds within and has no WithDefaults of its own.
type holder struct {
	within
	extra int
}

func TestAnEmbeddedTypeDoesNotTakeThePlaceOfTheOneAroundIt(t *testing.T) {
	if got := InForce[setting](within{}, within{}.WithDefaults()); got != (within{1}) {
		t.Errorf("within has the defaults %+v", got)
	}
	v := holder{extra: 3}
	if got := InForce[setting](v, v.WithDefaults()); got != v {
		t.Errorf("holder has the defaults %#v", got)
	}
}
