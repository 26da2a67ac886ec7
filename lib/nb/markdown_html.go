// Markdown as HTML, for the states that a saved notebook keeps.

package nb

import (
	"html"
	"regexp"
	"strings"
)

// markdownHTML returns Markdown as HTML: paragraphs, lists, headings, emphasis and code. What it
// does not know, such as a formula, stays as it is written.
func markdownHTML(text string) string {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if block = strings.TrimSpace(block); block != "" {
			b.WriteString(blockHTML(block))
		}
	}
	return b.String()
}

func blockHTML(block string) string {
	lines := strings.Split(block, "\n")
	if level := headingLevel(lines[0]); level > 0 && len(lines) == 1 {
		tag := "h" + string(rune('0'+level))
		return "<" + tag + ">" + inlineHTML(strings.TrimLeft(lines[0], "# ")) + "</" + tag + ">\n"
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "* ") {
			return "<p>" + inlineHTML(block) + "</p>\n"
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("<li>" + inlineHTML(line[2:]) + "</li>\n")
	}
	return "<ul>\n" + b.String() + "</ul>\n"
}

// headingLevel returns the level of a heading, 1 to 6, and 0 for any other line.
func headingLevel(line string) int {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level > 6 || !strings.HasPrefix(line[level:], " ") {
		return 0
	}
	return level
}

// inlineMark matches an escaped character, code, strong and emphasised text.
var inlineMark = regexp.MustCompile("\\\\[\\\\*_`$\\[#<&.!-]|`[^`]+`|\\*\\*[^*]+\\*\\*|\\*[^*\\s][^*]*\\*")

// inlineHTML returns a line of text as HTML.
func inlineHTML(text string) string {
	var b strings.Builder
	for {
		at := inlineMark.FindStringIndex(text)
		if at == nil {
			return b.String() + plainHTML(text)
		}
		b.WriteString(plainHTML(text[:at[0]]))
		mark := text[at[0]:at[1]]
		switch {
		case mark[0] == '\\':
			b.WriteString(html.EscapeString(mark[1:]))
		case mark[0] == '`':
			b.WriteString("<code>" + html.EscapeString(mark[1:len(mark)-1]) + "</code>")
		case strings.HasPrefix(mark, "**"):
			b.WriteString("<strong>" + inlineHTML(mark[2:len(mark)-2]) + "</strong>")
		default:
			b.WriteString("<em>" + inlineHTML(mark[1:len(mark)-1]) + "</em>")
		}
		text = text[at[1]:]
	}
}

// plainHTML escapes text that may have the entities of markdownText in it already.
func plainHTML(text string) string { return html.EscapeString(html.UnescapeString(text)) }
