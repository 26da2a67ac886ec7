package cli

import (
	"strings"
	"testing"
)

// Of few names all are listed; of many the one that may have been meant, and all where none may.
func TestAValueThatIsNoneOfTheNames(t *testing.T) {
	many := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa")
	for _, c := range []struct {
		value, want string
		known       []string
	}{
		{"quik", "--scale quik: there are quick, paper; did you mean quick?", []string{"quick", "paper"}},
		{"huge", "--scale huge: there are quick, paper", []string{"quick", "paper"}},
		{"deltta", "--scale deltta: did you mean delta?", many},
		{"zulu", "--scale zulu: there are " + List(many), many},
	} {
		if err := OneOf("scale", c.value, c.known...); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := OneOf("scale", "paper", "quick", "paper"); err != nil {
		t.Error(err)
	}
}
