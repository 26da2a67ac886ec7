package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

func demoPage() report.Page {
	t := &report.Table{Title: "A <table>", Columns: report.Columns("model", "AUC")}
	t.Add(report.Str("a & b"), report.Num(0.5, 2))
	return report.Page{Title: "Has it <forgotten>?", Sections: []report.Section{
		{Parts: []report.Part{report.Strong("No & yes")}},
		{Title: "One *two*", Parts: []report.Part{
			report.Text("# not a heading"), report.List{"first", "second <b>"}, t,
			report.Picture{Wide: `<svg width="9"></svg>`, Narrow: `<svg width="4"></svg>`, Words: "AUC <\n  0.5\n```", Caption: "Where \"it\" stands"},
		}},
	}}
}

func TestAPageIsSelfContainedAndWellFormed(t *testing.T) {
	var b strings.Builder
	if err := demoPage().HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, word := range []string{"<script", "src=", "http", "@import", "url(", "<b>", "<forgotten>"} {
		if strings.Contains(page, word) {
			t.Errorf("the page holds %q", word)
		}
	}
	for _, word := range []string{`<html lang="en">`, "<h1>Has it &lt;forgotten&gt;?</h1>", "<h2>One *two*</h2>", `content="width=device-width`,
		`aria-label="Where &#34;it&#34; stands"`, "<pre>AUC &lt;\n  0.5", "<li>second &lt;b&gt;</li>", "<td align=\"right\""} {
		if !strings.Contains(page, word) {
			t.Errorf("the page does not hold %q:\n%s", word, page)
		}
	}
	wellFormed(t, page)
}

// wellFormed reads the page as XML.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("inside %v: %v", open, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %v", open)
	}
}

func TestAPageAsMarkdownHasItsWordsAlone(t *testing.T) {
	var b strings.Builder
	if err := demoPage().Markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `# Has it &lt;forgotten&gt;?

**No &amp; yes**

## One \*two\*

\# not a heading

- first
- second &lt;b&gt;

**A &lt;table&gt;**

| model | AUC |
| :--- | ---: |
| a &amp; b | 0.50 |

Where "it" stands

` + "```text\nAUC <\n  0.5\n'''\n```\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestAPageWithATableThatCannotBeIsRefused(t *testing.T) {
	p := report.Page{Sections: []report.Section{{Title: "bad", Parts: []report.Part{&report.Table{}}}}}
	for _, write := range []func(io.Writer) error{p.HTML, p.Markdown} {
		if err := write(io.Discard); err == nil || !strings.Contains(err.Error(), `section "bad"`) {
			t.Errorf("%v", err)
		}
	}
}
