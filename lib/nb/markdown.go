package nb

import "strings"

// Markdown shows text with headings, lists and formulas between $ signs. A terminal prints
// it as it is.
func Markdown(text string) {
	text = strings.Trim(text, "\n")
	std.show(output{data: bundle{"text/markdown": text, "text/plain": text}}, text+"\n")
}

// oneLine joins the lines and runs of spaces of s.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// markdownText escapes the characters that Markdown reads as markup.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "[", `\[`, "<", "&lt;", "&", "&amp;").Replace(s)
}
