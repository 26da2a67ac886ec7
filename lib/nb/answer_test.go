// Tests of answer.go.

package nb

import "testing"

func TestASealOpensToTheRightAnswerOnly(t *testing.T) {
	number := Seal(1, 0.75, 0.01)
	for answer, want := range map[float64]bool{0.75: true, 0.7501: true, 0.742: true, 0.76: true, 0.77: false, 0.73: false, 75: false, -0.75: false} {
		if got := answerMatches(1, answer, number); got != want {
			t.Errorf("%v fits %s: %v", answer, number, got)
		}
	}
	if answerMatches(2, 0.75, number) {
		t.Error("the seal of one exercise opens another")
	}
	if !answerMatches(1, 2, Seal(1, 2, 0.5)) || answerMatches(1, 3, Seal(1, 2, 0.5)) {
		t.Error("whole numbers")
	}
	text := Seal(3, "Other seed", 0)
	for answer, want := range map[string]bool{"other-seed": true, " OTHER SEED ": true, "other": false, "": false} {
		if got := answerMatches(3, answer, text); got != want {
			t.Errorf("%q fits %s: %v", answer, text, got)
		}
	}
	for _, bad := range []string{"", "x", "0/00000000", "-1/00000000", "NaN/00000000", "0.01"} {
		if answerMatches(1, 0.75, bad) {
			t.Errorf("the seal %q opens", bad)
		}
	}
}
