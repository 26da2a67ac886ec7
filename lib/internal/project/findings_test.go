// The findings page is its template with the values of committed tables.

package project

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/lethe-ml/lethe/figures"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var update = flag.Bool("update", false, "write docs/findings.md anew from docs/findings.tmpl and the committed tables")

// docs/findings.md is docs/findings.tmpl (text/template) with the values of committed
// tables in the place of
//
//	{{cell "ruler/table1" "forget fraction 1 %" "do nothing" "M2 gap" ".4"}}
//
// table, group, row, column and form: text (the cell as it is printed), interval.N
// (value and bounds), n (units that the interval is over), or value.N, low.N, high.N with
// N digits; .4 is value.4.
// {{line "label" table group row "column:form" ...}} is a row of a Markdown table.
// {{printed "0.89"}} is a value printed in a paper.
func TestTheFindingsAreThoseOfTheCommittedTables(t *testing.T) {
	page := wrapped(marks.Replace(markedPage(t)))
	if *update {
		if err := os.WriteFile("docs/findings.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != page {
		t.Error("docs/findings.md is not what docs/findings.tmpl and the committed tables give: go test -run Findings ./lib/internal/project -update, and read what changed")
	}
}

// wrapped breaks the lines of paragraphs and lists to the width of a screen; tables, pictures and
// headings are unchanged.
func wrapped(page string) string {
	var out []string
	for _, text := range strings.Split(page, "\n") {
		if regexp.MustCompile(`^[|!#]`).MatchString(text) {
			out = append(out, text)
			continue
		}
		indent := ""
		if strings.HasPrefix(text, "- ") {
			indent = "  "
		}
		words := strings.Split(text, " ")
		line := words[0]
		for _, w := range words[1:] {
			if utf8.RuneCountInString(line+" "+w) > 118 && !block.MatchString(w) {
				out, line = append(out, line), indent+w
			} else {
				line += " " + w
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// block matches words that would start another element at the beginning of a line.
var block = regexp.MustCompile(`^([-+*#>|<=]|\d+[.)]$)`)

// Values on the page are between these two marks while it is checked.
const open, shut = "\ue000", "\ue001"

var (
	marks = strings.NewReplacer(open, "", shut, "")
	value = regexp.MustCompile(open + "(.*?)" + shut)
)

// markedPage returns the page with its values between marks.
func markedPage(t *testing.T) string {
	t.Helper()
	page, err := template.New("findings.tmpl").Funcs(template.FuncMap{
		"cell":    mark(committed),
		"printed": func(v string) string { return open + v + shut },
		"line":    line,
		"count": func(table, group, row, column, is, limit string) (string, error) {
			return markResult(count(committedFiles(), table, group, row, column, is, limit))
		},
		"runs": func(table, group, row, column, form string) (string, error) {
			return markResult(span(committedFiles(), table, group, row, column, form))
		},
		"seeds": func(table string) (string, error) {
			return markResult(provenanceCount(committedFiles(), table, "seeds"))
		},
		"datasets": func(table string) (string, error) {
			return markResult(provenanceCount(committedFiles(), table, "datasets"))
		},
		"groups": func(table string) (string, error) {
			return markResult(provenanceCount(committedFiles(), table, "groups"))
		},
		"scale":   func(table string) (string, error) { return markResult(scaleOf(committedFiles(), table)) },
		"capital": capital,
	}).ParseFiles("docs/findings.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := page.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func mark(lookup func(table, group, row, column, form string) (string, error)) func(table, group, row, column, form string) (string, error) {
	return func(table, group, row, column, form string) (string, error) {
		v, err := lookup(table, group, row, column, form)
		return open + v + shut, err
	}
}

func line(label, table, group, row string, columns ...string) (string, error) {
	cells := []string{label}
	for _, c := range columns {
		column, form, ok := strings.Cut(c, ":")
		if !ok {
			return "", fmt.Errorf("%q is no column:form", c)
		}
		v, err := mark(committed)(table, group, row, column, form)
		if err != nil {
			return "", err
		}
		cells = append(cells, v)
	}
	return "| " + strings.Join(cells, " | ") + " |", nil
}

// withoutValues returns a page without its values, code and addresses.
func withoutValues(page string) string {
	return regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|arXiv [0-9.]+").ReplaceAllString(value.ReplaceAllString(page, ""), "")
}

// A number in the template itself is a setting, not a result.
func TestTheFindingsHaveNoNumberOfTheirOwn(t *testing.T) {
	for i, text := range strings.Split(withoutValues(markedPage(t)), "\n") {
		if found := ownNumber.FindString(text); found != "" && !allowed(text) {
			t.Errorf("line %d: %q stands in no table: %s", i+1, found, text)
		}
	}
}

// ownNumber matches a result: a number with a decimal point, or a share.
var ownNumber = regexp.MustCompile(`\d\.\d|\d (?:out of|of|in) \d|\d ?/ ?\d|\d %`)

// allowed reports whether all numbers of a line are settings: a forget fraction, a level.
func allowed(line string) bool {
	rest := regexp.MustCompile(`\b(1|2|5|10|20|50|95) %`).ReplaceAllString(line, "")
	return !ownNumber.MatchString(rest)
}

// At most ten findings a section, of at most four numbers each: the rest belongs
// into a table.
func TestTheFindingsCanBeRead(t *testing.T) {
	count := map[string]int{}
	section := ""
	for _, text := range strings.Split(markedPage(t), "\n") {
		if name, ok := strings.CutPrefix(text, "## "); ok {
			section = name
		}
		if !strings.HasPrefix(text, "- ") {
			continue
		}
		count[section]++
		if n := len(regexp.MustCompile(open+`[^`+shut+`]*\d[^`+shut+`]*`+shut).FindAllString(text, -1)); n > 4 {
			t.Errorf("%s: %d numbers: %s", section, n, marks.Replace(text))
		}
	}
	for section, n := range count {
		if n > 10 {
			t.Errorf("%s: %d findings", section, n)
		}
	}
	if len(count) != 7 {
		t.Errorf("findings in %d sections, want 7", len(count))
	}
}

// rendered returns Markdown as GitHub shows it: with its extensions (tables) and blocks of HTML.
func rendered(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := md.Convert([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheRenderedFindingsLoseNoNumber(t *testing.T) {
	source := markedPage(t)
	page := rendered(t, source)
	if broken := rendered(t, wrapped(source)); strings.Join(strings.Fields(broken), " ") != strings.Join(strings.Fields(page), " ") {
		t.Error("the page is another one where its lines are broken")
	}
	want, got := value.FindAllString(source, -1), value.FindAllString(page, -1)
	if len(want) < 150 || len(want) != len(got) {
		t.Fatalf("%d of %d numbers are on the rendered page", len(got), len(want))
	}
	for i, v := range want {
		if got[i] != v {
			t.Errorf("number %d is %q and not %q", i, marks.Replace(got[i]), marks.Replace(v))
		}
	}
	bullets, items := strings.Count("\n"+source, "\n- "), strings.Count(page, "<li>")
	if bullets != items || strings.Contains(page, "<!--") {
		t.Errorf("%d bullets became %d, or a comment is on the page", bullets, items)
	}
	tables := len(regexp.MustCompile(`(?m)^\|---`).FindAllString(source, -1))
	if n := strings.Count(page, "<table>"); n != tables {
		t.Errorf("%d tables became %d", tables, n)
	}
}

// A line that begins with a comment starts a block of HTML: the text after it is
// lost, or its paragraph ends there. So no page has one.
func TestNoPageHasAComment(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || path == "out"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".md"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		if strings.Contains(rendered(t, string(b)), "<!--") {
			t.Errorf("%s: a comment stands on the rendered page", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 50 {
		t.Errorf("only %d pages were looked at", pages)
	}
}

// committed returns one cell of a committed table.
func committed(table, group, row, column, form string) (string, error) {
	t, err := paper.Committed(figures.Files, table)
	if err != nil {
		return "", err
	}
	c, err := cell(t, group, row, column)
	if err != nil {
		return "", fmt.Errorf("%s: %w", table, err)
	}
	what, digits, numeric := strings.Cut(form, ".")
	switch {
	case form == "n" && c.Estimate != nil:
		return fmt.Sprint(c.Estimate.N), nil
	case form == "n":
		return "", fmt.Errorf("%s, %s, %s, %s: the cell has no interval", table, group, row, column)
	case !numeric:
		return c.Text, nil
	}
	d, err := strconv.Atoi(digits)
	if err != nil {
		return "", fmt.Errorf("%s: %q digits", table, digits)
	}
	v, err := number(c, what, d)
	if err != nil {
		return "", fmt.Errorf("%s, %s, %s, %s: %w", table, group, row, column, err)
	}
	return v, nil
}

func number(c report.Cell, what string, digits int) (string, error) {
	format := func(v float64) string {
		return strings.Replace(strconv.FormatFloat(v, 'f', digits, 64), "-", "−", 1)
	}
	if e := c.Estimate; e != nil {
		switch what {
		case "", "value":
			return format(e.Value), nil
		case "low":
			return format(e.Low), nil
		case "high":
			return format(e.High), nil
		case "interval":
			return fmt.Sprintf("%s [%s, %s]", format(e.Value), format(e.Low), format(e.High)), nil
		}
	}
	for _, v := range []*float64{c.Value, c.P} {
		if v != nil && (what == "" || what == "value") {
			return format(*v), nil
		}
	}
	return "", fmt.Errorf("the cell has no %s", what)
}

// cell returns the cell of a row and a column: the first column of that name, and the row whose
// first cells are "adult, 5 %".
func cell(t *report.Table, group, row, column string) (report.Cell, error) {
	for i, c := range t.Columns {
		if c.Name != column {
			continue
		}
		for _, r := range t.Rows {
			if r.Group == group && len(r.Cells) > i && strings.HasPrefix(names(r)+",", row+",") {
				return r.Cells[i], nil
			}
		}
		return report.Cell{}, fmt.Errorf("no row %q in the group %q", row, group)
	}
	return report.Cell{}, fmt.Errorf("no column %q", column)
}

func names(r report.Row) string {
	var out []string
	for _, c := range r.Cells {
		if c.Text == "" || c.Value != nil || c.Estimate != nil {
			break
		}
		out = append(out, c.Text)
	}
	return strings.Join(out, ", ")
}
