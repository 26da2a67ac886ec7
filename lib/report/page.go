// Pages of texts, tables and pictures, as HTML and Markdown.

package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// Page is a report of texts, tables and pictures. As HTML it is one self-contained file: no
// script, no external font or picture. It can be printed, fits a phone, and suits screen readers:
// headings are in order, and every picture has a text.
type Page struct {
	Title    string
	Sections []Section
}

// Section is a heading and the parts under it.
type Section struct {
	Title string
	Parts []Part
}

// Part is a Text, a Strong, a List, a Terms, a *Table or a Picture.
type Part interface {
	// html returns the name of the part's template and what it shows.
	html() (name string, data any, err error)
	markdown(b *bufio.Writer) error
}

// Text is a paragraph.
type Text string

// Strong is an emphasised paragraph: an answer.
type Strong string

// List is a list of items.
type List []string

// Picture is a figure in two drawings; a page shows the one that fits its width. Each may consist
// of several pieces, which are stacked and not cut when the page is printed.
type Picture struct {
	Wide, Narrow []string // svg elements
	Words        string   // the figure as plain text, line by line
	Caption      string
}

// Term is a word and its meaning.
type Term struct{ Word, Meaning string }

// Terms is a glossary.
type Terms []Term

var _ = []Part{Text(""), Strong(""), List(nil), Terms(nil), (*Table)(nil), Picture{}}

// HTML writes the page.
func (p Page) HTML(w io.Writer) error {
	view := pageView{Title: p.Title}
	for _, s := range p.Sections {
		section := sectionView{Title: s.Title}
		for _, part := range s.Parts {
			name, data, err := part.html()
			if err != nil {
				return fmt.Errorf("section %q: %w", s.Title, err)
			}
			section.Parts = append(section.Parts, partView{name, data})
		}
		view.Sections = append(view.Sections, section)
	}
	return writeTemplate(w, "page", view)
}

// WriteFiles writes a page into a folder, which it creates, as report.html, report.md and, by
// writeJSON, report.json. Each file is complete or absent. If writing is interrupted, the files
// may be of two reports; report.json is of the last report that was written completely.
func (p Page) WriteFiles(folder string, writeJSON func(io.Writer) error) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{"report.html", p.HTML}, {"report.md", p.Markdown}, {"report.json", writeJSON}} {
		var b bytes.Buffer
		if err := file.write(&b); err != nil {
			return err
		}
		if err := files.WriteFile(filepath.Join(folder, file.name), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// FiniteOrNil returns a number for JSON, which has no infinity and no NaN: nil for these.
func FiniteOrNil(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

// Markdown writes the page, pictures as text.
func (p Page) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n", escape(p.Title))
	for _, s := range p.Sections {
		if s.Title != "" {
			fmt.Fprintf(b, "\n## %s\n", escape(s.Title))
		}
		for _, part := range s.Parts {
			b.WriteByte('\n')
			if err := part.markdown(b); err != nil {
				return fmt.Errorf("section %q: %w", s.Title, err)
			}
		}
	}
	return b.Flush()
}

func (t Text) html() (string, any, error) { return "text", t, nil }

func (t Text) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n", escapeStart(escape(string(t))))
	return nil
}

func (t Strong) html() (string, any, error) { return "strong", t, nil }

func (t Strong) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n", emphasise("**", escape(string(t))))
	return nil
}

func (l List) html() (string, any, error) { return "list", l, nil }

func (l List) markdown(b *bufio.Writer) error {
	for _, item := range l {
		fmt.Fprintf(b, "- %s\n", escapeStart(escape(item)))
	}
	return nil
}

func (t Terms) html() (string, any, error) { return "terms", t, nil }

func (t Terms) markdown(b *bufio.Writer) error {
	for _, term := range t {
		fmt.Fprintf(b, "- %s: %s\n", emphasise("**", escape(term.Word)), escape(term.Meaning))
	}
	return nil
}

// html writes the table in a box that scrolls on a narrow screen. With more than two columns
// a narrow screen shows a list of rows instead, each number after the name of its column.
func (t *Table) html() (string, any, error) {
	view, err := t.view(true)
	return "table", view, err
}

func (t *Table) markdown(b *bufio.Writer) error { return t.Markdown(b) }

func (p Picture) html() (string, any, error) { return "picture", p, nil }

func (p Picture) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n\n```text\n%s\n```\n", escape(p.Caption), strings.ReplaceAll(strings.TrimRight(p.Words, "\n"), "```", "'''"))
	return nil
}
