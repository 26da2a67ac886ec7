// Verdicts: words in a cell that judge a model, with a mark and a colour. The mark serves readers
// who do not see the colour, and terminals.

package report

import (
	"fmt"
	"strings"
)

// tone is how a verdict looks: a mark, and the colours of its text and of the plate behind it. Both
// colours are given, so that a verdict is as legible on a dark page as on a light one.
type tone struct{ mark, text, plate string }

// The tones of verdicts. The contrast of text and plate is at least 7 to 1.
var (
	toneGood    = tone{"\u2713", "#0b4a24", "#d3f0dd"} // what was asked for is seen
	toneBad     = tone{"\u2717", "#7d1010", "#fbdcdc"} // its opposite is seen
	tonePartly  = tone{"\u25d0", "#5a3c00", "#fdeebd"} // some of it is seen
	toneBeyond  = tone{"\u00bb", "#4a157a", "#ebdcfa"} // more than was asked for
	toneAway    = tone{"\u00ab", "#7d1010", "#fbdcdc"} // in the wrong direction
	toneUnknown = tone{"\u25cb", "#2b2b2b", "#d2d2d2"} // nothing can be said
)

// verdicts are the words that are known as verdicts. They are those of audit.Call, and of
// judge.Unseen and its neighbours.
var verdicts = map[string]tone{
	"forgotten":  toneGood,
	"remembered": toneBad,
	"between":    tonePartly,
	"beyond":     toneBeyond,
	"backwards":  toneAway,

	"blind": toneUnknown, "unclear": toneUnknown, "cannot tell": toneUnknown, "too few": toneUnknown, "not asked": toneUnknown,
	"nothing seen": toneUnknown, "unmoved": toneUnknown, "moved": toneUnknown, "unplaced": toneUnknown,
}

// html returns a word on the tone's plate, behind its mark.
func (t tone) html(word string) string {
	return fmt.Sprintf(`<span style="padding: 0 0.45em; border-radius: 0.6em; white-space: nowrap; background-color: %s; color: %s">%s`+"\u00a0%s</span>",
		t.plate, t.text, t.mark, EscapeHTML(word))
}

// VerdictHTML returns words with the mark and the colour of something that is as it should be, or
// is not.
func VerdictHTML(words string, good bool) string {
	if good {
		return toneGood.html(words)
	}
	return toneBad.html(words)
}

// IsVerdict reports whether a word is known as a verdict, with a mark and a colour.
func IsVerdict(word string) bool { return verdicts[word] != tone{} }

// WithVerdict returns the cell with a verdict behind its text. In text and HTML the verdict has a
// mark, in HTML a colour too; Markdown and JSON hold the word alone. A word that IsVerdict does not
// know is added as text.
func (c Cell) WithVerdict(word string) Cell {
	c.Text = strings.TrimSpace(c.Text + " " + word)
	if IsVerdict(word) {
		c.Verdict = word
	}
	return c
}

// beforeVerdict returns the cell's text without its verdict.
func (c Cell) beforeVerdict() string {
	return strings.TrimRight(strings.TrimSuffix(c.display(), c.Verdict), " ")
}

// marked returns the printed text of the cell with the mark before its verdict.
func (c Cell) marked() string {
	if c.Verdict == "" {
		return c.display()
	}
	return strings.TrimLeft(c.beforeVerdict()+" "+verdicts[c.Verdict].mark+" "+c.Verdict, " ")
}

// verdictBehind returns the verdict behind a number and its interval, as JSON holds it; "" if
// there is none.
func verdictBehind(text string) string {
	_, word, found := strings.Cut(text, "] ")
	if !found {
		_, word, _ = strings.Cut(text, "]"+overlapMark+" ")
	}
	if !IsVerdict(word) {
		return ""
	}
	return word
}
