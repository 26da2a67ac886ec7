// Lint: headings, pictures, exercises, and where the claims stand.

package notebook

import (
	"fmt"
	"regexp"
	"strings"
)

var heading = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*\s*$`)

// headingsOf calls visit with the headings of a Markdown text.
func headingsOf(markdown string, visit func(level int, title string)) {
	for _, line := range outsideFences(markdown) {
		if m := heading.FindStringSubmatch(line); m != nil {
			visit(len(m[1]), m[2])
		}
	}
}

// outsideFences returns the lines outside of code blocks.
func outsideFences(markdown string) []string {
	var lines []string
	fence := ""
	for line := range strings.SplitSeq(markdown, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:3]
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

func (l *linter) headings() {
	titles, last := 0, 0
	l.cells(Markdown, func(n int, c *Cell) {
		headingsOf(c.Source, func(level int, title string) {
			if level == 1 {
				titles++
				if n > 1 || titles > 1 {
					l.add(n, fmt.Sprintf("the heading %q has level 1", title), "only the notebook's title has; use ##")
				}
			}
			if last > 0 && level > last+1 {
				l.add(n, fmt.Sprintf("the heading %q has level %d after one of level %d", title, level, last), "leave no level out")
			}
			last = level
		})
	})
	if titles == 0 || len(l.nb.Cells) == 0 || l.nb.Cells[0].Kind != Markdown {
		l.add(1, "no title", "begin the notebook with a Markdown cell that has one # heading")
	}
}

var (
	markdownImage = regexp.MustCompile(`!\[([^\]]*)\]`)
	htmlImage     = regexp.MustCompile(`(?i)<img\b[^>]*>`)
	htmlAlt       = regexp.MustCompile(`(?i)\balt\s*=\s*("[^"]*\w[^"]*"|'[^']*\w[^']*')`)
	typeName      = regexp.MustCompile(`^\s*(?:<[^>]*>|\S+\s*)\s*$`)
)

const minAlt = 3

func (l *linter) images() {
	l.cells(Markdown, func(n int, c *Cell) {
		text := strings.Join(outsideFences(c.Source), "\n")
		for _, m := range markdownImage.FindAllStringSubmatch(text, -1) {
			if strings.TrimSpace(m[1]) == "" {
				l.add(n, "a picture without a text", "say between the brackets of ![ ] what it shows")
			}
		}
		l.htmlImages(n, text)
	})
	l.cells(Code, func(n int, c *Cell) {
		for _, o := range c.Outputs {
			l.htmlImages(n, o.text("text/html"))
			for _, media := range sortedKeys(o.Data) {
				if strings.HasPrefix(media, "image/") {
					l.picture(n, o, media)
				}
			}
		}
	})
}

func (l *linter) htmlImages(n int, html string) {
	for _, tag := range htmlImage.FindAllString(html, -1) {
		if !htmlAlt.MatchString(tag) {
			l.add(n, "a picture without a text", `give the <img> an alt="..." that says what it shows`)
		}
	}
}

func (l *linter) picture(n int, o *Output, media string) {
	if media == "image/svg+xml" && o.Data["image/png"] == nil {
		l.add(n, "a figure that is SVG only", "send a PNG: a reopened notebook and web pages leave SVG out")
	}
	alt := o.text("text/plain")
	if typeName.MatchString(alt) || len(strings.Fields(alt)) < minAlt {
		l.add(n, fmt.Sprintf("a figure whose text is %q", firstLine(alt)), "send a text/plain beside it that says what it shows")
	}
}

var exerciseTitle = regexp.MustCompile(`^Exercise (\d+)\b`)

// exercise is the part of a notebook from an exercise's heading to the next heading of its
// level or above.
type exercise struct {
	cell   int
	number string
	text   strings.Builder
}

func (l *linter) exercisesOf() []*exercise {
	var found []*exercise
	var open *exercise
	l.cells(Markdown, func(n int, c *Cell) {
		for _, line := range outsideFences(c.Source) {
			if m := heading.FindStringSubmatch(line); m != nil && len(m[1]) <= 3 {
				open = nil
				if e := exerciseTitle.FindStringSubmatch(m[2]); e != nil && len(m[1]) == 3 {
					open = &exercise{cell: n, number: e[1]}
					found = append(found, open)
				}
			}
			if open != nil {
				open.text.WriteString(line + "\n")
			}
		}
	})
	return found
}

const minExercises = 3

func (l *linter) exercises() {
	all := l.exercisesOf()
	for i, e := range all {
		if want := fmt.Sprint(i + 1); e.number != want {
			l.add(e.cell, fmt.Sprintf("exercise %s, expected %s", e.number, want), "number the exercises from 1")
		}
		text := e.text.String()
		if !strings.Contains(text, "<details>") || !strings.Contains(text, "</details>") {
			l.add(e.cell, fmt.Sprintf("exercise %s has no folded solution", e.number), "put it in the cell between <details> and </details>")
		}
	}
	if len(all) < minExercises {
		l.add(0, fmt.Sprintf("%d exercises", len(all)), fmt.Sprintf("end with at least %d, each under a heading ### Exercise N", minExercises))
	}
}

// claims requires the claims in the last code cell before the exercises, or of the
// notebook.
func (l *linter) claims() {
	exercises := l.exercisesOf()
	lastCode, beforeExercises := 0, 0
	l.cells(Code, func(n int, _ *Cell) {
		lastCode = n
		if len(exercises) == 0 || n < exercises[0].cell {
			beforeExercises = n
		}
	})
	claims := l.nb.Claims()
	if len(claims) == 0 {
		l.add(0, "no claims", "end with a cell that checks what the notebook says, and execute it")
		return
	}
	if at := claims[len(claims)-1].Cell; at != lastCode && at != beforeExercises {
		l.add(at, "code follows the claims", "put the claims in the last code cell before the exercises")
	}
	seen := map[string]bool{}
	for _, c := range claims {
		if seen[c.Statement] {
			l.add(c.Cell, fmt.Sprintf("the claim %q appears twice", c.Statement), "say in each what is special about it")
		}
		seen[c.Statement] = true
	}
}
