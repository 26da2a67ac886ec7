// The code of the cells that ran, and the paths to hide in messages.

package relay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sources holds the code of the cells that ran, and the folders to hide in messages.
type sources struct {
	root  string // of the module that cells are compiled in
	cells map[int]string
	main  func() string // the program that GoNB made last
}

func (s *sources) remember(count int, code string) {
	if s.cells == nil {
		s.cells = map[int]string{}
	}
	s.cells[count] = code
}

// line returns a line of a cell, from 1, without blanks around it; "" if it is not known.
func (s *sources) line(cell, line int) string {
	whole, _ := s.wholeLine(cell, line)
	return strings.TrimSpace(whole)
}

// wholeLine returns a line of a cell, from 1.
func (s *sources) wholeLine(cell, line int) (string, bool) {
	lines := strings.Split(s.cells[cell], "\n")
	if line < 1 || line > len(lines) || s.cells[cell] == "" {
		return "", false
	}
	return lines[line-1], true
}

// find finds a line of GoNB's program in the cells: in the newest first, then in older
// ones. It finds nothing if the line is not unique.
func (s *sources) find(programLine, newest int) (cell, line int, ok bool) {
	if s.main == nil {
		return 0, 0, false
	}
	program := strings.Split(s.main(), "\n")
	if programLine < 1 || programLine > len(program) {
		return 0, 0, false
	}
	want := strings.TrimSpace(program[programLine-1])
	for cell := newest; cell > 0 && want != ""; cell-- {
		hits := 0
		for i, l := range strings.Split(s.cells[cell], "\n") {
			if strings.TrimSpace(l) == want {
				hits, line = hits+1, i+1
			}
		}
		if hits > 0 {
			return cell, line, hits == 1
		}
	}
	return 0, 0, false
}

var (
	// tempProgram is a path into GoNB's temporary folder.
	tempProgram = regexp.MustCompile(`(?:[^\s"]*/)?gonb_[0-9a-f]+/`)
	tempModule  = regexp.MustCompile(`\bgonb_[0-9a-f]+\b`)
	parentPath  = regexp.MustCompile(`(?:\.\./)+[^\s:"]*`)
)

// hidePaths removes temporary paths and the machine's own folders from a text.
func (s *sources) hidePaths(text string) string {
	text = colour.ReplaceAllString(text, "")
	text = tempProgram.ReplaceAllString(text, "")
	text = tempModule.ReplaceAllString(text, "the cell")
	if s.root == "" {
		return text
	}
	// The compiler writes paths relative to GoNB's folder, two levels deep or more.
	text = parentPath.ReplaceAllStringFunc(text, func(p string) string {
		if i := strings.Index(p, strings.TrimPrefix(s.root, "/")+"/"); i >= 0 {
			return p[i+len(s.root):]
		}
		return p
	})
	return strings.ReplaceAll(text, s.root+string(filepath.Separator), "")
}

// readProgram returns the program in GoNB's folder; "" if there is none.
func readProgram(folder string) string {
	for _, name := range []string{"main.go", "main_test.go"} {
		if data, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			return string(data)
		}
	}
	return ""
}
