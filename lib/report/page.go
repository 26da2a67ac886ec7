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
	html(b *bufio.Writer) error
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
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"+
		"<link rel=\"icon\" href=\"data:,\"/>\n<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n",
		EscapeHTML(p.Title), pageStyle, EscapeHTML(p.Title))
	for _, s := range p.Sections {
		if s.Title != "" {
			fmt.Fprintf(b, "<h2>%s</h2>\n", EscapeHTML(s.Title))
		}
		for _, part := range s.Parts {
			if err := part.html(b); err != nil {
				return fmt.Errorf("section %q: %w", s.Title, err)
			}
		}
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.Flush()
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

func (t Text) html(b *bufio.Writer) error {
	fmt.Fprintf(b, "<p>%s</p>\n", TextHTML(string(t)))
	return nil
}

func (t Text) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n", escapeStart(escape(string(t))))
	return nil
}

func (t Strong) html(b *bufio.Writer) error {
	fmt.Fprintf(b, "<p class=\"answer\">%s</p>\n", TextHTML(string(t)))
	return nil
}

func (t Strong) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n", emphasise("**", escape(string(t))))
	return nil
}

func (l List) html(b *bufio.Writer) error {
	b.WriteString("<ul>\n")
	for _, item := range l {
		fmt.Fprintf(b, "<li>%s</li>\n", TextHTML(item))
	}
	b.WriteString("</ul>\n")
	return nil
}

func (l List) markdown(b *bufio.Writer) error {
	for _, item := range l {
		fmt.Fprintf(b, "- %s\n", escapeStart(escape(item)))
	}
	return nil
}

func (t Terms) html(b *bufio.Writer) error {
	b.WriteString("<dl>\n")
	for _, term := range t {
		fmt.Fprintf(b, "<dt>%s</dt>\n<dd>%s</dd>\n", TextHTML(term.Word), TextHTML(term.Meaning))
	}
	b.WriteString("</dl>\n")
	return nil
}

func (t Terms) markdown(b *bufio.Writer) error {
	for _, term := range t {
		fmt.Fprintf(b, "- %s: %s\n", emphasise("**", escape(term.Word)), escape(term.Meaning))
	}
	return nil
}

// html writes the table in a box that scrolls on a narrow screen. With more than two columns
// a narrow screen shows a list of rows instead, each number after the name of its column.
func (t *Table) html(b *bufio.Writer) error { return t.writeHTML(b, true) }

func (t *Table) markdown(b *bufio.Writer) error { return t.Markdown(b) }

func (p Picture) html(b *bufio.Writer) error {
	fmt.Fprintf(b, "<figure role=\"group\" aria-label=\"%s\">\n", EscapeHTML(p.Caption))
	for _, drawing := range []struct {
		class string
		svg   []string
	}{{"on-wide", p.Wide}, {"on-narrow", p.Narrow}} {
		for _, piece := range drawing.svg {
			fmt.Fprintf(b, "<div class=\"%s\">%s</div>\n", drawing.class, piece)
		}
	}
	fmt.Fprintf(b, "<figcaption>%s</figcaption>\n<details><summary>The picture in words</summary>\n<pre>%s</pre>\n</details>\n</figure>\n",
		EscapeHTML(p.Caption), strings.ReplaceAll(EscapeHTML(p.Words), "<br>", "\n"))
	return nil
}

func (p Picture) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n\n```text\n%s\n```\n", escape(p.Caption), strings.ReplaceAll(strings.TrimRight(p.Words, "\n"), "```", "'''"))
	return nil
}

// pageStyle is the style sheet; text has a contrast of at least 7 to 1.
const pageStyle = `:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #1a1a1a; font: 1rem/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid #767676; }
.answer { font-size: 1.15rem; font-weight: bold; border-left: .4rem solid #00548a; padding: .4rem .8rem; background: #eef5fa; }
.wide { overflow-x: auto; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll;
  background-size: 2.5rem 100%, 2.5rem 100%, .9rem calc(100% - 4px), .9rem calc(100% - 4px);
  background-image: linear-gradient(to right, #fff 30%, rgba(255,255,255,0)), linear-gradient(to left, #fff 30%, rgba(255,255,255,0)),
  linear-gradient(to right, rgba(0,0,0,.25), rgba(0,0,0,0)), linear-gradient(to left, rgba(0,0,0,.25), rgba(0,0,0,0));
  background-position: 0 0, 100% 0, 0 0, 100% 0; }
.wide:focus { outline: 2px solid #00548a; }
table { border-collapse: collapse; font-size: .9rem; overflow-wrap: normal; }
th, td { padding: .25rem .6rem; vertical-align: top; border-bottom: 1px solid #c8c8c8; }
th { border-bottom: 2px solid #1a1a1a; vertical-align: bottom; }
tr.control { background: #ececec; }
td em { color: #4a4a4a; }
dt { font-weight: bold; }
dd { margin: 0 0 .5rem 1.2rem; }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; display: block; }
svg text { font-family: "Liberation Sans", Arial, Helvetica, sans-serif !important; }
figcaption, details { font-size: .9rem; color: #3d3d3d; }
pre { overflow-x: auto; font-size: .8rem; }
.on-narrow { display: none; }
@media screen and (min-width: 44.01rem) {
  .rows td { white-space: nowrap; }
  .rows th:first-child, .rows td:first-child:not(.span) { position: sticky; left: 0; background: #fff; }
  .rows tr.control td:first-child { background: #ececec; }
  .rows .span > * { position: sticky; left: .6rem; display: inline-block; }
  .rows .long { display: inline-block; width: 40em; white-space: normal; }
}
@media screen and (max-width: 44rem) {
  main { padding: .6rem; }
  .on-wide { display: none; }
  .on-narrow { display: block; }
  .rows, .rows tbody, .rows tr, .rows td { display: block; }
  .rows thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .rows tr { border-top: 2px solid #767676; padding: .3rem 0; }
  .rows td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem .3rem; overflow-wrap: anywhere; }
  .rows td::before { content: attr(data-label); flex: 0 1 auto; color: #4a4a4a; text-align: left; overflow-wrap: normal; }
  .rows td:first-child { font-weight: bold; }
  .rows td > span { text-align: right; min-width: 0; }
  .rows td.span { display: block; font-size: 1rem; }
  .rows td.span::before { content: none; }
  .dense td, .dense td:first-child { display: inline-block; margin-right: .8rem; text-align: left !important; }
  .dense td::before { margin-right: .4rem; white-space: nowrap; }
}
@page { margin: 1.5cm; }
@media print {
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .wide { overflow: visible; background: none; }
  table { font-size: 7.5pt; }
  th, td { padding: .15rem .35rem; }
  thead { display: table-header-group; }
  details { display: none; }
  h1, h2, dt, .title, .caption { break-after: avoid; }
  .answer, .on-wide, tr, li { break-inside: avoid; }
  p, li, dd { orphans: 3; widows: 3; }
  .answer { border: 1px solid #1a1a1a; border-left-width: .4rem; }
  figure svg { max-height: 23cm; }
}
`
