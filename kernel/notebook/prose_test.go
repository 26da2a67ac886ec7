// Tests of prose.go.

package notebook

import (
	"slices"
	"strings"
	"testing"
)

func TestProseIsWhatIsLeftOfMarkdown(t *testing.T) {
	const markdown = "# A heading. Not prose\n\nOne sentence, e.g. this\none: it has `code. x` and $a.b$! A [second](http://x.y/z. w)?\n\n" +
		"- an item\n- another, 0.5 of it (see Fig. 3).\n1. third\n\n> quoted\n\n| a table. | no |\n\n$$\nx. y\n$$\n\n```go\ncode. code\n```\n\n<details><summary>Fold</summary>\nInside.</details> <!-- gone. -->"
	want := []string{"One sentence, eg this one: it has it and it!", "A second?", "an item", "another, 0.5 of it (see Fig 3).", "third", "quoted", "Fold", "Inside."}
	if got := sentences(markdown); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Counted by hand.
func TestSyllables(t *testing.T) {
	for word, want := range map[string]int{
		"the": 1, "cat": 1, "table": 2, "made": 1, "model": 2, "records": 2, "unlearning": 3, "membership": 3, "trained": 1,
		"started": 2, "tree": 1, "queue": 1, "embedding": 3, "probability": 5, "x": 1, "rhythm": 1, "": 0, "'": 0,
	} {
		if got := syllables(word); got != want {
			t.Errorf("%s: %d, want %d", word, got, want)
		}
	}
}

func TestReadingEaseIsFleschs(t *testing.T) {
	// 6 words, 1 sentence, 6 syllables: 206.835 - 1.015*6 - 84.6 = 116.145.
	p := measure("The cat sat on the mat.")
	if p != (prose{6, 1, 6}) || p.ease() < 116.1449 || p.ease() > 116.1451 {
		t.Errorf("%+v, %v", p, p.ease())
	}
	if p := measure("12 + 3.5 = 15.5"); p != (prose{}) {
		t.Errorf("numbers only: %+v", p)
	}
}

const hard = "The operationalisation of verification necessitates consideration of heterogeneous evaluation methodologies. " +
	"Notwithstanding theoretical advancement, empirical investigations consistently demonstrate insufficient characterisation of residual information. "

const long = "We train the model and then we look at it and we ask what it still has in it of the one who left and we draw it. "

const plainText = "We train a small model. It sees each record ten times. Then one of them must go. We look at what is left of it. "

func TestHardLanguageIsFoundAndPlainLanguageIsNot(t *testing.T) {
	for _, c := range []struct {
		name, text string
		times      int
		want       []string
	}{
		{"plain", plainText, 10, nil},
		{"long words", hard, 10, []string{"reading ease -"}},
		{"long sentences", long, 10, []string{"sentences of 28.0 words on average"}},
		{"too little to say", hard, 2, nil},
	} {
		l := &linter{path: "x", nb: &Notebook{Cells: []Cell{{Kind: Markdown, Source: strings.Repeat(c.text, c.times)}}}}
		l.language()
		if len(l.problems) != len(c.want) {
			t.Errorf("%s: %v", c.name, l.problems)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(l.problems[i].What, want) {
				t.Errorf("%s: %v", c.name, l.problems[i])
			}
		}
	}
}
