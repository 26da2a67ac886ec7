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
			report.Text("# not a heading"), report.List{"first", "second <b>"}, report.Terms{{Word: "z <", Meaning: "far"}}, t,
			report.Picture{Wide: []string{`<svg width="9"></svg>`}, Narrow: []string{`<svg width="4"></svg>`}, Words: "AUC <\n  0.5\n```", Caption: "Where \"it\" stands"},
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
		`aria-label="Where &#34;it&#34; stands"`, "<pre>AUC &lt;\n  0.5", "<li>second &lt;b&gt;</li>", "<td data-label=\"AUC\" align=\"right\"", "<dt>z &lt;</dt>\n<dd>far</dd>"} {
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

- **z &lt;**: far

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

// Text beyond the edge of a narrow screen is not visible: a table of many columns names
// the column in every cell, so that rows can be stacked.
func TestWideTablesOfAPageNameTheirColumnsInEveryCell(t *testing.T) {
	for _, c := range []struct {
		columns, rows int
		class         string
	}{{2, 3, ""}, {3, 3, ` class="rows"`}, {5, 40, ` class="rows dense"`}} {
		names := []string{"a", "b", "c", "d", "e"}[:c.columns]
		table := &report.Table{Columns: report.Columns(names...)}
		for range c.rows {
			var cells []report.Cell
			for range names {
				cells = append(cells, report.Num(1, 0))
			}
			table.Add(cells...)
		}
		var b strings.Builder
		if err := (report.Page{Sections: []report.Section{{Parts: []report.Part{table}}}}).HTML(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "<table"+c.class+">") || strings.Count(b.String(), `data-label="b"`) != c.rows {
			t.Errorf("%d columns, %d rows: no table%s whose cells say their column", c.columns, c.rows, c.class)
		}
		b.Reset()
		if err := table.HTML(&b); err != nil || strings.Contains(b.String(), `class="rows`) || strings.Contains(b.String(), "data-label") {
			t.Errorf("outside a page: %v, %s", err, b.String())
		}
	}
}
