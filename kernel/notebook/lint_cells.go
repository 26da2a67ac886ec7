// Lint: short cells, and sliders that are explained.

package notebook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Limits of code cells. Longer code belongs into the library, where it is tested, or
// into two cells with text between them.
const (
	maxCell    = 25 // lines of a code cell, all of them
	medianCell = 10 // of the code cells of one notebook
)

// cellLengths refuses long code cells, and a notebook whose median cell is long.
func (l *linter) cellLengths() {
	var lengths []int
	l.cells(Code, func(n int, c *Cell) {
		lines := strings.Count(strings.TrimRight(c.Source, "\n\t "), "\n") + 1
		lengths = append(lengths, lines)
		if lines > maxCell {
			l.add(n, fmt.Sprintf("a code cell of %d lines", lines), fmt.Sprintf("%d at most: move helpers into the library, or cut it in two", maxCell))
		}
	})
	if m := upperMedian(lengths); m > medianCell {
		l.add(0, fmt.Sprintf("half of the code cells have %d lines and more", m), fmt.Sprintf("%d at most: keep only the idea in a cell", medianCell))
	}
}

// upperMedian returns the median, the upper one of an even number.
func upperMedian(lengths []int) int {
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

var (
	sliderCall = regexp.MustCompile(`\bnb\.New(?:Slider|Dropdown|Checkbox|TextField)\(\s*"([^"]*)"`)
	// attentionWord matches the words that tell a reader what to look for.
	attentionWord = regexp.MustCompile(`(?i)\b(look|watch|see|notice|compare|ask)\b`)
)

// sliders requires at least one slider per notebook. The text above a cell with sliders
// must name each, and say what to look for.
func (l *linter) sliders() {
	found, words := false, ""
	for i, c := range l.nb.Cells {
		if c.Kind != Code {
			words = c.Source // the words nearest above the code
			continue
		}
		names := sliderCall.FindAllStringSubmatch(c.Source, -1)
		found = found || len(names) > 0
		for _, m := range names {
			if name := spokenName(m[1]); !strings.Contains(strings.ToLower(words), strings.ToLower(name)) {
				l.add(i+1, fmt.Sprintf("the slider %q is not named in the text above it", name), "say there what it changes and what to look for")
			}
		}
		if len(names) > 0 && !attentionWord.MatchString(words) {
			l.add(i+1, "sliders without a hint what to look for", "say above them what to watch while they move")
		}
	}
	if !found {
		l.add(0, "no slider", `give the reader an nb.NewSlider that changes the experiment, in a cell with nb.Interact`)
	}
}

// spokenName returns a slider's name without the part in parentheses.
func spokenName(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return strings.TrimSpace(name)
}
