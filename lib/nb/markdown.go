package nb

import (
	"regexp"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// Markdown shows text with headings, lists and formulas between $ signs. A terminal prints
// it as it is. In a notebook no line breaks inside a number.
func Markdown(text string) {
	text = strings.Trim(text, "\n")
	std.show(output{data: bundle{"text/markdown": keepNumbers(text), "text/plain": text}}, text+"\n")
}

// literal matches code and formulas, in which a space is a space.
var literal = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\\$\\$.*?\\$\\$|\\$[^$\n]*\\$")

// keepNumbers is report.KeepNumbers outside of code and formulas.
func keepNumbers(markdown string) string {
	var out strings.Builder
	for {
		at := literal.FindStringIndex(markdown)
		if at == nil {
			out.WriteString(report.KeepNumbers(markdown))
			return out.String()
		}
		out.WriteString(report.KeepNumbers(markdown[:at[0]]) + markdown[at[0]:at[1]])
		markdown = markdown[at[1]:]
	}
}

// oneLine joins the lines and runs of spaces of s.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// markdownText escapes the characters that Markdown reads as markup.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "[", `\[`, "<", "&lt;", "&", "&amp;").Replace(s)
}
