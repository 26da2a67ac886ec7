package main

import (
	"fmt"
	"go/doc/comment"
	"strings"
)

// htmlOfDoc returns a doc comment as HTML with every element closed, as Markdown
// needs it. Headings are left to heading.
func (w *pageWriter) htmlOfDoc(text string, heading func(*comment.Heading) string) string {
	parsed := w.doc.Parser().Parse(text)
	var b strings.Builder
	for _, block := range parsed.Content {
		switch block := block.(type) {
		case *comment.Heading:
			b.WriteString(heading(block))
		case *comment.Code:
			b.WriteString(frame(escape(block.Text)))
		case *comment.Paragraph:
			fmt.Fprintf(&b, "<p>%s</p>\n\n", w.htmlOfText(block.Text))
		case *comment.List:
			b.WriteString(w.htmlOfList(block))
		}
	}
	return b.String()
}

// packageHeading writes a heading of a package's doc comment as one of the page.
func (w *pageWriter) packageHeading(h *comment.Heading) string {
	title := w.doc.Printer().Text(&comment.Doc{Content: []comment.Block{&comment.Paragraph{Text: h.Text}}})
	return heading(2, h.DefaultID(), strings.Join(strings.Fields(string(title)), " "), "")
}

// innerHeading keeps a heading inside the doc comment of a function or a type out
// of the page's own table of contents.
func (w *pageWriter) innerHeading(h *comment.Heading) string {
	return "<p><strong>" + w.htmlOfText(h.Text) + "</strong></p>\n\n"
}

func (w *pageWriter) htmlOfList(list *comment.List) string {
	tag := "ul"
	if len(list.Items) > 0 && list.Items[0].Number != "" {
		tag = "ol"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<%s>\n", tag)
	for _, item := range list.Items {
		if item.Number == "" {
			b.WriteString("<li>")
		} else {
			fmt.Fprintf(&b, "<li value=\"%s\">", escape(item.Number))
		}
		for _, block := range item.Content {
			p, ok := block.(*comment.Paragraph)
			switch {
			case !ok: // a list's items hold paragraphs alone
			case len(item.Content) > 1 || list.BlankBetween():
				b.WriteString("<p>" + w.htmlOfText(p.Text) + "</p>")
			default:
				b.WriteString(w.htmlOfText(p.Text))
			}
		}
		b.WriteString("</li>\n")
	}
	fmt.Fprintf(&b, "</%s>\n\n", tag)
	return b.String()
}

// htmlOfText returns the words of a paragraph with their links.
func (w *pageWriter) htmlOfText(text []comment.Text) string {
	printer := w.doc.Printer()
	printer.DocLinkURL = func(link *comment.DocLink) string {
		importPath, name := link.ImportPath, link.Name
		if importPath == "" {
			importPath = w.ImportPath
		}
		if link.Recv != "" {
			name = link.Recv + "." + name
		}
		return w.address(importPath, name)
	}
	part := string(printer.HTML(&comment.Doc{Content: []comment.Block{&comment.Paragraph{Text: text}}}))
	part = strings.TrimPrefix(strings.TrimSpace(part), "<p>")
	return strings.ReplaceAll(part, "`", "&#96;")
}
