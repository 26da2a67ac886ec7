// Failures of cells, as errors that a user can act on.

package relay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// failure is Jupyter's description of a failed cell.
type failure struct {
	Name  string   `json:"ename"`
	Value string   `json:"evalue"`
	Trace []string `json:"traceback"`
}

func plainFailure(name, value string) *failure {
	return &failure{Name: name, Value: value, Trace: []string{name + ": " + value}}
}

// reply returns the content of the execute_reply for the failure.
func (f *failure) reply(count int) map[string]any {
	return map[string]any{
		"status": "error", "execution_count": count,
		"ename": f.Name, "evalue": f.Value, "traceback": f.Trace,
	}
}

// explain turns gonb's error into one that a user can act on.
func (c *cell) explain(raw *failure, known *sources, before *past) *failure {
	exit := exitNote.FindStringSubmatch(raw.Value + "\n")
	if c.interrupted {
		c.notBuilt = exit == nil
		return interruptedFailure(exit)
	}
	if c.crashed {
		if report, ok := parseCrash(c.stderr.String()); ok {
			return report.failure(c.count, known)
		}
	}
	if exit != nil {
		f := plainFailure("program failed", exit[1])
		if c.stderr.Len() > 0 {
			f.Trace = append(f.Trace, "", strings.TrimRight(c.stderr.String(), "\n"))
		}
		return f
	}
	c.notBuilt = true
	faults := compileErrors(raw, known)
	if len(faults) == 0 {
		return toolFailure(raw, known)
	}
	f := compileFailure(before.explainMissing(faults, c.code))
	if needsMain(f, c.code) {
		f.Trace = append(f.Trace, "", mainHint)
	}
	if slices.ContainsFunc(faults, func(e *compileError) bool { return strings.HasSuffix(e.text, " is not used") }) {
		f.Trace = append(f.Trace, "", showHint)
	}
	return f
}

const showHint = "The value of the last line under %% is shown. On another line, show it with nb.Show or fmt.Println."

// outsideFunctionPattern matches the errors of parser and compiler about a statement
// outside functions.
var outsideFunctionPattern = regexp.MustCompile(`expected declaration, found (?:[\pL_0-9"` + "`" + `]|'[a-z]+')|non-declaration statement outside function body`)

const mainHint = "Statements stand below a line %%, declarations above it. Put %% on a line above the statement."

// needsMain reports whether a cell has statements but no line %%.
func needsMain(f *failure, code string) bool {
	return !strings.Contains("\n"+code, "\n%%") && outsideFunctionPattern.MatchString(strings.Join(f.Trace, "\n"))
}

func interruptedFailure(exit []string) *failure {
	f := plainFailure("interrupted", "the cell was stopped before its program ran")
	if exit != nil {
		f = plainFailure("interrupted", "the cell's program was stopped ("+exit[1]+")")
	}
	return f
}

// shellFailure returns the error of a cell whose shell command failed. GoNB itself reports
// success.
func (c *cell) shellFailure() *failure {
	var content struct {
		Text string `json:"text"`
	}
	c.exits[0].read(&content)
	exit := exitNote.FindStringSubmatch(content.Text)
	if c.interrupted {
		return interruptedFailure(exit)
	}
	lines := shellLine.FindAllString(c.code, -1)
	if len(lines) == 1 {
		return plainFailure("shell command failed", fmt.Sprintf("%s (%s)", lines[0], exit[1]))
	}
	return plainFailure("shell command failed", fmt.Sprintf("%s in one of this cell's %d shell lines", exit[1], len(lines)))
}

var (
	// gonbAdvice matches GoNB's advice on go.work, which does not apply: the kernel has
	// set the workspace up.
	gonbAdvice = regexp.MustCompile(`(?s)\n-{5,}\nNote: 'go get'.*$`)
	ranTool    = regexp.MustCompile(`^failed to run "(?:[^"]*/)?([^"]+)": (.*)$`)
	offline    = regexp.MustCompile(`cannot find module providing package|module lookup disabled by GOPROXY=off|package \S+ is not in std`)
)

// toolFailure handles other errors: of a tool before the compiler, or of GoNB itself.
func toolFailure(raw *failure, known *sources) *failure {
	text := strings.TrimRight(gonbAdvice.ReplaceAllString(known.hidePaths(raw.Value), ""), "\n")
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if ranTool.MatchString(line) && len(kept) == 0 && strings.Contains(text, "\n") {
			continue
		}
		if line != "" {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		kept = []string{"GoNB gave no reason"}
	}
	f := &failure{Name: "cell failed", Value: strings.Join(kept, "\n"), Trace: kept}
	if at := offline.FindStringIndex(text); at != nil {
		f.Name = "package not found"
		f.Value, _, _ = strings.Cut(text[at[0]:], "\n")
		f.Trace = append(f.Trace, "", "A cell sees the packages of this project and of the modules in its go.mod; nothing is fetched from the network.")
	}
	return f
}
