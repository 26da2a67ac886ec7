package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Page is a report of texts, tables and pictures. As HTML it is one file that needs
// nothing from elsewhere: no script, no font, no picture. It prints, fits a phone, and
// can be read aloud: headings are in order, and every picture has words.
type Page struct {
	Title    string
	Sections []Section
}

// Section has a heading and parts under it.
type Section struct {
	Title string
	Parts []Part
}

// Part is a Text, a List, a *Table or a Picture.
type Part interface {
	html(b *bufio.Writer) error
	markdown(b *bufio.Writer) error
}

// Text is a paragraph.
type Text string

// Strong is a paragraph that stands out: an answer.
type Strong string

// List has an item per line.
type List []string

// Picture is a figure as two svg elements, of which a page shows the one that fits its
// width, with the same in words.
type Picture struct {
	Wide, Narrow string
	Words        string // the figure as plain text, line by line
	Caption      string
}

var _ = []Part{Text(""), Strong(""), List(nil), (*Table)(nil), Picture{}}

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
	fmt.Fprintf(b, "<p>%s</p>\n", EscapeHTML(string(t)))
	return nil
}

func (t Text) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n", escapeStart(escape(string(t))))
	return nil
}

func (t Strong) html(b *bufio.Writer) error {
	fmt.Fprintf(b, "<p class=\"answer\">%s</p>\n", EscapeHTML(string(t)))
	return nil
}

func (t Strong) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n", emphasise("**", escape(string(t))))
	return nil
}

func (l List) html(b *bufio.Writer) error {
	b.WriteString("<ul>\n")
	for _, item := range l {
		fmt.Fprintf(b, "<li>%s</li>\n", EscapeHTML(item))
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

// html puts a table into a box that scrolls by itself where a screen is narrow.
func (t *Table) html(b *bufio.Writer) error {
	name := t.Title
	if name == "" {
		name = strings.Join(t.heads(), ", ")
	}
	fmt.Fprintf(b, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n", EscapeHTML(name))
	if err := t.HTML(b); err != nil {
		return err
	}
	b.WriteString("</div>\n")
	return nil
}

func (t *Table) markdown(b *bufio.Writer) error { return t.Markdown(b) }

func (p Picture) html(b *bufio.Writer) error {
	fmt.Fprintf(b, "<figure role=\"group\" aria-label=\"%s\">\n<div class=\"on-wide\">%s</div>\n<div class=\"on-narrow\">%s</div>\n"+
		"<figcaption>%s</figcaption>\n<details><summary>The picture in words</summary>\n<pre>%s</pre>\n</details>\n</figure>\n",
		EscapeHTML(p.Caption), p.Wide, p.Narrow, EscapeHTML(p.Caption), strings.ReplaceAll(EscapeHTML(p.Words), "<br>", "\n"))
	return nil
}

func (p Picture) markdown(b *bufio.Writer) error {
	fmt.Fprintf(b, "%s\n\n```text\n%s\n```\n", escape(p.Caption), strings.ReplaceAll(strings.TrimRight(p.Words, "\n"), "```", "'''"))
	return nil
}

// pageStyle has contrasts of at least 7 to 1 for text.
const pageStyle = `:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #1a1a1a; font: 1rem/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid #767676; }
.answer { font-size: 1.15rem; font-weight: bold; border-left: .4rem solid #00548a; padding: .4rem .8rem; background: #eef5fa; }
.wide { overflow-x: auto; }
.wide:focus { outline: 2px solid #00548a; }
table { border-collapse: collapse; font-size: .9rem; overflow-wrap: normal; }
th, td { padding: .25rem .6rem; vertical-align: top; border-bottom: 1px solid #c8c8c8; }
th { border-bottom: 2px solid #1a1a1a; }
td em { color: #4a4a4a; }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; display: block; }
svg text { font-family: "Liberation Sans", Arial, Helvetica, sans-serif !important; }
figcaption, details { font-size: .9rem; color: #3d3d3d; }
pre { overflow-x: auto; font-size: .8rem; }
.on-narrow { display: none; }
@media (max-width: 44rem) { .on-wide { display: none; } .on-narrow { display: block; } main { padding: .6rem; } }
@media print { main { max-width: none; padding: 0; } .wide { overflow: visible; } table { font-size: .7rem; } details { display: none; }
  h2 { break-after: avoid; } figure, tr { break-inside: avoid; } .on-wide { display: block; } .on-narrow { display: none; } }
`
