package notebook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A reader comes for the idea. What is longer belongs in the library, where it
// is tested, or in two cells with words between them.
const (
	maxCell    = 25 // lines of a code cell, all of them
	medianCell = 10 // of the code cells of one notebook
)

// cellLengths wants short code cells. The median is over one notebook and not over all:
// a notebook of plumbing must not hide behind others, and it can be put right
// where it is found.
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
		l.add(0, fmt.Sprintf("half of the code cells have %d lines and more", m), fmt.Sprintf("%d at most: what is left in a cell is the idea", medianCell))
	}
}

// upperMedian is the median, the upper one of an even number.
func upperMedian(lengths []int) int {
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

var (
	sliderCall = regexp.MustCompile(`\bnb\.Knob\(\s*"([^"]*)"`)
	// attentionWord is what a sentence says that tells a reader what to look for.
	attentionWord = regexp.MustCompile(`(?i)\b(look|watch|see|notice|compare|ask)\b`)
)

// sliders wants at least one slider per notebook, and the words above the sliders
// of a cell must name each and say what to look for while it is turned. A
// slider whose cell sets no variable of the experiment cannot be told from
// others by reading; that is left to people.
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
				l.add(i+1, fmt.Sprintf("the knob %q is not named in the text above it", name), "say there what it changes and what to look for")
			}
		}
		if len(names) > 0 && !attentionWord.MatchString(words) {
			l.add(i+1, "sliders without a word on what to look for", "say above them what to watch while they are turned")
		}
	}
	if !found {
		l.add(0, "no knob", `give the reader an nb.Knob that changes the experiment, in a cell with nb.Turn`)
	}
}

// spokenName is a slider's name without what stands in parentheses behind it.
func spokenName(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return strings.TrimSpace(name)
}
