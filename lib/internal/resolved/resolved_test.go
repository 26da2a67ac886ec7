package resolved

import "testing"

type setting interface{ Resolved() setting }

type ours struct{ rate int }

func (o ours) Resolved() setting {
	o.rate = max(o.rate, 1)
	return o
}

// theirs has no Resolved of its own.
type theirs struct {
	ours
	extra int
}

func TestAnEmbeddedTypeDoesNotTakeThePlaceOfTheOneAroundIt(t *testing.T) {
	if got := Of[setting](ours{}, ours{}.Resolved()); got != (ours{1}) {
		t.Errorf("ours resolves to %+v", got)
	}
	v := theirs{extra: 3}
	if got := Of[setting](v, v.Resolved()); got != v {
		t.Errorf("theirs resolves to %#v", got)
	}
}
