// Lint: code that depends on the machine, the network or GoNB's commands.

package notebook

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// machinePath matches a path that exists on one machine only.
var machinePath = regexp.MustCompile(`(?:^|[^\w.:/~$}-])((?:/home|/root|/Users|/tmp)(?:/[\w.-]+)*|[A-Z]:\\[A-Z]\w+)(?:$|[^\w-])`)

func (l *linter) paths() {
	for i, c := range l.nb.Cells {
		l.checkPath(i+1, "", c.Source)
		for _, o := range c.Outputs {
			texts := []string{o.Text, o.Evalue, strings.Join(o.Traceback, "\n")}
			for _, media := range sortedKeys(o.Data) {
				if strings.HasPrefix(media, "text/") {
					texts = append(texts, o.text(media))
				}
			}
			l.checkPath(i+1, "in an output", strings.Join(texts, "\n"))
		}
	}
}

func (l *linter) checkPath(cell int, where, text string) {
	if m := machinePath.FindStringSubmatch(text); m != nil {
		l.add(cell, strings.TrimSpace(fmt.Sprintf("the path %s %s", m[1], where)), "use a relative path; it exists only on your machine")
	}
}

// mainMarker matches GoNB's line for the cell's main function, or for a cell whose tests
// are run.
var mainMarker = regexp.MustCompile(`^%(%|test)([ \t]|$)`)

// commands refuses lines that GoNB takes for commands.
func (l *linter) commands() {
	l.cells(Code, func(n int, c *Cell) {
		raw := inLiterals(c.Source)
		for _, line := range commandLines(c.Source) {
			switch {
			case raw[line.number]:
				l.add(n, fmt.Sprintf("line %d, %q, inside a text or comment", line.number, line.text),
					"indent it: GoNB would run a line that starts with ! or % as a command")
			case line.text[0] == '!':
				l.add(n, fmt.Sprintf("line %d runs a shell command, %q", line.number, line.text), "do it in Go, or in the lethe command")
			case !mainMarker.MatchString(line.text):
				l.add(n, fmt.Sprintf("line %d is a command of GoNB, %q", line.number, line.text),
					"only %% and %test may stand in a notebook, so that cells read as Go")
			}
		}
	})
}

// inLiterals returns the lines, from 1, that lie inside a raw string or a comment which
// began on an earlier line.
func inLiterals(source string) map[int]bool {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	inside := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return inside
		}
		if tok == token.STRING || tok == token.COMMENT {
			first := file.Line(pos)
			for k := range strings.Count(text, "\n") {
				inside[first+k+1] = true
			}
		}
	}
}

var dotImport = regexp.MustCompile(`(?m)^\s*(?:import\s+)?\.\s+"([^"]+)"`)

func (l *linter) imports() {
	l.cells(Code, func(n int, c *Cell) {
		for _, m := range dotImport.FindAllStringSubmatch(c.Source, -1) {
			l.add(n, fmt.Sprintf("dot import of %s", m[1]), "import it by name: GoNB keeps a dot import in every later cell, where it is an error when unused")
		}
	})
}

var network = regexp.MustCompile(`"net(?:/\w+)*"|\bhttp\.(?:Get|Post|Head|PostForm|NewRequest|Client)\b|\bnet\.Dial|\b(?:curl|wget) |\bgo get\b|\bpip install\b`)

func (l *linter) network() {
	l.cells(Code, func(n int, c *Cell) {
		if found := network.FindString(c.Source); found != "" {
			l.add(n, fmt.Sprintf("%s reaches for the network", strings.TrimSpace(found)), "use data that comes with Lethe, or that lethe data get has fetched")
		}
	})
}
