package audit

import "testing"

// An original that is right on fewer forgotten records than a retrained model remembers nothing there, and whoever is like it
// does not: models or sets are exchanged.
func TestAContraryOriginalShowsNoMemoryInAShare(t *testing.T) {
	e := &Evidence{}
	e.Records, e.Classes = 200, 2
	model := func(role Role, right int) *Arrays {
		m := &Arrays{Name: string(role), Role: role}
		for i := range e.Records {
			m.Correct = append(m.Correct, i%20 < right)
		}
		return m
	}
	for i := range e.Records {
		e.Labels, e.Forget = append(e.Labels, i%2), append(e.Forget, i)
	}
	read := func(m *Arrays) Reading {
		r, err := Accuracy{Set: Forget}.Read(e, m)
		if err != nil {
			t.Fatal(err)
		}
		return *r
	}
	few, many := read(model(Original, 11)), read(model(Retrained, 19))
	if got := CallOf(read(model(Unlearned, 11)), few, many); got != Blind {
		t.Errorf("like an original that is right less often: %s", got)
	}
	if got := CallOf(read(model(Unlearned, 19)), many, few); got != Remembered {
		t.Errorf("like an original that is right more often: %s", got)
	}
}
