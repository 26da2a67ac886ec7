// Answers and repairs that gonb lacks.

package relay

import (
	"go/scanner"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"strings"
)

// kernelInfo returns gonb's kernel_info_reply with the highlighter's name and a correct
// banner.
func kernelInfo(gonbs map[string]any, version string) map[string]any {
	info := maps.Clone(gonbs)
	language := map[string]any{"name": "go", "mimetype": "text/x-go", "file_extension": ".go"}
	if l, ok := info["language_info"].(map[string]any); ok {
		maps.Copy(language, l)
	}
	maps.DeleteFunc(language, func(_ string, v any) bool { return v == "" })
	language["pygments_lexer"] = "go"
	info["language_info"] = language
	info["implementation_version"] = strings.TrimPrefix(version, "v")
	info["banner"] = "Lethe, a machine-unlearning laboratory in Go. Cells are compiled by GoNB " + version + "."
	info["status"] = "ok"
	info["supported_features"] = []string{subshellFeature}
	return info
}

// requiredFields lists, with their defaults, the fields without which gonb crashes.
var requiredFields = map[string]map[string]any{
	"execute_request": {"code": "", "silent": false, "store_history": true},
	"input_reply":     {"value": ""},
}

// bareMark matches a line with nothing but ! or % and blanks, which crashes gonb.
var bareMark = regexp.MustCompile(`(?m)^((?://gonb:)?[!%])[ \t]+(\\?)$`)

// withRequiredFields returns the message with all required fields.
func withRequiredFields(msg *message) *message {
	defaults := requiredFields[msg.head.Type]
	if defaults == nil {
		return msg
	}
	fields, changed := msg.fields(), false
	for name, value := range defaults {
		if reflect.TypeOf(fields[name]) != reflect.TypeOf(value) {
			fields[name], changed = value, true
		}
	}
	if code, ok := fields["code"].(string); ok && bareMark.MatchString(code) {
		fields["code"], changed = bareMark.ReplaceAllString(code, "$1"), true
	}
	if !changed {
		return msg
	}
	return msg.withContent(fields)
}

// isComplete reports whether code can run as it stands: "incomplete" while a bracket, a raw
// string or a comment is open, "unknown" where a bracket closes that was never opened, or
// where a special command owns the cell.
func isComplete(msg *message) map[string]any {
	code, _ := msg.fields()["code"].(string)
	if strings.HasPrefix(code, "%%") && !strings.HasPrefix(code, "%%\n") {
		return map[string]any{"status": "unknown"}
	}
	depth, open := nesting(goLines(code))
	switch {
	case depth < 0:
		return map[string]any{"status": "unknown"}
	case depth > 0 || open:
		return map[string]any{"status": "incomplete", "indent": strings.Repeat("\t", depth)}
	}
	return map[string]any{"status": "complete"}
}

// goLines blanks the lines that are commands to GoNB.
func goLines(code string) string {
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "!") || strings.HasPrefix(l, "%") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// nesting returns how many brackets are open at the end (-1 if one closes too many), and
// whether a raw string or a comment is open.
func nesting(code string) (depth int, open bool) {
	set := token.NewFileSet()
	src := []byte(code)
	var s scanner.Scanner
	s.Init(set.AddFile("", -1, len(src)), src, func(_ token.Position, text string) {
		open = open || strings.HasSuffix(text, "not terminated") && !strings.HasPrefix(text, "string literal") && !strings.HasPrefix(text, "rune literal")
	}, 0)
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return depth, open
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth < 0 {
				return -1, open
			}
		}
	}
}
