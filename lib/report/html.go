// Tables as HTML.

package report

import (
	"bufio"
	"cmp"
	"embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

//go:embed table.js
var tableScript string

// TableScript sorts the rows of a table that HTML wrote by a click on a column's head, and shows a
// clipped text by a click on it. It may be loaded more than once, and works for tables that come
// later. A table without it is complete.
func TableScript() string {
	return scriptComments.ReplaceAllString(tableScript, "")
}

// scriptComments matches comments on lines of their own, and indents.
var scriptComments = regexp.MustCompile(`(?m)^ *(//.*\n)?`)

// HTML writes the table as plain HTML without scripts; it can be read without its styles. The
// styles are attributes, because JupyterLab drops style elements in a notebook that is not trusted,
// and overrides others. A wide table scrolls in a frame with its first column fixed, rows have one
// height, and controls are grey on a light page and on a dark one.
func (t *Table) HTML(w io.Writer) error {
	view, err := t.view(false)
	if err != nil {
		return err
	}
	return writeTemplate(w, "table", view)
}

// The templates of tables and pages, with the style sheet of a page, whose text has a contrast of at least 7 to 1.
var (
	//go:embed templates
	templateFiles embed.FS
	templates     = template.Must(template.New("").Funcs(template.FuncMap{
		"words": func(s any) template.HTML { return template.HTML(TextHTML(fmt.Sprint(s))) },
		"style": func() (template.CSS, error) {
			b, err := templateFiles.ReadFile("templates/page.css")
			return template.CSS(b), err
		},
		"svg": func(s string) template.HTML { return template.HTML(s) }, // drawn by package plot
	}).ParseFS(templateFiles, "templates/*.html"))
)

// writeTemplate writes what a template makes of data.
func writeTemplate(w io.Writer, name string, data any) error {
	b := bufio.NewWriter(w)
	if err := templates.ExecuteTemplate(b, name, data); err != nil {
		return err
	}
	return b.Flush()
}

// What the templates show.
type (
	pageView struct {
		Title    string
		Sections []sectionView
	}
	sectionView struct {
		Title string
		Parts []partView
	}
	partView struct {
		Name string
		Data any
	}
	tableView struct {
		*Table
		// Page is set for a table of a Page, whose style sheet does what attributes do elsewhere.
		// Its cells carry the name of their column, which is shown when rows are stacked.
		Page        bool
		Label       string // for screen readers
		Class       string
		Heads       []cellView
		Lines       []lineView
		ColumnNotes []Column
		Line        string // of the provenance
	}
	lineView struct {
		Control, Bold bool
		Span          string // "": a row of Cells
		Columns       int
		Cells         []cellView
	}
	cellView struct {
		Column     string
		Align      string // left or right
		First      bool   // in the column that stays in view
		Control    bool
		Long, Clip bool // longer than clipAt; clipped, with the whole text as its title
		Text       string
		HTML       template.HTML
	}
)

// The numbers of characters above which a text in a cell is clipped to one line, with the whole
// text as its title. A page, which is printed too, breaks it into lines.
const (
	clipAt      = 60
	clipFirstAt = 20 // of the column that stays in view
)

// manyRows is the number of rows above which a narrow page puts the cells of a row side by side.
const manyRows = 30

// view returns what the template shows of the table, in a page or elsewhere.
func (t *Table) view(page bool) (*tableView, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	right, heads := t.rightAligned(), t.heads()
	v := &tableView{Table: t, Page: page, Label: cmp.Or(t.Title, strings.Join(heads, ", ")), ColumnNotes: t.columnNotes(), Line: t.Provenance.Line()}
	switch {
	case len(heads) > 2 && len(t.Rows) > manyRows:
		v.Class = "rows dense"
	case len(heads) > 2:
		v.Class = "rows"
	}
	for j, head := range heads {
		v.Heads = append(v.Heads, cellView{Align: alignment(right[j]), First: j == 0, Text: head})
	}
	for _, l := range t.lines() {
		v.Lines = append(v.Lines, l.view(right, heads))
	}
	return v, nil
}

func alignment(right bool) string {
	if right {
		return "right"
	}
	return "left"
}

// view returns what the template shows of a line.
func (l line) view(right []bool, heads []string) lineView {
	out := lineView{Control: l.kind == Control, Bold: l.kind == Header, Span: l.span, Columns: len(right)}
	for j, text := range l.cells {
		n := utf8.RuneCountInString(text)
		out.Cells = append(out.Cells, cellView{
			Column: heads[j], Align: alignment(right[j]), First: j == 0, Control: out.Control,
			Long: n > clipAt, Clip: n > clipAt || j == 0 && n > clipFirstAt, Text: strings.TrimSpace(text), HTML: template.HTML(l.cellHTML(j)),
		})
	}
	return out
}

// cellHTML returns the content of cell j: a verdict on a plate of its colour; the names of controls
// and of the paper's rows in italics.
func (l line) cellHTML(j int) string {
	c := l.row.Cells[j]
	s := TextHTML(l.cells[j])
	if c.Verdict != "" {
		s = strings.TrimLeft(TextHTML(c.beforeVerdict())+" "+verdicts[c.Verdict].html(c.Verdict), " ")
	}
	if j == 0 && l.kind != Method && s != "" {
		return "<em>" + s + "</em>"
	}
	return s
}

// The places inside a number at which a line must not be broken: between the ends of an interval,
// between a number and its interval, and before a per cent sign.
var (
	insideInterval = regexp.MustCompile(`(\[[^\[\] ]+,) ([^\[\] ]+\])`)
	beforeInterval = regexp.MustCompile(`(\d) (\[[^\[\]\pL]+\])`)
	beforePercent  = regexp.MustCompile(`(\d) (%)`)
)

// KeepNumbers returns a text with no-break spaces inside its numbers: between the ends of an
// interval, between a number and its interval, and before a per cent sign.
func KeepNumbers(s string) string {
	for _, r := range []*regexp.Regexp{insideInterval, beforeInterval, beforePercent} {
		s = r.ReplaceAllString(s, "$1\u00a0$2")
	}
	return s
}

// TextHTML returns s as the text of an element; its numbers stay on one line.
func TextHTML(s string) string { return EscapeHTML(KeepNumbers(s)) }

// EscapeHTML escapes s for HTML. Names may come from an untrusted file.
func EscapeHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>")
}
