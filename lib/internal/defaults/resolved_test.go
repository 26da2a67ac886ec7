package defaults

import "testing"

type setting interface{ WithDefaults() setting }

type ours struct{ rate int }

func (o ours) WithDefaults() setting {
	o.rate = max(o.rate, 1)
	return o
}

// theirs has no Resolved of its own.
type theirs struct {
	ours
	extra int
}

func TestAnEmbeddedTypeDoesNotTakeThePlaceOfTheOneAroundIt(t *testing.T) {
	if got := Of[setting](ours{}, ours{}.WithDefaults()); got != (ours{1}) {
		t.Errorf("ours resolves to %+v", got)
	}
	v := theirs{extra: 3}
	if got := Of[setting](v, v.WithDefaults()); got != v {
		t.Errorf("theirs resolves to %#v", got)
	}
}
