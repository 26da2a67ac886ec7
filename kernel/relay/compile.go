// Compiler errors: from GoNB's report to cell, line and column.

package relay

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	// mainErrorPattern matches an error in the program that GoNB made from the cells.
	mainErrorPattern = regexp.MustCompile(`^\S*main(?:_test)?\.go:(\d+):(\d+): (.+)$`)
	// cellLinePattern matches GoNB's translation of its position.
	cellLinePattern = regexp.MustCompile(`^Cell(?:\[(\d+)\]:)? Line (\d+)\n`)
	caret           = regexp.MustCompile(`^ *\^$`)
	colour          = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// compileError is one error of the compiler.
type compileError struct {
	place  string // "cell [3], line 2, column 4"
	text   string // what is wrong, perhaps over several lines
	source string // the line of code; "" where it is not known
	column int    // byte in the line, from 1
	hint   string // what would be right; "" where it is not known
}

// compileErrors parses the compiler's errors in GoNB's error. GoNB's traceback has one entry
// for each line of the error's value.
func compileErrors(raw *failure, known *sources) []*compileError {
	var faults []*compileError
	for i, line := range strings.Split(raw.Value, "\n") {
		at := mainErrorPattern.FindStringSubmatch(line)
		switch {
		case at != nil:
			trace := ""
			if i < len(raw.Trace) {
				trace = colour.ReplaceAllString(raw.Trace[i], "")
			}
			fault := newCompileError(at, trace, known)
			fault.text = known.hidePaths(fault.text)
			faults = append(faults, fault)
		case len(faults) > 0 && strings.HasPrefix(line, "\t"):
			last := faults[len(faults)-1]
			last.text += "\n" + known.hidePaths(line)
		case isPlace.MatchString(line):
			faults = append(faults, &compileError{text: known.hidePaths(line)})
		case line == "too many errors":
			faults = append(faults, &compileError{text: line})
		}
	}
	return faults
}

// compileFailure shows errors of the compiler; there is at least one.
func compileFailure(faults []*compileError) *failure {
	f := &failure{Name: "compile error", Value: faults[0].title()}
	if n := len(faults) - 1; n > 0 {
		f.Value += fmt.Sprintf(" (and %d more)", n)
	}
	for i, one := range faults {
		if i > 0 {
			f.Trace = append(f.Trace, "")
		}
		f.Trace = append(f.Trace, one.lines()...)
	}
	return f
}

// isPlace matches an error in another Go file.
var isPlace = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)

func newCompileError(at []string, trace string, known *sources) *compileError {
	column, _ := strconv.Atoi(at[2])
	f := &compileError{place: "in code that GoNB adds to the cell", text: at[3], column: column}
	lines := strings.Split(trace, "\n")
	for i := 1; i < len(lines); i++ {
		if caret.MatchString(lines[i]) {
			f.source = lines[i-1]
		}
	}
	if cell := cellLinePattern.FindStringSubmatch(trace); cell != nil {
		number, _ := strconv.Atoi(cell[1])
		line, _ := strconv.Atoi(cell[2])
		if original, ok := known.wholeLine(number, line); ok {
			f.withoutShow(original)
		}
		f.place = cellPlace(cell[1], cell[2]) + fmt.Sprintf(", column %d", f.column)
	}
	return f
}

func cellPlace(cell, line string) string {
	if cell == "" {
		return "line " + line
	}
	return "cell [" + cell + "], line " + line
}

func (f *compileError) title() string {
	if f.place == "" {
		return f.text
	}
	return f.place + ": " + f.text
}

// lines shows the error with its line of code, a caret under the column, and the hint.
func (f *compileError) lines() []string {
	out := strings.Split(f.title(), "\n")
	if f.source != "" {
		out = append(out, underlined(f.source, f.column)...)
	}
	if f.hint != "" {
		out = append(out, f.hint)
	}
	return out
}

// underlined returns a line of code, indented, and a caret under a byte of it.
func underlined(source string, column int) []string {
	code := strings.TrimLeft(source, " \t")
	at := min(max(column-1-(len(source)-len(code)), 0), len(code))
	blank := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, code[:at])
	return []string{"    " + code, "    " + blank + "^"}
}
