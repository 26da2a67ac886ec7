// Tests of markdown_html.go.

package nb

import (
	"strings"
	"testing"
)

func TestMarkdownBecomesHTML(t *testing.T) {
	for text, want := range map[string]string{
		"one **bold** and *soft* `a<b`":      "<p>one <strong>bold</strong> and <em>soft</em> <code>a&lt;b</code></p>\n",
		"first\n\nsecond":                    "<p>first</p>\n<p>second</p>\n",
		"- a\n- b":                           "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
		"## Title":                           "<h2>Title</h2>\n",
		"####### seven":                      "<p>####### seven</p>\n",
		"<script>x</script> & 2 * 3 * 4":     "<p>&lt;script&gt;x&lt;/script&gt; &amp; 2 * 3 * 4</p>\n",
		markdownText("a*b_c <i> `d` $e$ [f"): "<p>a*b_c &lt;i&gt; `d` $e$ [f</p>\n",
		"":                                   "",
	} {
		if got := markdownHTML(text); got != want {
			t.Errorf("%q becomes\n%swant\n%s", text, got, want)
		}
	}
}

func FuzzMarkdownHasNoElementsOfItsOwn(f *testing.F) {
	f.Add("**a** <b> `c`")
	f.Add("- \n\\<*x*")
	f.Fuzz(func(t *testing.T, text string) {
		got := markdownHTML(text)
		for _, tag := range []string{"p", "em", "strong", "code", "ul", "li", "h1", "h2", "h3", "h4", "h5", "h6"} {
			got = strings.ReplaceAll(strings.ReplaceAll(got, "</"+tag+">", ""), "<"+tag+">", "")
		}
		if strings.Contains(got, "<") {
			t.Errorf("%q leaves %q", text, got)
		}
	})
}
