package datasets

import "testing"

func TestARightAnswerHasTheValueAsWholeWords(t *testing.T) {
	for _, c := range []struct {
		value, text string
		want        bool
	}{
		{"Tromsø", "Ada Quill was born in Tromsø.", true},
		{"Tromsø", "Tromsø", true},
		{"12", "Ada Quill has written 12 books.", true},
		{"12", "Ada Quill has written 112 books.", false},
		{"12", "Ada Quill has written 112 books, no, 12.", true},
		{"12", "121", false},
		{"art", "an artist, an artisan", false},
		{"ø", "øø", false},
		{"Bo", "Bö Bo", true},
		{"Tromsø", "", false},
		{"", "It is Tromsø.", true},
		{"", "It is tromsø.", false},
	} {
		q := Question{Answer: "It is Tromsø. ", Value: c.value}
		if got := q.Answered(c.text); got != c.want {
			t.Errorf("%q in %q: %t", c.value, c.text, got)
		}
	}
}
